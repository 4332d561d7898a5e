//! A cache of evaluations, for positions that are met again: in another line of a tree, in another tree, in a later search.
//!
//! The key is a hash of the network's input, planes and legal actions, so positions with different histories or repetitions
//! have different keys if the network sees a difference. The cache holds the network's evaluations, never exact results.
//!
//! ```text
//!    new ──> young ──(full)──> old ──(young is full again)──> forgotten
//!              ^────(found)─────┘
//! ```
//!
//! Each of two generations holds half of the positions. When the young one is full it becomes the old one, and the former old
//! one is emptied: positions that were not found in the meantime are forgotten. Nothing is allocated once both have been full.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::node::Estimate;
use crate::player::ValueForMover;
use crate::random::mix;

/// The key of a position: 128 bits, so that two positions of a run hardly ever share one (among 10⁹ positions with a
/// probability below 10⁻²⁰).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Key(u128);

/// The key of a sequence of words: two independent chains of bijections, one step a word.
pub fn key_of(words: impl Iterator<Item = u64>) -> Key {
    let step = |(one, other): (u64, u64), word: u64| {
        let product = (other ^ word).wrapping_mul(0xA076_1D64_78BD_642F);
        (mix(one ^ word), product.rotate_left(32).wrapping_mul(0xE703_7ED1_A0B4_28DB))
    };
    let (one, other) = words.fold((0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344), step);
    Key(u128::from(one) << 64 | u128::from(other))
}

/// The hasher of keys, which are hashes already.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, _: &[u8]) {
        unreachable!("a key is one word of 128 bits");
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = (key >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A position's evaluation; its priors are in the list of its generation.
#[derive(Clone, Copy)]
struct Entry {
    start: usize,
    len: u16,
    estimate: Estimate<ValueForMover>,
}

#[derive(Default)]
struct Generation {
    entries: HashMap<Key, Entry, BuildHasherDefault<KeyHasher>>,
    priors: Vec<f32>,
}

impl Generation {
    fn insert(&mut self, key: Key, priors: &[f32], estimate: Estimate<ValueForMover>) {
        self.entries.insert(key, Entry { start: self.priors.len(), len: priors.len() as u16, estimate });
        self.priors.extend_from_slice(priors);
    }

    fn get(&self, key: Key) -> Option<(&[f32], Estimate<ValueForMover>)> {
        let entry = self.entries.get(&key)?;
        Some((&self.priors[entry.start..entry.start + usize::from(entry.len)], entry.estimate))
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.priors.clear();
    }

    fn num_bytes(&self) -> usize {
        // A hash map keeps one more byte per entry, and an eighth of its entries empty.
        let bytes_per_entry = size_of::<(Key, Entry)>() + 1;
        self.entries.capacity() * 8 / 7 * bytes_per_entry + self.priors.capacity() * size_of::<f32>()
    }
}

/// The evaluations of a bounded number of positions.
pub struct Cache {
    young: Generation,
    old: Generation,
    /// Maximum number of positions of a generation.
    capacity: usize,
}

impl Cache {
    /// An empty cache for `num_positions`, at least two.
    pub fn new(num_positions: usize) -> Self {
        Self { young: Generation::default(), old: Generation::default(), capacity: (num_positions / 2).max(1) }
    }

    /// The priors of a position's legal actions and the rest of its evaluation, if it is known.
    pub fn get(&mut self, key: Key) -> Option<(&[f32], Estimate<ValueForMover>)> {
        if !self.young.entries.contains_key(&key) {
            let (priors, estimate) = self.old.get(key)?;
            if self.young.entries.len() == self.capacity {
                return Some((priors, estimate));
            }
            self.young.insert(key, priors, estimate);
        }
        self.young.get(key)
    }

    /// Adds an evaluation, unless the position has one.
    pub fn insert(&mut self, key: Key, priors: &[f32], estimate: Estimate<ValueForMover>) {
        if self.young.entries.contains_key(&key) {
            return;
        }
        if self.young.entries.len() == self.capacity {
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.clear();
        }
        self.young.insert(key, priors, estimate);
    }

    /// Forgets all positions.
    pub fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
    }

    /// Bytes allocated, used or not.
    pub fn num_bytes(&self) -> usize {
        self.young.num_bytes() + self.old.num_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u64) -> Key {
        key_of([number, 7].into_iter())
    }

    /// An estimate that identifies its position.
    fn value(number: u64) -> Estimate<ValueForMover> {
        Estimate { value: ValueForMover(number as f32 / 1e6), draw_share: 0.0 }
    }

    #[test]
    fn keeps_the_latest_and_what_is_asked_about() {
        let mut cache = Cache::new(1000);
        let mut num_bytes = 0;
        for number in 0..20_000 {
            cache.insert(key(number), &[number as f32; 3], value(number));
            assert!(cache.get(key(0)).is_some(), "asked about at {number}");
            for latest in number.saturating_sub(400)..number {
                assert_eq!(cache.get(key(latest)), Some((&[latest as f32; 3][..], value(latest))));
            }
            if number == 2000 {
                num_bytes = cache.num_bytes();
            }
        }
        assert!(cache.get(key(10)).is_none());
        assert_eq!(cache.num_bytes(), num_bytes, "no memory is taken once it was full");
        cache.clear();
        assert!(cache.get(key(19_999)).is_none());
    }

    #[test]
    fn an_evaluation_stays_until_it_is_forgotten() {
        let mut cache = Cache::new(2);
        cache.insert(key(1), &[0.5, 0.5], value(1));
        cache.insert(key(1), &[1.0, 0.0], value(2));
        assert_eq!(cache.get(key(1)), Some((&[0.5, 0.5][..], value(1))));
    }

    #[test]
    fn each_word_and_its_place_count() {
        let base = key_of([1, 2, 3].into_iter());
        for other in [&[1, 2][..], &[1, 2, 3, 0], &[1, 3, 2], &[0, 2, 3], &[1, 2, 3 | 1 << 63]] {
            assert_ne!(base, key_of(other.iter().copied()));
        }
        for half in [0, 64] {
            let ones: u32 = (0..64).map(|bit| half_of(key_of([1 << bit].into_iter()), half).count_ones()).sum();
            assert!((ones / 64).abs_diff(32) < 3, "{ones} of 4096 bits");
        }
    }

    fn half_of(key: Key, shift: u32) -> u64 {
        (key.0 >> shift) as u64
    }
}
