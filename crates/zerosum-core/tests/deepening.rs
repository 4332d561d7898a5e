//! The deepening alpha-beta search and the evaluation by updatable networks, with games of the core.

use std::sync::Arc;

use zerosum_core::alpha_beta::alpha_beta;
use zerosum_core::deepening::{AnyEvaluation, Deepening, Limit, LineEvaluation, Parts, Settings};
use zerosum_core::evaluation::Material;
use zerosum_core::game::{Game, GameSpec, Notation, PlaneKind, Position, PositionKeys, Tactics};
use zerosum_core::games::CoreGame;
use zerosum_core::games::breakthrough::Breakthrough;
use zerosum_core::games::chess::{Chess, Variant};
use zerosum_core::games::connect4::ConnectFour;
use zerosum_core::games::gomoku::Gomoku;
use zerosum_core::games::minichess::Minichess;
use zerosum_core::games::minishogi::Minishogi;
use zerosum_core::games::othello::Othello;
use zerosum_core::games::shogi::Shogi;
use zerosum_core::games::tictactoe::TicTacToe;
use zerosum_core::random::RandomStream;
use zerosum_core::tables::Tables;
use zerosum_core::updatable::features::{BitPlane, FeatureMap, NumberPlane};
use zerosum_core::updatable::lines::Line;
use zerosum_core::updatable::{Accumulators, Network, Weights};

fn settings(parts: Parts) -> Settings {
    Settings {
        evaluation: AnyEvaluation::Material,
        disturbance: 0.0,
        seed: 0,
        parts,
        piece_values: Vec::new(),
        table_entries: 1 << 16,
        tables: Tables::default(),
    }
}

/// Positions of random games that are not over.
fn random_positions<G: Game>(game: &G, seed: u64, num_games: u64, plies: usize) -> Vec<Position<G::State>> {
    let mut found = Vec::new();
    for number in 0..num_games {
        let (mut random, mut position) = (RandomStream::new(seed, number, 0, "test"), Position::initial(game));
        for _ in 0..plies + number as usize % 3 {
            let legal = position.legal_actions(game, false);
            if legal.is_empty() {
                break;
            }
            let mut next = position.clone();
            next.play(game, legal[random.below(legal.len())]);
            if next.outcome(game).is_some() {
                break;
            }
            position = next;
        }
        found.push(position);
    }
    found
}

/// Without its parts the search is alpha-beta of a fixed depth, which is much simpler.
fn is_plain_alpha_beta<G: Game>(game: G, depth: u32, plies: usize) {
    let game = Arc::new(game);
    for parts in [Parts::NONE, Parts { killers: true, history: true, aspiration: true, ..Parts::NONE }] {
        for position in random_positions(&*game, 7, 6, plies) {
            let mut search = Deepening::new(Arc::clone(&game), settings(parts)).expect("the game's own");
            search.begin(position.clone(), None).expect("not over");
            let found = search.think(Limit::default(), depth, &|| ()).expect("begun").expect("not stopped");
            let random = RandomStream::new(0, 0, 0, "test");
            let plain = alpha_beta(&*game, &position, &Material, found.depth, 0.0, random, &|| ()).expect("not over");
            let board = game.board_text(&position.state);
            match found.plies_to_end() {
                Some(end) => {
                    assert_eq!((plain.value.result, -plain.value.delay), (end.signum() as f32, end), "{board}");
                }
                None => assert_eq!(found.value, (plain.value.evaluation * 100.0).round() as i32, "{board}"),
            }
            assert!(found.is_complete && found.line.len() as u32 <= found.depth);
        }
    }
}

#[test]
fn without_parts_it_is_plain_alpha_beta() {
    is_plain_alpha_beta(Chess::new(Variant::Chess), 3, 20);
    is_plain_alpha_beta(Shogi::standard(), 2, 40);
    is_plain_alpha_beta(Minichess::standard(), 4, 10);
    is_plain_alpha_beta(Minishogi::standard(), 3, 14);
    is_plain_alpha_beta(Breakthrough::standard(), 4, 20);
    is_plain_alpha_beta(Othello::standard(), 4, 30);
    is_plain_alpha_beta(ConnectFour::standard(), 6, 20);
    is_plain_alpha_beta(TicTacToe::standard(), 9, 2);
}

