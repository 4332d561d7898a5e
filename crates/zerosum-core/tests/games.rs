//! The contract of `trait Game`, tested with every game of the core over random games.

use std::collections::{BTreeSet, HashSet};

use zerosum_core::erased::{AnyGame, AnyPosition, AnyState};
use zerosum_core::game::{Action, Game, Notation, PlaneKind, Planes, Position, Starts};
use zerosum_core::games::breakthrough::Breakthrough;
use zerosum_core::games::chess::{Chess, Variant};
use zerosum_core::games::connect4::ConnectFour;
use zerosum_core::games::go::{Go, mixed::MixedGo};
use zerosum_core::games::gomoku::Gomoku;
use zerosum_core::games::hex::Hex;
use zerosum_core::games::medley::Medley;
use zerosum_core::games::minichess::Minichess;
use zerosum_core::games::minishogi::Minishogi;
use zerosum_core::games::nim::Nim;
use zerosum_core::games::options::Options;
use zerosum_core::games::othello::Othello;
use zerosum_core::games::shogi::Shogi;
use zerosum_core::games::tictactoe::TicTacToe;
use zerosum_core::games::{self, CoreGame};
use zerosum_core::perft::perft;
use zerosum_core::player::Player;
use zerosum_core::random::RandomStream;
use zerosum_core::{SearchConfig, UsageError};

/// The packed bit planes and the constants of one position. Panics if a plane is left out or there is one too many.
fn encode<G: Game>(game: &G, state: &G::State) -> (Vec<u8>, Vec<f32>) {
    let spec = game.spec();
    let mut bits = vec![0; spec.num_planes(PlaneKind::Bits) * spec.bytes_per_plane()];
    let mut constants = vec![f32::NAN; spec.num_planes(PlaneKind::Constant)];
    let mut planes = Planes::new(&mut bits, &mut constants, spec.bytes_per_plane());
    game.encode(state, &mut planes);
    assert!(planes.is_complete(), "{}: encode() left a plane out", spec.name());
    assert!(constants.iter().all(|constant| constant.is_finite()));
    (bits, constants)
}

fn legal<G: Game>(game: &G, position: &Position<G::State>) -> Vec<Action> {
    position.legal_actions(game, false)
}

/// All visible data of a position, for comparisons.
fn look<G: Game>(game: &G, position: &Position<G::State>) -> impl PartialEq + std::fmt::Debug + use<G> {
    let state = &position.state;
    (
        game.board_text(state),
        encode(game, state),
        position.outcome(game),
        legal(game, position),
        position.plies,
        position.outcome(game).is_none().then(|| game.player(state)),
    )
}

/// Checks that `is_legal` agrees with `legal_actions`.
fn tells_legal_actions<G: Game>(game: &G, position: &Position<G::State>, numbers: impl Iterator<Item = usize>) {
    let legal = position.legal_actions(game, true);
    for action in numbers.map(|number| number as Action).chain(legal.iter().copied()).chain([Action::MAX]) {
        let is_legal = game.is_legal(&position.state, action);
        assert_eq!(is_legal, legal.contains(&action), "action {action}\n{}", game.board_text(&position.state));
    }
}

