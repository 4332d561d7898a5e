//! What a chess position shows of itself in the planes of later ones.

use cozy_chess::{BitBoard, Board, Color, Piece, Square};

/// Where pieces stand. The default is an empty board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    /// By kind, in the order of [`Piece::ALL`].
    kinds: [BitBoard; Piece::NUM],
    white: BitBoard,
}

impl Pieces {
    /// What stands on a board.
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

    /// Whether nothing stands anywhere.
    pub fn is_empty(&self) -> bool {
        self.kinds.iter().all(|squares| squares.is_empty())
    }

    /// Squares whose piece differs.
    pub fn difference(&self, other: &Self) -> BitBoard {
        let kinds = self.kinds.iter().zip(&other.kinds).fold(BitBoard::EMPTY, |all, (one, two)| all | (*one ^ *two));
        kinds | (self.white ^ other.white)
    }
}