fn found_in(fen: &str, depth: u32) -> (String, Option<i32>, i32) {
    let game = Arc::new(Chess::new(Variant::Chess));
    let state = game.parse_position(fen).expect("a position");
    let mut search = Deepening::new(Arc::clone(&game), settings(Parts::default())).expect("the game's own");
    search.begin(Position { state: state.clone(), plies: 0 }, None).expect("not over");
    let found = search.think(Limit::default(), depth, &|| ()).expect("begun").expect("not stopped");
    (game.action_text(&state, found.line[0]), found.plies_to_end(), found.value)
}

#[test]
fn mates_are_found_with_all_parts() {
    let boden = "2kr3r/pp1nqppp/2p1pn2/8/1b1P1B2/2NB1Q2/PPP2PPP/2KR3R w - - 0 1";
    assert_eq!(found_in(boden, 6).0, "f3c6");
    assert_eq!(found_in(boden, 6).1, Some(3));
    assert_eq!(found_in("6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1", 3).1, Some(1));
    // Mate in three with a rook, and being mated in two.
    assert_eq!(found_in("8/8/8/8/8/5K2/R7/7k w - - 0 1", 6).1, Some(3));
    assert_eq!(found_in("8/8/8/8/8/6k1/r7/7K w - - 0 1", 6).1, Some(-2));
}

#[test]
fn material_is_won_and_not_given_away() {
    // A free queen; a defended pawn that costs a queen; a fork.
    assert_eq!(found_in("4k3/8/8/3q4/8/4P3/3QK3/8 w - - 0 1", 3).0, "d2d5");
    assert_ne!(found_in("4k3/8/4p3/3p4/8/8/8/3QK3 w - - 0 1", 4).0, "d1d5");
    assert!(found_in("r3k3/p7/8/1N6/8/8/P7/4K3 w - - 0 1", 4).2 >= 300);
}

/// A draw by the fifty-move rule is in sight for one position and not for the same one with a new count: the table keeps them
/// apart.
#[test]
fn counters_are_not_mixed_up() {
    let game = Arc::new(Chess::new(Variant::Chess));
    let mut search = Deepening::new(Arc::clone(&game), settings(Parts::default())).expect("the game's own");
    let mut value = |halfmoves: u32| {
        let fen = format!("7k/8/8/8/8/8/R7/K7 w - - {halfmoves} 80");
        let state = game.parse_position(&fen).expect("a position");
        search.begin(Position { state, plies: 0 }, None).expect("not over");
        search.think(Limit::default(), 5, &|| ()).expect("begun").expect("not stopped").value
    };
    assert_eq!((value(0), value(98), value(0)), (500, 0, 500));
}

#[test]
fn limits_hold_and_answers_repeat() {
    let game = Arc::new(Chess::new(Variant::Chess));
    let position = random_positions(&*game, 3, 1, 12).remove(0);
    let mut search = Deepening::new(Arc::clone(&game), settings(Parts::default())).expect("the game's own");
    let mut answer = |nodes| {
        search.clear();
        search.begin(position.clone(), None).expect("not over");
        let limit = Limit { nodes: Some(nodes), time: None };
        search.think(limit, 60, &|| ()).expect("begun").expect("not stopped")
    };
    for nodes in [1000, 5000, 20_000] {
        let found = answer(nodes);
        assert!(found.num_nodes <= nodes + 1, "{} of {nodes}", found.num_nodes);
        assert_eq!(found, answer(nodes));
    }
    let flag = search.stop_flag();
    search.begin(position.clone(), None).expect("not over");
    flag.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(search.think(Limit::default(), 60, &|| ()).expect("begun"), None);
    // Only the allowed move is considered.
    let legal = position.legal_actions(&*game, false);
    search.begin(position, Some(&legal[..1])).expect("a legal move");
    let found = search.think(Limit::default(), 2, &|| ()).expect("begun").expect("not stopped");
    assert_eq!(found.line[0], legal[0]);
}

