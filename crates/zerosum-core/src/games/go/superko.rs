//! The earlier positions of a game, for superko.
//!
//! Positions are compared by their keys. A move without a capture adds one stone, so all such moves of a turn are
//! compared at once with the earlier positions that have one stone more: each entry links to the previous one with
//! equally many stones.

use std::sync::Arc;

/// Capacity for the latest positions; a copy of a state copies only these.
const RECENT: usize = 32;

/// Number of lists. Stone counts with the same remainder share a list, which costs time and nothing else.
const LISTS: usize = 128;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Entry {
    key: u64,
    /// One more than the index of the entry before it in its list; 0 if there is none.
    before: u32,
}

/// Earlier positions, the present one included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuperkoHistory {
    /// All but the latest, shared between copies.
    old: Arc<Vec<Entry>>,
    recent: [Entry; RECENT],
    num_recent: usize,
    /// For each list, one more than the index of its last entry.
    last: [u32; LISTS],
}

impl SuperkoHistory {
    /// A history without positions.
    pub fn new() -> Self {
        Self { old: Arc::default(), recent: [Entry::default(); RECENT], num_recent: 0, last: [0; LISTS] }
    }

    /// Adds a position with `num_stones` stones.
    pub fn push(&mut self, key: u64, num_stones: usize) {
        if self.num_recent == RECENT {
            Arc::make_mut(&mut self.old).extend_from_slice(&self.recent);
            self.num_recent = 0;
        }
        let last = &mut self.last[num_stones % LISTS];
        self.recent[self.num_recent] = Entry { key, before: *last };
        self.num_recent += 1;
        *last = (self.old.len() + self.num_recent) as u32;
    }

    /// The keys of all positions with `num_stones` stones, and of some others.
    #[inline]
    pub fn keys(&self, num_stones: usize) -> impl Iterator<Item = u64> {
        let mut next = self.last[num_stones % LISTS] as usize;
        std::iter::from_fn(move || {
            let index = next.checked_sub(1)?;
            let entry = self.old.get(index).unwrap_or_else(|| &self.recent[index - self.old.len()]);
            next = entry.before as usize;
            Some(entry.key)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::SuperkoHistory;

    #[test]
    fn positions_are_found_by_their_number_of_stones() {
        let mut history = SuperkoHistory::new();
        let mut copies = Vec::new();
        for number in 0..500_u64 {
            history.push(number, number as usize % 7);
            copies.push(history.clone());
        }
        for (number, copy) in copies.iter().enumerate() {
            for stones in 0..7 {
                let expected = (0..=number).rev().filter(|other| other % 7 == stones).map(|other| other as u64);
                assert!(copy.keys(stones).eq(expected), "{number}");
            }
            assert_eq!(copy.keys(7).count(), 0);
        }
    }
}
