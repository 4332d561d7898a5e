//! The positions that a game has been through, as superko needs them.
//!
//! Positions are known by their keys. A stone that captures nothing adds one stone, so all such moves of a turn are held
//! against the earlier positions with one stone more at once: entries are linked to the one before with as many stones.

use std::sync::Arc;

/// Positions since the last that was moved to the shared part; a copy of a state copies these alone.
const RECENT: usize = 32;

/// Stone counts are told apart up to this number: beyond it, two counts share a list, which costs time and nothing else.
const LISTS: usize = 128;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Entry {
    key: u64,
    /// One more than the index of the entry before it in its list; 0 if there is none.
    before: u32,
}

/// Earlier positions, the present one included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// All but the last few, shared between copies.
    old: Arc<Vec<Entry>>,
    recent: [Entry; RECENT],
    num_recent: usize,
    /// Of each list one more than the index of its last entry.
    last: [u32; LISTS],
}

impl History {
    /// No position yet.
    pub fn new() -> Self {
        Self { old: Arc::default(), recent: [Entry::default(); RECENT], num_recent: 0, last: [0; LISTS] }
    }

    /// Adds a position with so many stones.
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

    /// The keys of all positions with so many stones, and of some others.
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
    use super::History;

    #[test]
    fn positions_are_found_by_their_number_of_stones() {
        let mut history = History::new();
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