#[test]
fn a_finished_game_has_nothing_to_search() {
    let game = Arc::new(TicTacToe::standard());
    let mut position = Position::initial(&*game);
    for action in [0, 3, 1, 4, 2] {
        position.play(&*game, action);
    }
    let mut search = Deepening::new(game, settings(Parts::default())).expect("the game's own");
    assert!(search.deepen(Limit::default(), &|| ()).is_err(), "there is no root");
    assert!(search.begin(position, None).expect_err("over").0.contains("the game is over"));
}

/// Features of the planes with an "own" and an "opponent" name, in a game that turns the board for the second player or not.
fn feature_map(spec: &GameSpec, turned: Vec<u32>) -> FeatureMap {
    let planes = |kind: PlaneKind| spec.planes().iter().filter(move |plane| plane.kind == kind).collect::<Vec<_>>();
    let (bits, numbers) = (planes(PlaneKind::Bits), planes(PlaneKind::Constant));
    let mut num_features = 0;
    let mut bit_planes = vec![BitPlane { own: None, other: 0 }; bits.len()];
    let mut number_planes = vec![NumberPlane { own: None, other: 0, num_steps: 0, scale: 0.0 }; numbers.len()];
    let partner = |name: &str| name.replacen("own ", "opponent ", 1);
    for (place, plane) in bits.iter().enumerate() {
        let other = bits.iter().position(|one| one.name == partner(&plane.name)).filter(|other| *other != place);
        let Some(other) = other.filter(|_| !plane.name.ends_with(" ago")) else { continue };
        let (own, theirs) = (num_features, num_features + turned.len() as u32);
        bit_planes[place] = BitPlane { own: Some(own), other: theirs };
        bit_planes[other] = BitPlane { own: Some(theirs), other: own };
        num_features += 2 * turned.len() as u32;
    }
    for (place, plane) in numbers.iter().enumerate() {
        let other = numbers.iter().position(|one| one.name == partner(&plane.name)).filter(|other| *other != place);
        let Some(other) = other.filter(|_| !plane.name.ends_with(" ago")) else { continue };
        let steps = plane.name.rsplit(" / ").next().and_then(|text| text.parse().ok()).unwrap_or(1);
        let plane_of = |own, other| NumberPlane { own: Some(own), other, num_steps: steps, scale: steps as f32 };
        number_planes[place] = plane_of(num_features, num_features + steps);
        number_planes[other] = plane_of(num_features + steps, num_features);
        num_features += 2 * steps;
    }
    FeatureMap::new(spec, bit_planes, number_planes, turned, num_features as usize).expect("the game's own planes")
}

/// Lines of three squares in the rows of a board.
fn rows_of_three(spec: &GameSpec, turned: &[u32]) -> Vec<Line> {
    let width = spec.board_shape().1 as u32;
    let starts = (0..turned.len() as u32).filter(|square| square % width + 3 <= width);
    let line = |start: u32| Line {
        squares: vec![start, start + 1, start + 2],
        own: 0,
        other: 0,
        is_reversed: turned[start as usize] > turned[start as usize + 2],
    };
    starts.map(line).collect()
}

fn random_network(features: FeatureMap, lines: Vec<Line>) -> Arc<Network> {
    let mut random = RandomStream::new(1, 0, 0, "weights");
    let mut draw =
        |count: usize, scale: f32| (0..count).map(|_| (random.uniform() as f32 - 0.5) * scale).collect::<Vec<_>>();
    let units = 16;
    let input = draw(features.num_features() * units, 0.5);
    let (input_bias, output, of_lines) = (draw(units, 1.0), draw(2 * units, 3.0), draw(27 * units, 0.5));
    let weights =
        Weights { input: &input, input_bias: &input_bias, output: &output, output_bias: 0.1, lines: &of_lines };
    Network::new(features, lines, weights).expect("weights in range")
}

