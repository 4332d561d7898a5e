//! The pieces of a chess position, for the planes of later positions.

use cozy_chess::{BitBoard, Board, Color, Piece, Square};

/// The pieces on a board. The default is an empty board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    /// Sets of squares by kind, in the order of [`Piece::ALL`].
    kinds: [BitBoard; Piece::NUM],
    white: BitBoard,
}

impl Pieces {
    /// The pieces of a board.
    #[inline]
    pub fn of(board: &Board) -> Self {
        Self { kinds: Piece::ALL.map(|piece| board.pieces(piece)), white: board.colors(Color::White) }
    }

    /// A side's pieces by kind, in the order of [`Piece::ALL`].
    #[inline]
    pub fn of_side(&self, color: Color) -> [BitBoard; Piece::NUM] {
        let side = if color == Color::White { self.white } else { !self.white };
        self.kinds.map(|squares| squares & side)
    }

    /// The same with a side's piece back on the square that it came from.
    pub fn taken_back(mut self, piece: Piece, color: Color, from: Square, to: Square) -> Self {
        let squares = from.bitboard() | to.bitboard();
        self.kinds[piece as usize] ^= squares;
        if color == Color::White {
            self.white ^= squares;
        }
        self
    }

    /// True if the board is empty.
    pub fn is_empty(&self) -> bool {
        self.kinds.iter().all(|squares| squares.is_empty())
    }

    /// Squares whose piece differs.
    pub fn difference(&self, other: &Self) -> BitBoard {
        let kinds = self.kinds.iter().zip(&other.kinds).fold(BitBoard::EMPTY, |all, (one, two)| all | (*one ^ *two));
        kinds | (self.white ^ other.white)
    }
}