fn check_position<G: Game>(game: &G, position: &Position<G::State>) {
    let (spec, board, actions) = (game.spec(), game.board_text(&position.state), legal(game, position));
    assert!(board.ends_with('\n') && board.lines().count() > 1, "board_text() is several lines:\n{board}");
    assert!(actions.windows(2).all(|pair| pair[0] < pair[1]), "{actions:?} is not ascending\n{board}");
    assert!(actions.iter().all(|action| usize::from(*action) < spec.num_actions()), "{actions:?}\n{board}");
    match position.outcome(game) {
        Some(outcome) => {
            assert!((-1.0..=1.0).contains(&outcome.result.0) && !outcome.ending.is_empty(), "{outcome:?}\n{board}");
        }
        None => assert!(!actions.is_empty(), "a game that goes on has a move\n{board}"),
    }
    if position.outcome(game).is_some_and(|outcome| outcome.is_soft) {
        assert!(!position.legal_actions(game, true).is_empty(), "a soft end leaves a move\n{board}");
    }
    // A sixteenth of all actions are tested at each position, and numbers beyond them.
    tells_legal_actions(game, position, (position.plies as usize % 16..spec.num_actions() + 32).step_by(16));
    let texts: HashSet<String> = actions.iter().map(|action| game.action_text(&position.state, *action)).collect();
    assert_eq!(texts.len(), actions.len(), "two legal actions share a text: {texts:?}\n{board}");
    assert!(texts.iter().all(|text| !text.is_empty() && !text.contains(char::is_whitespace)), "{texts:?}\n{board}");

    let notations = game.notation().map_or(&[][..], |ability| ability.notations());
    for action in &actions {
        for notation in std::iter::once(None).chain(notations.iter().map(Some)) {
            let text = match notation.zip(game.notation()) {
                None => game.action_text(&position.state, *action),
                Some((notation, ability)) => {
                    ability.action_text_in(&position.state, *action, notation).expect("a known notation")
                }
            };
            let read = game.parse_action(&position.state, &actions, &text);
            assert_eq!(read, Some(*action), "{text:?} ({notation:?}) does not read back\n{board}");
        }
    }
    if let Some(ability) = game.notation() {
        let text = ability.position_text(&position.state);
        let state =
            ability.parse_position(&text).unwrap_or_else(|error| panic!("{text:?} does not read back: {error}"));
        assert_eq!(ability.position_text(&state), text);
        let set_up = Position { state, plies: 0 };
        if position.outcome(game).is_none_or(|outcome| !outcome.is_soft) {
            assert_eq!(set_up.legal_actions(game, true), actions, "{text}\n{board}");
            assert_eq!(game.player(&set_up.state), game.player(&position.state), "{text}");
        }
    }

    let (bits, _) = encode(game, &position.state);
    let unused = spec.bytes_per_plane() * 8 - spec.num_squares();
    for plane in bits.chunks_exact(spec.bytes_per_plane()) {
        let last = plane[plane.len() - 1];
        assert_eq!(u32::from(last) >> (8 - unused), 0, "bits beyond the last square are set\n{board}");
    }
}

/// Checks that a game with its actions permuted has the same legal moves, players and end.
fn is_a_symmetry<G: Game>(game: &G, start: &G::State, moves: &[Action], permutation: &[Action]) {
    let begun = || Position::<G::State> { state: start.clone(), plies: 0 };
    let (mut position, mut image) = (begun(), begun());
    for action in moves {
        let mut expected: Vec<Action> =
            legal(game, &position).iter().map(|action| permutation[usize::from(*action)]).collect();
        expected.sort_unstable();
        assert_eq!(legal(game, &image), expected, "{permutation:?}\n{}", game.board_text(&image.state));
        assert_eq!(game.player(&position.state), game.player(&image.state));
        position.play(game, *action);
        image.play(game, permutation[usize::from(*action)]);
        assert_eq!(position.outcome(game), image.outcome(game), "{permutation:?}\n{}", game.board_text(&image.state));
    }
}

/// A random game from a start.
fn random_moves<G: Game>(game: &G, start: &G::State, number: u32) -> Vec<Action> {
    let mut random = RandomStream::new(2, number.into(), 0, "starts");
    let mut position = Position::<G::State> { state: start.clone(), plies: 0 };
    let mut moves = Vec::new();
    loop {
        let actions = legal(game, &position);
        if actions.is_empty() {
            return moves;
        }
        moves.push(actions[random.below(actions.len())]);
        position.play(game, moves[moves.len() - 1]);
    }
}

