//! What a position remembers of its game: the latest boards for the planes, and the keys of all positions, by which
//! repetition is counted.

use std::sync::Arc;

/// Boards that are remembered, the newest included.
pub const MAX_HISTORY: usize = 8;

/// One board as the planes show it. The default stands for a board before the game began: nothing on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame<B> {
    /// As the game keeps it, seen by whoever was to move.
    pub board: B,
    /// How often the position had occurred before, when it was reached; the game says how far this is counted.
    pub repetitions: u8,
}

/// The latest boards, in a ring, and the keys of the positions that may come again.
#[derive(Clone, Debug)]
pub struct Past<B> {
    ring: [Frame<B>; MAX_HISTORY],
    newest: usize,
    cycle: u32,
    keys: Keys,
}

impl<B: Copy> Past<B> {
    /// A game that begins with a position; of the boards before it, which nobody counts, `older` says what was how many
    /// plies ago.
    pub fn new(newest: B, key: u64, older: impl Fn(usize) -> B) -> Self {
        let board = |index| if index == 0 { newest } else { older(MAX_HISTORY - index) };
        let ring = std::array::from_fn(|index| Frame { board: board(index), repetitions: 0 });
        let mut keys = Keys::default();
        keys.push(key);
        Self { ring, newest: 0, cycle: 0, keys }
    }

    /// The board as it is now.
    #[inline]
    pub fn board(&self) -> &B {
        &self.ring[self.newest].board
    }

    /// How often the position has occurred before.
    #[inline]
    pub fn repetitions(&self) -> u8 {
        self.ring[self.newest].repetitions
    }

    /// Plies since the first of the occurrences that were counted.
    #[inline]
    pub fn cycle(&self) -> u32 {
        self.cycle
    }

    /// What was `age` plies ago, fewer than [`MAX_HISTORY`].
    #[inline]
    pub fn frame(&self, age: usize) -> &Frame<B> {
        &self.ring[(self.newest + MAX_HISTORY - age) % MAX_HISTORY]
    }

    /// Forgets the keys, after a move that no other can take back.
    #[inline]
    pub fn forget_keys(&mut self) {
        self.keys = Keys::default();
    }

    /// The position a move later; earlier occurrences are counted, the latest first, up to `most`.
    #[inline]
    pub fn push(&mut self, board: B, key: u64, most: u8) {
        let (repetitions, cycle) = self.keys.count(key, most);
        self.newest = (self.newest + 1) % MAX_HISTORY;
        self.ring[self.newest] = Frame { board, repetitions };
        self.cycle = cycle;
        self.keys.push(key);
    }
}

/// Keys in one place.
const NUM_IN_PLACE: usize = 16;
/// Bits that tell of most keys that they have not come before.
const NUM_FILTER_BITS: u64 = 2048;

/// Keys in the order in which they came. Copies share all but the latest, so that a long game costs a copy no more than a
/// short one.
#[derive(Clone, Debug)]
pub struct Keys {
    filter: [u64; (NUM_FILTER_BITS / 64) as usize],
    chunk: Chunk,
}

#[derive(Clone, Debug, Default)]
struct Chunk {
    latest: [u64; NUM_IN_PLACE],
    num_latest: usize,
    /// Full.
    older: Option<Arc<Chunk>>,
}

impl Default for Keys {
    fn default() -> Self {
        Self { filter: [0; (NUM_FILTER_BITS / 64) as usize], chunk: Chunk::default() }
    }
}

/// The word and the bit of a key in the filter.
#[inline]
fn filter_bit(key: u64) -> (usize, u64) {
    let bit = key % NUM_FILTER_BITS;
    ((bit / 64) as usize, 1 << (bit % 64))
}

impl Keys {
    /// Notes the next key.
    #[inline]
    pub fn push(&mut self, key: u64) {
        let (word, bit) = filter_bit(key);
        self.filter[word] |= bit;
        let chunk = &mut self.chunk;
        if chunk.num_latest == NUM_IN_PLACE {
            *chunk = Chunk { older: Some(Arc::new(std::mem::take(chunk))), ..Chunk::default() };
        }
        chunk.latest[chunk.num_latest] = key;
        chunk.num_latest += 1;
    }

    /// How often a key that comes next has come before, up to `most`, and how many places ago the first one counted did. The
    /// sides take turns, so that only every other key can be the same.
    #[inline]
    pub fn count(&self, key: u64, most: u8) -> (u8, u32) {
        let (word, bit) = filter_bit(key);
        if self.filter[word] & bit == 0 { (0, 0) } else { self.chunk.count(key, most) }
    }
}

impl Chunk {
    fn count(&self, key: u64, most: u8) -> (u8, u32) {
        let (mut count, mut first) = (0, 0);
        let (mut chunk, mut places) = (self, 0);
        loop {
            let latest = &chunk.latest[..chunk.num_latest];
            let others = latest.iter().rev().zip(places + 1..).skip((places + 1) % 2).step_by(2);
            for (_, place) in others.filter(|(other, _)| **other == key) {
                count += 1;
                first = place as u32;
                if count == most {
                    return (count, first);
                }
            }
            places += latest.len();
            match &chunk.older {
                Some(older) => chunk = older,
                None => return (count, first),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_count_however_many_there_are() {
        let mut keys = Keys::default();
        for round in 0..5 {
            for key in 0..78 {
                let expected = (round.min(3), 78 * u32::from(round.min(3)));
                assert_eq!(keys.count(key, 3), expected, "round {round}, key {key}");
                keys.push(key);
            }
        }
    }

    #[test]
    fn copies_go_their_own_ways() {
        let mut one = Past::new(0, 0, |_| 99);
        (1..40).for_each(|number| one.push(number, number, 3));
        let mut other = one.clone();
        one.push(40, 8, 3);
        other.push(41, 40, 3);
        assert_eq!((*one.board(), one.repetitions(), one.cycle()), (40, 1, 32));
        assert_eq!((*other.board(), other.repetitions(), other.cycle()), (41, 0, 0));
        other.forget_keys();
        other.push(42, 7, 3);
        assert_eq!(other.repetitions(), 0);
    }

    #[test]
    fn frames_come_newest_first() {
        let mut past = Past::new(0, 0, |age| 100 + age as u64);
        assert!((1..MAX_HISTORY).all(|age| past.frame(age).board == 100 + age as u64));
        (1..20).for_each(|number| past.push(number, number, 3));
        assert!((0..MAX_HISTORY).all(|age| past.frame(age).board == 19 - age as u64));
    }
}