/// Walks random lines as a search does, back and forth, and evaluates some of the positions on the way.
fn updates_equal_refreshes<G: Game>(game: &G, turned: Vec<u32>) {
    let lines = rows_of_three(game.spec(), &turned);
    let network = random_network(feature_map(game.spec(), turned), lines);
    let (mut followed, mut fresh) = (Accumulators::new(Arc::clone(&network)), Accumulators::new(network));
    let (mut random, mut line) = (RandomStream::new(2, 0, 0, "walk"), vec![Position::initial(game)]);
    LineEvaluation::<G>::begin(&mut followed);
    let mut values = std::collections::HashSet::new();
    for _ in 0..600 {
        let last = line.last().expect("the root");
        let legal = last.legal_actions(game, false);
        if legal.is_empty() || line.len() > 60 || random.below(3) == 0 {
            line.truncate(1 + random.below(line.len()));
            continue;
        }
        let mut next = last.clone();
        next.play(game, legal[random.below(legal.len())]);
        line.push(next);
        let height = line.len() - 1;
        LineEvaluation::<G>::enter(&mut followed, height);
        if random.below(3) > 0 {
            LineEvaluation::<G>::begin(&mut fresh);
            let state = &line[height].state;
            let (one, other) = (followed.evaluate(game, state, height), fresh.evaluate(game, state, 0));
            assert_eq!(one, other, "height {height}\n{}", game.board_text(state));
            values.insert(one);
        }
    }
    assert!(values.len() > 50, "the network tells positions apart");
}

#[test]
fn updated_accumulators_equal_new_ones() {
    let same = |squares: u32| (0..squares).collect::<Vec<_>>();
    let flipped =
        |side: u32| (0..side * side).map(|square| (side - 1 - square / side) * side + square % side).collect();
    let turned = |squares: u32| (0..squares).rev().collect::<Vec<_>>();
    updates_equal_refreshes(&Chess::new(Variant::Chess), flipped(8));
    updates_equal_refreshes(&Chess::new(Variant::Chess960), flipped(8));
    updates_equal_refreshes(&Shogi::standard(), turned(81));
    updates_equal_refreshes(&Minichess::standard(), flipped(5));
    updates_equal_refreshes(&Minishogi::standard(), turned(25));
    updates_equal_refreshes(&Breakthrough::standard(), flipped(8));
    updates_equal_refreshes(&Othello::standard(), same(64));
    updates_equal_refreshes(&Gomoku::standard(), same(225));
    updates_equal_refreshes(&ConnectFour::standard(), same(42));
}

/// A position and the same with colours changed are worth the same for the player to move.
#[test]
fn both_sides_are_seen_alike() {
    let game = Arc::new(Chess::new(Variant::Chess));
    let flipped = (0..64).map(|square: u32| (7 - square / 8) * 8 + square % 8).collect::<Vec<_>>();
    let lines = rows_of_three(game.spec(), &flipped);
    let network = random_network(feature_map(game.spec(), flipped), lines);
    let mut accumulators = Accumulators::new(network);
    let mut value = |fen: &str| {
        LineEvaluation::<Chess>::begin(&mut accumulators);
        let state = game.parse_position(fen).expect("a position");
        accumulators.evaluate(&*game, &state, 0)
    };
    let white = value("r3k3/1pp5/8/3N4/8/8/PP6/4K2R w Kq - 0 1");
    assert_eq!(white, value("4k2r/pp6/8/8/3n4/8/1PP5/R3K3 b Qk - 0 1"));
    assert_ne!(white, value("r3k3/1pp5/8/3N4/8/8/PP6/4K2R b Kq - 0 1"));
}