/// Plays random games and checks the contract in the documentation of `trait Game`. Returns the game's name.
fn keeps_the_contract<G: Game>(game: &G, num_games: u64) -> String {
    let mut players = HashSet::new();
    let mut longest = 0;
    for number in 0..num_games {
        let mut random = RandomStream::new(1, number, 0, "contract");
        let mut position = Position::initial(game);
        let mut moves = Vec::new();
        loop {
            check_position(game, &position);
            let actions = legal(game, &position);
            if actions.is_empty() {
                break;
            }
            players.insert(game.player(&position.state));
            let before = look(game, &position);
            let mut copy = position.clone();
            let action = actions[random.below(actions.len())];
            copy.play(game, action);
            assert_eq!(look(game, &position), before, "playing on a copy changed the position");
            position.play(game, action);
            assert_eq!(look(game, &position), look(game, &copy), "one action led to two positions");
            moves.push(action);
        }
        for permutation in game.spec().symmetries() {
            is_a_symmetry(game, &game.initial_state(), &moves, permutation);
        }
        let mut replayed = Position::initial(game);
        for action in &moves {
            replayed.play(game, *action);
        }
        assert_eq!(look(game, &replayed), look(game, &position), "equal moves led to two positions: {moves:?}");
        longest = longest.max(position.plies);
    }
    if let Some(starts) = game.starts().filter(|_| !game.spec().symmetries().is_empty()) {
        for number in 0..starts.num_starts() {
            let start = starts.start(number);
            let moves = random_moves(game, &start, number);
            game.spec().symmetries().iter().for_each(|permutation| is_a_symmetry(game, &start, &moves, permutation));
        }
    }
    assert!(longest <= game.spec().max_plies());
    assert_eq!(players, HashSet::from([Player::First, Player::Second]));
    game.spec().name().to_owned()
}

/// Positions in which an action's number alone would mislead: castling, kings two squares from an empty corner, en
/// passant, promotions, pins.
#[test]
fn each_action_of_chess_is_known_alone() {
    for game in [Chess::new(Variant::Chess), Chess::new(Variant::Chess960)] {
        for text in [
            "r3k2r/pppq1ppp/8/8/3Pp3/8/PPP2PPP/R2QK2R b KQkq d3 0 1",
            "r3k2r/1P4P1/8/8/8/8/1p4p1/R3K2R w KQkq - 0 1",
            "rn2k2r/1P5P/8/2K5/2pP4/8/8/R7 b kq d3 0 1",
            "4k3/8/8/8/3K1R2/8/8/8 w - - 0 1",
            "4k3/4r3/8/8/3KRR2/8/8/4R3 w - - 0 1",
            "4k3/8/8/8/8/8/4r3/R2K3R w - - 0 1",
        ] {
            let position = Position { state: game.parse_position(text).expect("a position"), plies: 0 };
            tells_legal_actions(&game, &position, 0..game.spec().num_actions());
        }
    }
}

#[test]
fn every_game_keeps_the_contract() {
    let held = [
        keeps_the_contract(&Breakthrough::standard(), 50),
        keeps_the_contract(&Chess::new(Variant::Chess), 3),
        keeps_the_contract(&Chess::new(Variant::Chess960), 3),
        keeps_the_contract(&ConnectFour::standard(), 300),
        keeps_the_contract(&go::<6, 362>("go"), 1),
        keeps_the_contract(&Gomoku::standard(), 2),
        keeps_the_contract(&Hex::standard(), 5),
        keeps_the_contract(&Medley::standard(), 50),
        keeps_the_contract(&Minichess::standard(), 15),
        keeps_the_contract(&Minishogi::standard(), 15),
        keeps_the_contract(&MixedGo::<3, 170>::standard(), 5),
        keeps_the_contract(&Nim::standard(), 300),
        keeps_the_contract(&Othello::standard(), 100),
        keeps_the_contract(&Shogi::standard(), 1),
        keeps_the_contract(&TicTacToe::standard(), 300),
    ];
    let names: BTreeSet<String> = games::names().map(|name| game(name).spec().name().to_owned()).collect();
    assert!(names.iter().eq(&held), "each game of the core is held against the contract");
}

fn go<const W: usize, const P: usize>(text: &str) -> Go<W, P> {
    Go::from_options(options(text)).expect("known options")
}

