//! The history of a position: the latest boards for the planes, and the keys of all positions, by which repetition is
//! counted.

use std::sync::Arc;

use crate::game::{PlaneSpec, Planes};
use crate::player::Player;

/// Number of positions that are kept for the planes, the newest included.
pub const MAX_HISTORY: usize = 8;

/// The latest [`MAX_HISTORY`] items of a series that grows by one item a ply.
#[derive(Debug, PartialEq)]
pub struct Ring<T> {
    items: [T; MAX_HISTORY],
    newest: usize,
}

/// The array is copied as a whole, not item by item: a search copies positions at each of its steps.
impl<T: Copy> Clone for Ring<T> {
    #[inline]
    fn clone(&self) -> Self {
        Self { items: self.items, newest: self.newest }
    }
}

impl<T> Ring<T> {
    /// A series whose item of each age, in plies, is `item(age)`.
    pub fn new(item: impl Fn(usize) -> T) -> Self {
        Self { items: std::array::from_fn(|index| item((MAX_HISTORY - index) % MAX_HISTORY)), newest: 0 }
    }

    /// The item of `age` plies ago, which is below [`MAX_HISTORY`].
    #[inline]
    pub fn get(&self, age: usize) -> &T {
        &self.items[(self.newest + MAX_HISTORY - age) % MAX_HISTORY]
    }

    /// Adds the newest item in place of the oldest.
    #[inline]
    pub fn push(&mut self, item: T) {
        self.newest = (self.newest + 1) % MAX_HISTORY;
        self.items[self.newest] = item;
    }
}

/// One position in a history.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Entry<T> {
    /// The board or, in shogi, the move that led to it. The default stands for the time before the game began.
    pub item: T,
    /// Number of earlier occurrences of the position when it was reached, up to the game's limit.
    pub repetitions: u8,
}

/// The latest positions, and the keys of the positions that can occur again.
#[derive(Clone, Debug, PartialEq)]
pub struct History<T: Copy> {
    entries: Ring<Entry<T>>,
    cycle: u32,
    keys: Keys,
}

impl<T: Copy> History<T> {
    /// A game that begins with a position; `older(age)` stands for the positions before it, which are not counted.
    pub fn new(newest: T, key: u64, older: impl Fn(usize) -> T) -> Self {
        let mut keys = Keys::default();
        keys.push(key);
        let item = |age| if age == 0 { newest } else { older(age) };
        Self { entries: Ring::new(|age| Entry { item: item(age), repetitions: 0 }), cycle: 0, keys }
    }

    /// The entry of `age` plies ago, which is below [`MAX_HISTORY`].
    #[inline]
    pub fn get(&self, age: usize) -> &Entry<T> {
        self.entries.get(age)
    }

    /// The item of the present position.
    #[inline]
    pub fn newest(&self) -> &T {
        &self.get(0).item
    }

    /// Number of earlier occurrences of the present position, up to the limit given to [`Self::push`].
    #[inline]
    pub fn repetitions(&self) -> u8 {
        self.get(0).repetitions
    }

    /// Plies since the first of the occurrences that were counted.
    #[inline]
    pub fn cycle(&self) -> u32 {
        self.cycle
    }

    /// Forgets the keys, after an irreversible move.
    #[inline]
    pub fn forget_keys(&mut self) {
        self.keys = Keys::default();
    }

    /// Adds the position after a move; earlier occurrences are counted from the latest on, up to `limit`.
    #[inline]
    pub fn push(&mut self, item: T, key: u64, limit: u8) {
        let (repetitions, cycle) = self.keys.count(key, limit);
        self.entries.push(Entry { item, repetitions });
        self.cycle = cycle;
        self.keys.push(key);
    }
}

/// For each player, the number of latest moves in a row that gave check: perpetual check loses in shogi.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckCounts([u32; 2]);

impl CheckCounts {
    /// Counts a player's move.
    #[inline]
    pub fn push(&mut self, player: Player, gives_check: bool) {
        let count = &mut self.0[player.index()];
        *count = if gives_check { *count + 1 } else { 0 };
    }

    /// True if each of a player's moves in the last `cycle` plies gave check. A cycle begins and ends with the same side to
    /// move, so half of its plies are the player's.
    pub fn is_perpetual(self, player: Player, cycle: u32) -> bool {
        self.0[player.index()] >= cycle / 2
    }
}

/// The suffix of a plane's name: ", 3 plies ago", or nothing for the present position.
pub fn ago(age: usize) -> String {
    match age {
        0 => String::new(),
        1 => ", 1 ply ago".into(),
        _ => format!(", {age} plies ago"),
    }
}

