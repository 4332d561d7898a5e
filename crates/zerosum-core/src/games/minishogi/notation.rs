//! SFEN and USI for minishogi.

use super::board::{Board, FIRST_DROP, Limits, NUM_HAND_KINDS, PAWN, promoted, target};
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

/// A square of the oriented board as Black sees it, or the other way round.
pub fn as_black_sees(square: usize, player: Player) -> usize {
    if player == Player::First { square } else { NUM_SQUARES - 1 - square }
}

/// A board, seen by who is to move, as it is written down.
pub fn setup(board: &Board, player: Player, plies: u32) -> Setup {
    let black_sees = if player == Player::First { *board } else { board.turned() };
    let piece = |square: usize| {
        let owner = [black_sees.own, black_sees.opponent].iter().position(|side| side >> square & 1 == 1)?;
        Some(Piece { kind: black_sees.kind_on(square), owner: [Player::First, Player::Second][owner] })
    };
    let mut hands = [[0; MAX_KINDS]; 2];
    for (written, held) in hands.iter_mut().zip(black_sees.hands) {
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
    let board = if player == Player::First { black_sees } else { black_sees.turned() };
    if Limits::of(&board.turned()).is_check {
        return Err(Sfen::king_could_be_taken(text, player));
    }
    Ok((board, player, plies))
}

/// An action as USI writes it: `3e3d`, `4b4a+`, `P*3c`.
pub fn usi(player: Player, action: usize) -> String {
    let (plane, square) = (action / NUM_SQUARES, action % NUM_SQUARES);
    let text = |square| SFEN.square_text(as_black_sees(square, player));
    if plane >= FIRST_DROP {
        return format!("{}*{}", SFEN.letter(plane - FIRST_DROP + 1), text(square));
    }
    let promotion = if plane >= FIRST_DROP / 2 { "+" } else { "" };
    format!("{}{}{promotion}", text(square), text(target(plane, square)))
}
