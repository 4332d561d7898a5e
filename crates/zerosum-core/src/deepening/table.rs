//! The transposition table: what was found about positions, by their keys.

use crate::alpha_beta::Bound;
use crate::game::Action;

/// What is known of a position.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    key: u64,
    /// A result counts its plies from the position.
    pub value: i32,
    /// The best move, if one was better than the others.
    pub action: Option<Action>,
    /// Depth of the search.
    pub depth: i8,
    /// What the value says.
    pub bound: Bound,
    age: u8,
}

/// The memory of the table is stated in entries of this size.
const _: () = assert!(size_of::<Option<Entry>>() == 24);

/// Entries of one place.
const WAYS: usize = 2;

/// A bounded table. The shallower entry of a place, or one of an earlier root, makes room for a new one.
#[derive(Debug)]
pub struct Table {
    /// Allocated when the first entry is stored.
    places: Vec<[Option<Entry>; WAYS]>,
    num_places: usize,
    age: u8,
}

impl Table {
    /// A table of at most so many entries, and at least one place.
    pub fn new(num_entries: usize) -> Self {
        Self { places: Vec::new(), num_places: (num_entries / WAYS).max(1), age: 0 }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.places.fill([None; WAYS]);
        self.age = 0;
    }

    /// Begins another root: entries from before are replaced first.
    pub fn age(&mut self) {
        self.age = self.age.wrapping_add(1);
    }

    #[inline]
    fn place(&self, key: u64) -> usize {
        ((u128::from(key) * self.num_places as u128) >> 64) as usize
    }

    /// What is known of a position.
    #[inline]
    pub fn get(&self, key: u64) -> Option<Entry> {
        let place = self.places.get(self.place(key))?;
        place.iter().flatten().find(|entry| entry.key == key).copied()
    }

    /// Stores what was found about a position. Without a move, a known one of the same position is kept.
    #[inline]
    pub fn put(&mut self, key: u64, value: i32, action: Option<Action>, depth: i8, bound: Bound) {
        if self.places.is_empty() {
            self.places = vec![[None; WAYS]; self.num_places];
        }
        let (index, age) = (self.place(key), self.age);
        let place = &mut self.places[index];
        let same = place.iter().position(|entry| entry.is_some_and(|entry| entry.key == key));
        let worth = |entry: &Option<Entry>| {
            entry.map_or(i32::MIN, |entry| i32::from(entry.depth) - if entry.age == age { 0 } else { 256 })
        };
        let way = same.unwrap_or_else(|| (0..WAYS).min_by_key(|way| worth(&place[*way])).expect("there are ways"));
        let action = action.or_else(|| same.and(place[way]).and_then(|entry| entry.action));
        place[way] = Some(Entry { key, value, action, depth, bound, age });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_by_their_whole_key() {
        let mut table = Table::new(2);
        table.put(1, 10, Some(3), 5, Bound::Exact);
        table.put(2, 20, None, 1, Bound::Lower);
        let found = table.get(1).expect("stored");
        assert_eq!((found.value, found.action, found.depth, found.bound), (10, Some(3), 5, Bound::Exact));
        assert!(table.get(3).is_none());
    }

    #[test]
    fn the_shallower_entry_makes_room_and_old_ones_first() {
        let mut table = Table::new(2);
        table.put(1, 10, None, 5, Bound::Exact);
        table.put(2, 20, None, 1, Bound::Exact);
        table.put(3, 30, None, 2, Bound::Exact);
        assert!(table.get(2).is_none() && table.get(1).is_some() && table.get(3).is_some());
        table.age();
        table.put(4, 40, None, 0, Bound::Exact);
        table.put(5, 50, None, 0, Bound::Exact);
        assert!(table.get(1).is_none() && table.get(3).is_none());
    }

    #[test]
    fn a_move_outlives_a_search_that_found_none() {
        let mut table = Table::new(64);
        table.put(9, 1, Some(7), 3, Bound::Lower);
        table.put(9, -1, None, 4, Bound::Upper);
        assert_eq!(table.get(9).expect("stored").action, Some(7));
    }
}
