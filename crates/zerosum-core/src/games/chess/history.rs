//! What a chess position remembers: the last eight positions for the planes, and the keys of all that may come again.

use cozy_chess::{BitBoard, Board, Color, Piece, Square};

/// Positions that a state remembers for its planes, itself included.
pub const MAX_HISTORY: usize = 8;

/// One position as its planes show it. The default is what stands for a position before the game began: nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame {
    /// By kind, in the order of [`Piece::ALL`].
    pieces: [BitBoard; Piece::NUM],
    white: BitBoard,
    /// How often the position had occurred before, when it was reached.
    pub repetitions: u32,
}

impl Frame {
    /// What stands on a board.
    pub fn of(board: &Board, repetitions: u32) -> Self {
        let pieces = Piece::ALL.map(|piece| board.pieces(piece));
        Self { pieces, white: board.colors(Color::White), repetitions }
    }

    /// A side's pieces by kind, in the order of [`Piece::ALL`].
    #[inline]
    pub fn pieces(&self, color: Color) -> [BitBoard; Piece::NUM] {
        let side = if color == Color::White { self.white } else { !self.white };
        self.pieces.map(|squares| squares & side)
    }

    /// The same with a side's piece back on the square that it came from.
    pub fn taken_back(mut self, piece: Piece, color: Color, from: Square, to: Square) -> Self {
        let squares = from.bitboard() | to.bitboard();
        self.pieces[piece as usize] ^= squares;
        if color == Color::White {
            self.white ^= squares;
        }
        self
    }

    /// Squares whose piece differs.
    pub fn difference(&self, other: &Self) -> BitBoard {
        let kinds = self.pieces.iter().zip(&other.pieces).fold(BitBoard::EMPTY, |all, (one, two)| all | (*one ^ *two));
        kinds | (self.white ^ other.white)
    }
}

/// The latest positions, in a ring.
#[derive(Clone, Debug)]
pub struct Frames {
    ring: [Frame; MAX_HISTORY],
    newest: usize,
}

impl Frames {
    /// `newest`, and before it `older` all along.
    pub fn new(newest: Frame, older: Frame) -> Self {
        let mut ring = [older; MAX_HISTORY];
        ring[0] = newest;
        Self { ring, newest: 0 }
    }

    /// The position a move later.
    #[inline]
    pub fn push(&mut self, frame: Frame) {
        self.newest = (self.newest + 1) % MAX_HISTORY;
        self.ring[self.newest] = frame;
    }

    /// The position `plies` moves ago, fewer than [`MAX_HISTORY`].
    #[inline]
    pub fn get(&self, plies: usize) -> &Frame {
        &self.ring[(self.newest + MAX_HISTORY - plies) % MAX_HISTORY]
    }
}

/// Keys in place. More are needed only by a game that runs on past the fifty-move rule.
const NUM_IN_PLACE: usize = 100;

/// Keys of the positions since the last move that cannot be taken back: no other can come again.
#[derive(Clone, Debug)]
pub struct Keys {
    latest: [u64; NUM_IN_PLACE],
    num_latest: usize,
    older: Vec<u64>,
}

impl Keys {
    /// None yet.
    pub fn new() -> Self {
        Self { latest: [0; NUM_IN_PLACE], num_latest: 0, older: Vec::new() }
    }

    /// Forgets all, after a capture, a pawn's move or the loss of a castling right.
    #[inline]
    pub fn clear(&mut self) {
        self.num_latest = 0;
        self.older = Vec::new();
    }

    /// Notes a position and answers how often it had occurred before.
    #[inline]
    pub fn push(&mut self, key: u64) -> u32 {
        let count = |keys: &[u64]| keys.iter().filter(|other| **other == key).count() as u32;
        let repetitions = count(&self.latest[..self.num_latest]) + count(&self.older);
        if self.num_latest == NUM_IN_PLACE {
            self.older.extend_from_slice(&self.latest);
            self.num_latest = 0;
        }
        self.latest[self.num_latest] = key;
        self.num_latest += 1;
        repetitions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_count_however_many_there_are() {
        let mut keys = Keys::new();
        for round in 0..5 {
            for key in 0..77 {
                assert_eq!(keys.push(key), round, "round {round}, key {key}");
            }
        }
        keys.clear();
        assert_eq!(keys.push(3), 0);
        assert_eq!(keys.push(3), 1);
    }

    #[test]
    fn frames_come_newest_first() {
        let frame = |repetitions| Frame { repetitions, ..Frame::default() };
        let mut frames = Frames::new(frame(0), frame(100));
        assert!((1..MAX_HISTORY).all(|plies| frames.get(plies).repetitions == 100));
        (1..20).for_each(|number| frames.push(frame(number)));
        assert!((0..MAX_HISTORY).all(|plies| frames.get(plies).repetitions == 19 - plies as u32));
    }
}
