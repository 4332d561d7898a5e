//! The FIDE Laws of Chess for boards of any size: what chess and minichess share besides FEN.

use crate::game::Outcome;
use crate::player::Player;

/// Names of the kinds of pieces, in the order of the planes.
pub const KIND_NAMES: [&str; 6] = ["pawns", "knights", "bishops", "rooks", "queens", "king"];
/// Material by kind; 0 for a king.
pub const PIECE_VALUES: [f32; 6] = [1.0, 3.0, 3.0, 5.0, 9.0, 0.0];
/// Earlier occurrences of a position with which the third occurrence ends the game.
pub const MAX_REPETITIONS: u8 = 2;
/// Plies of the fifty-move rule.
pub const MAX_HALFMOVES: u32 = 100;
/// (rows down, columns to the right) of a knight's moves, clockwise from two ahead and one to the right.
pub const KNIGHT_MOVES: [(i32, i32); 8] = [(-2, 1), (-1, 2), (1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1)];

/// True if no sequence of moves mates: kings with at most one knight, or with bishops on squares of one shade. Words are
/// sets of squares; `pieces` has those of each kind, `shade` the squares of one shade.
#[inline]
pub fn is_insufficient_material(pieces: [u64; 6], shade: u64) -> bool {
    let [pawns, knights, bishops, rooks, queens, _] = pieces;
    if pawns | rooks | queens != 0 {
        return false;
    }
    let is_one_shade = bishops & shade == 0 || bishops & !shade == 0;
    if knights == 0 { is_one_shade } else { (knights | bishops).is_power_of_two() }
}

/// The outcome for the player to move without a legal move.
pub fn outcome_without_move(player: Player, is_check: bool) -> Outcome {
    if is_check { Outcome::win(player.opponent(), "checkmate") } else { Outcome::draw("stalemate") }
}

/// The draw, if there is one, of a position with a legal move.
#[inline]
pub fn soft_draw(is_insufficient_material: bool, repetitions: u8, halfmoves: u32) -> Option<Outcome> {
    let ending = if is_insufficient_material {
        "insufficient material"
    } else if repetitions >= MAX_REPETITIONS {
        "threefold repetition"
    } else if halfmoves >= MAX_HALFMOVES {
        "fifty-move rule"
    } else {
        return None;
    };
    Some(Outcome::draw(ending).softly())
}