/// Planes of `history` positions of pieces in channel order. For each position, newest first: the pieces of both sides by
/// kind, the earlier occurrences up to `limit`, and the pieces of both sides in `hand`, each with the divisor of its count.
pub fn planes(history: usize, kinds: &[&str], limit: u8, hand: &[(&str, u8)]) -> Vec<PlaneSpec> {
    let times = &["once", "twice", "three times"][..limit.into()];
    let sides = ["own", "opponent"];
    let of_one = |age: usize| {
        let when = ago(age);
        let on_board = sides.iter().flat_map(|side| kinds.iter().map(move |kind| format!("{side} {kind}")));
        let seen = times.iter().map(|times| format!("1 if the position had occurred at least {times} before"));
        let in_hand = sides
            .iter()
            .flat_map(|side| hand.iter().map(move |(kind, scale)| format!("{side} {kind} in hand / {scale}")));
        let bits = on_board.map(|name| PlaneSpec::bits(name + &when));
        bits.chain(seen.chain(in_hand).map(|name| PlaneSpec::constant(name + &when))).collect::<Vec<_>>()
    };
    (0..history).flat_map(of_one).collect()
}

/// Writes the planes of a position's earlier occurrences, up to `limit`.
#[inline]
pub fn encode_repetitions(repetitions: u8, limit: u8, planes: &mut Planes<'_>) {
    (1..=limit).for_each(|times| planes.constant(if repetitions >= times { 1.0 } else { 0.0 }));
}

/// Keys that a chunk holds.
const CHUNK_SIZE: usize = 16;
/// Bits of a Bloom filter that excludes most keys that have not occurred before.
const NUM_FILTER_BITS: u64 = 2048;

/// Keys in order. Copies share all but the latest chunk, so copying a long game costs no more than copying a short one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Keys {
    filter: [u64; (NUM_FILTER_BITS / 64) as usize],
    chunk: Chunk,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Chunk {
    latest: [u64; CHUNK_SIZE],
    num_latest: usize,
    /// The chunk before this one, which is full.
    older: Option<Arc<Chunk>>,
}

impl Default for Keys {
    fn default() -> Self {
        Self { filter: [0; (NUM_FILTER_BITS / 64) as usize], chunk: Chunk::default() }
    }
}

/// Word and bit of a key in the filter.
#[inline]
fn filter_bit(key: u64) -> (usize, u64) {
    let bit = key % NUM_FILTER_BITS;
    ((bit / 64) as usize, 1 << (bit % 64))
}

impl Keys {
    /// Adds the next key.
    #[inline]
    fn push(&mut self, key: u64) {
        let (word, bit) = filter_bit(key);
        self.filter[word] |= bit;
        let chunk = &mut self.chunk;
        if chunk.num_latest == CHUNK_SIZE {
            *chunk = Chunk { older: Some(Arc::new(std::mem::take(chunk))), ..Chunk::default() };
        }
        chunk.latest[chunk.num_latest] = key;
        chunk.num_latest += 1;
    }

    /// Number of occurrences of a key that comes next, up to `limit`, and the distance to the first one that was counted.
    /// The sides take turns, so only every other key can be the same.
    #[inline]
    fn count(&self, key: u64, limit: u8) -> (u8, u32) {
        let (word, bit) = filter_bit(key);
        if self.filter[word] & bit == 0 { (0, 0) } else { self.chunk.count(key, limit) }
    }
}

impl Chunk {
    fn count(&self, key: u64, limit: u8) -> (u8, u32) {
        let (mut count, mut first) = (0, 0);
        let (mut chunk, mut places) = (self, 0);
        loop {
            let latest = &chunk.latest[..chunk.num_latest];
            let others = latest.iter().rev().zip(places + 1..).skip((places + 1) % 2).step_by(2);
            for (_, place) in others.filter(|(other, _)| **other == key) {
                count += 1;
                first = place as u32;
                if count == limit {
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
        let mut one = History::new(0, 0, |_| 99);
        (1..40).for_each(|number| one.push(number, number, 3));
        let mut other = one.clone();
        one.push(40, 8, 3);
        other.push(41, 40, 3);
        assert_eq!((*one.newest(), one.repetitions(), one.cycle()), (40, 1, 32));
        assert_eq!((*other.newest(), other.repetitions(), other.cycle()), (41, 0, 0));
        other.forget_keys();
        other.push(42, 7, 3);
        assert_eq!(other.repetitions(), 0);
    }

    #[test]
    fn entries_come_newest_first() {
        let mut history = History::new(0, 0, |age| 100 + age as u64);
        assert!((1..MAX_HISTORY).all(|age| history.get(age).item == 100 + age as u64));
        (1..20).for_each(|number| history.push(number, number, 0));
        assert!((0..MAX_HISTORY).all(|age| history.get(age).item == 19 - age as u64));
    }
}
