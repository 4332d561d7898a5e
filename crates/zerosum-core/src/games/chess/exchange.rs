//! Captures of chess, and what a series of captures on one square wins.

use cozy_chess::{
    BitBoard, Board, Color, Move, Piece, Square, get_bishop_moves, get_king_moves, get_knight_moves, get_pawn_attacks,
    get_rook_moves,
};

use crate::game::TacticalMove;

/// What a legal move takes and whether it promotes; `None` for a quiet move.
#[inline]
pub fn tactics(board: &Board, chosen: Move) -> Option<TacticalMove> {
    let taken = taken(board, chosen);
    (taken.is_some() || chosen.promotion.is_some()).then(|| TacticalMove {
        moved: board.piece_on(chosen.from).expect("a legal move has a piece") as u8,
        taken: taken.map(|piece| piece as u8),
        promotes: chosen.promotion.is_some(),
    })
}

/// The piece that a legal move takes. A castling king moves onto its own rook.
#[inline]
fn taken(board: &Board, chosen: Move) -> Option<Piece> {
    if board.colors(!board.side_to_move()).has(chosen.to) {
        return board.piece_on(chosen.to);
    }
    let is_pawn = board.pieces(Piece::Pawn).has(chosen.from);
    (is_pawn && chosen.from.file() != chosen.to.file()).then_some(Piece::Pawn)
}

/// What a legal move wins by captures on its target square; see [`crate::game::Tactics::exchange`]. Pins do not count, and a king
/// takes last.
pub fn static_exchange(board: &Board, chosen: Move, values: &[i32]) -> i32 {
    let value = |piece: Piece| values.get(piece as usize).copied().unwrap_or(crate::deepening::DEFAULT_VALUE);
    let king = 1_000_000;
    let square = chosen.to;
    let mut occupied = (board.occupied() & !chosen.from.bitboard()) | square.bitboard();
    let mut side = !board.side_to_move();
    let mut on_square = chosen.promotion.or(board.piece_on(chosen.from)).expect("a legal move has a piece");
    let promoted = chosen.promotion.map_or(0, |piece| value(piece) - value(Piece::Pawn));
    // What each capture wins if the side that it is against then stops.
    let mut gains = [0; 40];
    gains[0] = taken(board, chosen).map_or(0, value) + promoted;
    let mut last = 0;
    while last + 1 < gains.len() {
        let attackers = attackers(board, square, occupied) & occupied & board.colors(side);
        let Some((piece, from)) = Piece::ALL.into_iter().find_map(|piece| {
            let squares = attackers & board.pieces(piece);
            squares.iter().next().map(|from| (piece, from))
        }) else {
            break;
        };
        let at_stake = if on_square == Piece::King { king } else { value(on_square) };
        last += 1;
        gains[last] = at_stake - gains[last - 1];
        on_square = piece;
        occupied &= !from.bitboard();
        side = !side;
    }
    for index in (1..=last).rev() {
        gains[index - 1] = -gains[index].max(-gains[index - 1]);
    }
    gains[0]
}

/// Pieces of both sides that attack a square.
fn attackers(board: &Board, square: Square, occupied: BitBoard) -> BitBoard {
    let lines = board.pieces(Piece::Rook) | board.pieces(Piece::Queen);
    let diagonals = board.pieces(Piece::Bishop) | board.pieces(Piece::Queen);
    let pawns = |side: Color| get_pawn_attacks(square, !side) & board.colored_pieces(side, Piece::Pawn);
    (get_rook_moves(square, occupied) & lines)
        | (get_bishop_moves(square, occupied) & diagonals)
        | (get_knight_moves(square) & board.pieces(Piece::Knight))
        | (get_king_moves(square) & board.pieces(Piece::King))
        | pawns(Color::White)
        | pawns(Color::Black)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of pawn, knight, bishop, rook, queen.
    const VALUES: [i32; 5] = [100, 300, 300, 500, 900];

    fn wins(fen: &str, text: &str) -> i32 {
        let board: Board = fen.parse().expect("a position");
        static_exchange(&board, text.parse().expect("a move"), &VALUES)
    }

    #[test]
    fn exchanges_are_counted_to_their_end() {
        // A free pawn; a defended one; a rook behind a rook; a queen for a defended pawn.
        assert_eq!(wins("4k3/8/8/3p4/8/8/8/3RK3 w - - 0 1", "d1d5"), 100);
        assert_eq!(wins("4k3/8/4p3/3p4/8/8/8/3RK3 w - - 0 1", "d1d5"), 100 - 500);
        assert_eq!(wins("3rk3/8/8/3p4/8/8/3R4/3RK3 w - - 0 1", "d2d5"), 100);
        assert_eq!(wins("4k3/8/4p3/3p4/4P3/8/8/3QK3 w - - 0 1", "e4d5"), 100);
        assert_eq!(wins("4k3/8/4p3/3p4/8/8/8/3QK3 w - - 0 1", "d1d5"), 100 - 900);
        // A king does not take what is defended, en passant takes a pawn, and a promotion wins the difference.
        assert_eq!(wins("3rk3/8/8/3p4/4K3/8/8/8 w - - 0 1", "e4d5"), 100 - 1_000_000);
        assert_eq!(wins("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6"), 100);
        assert_eq!(wins("8/P3k3/8/8/8/8/8/4K3 w - - 0 1", "a7a8q"), 800);
    }

    #[test]
    fn a_quiet_move_to_an_attacked_square_loses_the_piece() {
        assert_eq!(wins("4k3/8/4p3/8/8/8/8/3RK3 w - - 0 1", "d1d5"), -500);
        assert_eq!(wins("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1h1"), 0);
    }
}
