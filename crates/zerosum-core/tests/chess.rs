//! Chess and Chess960: counts of lines of play, and Shredder-FEN. Everything else is in `tests/test_chess.py`.

use zerosum_core::game::Game;
use zerosum_core::games;
use zerosum_core::games::chess::{Chess, Variant};

/// Lines beyond this many are counted by `zerosum bench rules`, not here.
const MOST_LINES: u64 = 1_000_000;

fn counts_lines(name: &str, table: &str) {
    let game = games::by_name(name).expect("no options").expect("a name of the core");
    let mut num_positions = 0;
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let [label, position, counts] = line.split('|').map(str::trim).collect::<Vec<_>>().try_into().expect(line);
        let state = game.parse_position(position).expect(label);
        let counts = counts.split(' ').map(|count| count.parse::<u64>().expect(line));
        for (depth, count) in (1..).zip(counts).filter(|(_, count)| *count <= MOST_LINES) {
            assert_eq!(game.perft(&state, depth).expect("its own state"), count, "{label}, depth {depth}");
        }
        num_positions += 1;
    }
    assert!(num_positions > 5);
}

#[test]
fn chess_counts_lines_of_play() {
    counts_lines("chess", include_str!("../../../python/zerosum/data/perft/chess.txt"));
}

#[test]
fn chess960_counts_lines_of_play() {
    counts_lines("chess960", include_str!("../../../python/zerosum/data/perft/chess960.txt"));
}

#[test]
fn shredder_fen_names_files() {
    let game = Chess::new(Variant::Chess960);
    for number in 0..game.num_starts() {
        let start = game.start(number);
        let shredder = game.position_text_in(&start, "shredder-fen").unwrap();
        let again = game.parse_position(&shredder).expect("our own text");
        assert_eq!(game.position_text(&again), game.position_text(&start), "{shredder}");
    }
    for (xfen, shredder) in [
        ("1r1k1r1r/8/8/8/8/8/8/R1RK3R w KCfq - 3 9", "1r1k1r1r/8/8/8/8/8/8/R1RK3R w HCfb - 3 9"),
        ("4k3/8/8/8/8/8/8/4K3 b - - 0 1", "4k3/8/8/8/8/8/8/4K3 b - - 0 1"),
    ] {
        let state = game.parse_position(xfen).expect(xfen);
        assert_eq!(game.position_text_in(&state, "shredder-fen").as_deref(), Some(shredder));
    }
}
