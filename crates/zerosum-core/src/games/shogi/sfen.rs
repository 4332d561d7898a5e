//! SFEN of shogi.

use super::board::{Board, KING, NUM_OF_KIND, SIDE, promoted, rows_without_a_move};
use crate::games::sfen::{Setup, Sfen};

/// The notation for positions.
pub const SFEN: Sfen = Sfen {
    start: "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    side: SIDE,
    letters: &LETTERS,
    num_of_kind: &NUM_OF_KIND,
    promoted,
    rows_without_a_move,
};
const LETTERS: [char; KING + 1] = ['P', 'L', 'N', 'S', 'G', 'B', 'R', 'K'];

/// Reads a position: the board and the plies since the game began.
///
/// # Errors
/// The errors of [`Sfen::parse`], or if the king of the side that has moved can be taken.
pub fn parse(text: &str) -> Result<(Board, u32), String> {
    let setup = SFEN.parse(text)?;
    if Board::new(&Setup { player: setup.player.opponent(), ..setup.clone() }).is_in_check() {
        return Err(Sfen::king_could_be_taken(text, setup.player));
    }
    Ok((Board::new(&setup), setup.plies))
}
