//! The keys of a chess game's positions, by which repetition is counted. Few positions can come again: a plain list is faster
//! than what shogi needs.

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
    pub fn push(&mut self, key: u64) -> u8 {
        let count = |keys: &[u64]| keys.iter().filter(|other| **other == key).count() as u32;
        let repetitions = count(&self.latest[..self.num_latest]) + count(&self.older);
        if self.num_latest == NUM_IN_PLACE {
            self.older.extend_from_slice(&self.latest);
            self.num_latest = 0;
        }
        self.latest[self.num_latest] = key;
        self.num_latest += 1;
        repetitions.min(255) as u8
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
}
