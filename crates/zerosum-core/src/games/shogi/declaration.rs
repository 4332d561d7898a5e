//! The entering-king declaration, as the Computer Shogi Association has it: who has come far enough up the board with
//! enough pieces may say so on its turn instead of moving.

use super::board::{BISHOP, Board, FAR_ROWS, KING, ROOK, SIDE, rows_ahead, unpromoted};
use crate::game::{Outcome, Player};

/// Pieces beside the king that have to be in the camp.
const MIN_PIECES: u32 = 10;

/// Which rule decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declaration {
    /// A win with 28 points for Black or 27 for White.
    Csa27,
    /// A win with 31 points, a draw with 24.
    Csa24,
    /// A win with 31 points; fewer end nothing, for a draw by 24 is the player's to declare, and it may rather win.
    Csa24Wins,
    /// Nobody can declare.
    None,
}

impl Declaration {
    /// What a declaration of the player to move ends the game with.
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

/// Five for each of the mover's rooks and bishops and one for each other piece, in its hand and in the opponent's camp, the
/// king left out; none if too few are in the camp.
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