#[test]
fn every_go_keeps_the_contract() {
    for given in [
        "size=5",
        "size=5, suicide=true, komi=0, max_plies=150",
        "size=5, superko=simple, max_plies=150",
        "size=5, superko=situational, suicide=true, max_plies=150",
        "size=7, handicap=3, history=1, history_fill=zero",
        "size=8, handicap=4",
        "size=9",
    ] {
        keeps_the_contract(&go::<2, 82>(&format!("go({given})")), 20);
    }
    keeps_the_contract(&go::<3, 170>("go(size=13, max_plies=200)"), 1);
    keeps_the_contract(&go::<10, 626>("go(size=25, max_plies=100)"), 1);
}

/// The view of the first player: maps a row and column of the second player's view on a board of `rows` and `columns`.
type Turn = fn(row: usize, column: usize, rows: usize, columns: usize) -> (usize, usize);

/// True if an action of a plane puts a piece on its square; otherwise a piece leaves the square.
type Fills = fn(plane: usize) -> bool;

/// For each game whose actions are planes of squares: the planes that fill their squares, and the second player's view.
fn action_planes() -> Vec<(&'static str, Fills, Turn)> {
    let (same, flipped): (Turn, Turn) =
        (|row, column, _, _| (row, column), |row, column, rows, _| (rows - 1 - row, column));
    let turned: Turn = |row, column, rows, columns| (rows - 1 - row, columns - 1 - column);
    vec![
        ("breakthrough", |_| false, flipped),
        ("chess", |_| false, flipped),
        ("chess960", |_| false, flipped),
        ("go9", |_| true, same),
        ("gomoku", |_| true, same),
        ("hex", |_| true, |row, column, _, _| (column, row)),
        ("hex(size=4, swap=true)", |_| true, |row, column, _, _| (column, row)),
        ("medley", |plane| plane == 0, |row, column, _, _| (column, row)),
        ("medley(games=gomoku)", |plane| plane == 0, same),
        ("medley(games=breakthrough)", |_| false, flipped),
        ("minichess", |_| false, flipped),
        ("minishogi", |plane| plane >= 64, turned),
        ("mixedgo(sizes=7-9)", |_| true, same),
        ("nim", |_| false, same),
        ("othello", |_| true, same),
        ("shogi", |plane| plane >= 132, turned),
        ("tictactoe", |_| true, same),
    ]
}

/// For each square, true if a bit plane of the present position whose name begins with `owner` has it.
fn occupied(game: &dyn AnyGame, state: &AnyState, owner: &str) -> Vec<bool> {
    let (spec, leaves) = (game.spec(), game.encode(std::slice::from_ref(state)).expect("its own state"));
    let bits = spec.planes().iter().filter(|plane| plane.kind == PlaneKind::Bits);
    let mut squares = vec![false; spec.num_squares()];
    for (plane, packed) in bits.zip(leaves.arrays().packed_planes().chunks(spec.bytes_per_plane())) {
        if plane.name.starts_with(owner) && !plane.name.contains(" ago") && !plane.name.contains("castle") {
            for (square, is_occupied) in squares.iter_mut().enumerate() {
                *is_occupied |= packed[square / 8] >> (square % 8) & 1 == 1;
            }
        }
    }
    squares
}

