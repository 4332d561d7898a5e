//! Shogi: repetition at both ends of a perpetual check, and malformed text. All other rules are compared with rsshogi,
//! cshogi and a slow twin in `tests/games/test_shogi.py`.

use zerosum_core::erased::{AnyGame, AnyPosition, AnyState};
use zerosum_core::game::Notation;
use zerosum_core::games::shogi::Shogi;
use zerosum_core::games::{self, CoreGame};
use zerosum_core::random::RandomStream;
use zerosum_core::{Game, Player};

fn shogi() -> std::sync::Arc<dyn AnyGame> {
    games::by_name("shogi").expect("no options").expect("a name of the core")
}

fn at<'a>(game: &'a dyn AnyGame, state: &'a AnyState) -> Box<dyn AnyPosition + 'a> {
    game.position(state).expect("its own state")
}

fn play(game: &dyn AnyGame, state: &AnyState, text: &str) -> AnyState {
    let action = at(game, state).parse_action(text).unwrap_or_else(|| panic!("{text} is illegal"));
    at(game, state).play(action).expect("a legal action")
}

/// The ending, the result for Black and the number of plies of a game with these moves.
fn end_of(position: &str, moves: &str) -> Option<(String, f32, u32)> {
    let game = shogi();
    let mut state = game.parse_position(position).expect(position);
    for text in moves.split_whitespace() {
        state = play(&*game, &state, text);
        if let Some(outcome) = at(&*game, &state).outcome() {
            assert!(outcome.is_soft);
            return Some((outcome.ending.into(), outcome.result.0, state.plies()));
        }
    }
    None
}

#[test]
fn the_fourth_occurrence_ends_the_game() {
    let start = "startpos";
    let cycle = "5i5h 5a5b 5h5i 5b5a ";
    assert_eq!(end_of(start, &cycle.repeat(3)), Some(("fourfold repetition".into(), 0.0, 12)));
    assert_eq!(end_of(start, &cycle.repeat(2)), None);
    assert_eq!(end_of(start, &format!("7g7f {} 5i5h", "5a5b 5i5h 5b5a 5h5i ".repeat(3))).expect("an end").2, 13);
}

#[test]
fn who_checks_perpetually_loses() {
    let rook = "3k5/9/9/9/9/9/9/4R4/8K b - 1";
    let checks = "5h6h 6a5a 6h5h 5a6a ";
    // The checker is to move: the repeated position is the one before its check.
    assert_eq!(end_of(rook, &checks.repeat(3)), Some(("perpetual check".into(), -1.0, 12)));
    // One cycle is quiet, and the first of the four occurrences is before it.
    let quiet = format!("5h4h 6a7a 4h5h 7a6a {}", checks.repeat(2));
    assert_eq!(end_of(rook, &quiet), Some(("fourfold repetition".into(), 0.0, 12)));
    // The victim is to move, in check in the repeated position.
    let checked = "3k5/9/9/9/9/9/9/3R5/8K w - 1";
    assert_eq!(end_of(checked, &"6a5a 6h5h 5a6a 5h6h ".repeat(3)), Some(("perpetual check".into(), -1.0, 12)));
    // White checks, on the same squares in its own view.
    let white = "k8/4r4/9/9/9/9/9/9/5K3 w - 1";
    assert_eq!(end_of(white, &"5b4b 4i5i 4b5b 5i4i ".repeat(3)), Some(("perpetual check".into(), 1.0, 12)));
}

#[test]
fn a_pawn_may_not_be_dropped_to_mate() {
    let game = shogi();
    let position = "2p3+N1+S/3sPr+P1+P/s2g+PG1+P+L/ls3p2b/2r1gnp2/L1g4k1/1+pP+p+nL2+b/3P2+p2/K1+p2+p1+n1 w P2p 268";
    let state = game.parse_position(position).expect(position);
    assert_eq!(at(&*game, &state).legal_actions(false).len(), 108);
    assert_eq!(at(&*game, &state).parse_action("P*9h"), None);
}