/// Numbers of pieces on the board of the player to move and of the other, by the planes of the newest position.
fn piece_counts<G: Game>(game: &G, state: &G::State) -> [u32; 2] {
    let spec = game.spec();
    let mut bits = vec![0; spec.num_planes(PlaneKind::Bits) * spec.bytes_per_plane()];
    let mut numbers = vec![0.0; spec.num_planes(PlaneKind::Constant)];
    game.encode(state, &mut zerosum_core::Planes::new(&mut bits, &mut numbers, spec.bytes_per_plane()));
    let planes = spec.planes().iter().filter(|plane| plane.kind == PlaneKind::Bits);
    let mut counts = [0; 2];
    for (plane, bytes) in planes.zip(bits.chunks(spec.bytes_per_plane())) {
        let side = ["own ", "opponent "].iter().position(|side| plane.name.starts_with(side));
        if let Some(side) = side.filter(|_| !plane.name.ends_with(" ago") && !plane.name.contains("castle")) {
            counts[side] += bytes.iter().map(|byte| byte.count_ones()).sum::<u32>();
        }
    }
    counts
}

/// What a game tells the search agrees with what its moves do.
fn tells_the_truth<G: Game>(game: &G, num_games: u64) {
    let (mut num_taken, mut num_passes) = (0, 0);
    for number in 0..num_games {
        let (mut random, mut position) = (RandomStream::new(5, number, 0, "truth"), Position::initial(game));
        while position.outcome(game).is_none() && position.plies < 120 {
            let (state, board) = (&position.state, game.board_text(&position.state));
            let [own, opponent] = piece_counts(game, state);
            let legal = position.legal_actions(game, false);
            let ability = game.tactics().expect("the game tells captures");
            for action in &legal {
                let mut next = state.clone();
                game.play(&mut next, *action);
                let [after, _] = piece_counts(game, &next);
                let tactics = ability.tactical_move(state, *action);
                let takes = tactics.is_some_and(|tactics| tactics.taken.is_some());
                assert_eq!(after < opponent, takes, "{}\n{board}", game.action_text(state, *action));
                num_taken += u32::from(takes);
            }
            if let Some(passed) = game.passed(state) {
                assert!(!ability.is_check(state) && game.player(&passed) == game.player(state).opponent(), "{board}");
                assert_eq!(piece_counts(game, &passed), [opponent, own], "{board}");
                num_passes += 1;
            }
            position.play(game, legal[random.below(legal.len())]);
        }
    }
    assert!(num_taken > 0 && num_passes > 0, "{num_taken} captures and {num_passes} passes were tried");
}

#[test]
fn captures_and_passes_are_what_games_say() {
    tells_the_truth(&Chess::new(Variant::Chess), 6);
    tells_the_truth(&Shogi::standard(), 4);
    tells_the_truth(&Minishogi::standard(), 6);
    tells_the_truth(&Breakthrough::standard(), 6);
}

/// Positions that other orders of moves reach have one key, and different positions have different ones.
#[test]
fn keys_of_positions_tell_them_apart() {
    fn check<G: Game>(game: &G) {
        let mut known = std::collections::HashMap::new();
        let mut num_met_again = 0;
        for position in (0..300).flat_map(|seed| random_positions(game, seed, 3, 2)) {
            let key = game.keys().expect("the game has keys").table_key(&position.state).key;
            let looks = (game.board_text(&position.state), game.player(&position.state));
            num_met_again += usize::from(*known.entry(key).or_insert_with(|| looks.clone()) == looks);
            assert_eq!(known[&key], looks);
        }
        assert!(num_met_again > known.len(), "positions are met again");
        let boards: std::collections::HashSet<_> = known.values().collect();
        assert_eq!(boards.len(), known.len());
    }
    check(&TicTacToe::standard());
    check(&ConnectFour::standard());
    check(&Othello::standard());
    check(&Breakthrough::standard());
    check(
        &Gomoku::from_options(zerosum_core::games::options::Options::parse("gomoku(size=3)").expect("a name").1)
            .expect("a size"),
    );
    check(&Chess::new(Variant::Chess));
}
