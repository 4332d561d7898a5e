//! The earlier positions of a game, for superko.
//!
//! Positions are compared by their keys. A move without a capture adds one stone, so all such moves of a turn are
//! compared at once with the earlier positions that have one stone more: each entry links to the previous one with
//! equally many stones.
//!
//! A search copies a state for each of its simulations, and the copies of many trees do not fit into a processor's
//! caches. So a state itself has only the latest positions, with links of a byte.

use std::sync::Arc;

/// Capacity for the latest positions; a copy of a state copies only these.
const RECENT: usize = 32;

/// Number of lists. Stone counts with the same remainder share a list, which costs time and nothing else.
const LISTS: usize = 128;

/// The link of a recent position to the old ones of its list.
const TO_OLD: u8 = u8::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OldEntry {
    key: u64,
    /// One more than the index of the entry before it in its list; 0 if there is none.
    before: u32,
}

/// All positions but the latest.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Old {
    entries: Vec<OldEntry>,
    /// For each list, one more than the index of its last entry.
    last: [u32; LISTS],
}

/// Earlier positions, the present one included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuperkoHistory {
    /// Shared between copies; `None` while all positions are recent.
    old: Option<Arc<Old>>,
    recent: [u64; RECENT],
    /// For each recent position, one more than the index of the recent one before it in its list; [`TO_OLD`] if only old ones are
    /// before it, 0 if none is.
    before: [u8; RECENT],
    num_recent: usize,
    /// The same link to the last position of each list.
    last: [u8; LISTS],
}

impl SuperkoHistory {
    /// A history without positions.
    pub fn new() -> Self {
        Self { old: None, recent: [0; RECENT], before: [0; RECENT], num_recent: 0, last: [0; LISTS] }
    }

    /// Adds a position with `num_stones` stones.
    pub fn push(&mut self, key: u64, num_stones: usize) {
        if self.num_recent == RECENT {
            self.move_recent();
        }
        let (index, last) = (self.num_recent, &mut self.last[num_stones % LISTS]);
        self.recent[index] = key;
        self.before[index] = *last;
        self.num_recent += 1;
        *last = self.num_recent as u8;
    }

    /// Makes the recent positions old.
    #[cold]
    fn move_recent(&mut self) {
        let old = self.old.get_or_insert_with(|| Arc::new(Old { entries: Vec::new(), last: [0; LISTS] }));
        let Old { entries, last: last_old } = Arc::make_mut(old);
        for (list, last) in self.last.iter_mut().enumerate().filter(|(_, last)| **last != 0) {
            let mut moved = Vec::new();
            while let Some(index) = recent_index(*last) {
                moved.push(self.recent[index]);
                *last = self.before[index];
            }
            for key in moved.into_iter().rev() {
                entries.push(OldEntry { key, before: last_old[list] });
                last_old[list] = entries.len() as u32;
            }
            *last = TO_OLD;
        }
        self.num_recent = 0;
    }

    /// The keys of all positions with `num_stones` stones, and of some others.
    #[inline]
    pub fn keys(&self, num_stones: usize) -> impl Iterator<Item = u64> {
        let list = num_stones % LISTS;
        let (mut next, mut next_old) = (self.last[list], None);
        std::iter::from_fn(move || {
            if let Some(index) = recent_index(next) {
                next = self.before[index];
                return Some(self.recent[index]);
            }
            if next == 0 {
                return None;
            }
            let old = self.old.as_deref()?;
            let OldEntry { key, before } = old.entries[next_old.unwrap_or(old.last[list]).checked_sub(1)? as usize];
            next_old = Some(before);
            Some(key)
        })
    }
}

/// The index of the recent position that a link leads to.
#[inline]
fn recent_index(link: u8) -> Option<usize> {
    (1..=RECENT as u8).contains(&link).then(|| usize::from(link) - 1)
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
