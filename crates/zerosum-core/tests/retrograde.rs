//! Tables by retrograde analysis, against all lines of play and against known facts.

use std::collections::HashMap;

use zerosum_core::game::{Endings, Game, Notation, Position, PositionKeys};
use zerosum_core::games::CoreGame;
use zerosum_core::games::chess::{Chess, Variant};
use zerosum_core::games::minichess::Minichess;
use zerosum_core::games::nim::Nim;
use zerosum_core::games::options::Options;
use zerosum_core::games::tictactoe::TicTacToe;
use zerosum_core::retrograde::{Keys, ResultTable, solve_endings, solve_game};

const MEMORY: u64 = 1 << 30;

fn endings<G: Game>(game: &G, name: &str) -> Result<ResultTable, String> {
    solve_endings(game, &[name.to_owned()], MEMORY, &|| {})
}

/// The slow twin: all lines of play, for the player to move; a nearer win is better, and a farther loss.
fn by_all_lines<G: Game>(game: &G, state: &G::State, known: &mut HashMap<u64, i16>) -> i16 {
    let key = game.keys().unwrap().table_key(state).key;
    if let Some(plies) = known.get(&key) {
        return *plies;
    }
    let worth = |plies: i16| plies.signum() * 1000 - plies;
    let mut actions = Vec::new();
    game.legal_actions(state, &mut actions);
    let values = actions.into_iter().map(|action| {
        let mut next = state.clone();
        game.play(&mut next, action);
        let mover = game.player(state);
        if let Some(outcome) = game.outcome(&next) {
            return outcome.result.for_mover(mover).0 as i16;
        }
        let value = by_all_lines(game, &next, known);
        let own = if game.player(&next) == mover { value } else { -value };
        own + own.signum()
    });
    let values: Vec<_> = values.collect();
    let best = values.into_iter().max_by_key(|value| worth(*value)).expect("a game that is not over has a move");
    known.insert(key, best);
    best
}

fn require_twin<G: Game>(game: &G) {
    let table = solve_game(game, MEMORY, &|| {}).unwrap();
    let mut known = HashMap::new();
    by_all_lines(game, &game.initial_state(), &mut known);
    let mut expected: Vec<_> = known.into_iter().collect();
    expected.sort_unstable();
    let found: Vec<_> = table.keys().iter().copied().zip(table.results().iter().copied()).collect();
    assert_eq!(found, expected);
    assert_eq!(table.kind(), Keys::Game);
}

#[test]
fn small_games_are_as_all_lines_say() {
    require_twin(&TicTacToe::standard());
    for text in ["nim(heaps=1-2-3)", "nim(heaps=1-2-3, misere=true)"] {
        require_twin(&Nim::from_options(Options::parse(text).unwrap().1).unwrap());
    }
}

#[test]
fn the_longest_mates_are_as_known() {
    let chess = Chess::new(Variant::Chess);
    let longest = |name| *endings(&chess, name).unwrap().results().iter().max().unwrap();
    // Mates in 10 and 16 moves.
    assert_eq!(["KQvK", "KRvK"].map(longest), [19, 31]);
}

/// Each result follows from those of the moves, also where a symmetry led to it, and with either colour to move.
#[test]
fn results_follow_from_those_of_the_moves() {
    let game = Minichess::from_options(Options::default()).unwrap();
    let table = endings(&game, "KRvKP").unwrap();
    let texts = ["5/2k1r/5/1P3/1K3", "4K/5/pk3/5/3R1", "3k1/5/1K3/2p2/4R", "R4/1p3/2k2/5/K4"];
    for (text, mover) in texts.iter().flat_map(|text| [(text, 'w'), (text, 'b')]) {
        let state = game.parse_position(&format!("{text} {mover} - - 0 1")).unwrap();
        let mut best = i32::MIN;
        let mut actions = Vec::new();
        game.legal_actions(&state, &mut actions);
        let worth = |plies: i32| plies.signum() * 1000 - plies;
        for action in actions {
            let mut next = state.clone();
            game.play(&mut next, action);
            let plies = if let Some(outcome) = game.outcome(&next) {
                outcome.result.for_mover(game.player(&state)).0 as i32
            } else {
                let plies = -i32::from(table.get(&game, &next).unwrap());
                plies + plies.signum()
            };
            best = best.max(worth(plies));
        }
        assert_eq!(worth(table.get(&game, &state).unwrap().into()), best, "{text} {mover}");
    }
}