/// Action = plane · squares + square, in the orientation of the planes. Before an action that leaves its square the
/// square is the mover's, afterwards it is not; with an action that fills its square it is the other way round. The
/// text of the action names the square.
#[test]
fn actions_name_their_squares_as_the_planes_show_them() {
    let tested = action_planes();
    for name in games::names() {
        let full_name = game(name).spec().full_name();
        let is_tested = tested.iter().any(|(other, ..)| game(other).spec().name() == game(name).spec().name());
        assert_eq!(is_tested, game(name).spec().has_action_planes(), "{full_name}");
    }
    for (number, (name, fills, turn)) in (0..).zip(tested) {
        let game = game(name);
        let (rows, columns) = game.spec().board_shape();
        let own = if name == "nim" { "objects" } else { "own " };
        let opponent = if name == "nim" { "objects" } else { "opponent" };
        let mut random = RandomStream::new(11, number, 0, "action planes");
        let (mut state, mut num_played) = (game.initial_state(), 0);
        while num_played < 300 {
            let legal = at(&*game, &state).legal_actions(false);
            if legal.is_empty() {
                state = game.initial_state();
                continue;
            }
            let action = legal[random.below(legal.len())];
            let next = at(&*game, &state).play(action).expect("a legal action");
            let (plane, square) = (usize::from(action) / (rows * columns), usize::from(action) % (rows * columns));
            let text = at(&*game, &state).action_text(action, None).expect("a legal action");
            if (plane + 1) * rows * columns <= game.spec().num_actions() {
                let [before, others] = [own, opponent].map(|owner| occupied(&*game, &state, owner)[square]);
                let (row, column) = turn(square / columns, square % columns, rows, columns);
                let after = occupied(&*game, &next, opponent)[row * columns + column];
                let is_filled = fills(plane);
                assert_eq!((before, after), (!is_filled, is_filled), "{name}: {text}");
                assert!(!others || own == opponent, "{name}: {text}");
                let is_second = at(&*game, &state).player() == Player::Second;
                let (row, column) = if is_second { (row, column) } else { (square / columns, square % columns) };
                let picture = at(&*game, &state).picture().expect("all of these are drawn");
                let (file, rank) = (&picture.column_labels[column], &picture.row_labels[row]);
                let label = format!("{file}{rank}");
                let named = text.rsplit('*').next().expect("it has a last part");
                let is_named = if is_filled { named == label } else { named.starts_with(&label) };
                assert!(is_named || own == opponent && text.starts_with(rank.as_str()), "{name}: {text}, {label}");
            }
            (state, num_played) = (next, num_played + 1);
        }
    }
}

fn options(text: &str) -> Options {
    Options::parse(text).expect("well formed").1
}

#[test]
fn options_keep_the_contract() {
    for game in ["gomoku(size=6, length=4)", "gomoku(size=7, exact_five=true)", "gomoku(size=3)"] {
        keeps_the_contract(&Gomoku::from_options(options(game)).expect(game), 50);
    }
    for game in ["hex(size=2, swap=true)", "hex(size=5)", "hex(size=4, swap=true)"] {
        keeps_the_contract(&Hex::from_options(options(game)).expect(game), 100);
    }
    for game in ["breakthrough(size=4)", "breakthrough(size=5)", "breakthrough(size=7)"] {
        keeps_the_contract(&Breakthrough::from_options(options(game)).expect(game), 50);
    }
    for game in ["nim(misere=true)", "nim(heaps=2-2)", "nim(heaps=1-20-3-4-5)"] {
        keeps_the_contract(&Nim::from_options(options(game)).expect(game), 100);
    }
    for game in ["medley(size=4, games=gomoku)", "medley(size=5, games=breakthrough)", "medley(size=8)"] {
        keeps_the_contract(&Medley::from_options(options(game)).expect(game), 20);
    }
    // Boards of more than 64 squares, with a full last word and without.
    keeps_the_contract(&Hex::from_options(options("hex(size=16)")).expect("a size"), 1);
    keeps_the_contract(&Gomoku::from_options(options("gomoku(size=25, max_plies=30)")).expect("a size"), 1);
}

