//! What a position remembers of its game: the latest boards for the planes, and the keys of all positions, by which
//! repetition is counted.

use std::sync::Arc;

use crate::game::{PlaneSpec, Planes, Player};

/// Boards that are remembered, the newest included.
pub const MAX_HISTORY: usize = 8;

/// One board as the planes show it. The default stands for a board before the game began: nothing on it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Frame<B> {
    /// As the game keeps it, seen by whoever was to move.
    pub board: B,
    /// How often the position had occurred before, when it was reached; the game says how far this is counted.
    pub repetitions: u8,
}

/// The latest boards, in a ring.
#[derive(Debug, PartialEq)]
pub struct Frames<B> {
    ring: [Frame<B>; MAX_HISTORY],
    newest: usize,
}

/// As derived, but the ring is copied as a whole: a search copies positions at each of its steps.
impl<B: Copy> Clone for Frames<B> {
    #[inline]
    fn clone(&self) -> Self {
        Self { ring: self.ring, newest: self.newest }
    }
}

impl<B: Copy> Frames<B> {
    /// A game that begins with a board; of those before it, which nobody counts, `older` says what was how many plies ago.
    pub fn new(newest: B, older: impl Fn(usize) -> B) -> Self {
        let board = |index| if index == 0 { newest } else { older(MAX_HISTORY - index) };
        Self { ring: std::array::from_fn(|index| Frame { board: board(index), repetitions: 0 }), newest: 0 }
    }

    /// What was `age` plies ago, fewer than [`MAX_HISTORY`].
    #[inline]
    pub fn get(&self, age: usize) -> &Frame<B> {
        &self.ring[(self.newest + MAX_HISTORY - age) % MAX_HISTORY]
    }

    /// The board a move later.
    #[inline]
    pub fn push(&mut self, board: B, repetitions: u8) {
        self.newest = (self.newest + 1) % MAX_HISTORY;
        self.ring[self.newest] = Frame { board, repetitions };
    }
}

/// The latest boards, and the keys of the positions that may come again.
#[derive(Clone, Debug, PartialEq)]
pub struct Past<B: Copy> {
    /// The present one included.
    pub frames: Frames<B>,
    cycle: u32,
    keys: Keys,
}

impl<B: Copy> Past<B> {
    /// A game that begins with a position; `older` as in [`Frames::new`].
    pub fn new(newest: B, key: u64, older: impl Fn(usize) -> B) -> Self {
        let mut keys = Keys::default();
        keys.push(key);
        Self { frames: Frames::new(newest, older), cycle: 0, keys }
    }

    /// The board as it is now.
    #[inline]
    pub fn board(&self) -> &B {
        &self.frames.get(0).board
    }

    /// How often the position has occurred before.
    #[inline]
    pub fn repetitions(&self) -> u8 {
        self.frames.get(0).repetitions
    }

    /// Plies since the first of the occurrences that were counted.
    #[inline]
    pub fn cycle(&self) -> u32 {
        self.cycle
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
        self.frames.push(board, repetitions);
        self.cycle = cycle;
        self.keys.push(key);
    }
}

/// By player, how many moves in a row gave check, up to the last one: who checks perpetually loses in shogi.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks([u32; 2]);

impl Checks {
    /// Notes a player's move.
    #[inline]
    pub fn push(&mut self, player: Player, gives_check: bool) {
        let checks = &mut self.0[player.index()];
        *checks = if gives_check { *checks + 1 } else { 0 };
    }

    /// Whether a player gave check by each of its moves in the last `cycle` plies, which end with the side to move that they
    /// began with, so that half of them are the player's.
    pub fn are_perpetual(self, player: Player, cycle: u32) -> bool {
        self.0[player.index()] >= cycle / 2
    }
}

/// ", 3 plies ago" in a plane's name, nothing for the present.
pub fn ago(age: usize) -> String {
    match age {
        0 => String::new(),
        1 => ", 1 ply ago".into(),
        _ => format!(", {age} plies ago"),
    }
}

/// What the planes of `history` positions of pieces mean, in channel order: for each position, newest first, the pieces of
/// both sides by kind, how often it had occurred before up to `most`, and what both sides hold of those in `hand`, by what
/// the counts are divided.
pub fn planes(history: usize, kinds: &[&str], most: u8, hand: &[(&str, u8)]) -> Vec<PlaneSpec> {
    let times = &["once", "twice", "three times"][..most.into()];
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

/// Writes how often a position had occurred before, up to `most`.
#[inline]
pub fn encode_repetitions(repetitions: u8, most: u8, planes: &mut Planes<'_>) {
    (1..=most).for_each(|times| planes.constant(if repetitions >= times { 1.0 } else { 0.0 }));
}

/// Keys in one place.
const NUM_IN_PLACE: usize = 16;
/// Bits that tell of most keys that they have not come before.
const NUM_FILTER_BITS: u64 = 2048;

/// Keys in the order in which they came. Copies share all but the latest, so that a long game costs a copy no more than a
/// short one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    filter: [u64; (NUM_FILTER_BITS / 64) as usize],
    chunk: Chunk,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
        let mut frames = Frames::new(0, |age| 100 + age as u64);
        assert!((1..MAX_HISTORY).all(|age| frames.get(age).board == 100 + age as u64));
        (1..20).for_each(|number| frames.push(number, 0));
        assert!((0..MAX_HISTORY).all(|age| frames.get(age).board == 19 - age as u64));
    }
}