#[test]
fn a_king_that_has_entered_is_declared() {
    // There are ten pieces besides the king in the last three rows, of 5 + 5 + 8 points, and some pawns in hand.
    let outcome = |options: &str, pawns: u32, side: &str| {
        let game = games::by_name(&format!("shogi({options})")).expect("options").expect("a name of the core");
        let position = match side {
            "b" => format!("K+R+B+P+P+P3/+P+P+P+P5/+P8/9/9/9/9/9/8k b {pawns}P 1"),
            _ => format!("K8/9/9/9/9/9/8+p/5+p+p+p+p/3+p+p+p+b+rk w {pawns}p 1"),
        };
        let state = game.parse_position(&position).expect(&position);
        at(&*game, &state).outcome().map(|outcome| outcome.result.0)
    };
    for (pawns, black, white, csa24) in [
        (6, None, None, Some(0.0)),
        (8, None, None, Some(0.0)),
        (9, None, Some(-1.0), Some(0.0)),
        (10, Some(1.0), Some(-1.0), Some(0.0)),
    ] {
        assert_eq!(outcome("", pawns, "b"), black, "{pawns}");
        assert_eq!(outcome("", pawns, "w"), white, "{pawns}");
        assert_eq!(outcome("entering_king=csa24", pawns, "b"), csa24, "{pawns}");
        // In USI a player declares a draw only by choice, and may play on to win.
        assert_eq!(outcome("entering_king=csa24-wins", pawns, "b"), None, "{pawns}");
        assert_eq!(outcome("entering_king=none", pawns, "b"), None);
    }
    assert_eq!(outcome("entering_king=csa24", 5, "b"), None);
    for options in ["csa24", "csa24-wins"] {
        let game = games::by_name(&format!("shogi(entering_king={options})")).expect("options").expect("a name");
        for (hand, result) in [("RB2G", Some(1.0)), ("RBG", None)] {
            let state = game.parse_position(&format!("4K4/PPPPPPPPP/1BR6/9/9/9/9/9/8k b {hand} 1")).expect(hand);
            let expected = result.or_else(|| (options == "csa24").then_some(0.0));
            let found = at(&*game, &state).outcome().map(|outcome| outcome.result.0);
            assert_eq!(found, expected, "31 points win by {options}, 30 do not");
        }
    }
}

#[test]
fn notations_are_read_as_people_write_them() {
    let game = shogi();
    let mut state = game.parse_position("startpos").expect("the start");
    for (texts, written) in [
        (&["7g7f", "7G7F", "+7776FU", "7776fu", "７六歩(77)", "▲７六歩（７七）", "76歩", "☗７六歩"][..], "７六歩(77)"),
        (&["3c3d", "-3334FU", "△３四歩(33)", "34歩(33)"], "３四歩(33)"),
        (&["8h2b+", "+8822UM", "２二角成(88)", "２二角成", "22角成(88)"], "２二角成(88)"),
        (&["3a2b", "-3122GI", "同　銀(31)", "同銀", "同 銀(31)", "２二銀(31)"], "同　銀(31)"),
        (&["B*4e", "b*4e", "+0045KA", "４五角打", "４五角", "45角打"], "４五角打"),
    ] {
        for text in texts {
            let next = play(&*game, &state, text);
            assert_eq!(next.plies(), state.plies() + 1);
        }
        let action = at(&*game, &state).parse_action(texts[0]).expect("a legal move");
        assert_eq!(at(&*game, &state).action_text(action, Some("kif")).expect("a notation"), written);
        let wrong_side = if state.plies().is_multiple_of(2) {
            ["-7776FU", "△７六歩(77)"]
        } else {
            ["+3334FU", "▲３四歩(33)"]
        };
        assert!(wrong_side.iter().all(|text| at(&*game, &state).parse_action(text).is_none()));
        state = play(&*game, &state, texts[0]);
    }
}