/// A pawn that can be taken en passant makes another position, in mirror images and for both colours the same one.
#[test]
fn keys_know_en_passant() {
    let chess = Chess::new(Variant::Chess);
    let key = |text: &str| chess.men(&chess.parse_position(text).unwrap()).unwrap().key((8, 8));
    let taken = key("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1");
    assert_eq!(taken, key("3k4/8/8/3Pp3/8/8/8/3K4 w - e6 0 1"));
    assert_eq!(taken, key("4k3/8/8/8/3Pp3/8/8/4K3 b - d3 0 1"));
    let not_taken = key("4k3/8/8/3pP3/8/8/8/4K3 w - - 0 1");
    assert_ne!(taken, not_taken);
    // No pawn stands beside this one.
    assert_eq!(key("4k3/8/8/3p4/8/4P3/8/4K3 w - d6 0 1"), key("4k3/8/8/3p4/8/4P3/8/4K3 w - - 0 1"));
}

#[test]
fn counters_of_moves_may_come_before_the_end() {
    let chess = Chess::new(Variant::Chess);
    let table = endings(&chess, "KRvK").unwrap();
    let at = |clock: u32, plies: u32| {
        let state = chess.parse_position(&format!("8/8/8/3k4/8/8/8/K6R w - - {clock} 80")).unwrap();
        let position = Position { state, plies };
        (table.get(&chess, &position.state), table.plies(&chess, &position))
    };
    let (plies, _) = at(0, 0);
    let num_plies = u32::try_from(plies.unwrap()).unwrap();
    assert_eq!(at(0, 0), (plies, plies));
    assert_eq!(at(100 - num_plies, 0), (plies, plies));
    assert_eq!(at(101 - num_plies, 0), (plies, None));
    let cap = chess.spec().max_plies();
    assert_eq!(at(0, cap - num_plies), (plies, plies));
    assert_eq!(at(0, cap - num_plies + 1), (plies, None));
}

#[test]
fn memory_is_asked_before_it_is_taken() {
    let chess = Chess::new(Variant::Chess);
    let refused = solve_endings(&chess, &["KQvKR".to_owned()], 1 << 28, &|| {}).unwrap_err();
    assert!(refused.starts_with("KQvKR with the 3 endings below may need "), "{refused}");
    assert!(refused.ends_with(" MiB, and 256 MiB are allowed"), "{refused}");
    let refused = solve_game(&chess, 1 << 20, &|| {}).unwrap_err();
    assert!(refused.starts_with("needs more than 1 MiB: "), "{refused}");
}

#[test]
fn what_has_no_table_is_refused() {
    let minichess = Minichess::from_options(Options::default()).unwrap();
    for name in ["KQvKx", "QvK", "KQQQvK", "KvKK", "KQ", ""] {
        let refused = endings(&minichess, name).unwrap_err();
        assert!(refused.contains("is not an ending: expected the men of both sides"), "{refused}");
    }
    assert!(endings(&minichess, "KNvK").unwrap_err().contains("or all are drawn by its rules"));
    assert!(endings(&TicTacToe::standard(), "KQvK").unwrap_err().starts_with("tictactoe has no positions of KQvK"));
    assert!(ResultTable::new(Keys::Game, vec![1, 1], vec![0, 0]).unwrap_err().contains("not above"));
    assert!(ResultTable::new(Keys::Game, vec![1], vec![]).unwrap_err().contains("1 keys and 0 results"));
}
