//! Shredder-FEN. All other tests of chess are in `tests/games/test_chess.py`.

use zerosum_core::game::{Notation, Starts};
use zerosum_core::games::chess::{Chess, Variant};

#[test]
fn shredder_fen_names_files() {
    let game = Chess::new(Variant::Chess960);
    for number in 0..game.num_starts() {
        let start = game.start(number);
        let shredder = game.position_text_in(&start, "shredder-fen");
        let again = game.parse_position(&shredder).expect("our own text");
        assert_eq!(game.position_text(&again), game.position_text(&start), "{shredder}");
    }
    for (xfen, shredder) in [
        ("1r1k1r1r/8/8/8/8/8/8/R1RK3R w KCfq - 3 9", "1r1k1r1r/8/8/8/8/8/8/R1RK3R w HCfb - 3 9"),
        ("4k3/8/8/8/8/8/8/4K3 b - - 0 1", "4k3/8/8/8/8/8/8/4K3 b - - 0 1"),
    ] {
        let state = game.parse_position(xfen).expect(xfen);
        assert_eq!(game.position_text_in(&state, "shredder-fen"), shredder);
    }
}