#[test]
fn malformed_positions_are_named() {
    let game = Shogi::standard();
    for (text, sentence) in [
        ("", "\"\" has 0 fields, expected pieces, side to move, hands and the move's number, or startpos"),
        ("9/9/9/9/9/9/9/9 b - 1", "\"9/9/9/9/9/9/9/9\" has 8 rows, expected 9, separated by /"),
        ("4k4/9/9/9/9/9/9/9/4K5 b - 1", "row 9, \"4K5\", has 10 cells, expected 9"),
        ("4k4/9/9/9/45/9/9/9/4K4 b - 1", "row 5, \"45\": expected digits 1 to 9, no two side by side"),
        (
            "4k4/9/9/9/4Q4/9/9/9/4K4 b - 1",
            "row 5, \"4Q4\": \"Q\" is not a piece, expected one of PLNSGBRKplnsgbrk, + before some",
        ),
        (
            "4k4/9/9/9/4+G4/9/9/9/4K4 b - 1",
            "row 5, \"4+G4\": \"+G\" is not a piece, expected one of PLNSGBRKplnsgbrk, + before some",
        ),
        ("4k4/9/9/9/9/9/9/9/4K4 x - 1", "\"x\" is to move, expected b or w"),
        (
            "4k4/9/9/9/9/9/9/9/4K4 b 1P 1",
            "hands \"1P\", at \"1P\": expected letters of RBGSNLPrbgsnlp, a number above 1 before some, or - alone",
        ),
        (
            "4k4/9/9/9/9/9/9/9/4K4 b P-p 1",
            "hands \"P-p\", at \"-p\": expected letters of RBGSNLPrbgsnlp, a number above 1 before some, or - alone",
        ),
        ("4k4/9/9/9/9/9/9/9/4K4 b 3R 1", "hands \"3R\": 3 of R, expected at most 2"),
        ("4k4/9/9/9/9/9/9/9/4K4 b - x", "\"x\" is the move's number, expected a number from 0 to 999999"),
        ("9/9/9/9/9/9/9/9/4K4 b - 1", "\"9/9/9/9/9/9/9/9/4K4 b - 1\": White has 0 kings, expected 1"),
        ("4k3P/9/9/9/9/9/9/9/4K4 b - 1", "\"4k3P/9/9/9/9/9/9/9/4K4 b - 1\": Black's P on 1a could never move"),
        ("4k4/9/9/9/9/9/9/8n/4K4 b - 1", "\"4k4/9/9/9/9/9/9/8n/4K4 b - 1\": White's n on 1h could never move"),
        ("4k4/9/9/P8/9/P8/9/9/4K4 b - 1", "\"4k4/9/9/P8/9/P8/9/9/4K4 b - 1\": Black has two pawns on file 9"),
        (
            "4k4/9/9/4B4/9/4+b4/9/9/4K4 b B 1",
            "\"4k4/9/9/4B4/9/4+b4/9/9/4K4 b B 1\": there are 3 of B, expected at most 2",
        ),
        (
            "4k4/9/9/4R4/9/9/9/9/4K4 b - 1",
            "\"4k4/9/9/4R4/9/9/9/9/4K4 b - 1\": White's king could be taken, and Black is to move",
        ),
    ] {
        assert_eq!(game.parse_position(text).expect_err(text), sentence);
    }
    for text in ["startpos", "sfen 4k4/9/9/9/9/9/9/9/4K4 b 2Pp 7", " 4k4/9/9/9/9/9/9/9/4K4  w  - "] {
        assert!(game.parse_position(text).is_ok(), "{text}");
    }
    let state = game.parse_position("4k4/9/9/9/9/9/9/9/4K4 w pR2gP").expect("hands in any order");
    assert_eq!(game.position_text(&state), "4k4/9/9/9/9/9/9/9/4K4 w RP2gp 1");
    assert_eq!(game.player(&state), Player::Second);
}

#[test]
fn mutated_text_errs_and_never_panics() {
    let game = shogi();
    let letters: Vec<char> =
        "0123456789abiPLNSGBRKplnsgbrk+-/ bw*startpos同　成不打角龍竜王全（)▲△ー\u{0}\u{301}🙂".chars().collect();
    let positions = [
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
        "6n1l/2+S1k4/2lp4p/1np1B2b1/3PP4/1N1S3rP/1P2+pPP+p1/1p1G5/3KG2r1 b GSN2L4Pgs2p 1",
        "startpos",
    ];
    let texts =
        ["7g7f", "P*5e", "8h2b+", "+7776FU", "-0055KA", "７六歩(77)", "同　角成(88)", "５五歩打", "２二銀不成(31)"];
    let mut random = RandomStream::new(1, 0, 0, "mutations");
    let mut mutated = |text: &str| {
        let mut symbols: Vec<char> = text.chars().collect();
        for _ in 0..=random.below(3) {
            let place = random.below(symbols.len() + 1);
            let symbol = letters[random.below(letters.len())];
            match random.below(3) {
                0 => symbols.insert(place, symbol),
                1 if place < symbols.len() => symbols[place] = symbol,
                _ if place < symbols.len() => drop(symbols.remove(place)),
                _ => {}
            }
        }
        symbols.into_iter().collect::<String>()
    };
    let mut num_errors = 0;
    for round in 0..30_000 {
        match game.parse_position(&mutated(positions[round % positions.len()])) {
            Ok(state) => drop(at(&*game, &state).legal_actions(true)),
            Err(error) => num_errors += usize::from(!error.0.is_empty()),
        }
    }
    assert!(num_errors > 10_000, "{num_errors}");
    let start = game.parse_position(positions[1]).expect("a position");
    let first = at(&*game, &start).legal_actions(false)[0];
    let state = at(&*game, &start).play(first).expect("a legal action");
    let legal = at(&*game, &state).legal_actions(true);
    for round in 0..3_000 {
        let read = at(&*game, &state).parse_action(&mutated(texts[round % texts.len()]));
        assert!(read.is_none_or(|action| legal.contains(&action)));
    }
}
