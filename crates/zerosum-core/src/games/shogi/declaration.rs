//! The entering-king declaration by the rules of the Computer Shogi Association: a player whose king and enough pieces
//! are in the last three rows may declare it on its turn instead of moving.

use super::board::{BISHOP, Board, FAR_ROWS, KING, ROOK, SIDE, rows_ahead, unpromoted};
use crate::game::Outcome;
use crate::player::Player;

/// Minimum number of pieces besides the king in the last three rows.
const MIN_PIECES: u32 = 10;

/// The rule of the declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declaration {
    /// A win with 28 points for Black or 27 for White.
    Csa27,
    /// A win with 31 points, a draw with 24.
    Csa24,
    /// A win with 31 points. With fewer points the game goes on, because a draw with 24 points is the player's choice.
    Csa24Wins,
    /// No declaration.
    None,
}

impl Declaration {
    /// The outcome if the player to move can declare.
    #[inline]
    pub fn outcome(self, board: &Board) -> Option<Outcome> {
        let player = board.player();
        let row = board.king(player).map_or(SIDE, |king| rows_ahead(king, player));
        if self == Self::None || row >= FAR_ROWS || board.is_in_check() {
            return None;
        }
        let points = points(board)?;
        let (win, draw) = match (self, player) {
            (Self::Csa27, Player::First) => (28, 28),
            (Self::Csa27, Player::Second) => (27, 27),
            (Self::Csa24Wins, _) => (31, 31),
            _ => (31, 24),
        };
        let outcome = if points >= win { Outcome::win(player, "declaration") } else { Outcome::draw("declaration") };
        (points >= draw).then(|| outcome.softly())
    }
}

/// Points of the player to move: five for each rook and bishop and one for each other piece but the king, in hand and
/// in the last three rows; `None` if too few pieces are in these rows.
fn points(board: &Board) -> Option<u32> {
    let player = board.player();
    let value = |kind| if [BISHOP, ROOK].contains(&unpromoted(kind)) { 5 } else { 1 };
    let (mut pieces, mut points) = (0, 0);
    board.for_each_piece(|square, piece| {
        if piece.owner == player && piece.kind != KING && rows_ahead(square, player) < FAR_ROWS {
            pieces += 1;
            points += value(piece.kind);
        }
    });
    let held: u32 =
        board.hand(player).into_iter().enumerate().map(|(kind, count)| value(kind) * u32::from(count)).sum();
    (pieces >= MIN_PIECES).then_some(points + held)
}
