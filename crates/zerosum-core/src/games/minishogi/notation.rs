//! SFEN and USI for minishogi.

use super::board::{Board, FIRST_DROP, NUM_HAND_KINDS, PAWN, promoted, target};
use crate::game::Player;
use crate::games::board5::{NUM_SQUARES, SIDE};
use crate::games::sfen::{MAX_KINDS, Piece, Setup, Sfen};

/// How positions are written.
pub const SFEN: Sfen = Sfen {
    start: "rbsgk/4p/5/P4/KGSBR b - 1",
    side: SIDE,
    letters: &['K', 'G', 'S', 'B', 'R', 'P'],
    num_of_kind: &[2; PAWN + 1],
    promoted,
    rows_without_a_move: |kind| usize::from(kind == PAWN),
};

/// A board, seen by who is to move, as it is written down.
pub fn setup(board: &Board, player: Player, plies: u32) -> Setup {
    let piece = |square| board.piece_on(square, player).map(|(kind, owner)| Piece { kind, owner });
    let mut hands = [[0; MAX_KINDS]; 2];
    for (written, held) in hands.iter_mut().zip(board.first_sees(player).hands) {
        // Kinds in hand are counted from the gold, which comes after the king.
        written[1..=NUM_HAND_KINDS].copy_from_slice(&held);
    }
    Setup { pieces: (0..NUM_SQUARES).map(piece).collect(), hands, player, plies }
}

/// Reads a position: the board seen by who is to move, who that is, and the plies since the game began.
///
/// # Errors
/// As [`Sfen::parse`], or if the side that has moved left its king to be taken.
pub fn parse(text: &str) -> Result<(Board, Player, u32), String> {
    let Setup { pieces, hands, player, plies } = SFEN.parse(text)?;
    let mut black_sees = Board::default();
    for (square, piece) in pieces.into_iter().enumerate() {
        let Some(Piece { kind, owner }) = piece else { continue };
        black_sees.kinds[kind] |= 1 << square;
        *[&mut black_sees.own, &mut black_sees.opponent][owner.index()] |= 1 << square;
    }
    for (held, written) in black_sees.hands.iter_mut().zip(hands) {
        held.copy_from_slice(&written[1..=NUM_HAND_KINDS]);
    }
    let board = black_sees.first_sees(player);
    if board.opposite().limits().is_check {
        return Err(Sfen::king_could_be_taken(text, player));
    }
    Ok((board, player, plies))
}

/// An action as USI writes it: `3e3d`, `4b4a+`, `P*3c`.
pub fn usi(player: Player, action: usize) -> String {
    let (plane, square) = (action / NUM_SQUARES, action % NUM_SQUARES);
    let text = |square| SFEN.square_text(Board::first_sees_square(square, player));
    if plane >= FIRST_DROP {
        return format!("{}*{}", SFEN.letter(plane - FIRST_DROP + 1), text(square));
    }
    let promotion = if plane >= FIRST_DROP / 2 { "+" } else { "" };
    format!("{}{}{promotion}", text(square), text(target(plane, square)))
}