#[test]
fn names_lead_to_their_games() {
    assert!(games::names().is_sorted(), "the table of games is in the order of names");
    for name in games::names() {
        let spec = game(name).spec().clone();
        assert_eq!(game(&spec.full_name()).spec().encoder_id(), spec.encoder_id(), "{name}");
    }
    assert!(games::by_name("draughts").is_ok_and(|game| game.is_none()));
    let capped = games::by_name("tictactoe(max_plies=3)").unwrap().expect("a name of the core");
    assert_eq!((capped.spec().full_name().as_str(), capped.spec().max_plies()), ("tictactoe(max_plies=3)", 3));
    assert_eq!(capped.spec().encoder_id(), game("tictactoe").spec().encoder_id(), "a network need not know the cap");
    let short = ["go9(komi=5.5)", "go(size=9)", "go9", "go13", "go19", "go(rules=tromp-taylor)", "go(komi=7.5)"];
    let full = short.map(|name| game(name).spec().full_name());
    assert_eq!(
        full,
        ["go(size=9, komi=5.5)", "go(size=9)", "go(size=9)", "go(size=13)", "go", "go(suicide=true)", "go"]
    );
    let ids: HashSet<String> = games::names().map(|name| game(name).spec().encoder_id()).collect();
    let games: HashSet<String> = games::names().map(|name| game(name).spec().full_name()).collect();
    assert_eq!(ids.len(), games.len(), "no two games share an encoding");
}

fn at<'a>(game: &'a dyn AnyGame, state: &'a AnyState) -> Box<dyn AnyPosition + 'a> {
    game.position(state).expect("its own state")
}

fn game(name: &str) -> std::sync::Arc<dyn AnyGame> {
    games::by_name(name).expect("no options").expect("a name of the core")
}

#[test]
fn three_in_a_row_on_nine_points_are_tic_tac_toe() {
    let gomoku = Gomoku::from_options(options("gomoku(size=3)")).expect("a size");
    let known = [9, 72, 504, 3024, 15_120, 54_720, 148_176, 200_448, 127_872, 0];
    for (depth, count) in (1..).zip(known) {
        assert_eq!(perft(&gomoku, &gomoku.initial_state(), depth, &|| ()), count, "depth {depth}");
        let tictactoe = TicTacToe::standard();
        assert_eq!(perft(&tictactoe, &tictactoe.initial_state(), depth, &|| ()), count, "depth {depth}");
    }
}

/// Names of games with a number for each group of games that share states.
const KINDS: [(&str, u32); 16] = [
    ("tictactoe", 0),
    ("tictactoe(max_plies=4)", 0),
    ("gomoku(size=3)", 1),
    ("gomoku(size=4)", 2),
    ("chess", 3),
    ("chess(history=1)", 3),
    ("chess960", 4),
    ("chess(policy=flat)", 5),
    ("go(size=7)", 6),
    ("go(size=7, komi=3.5, superko=simple)", 6),
    ("go(size=9)", 7),
    ("hex(size=4)", 8),
    ("hex(size=4, swap=true)", 9),
    ("nim", 10),
    ("nim(heaps=2-3)", 11),
    ("breakthrough(size=4)", 12),
];

#[test]
fn states_are_shared_by_games_of_one_board_and_numbering_alone() {
    for (name, kind) in KINDS {
        let maker = game(name);
        // The last state of a game is tested: stones show if a board is too small.
        let mut state = maker.initial_state();
        let mut random = RandomStream::new(3, 0, 0, "foreign states");
        loop {
            let legal = at(&*maker, &state).legal_actions(false);
            if legal.is_empty() {
                break;
            }
            let next = at(&*maker, &state).play(legal[random.below(legal.len())]).expect("a legal action");
            state = next;
        }
        for (other_name, other_kind) in KINDS {
            let other = game(other_name);
            let mut search = other.search(SearchConfig::default(), 1).expect("a search");
            let offsets = [0, 0];
            let errors = [
                other.position(&state).err(),
                other.encode_again(std::slice::from_ref(&state), 1, &|| ()).err(),
                other.encode(std::slice::from_ref(&state)).err(),
                other.encode_plies(&[Some(state.clone())], &[], &offsets, &[0], &[0]).err(),
                search.reset(0, &state).err(),
            ];
            for (number, error) in errors.into_iter().enumerate() {
                assert_eq!(error.is_some(), kind != other_kind, "{name} in {other_name}, call {number}: {error:?}");
                if let Some(UsageError(sentence)) = error {
                    let full = [&maker, &other].map(|game| game.spec().full_name());
                    assert_eq!(sentence, format!("this state is of {}, expected a state of {}", full[0], full[1]));
                }
            }
        }
    }
}
