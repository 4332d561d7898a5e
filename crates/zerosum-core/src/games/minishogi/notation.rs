//! SFEN and USI for minishogi.

use super::State;
use super::board::{Board, FIRST_DROP, NUM_HAND_KINDS, PAWN, promoted, target};
use crate::games::mini::board::{NUM_SQUARES, SIDE};
use crate::games::mini::{PieceRules, Setup};
use crate::games::sfen::{self, MAX_KINDS, Piece, Sfen};
use crate::player::Player;

/// The notation for positions.
pub const SFEN: Sfen = Sfen {
    start: "rbsgk/4p/5/P4/KGSBR b - 1",
    side: SIDE,
    letters: &['K', 'G', 'S', 'B', 'R', 'P'],
    num_of_kind: &[2; PAWN + 1],
    promoted,
    rows_without_a_move: |kind| usize::from(kind == PAWN),
};

/// A position as SFEN has it.
pub fn setup(state: &State) -> sfen::Setup {
    let State { player, plies, .. } = *state;
    let board = state.board();
    let piece = |square| board.piece_on(square, player).map(|(kind, owner)| Piece { kind, owner });
    let mut hands = [[0; MAX_KINDS]; 2];
    for (written, held) in hands.iter_mut().zip(board.first_sees(player).hands) {
        // Kinds in hand are numbered from the gold, which follows the king.
        written[1..=NUM_HAND_KINDS].copy_from_slice(&held);
    }
    sfen::Setup { pieces: (0..NUM_SQUARES).map(piece).collect(), hands, player, plies }
}

/// Reads SFEN.
///
/// # Errors
/// The errors of [`Sfen::parse`], or if the king of the side that has moved can be taken.
pub fn parse_position(text: &str) -> Result<Setup<Board>, String> {
    let sfen::Setup { pieces, hands, player, plies } = SFEN.parse(text)?;
    let mut board = Board::of_pieces(pieces.into_iter().map(|piece| piece.map(|piece| (piece.kind, piece.owner))));
    for (held, written) in board.hands.iter_mut().zip(hands) {
        held.copy_from_slice(&written[1..=NUM_HAND_KINDS]);
    }
    let board = board.first_sees(player);
    if board.opposite().masks().is_check {
        return Err(Sfen::king_could_be_taken(text, player));
    }
    Ok(Setup { board, player, halfmoves: 0, plies })
}

/// An action in USI: `3e3d`, `4b4a+`, `P*3c`.
pub fn usi(player: Player, action: usize) -> String {
    let (plane, square) = (action / NUM_SQUARES, action % NUM_SQUARES);
    let text = |square| SFEN.square_text(Board::first_sees_square(square, player));
    if plane >= FIRST_DROP {
        return format!("{}*{}", SFEN.letter(plane - FIRST_DROP + 1), text(square));
    }
    let promotion = if plane >= FIRST_DROP / 2 { "+" } else { "" };
    format!("{}{}{promotion}", text(square), text(target(plane, square)))
}
