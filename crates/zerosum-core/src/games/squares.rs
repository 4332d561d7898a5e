//! Sets of squares of a board whose side is known at run time; without a heap, so that states stay values.

use std::ops::{BitAnd, BitOr};

/// The longest side of a board whose squares fit the default width.
pub const MAX_SIDE: usize = 25;

/// Of a board of up to 64 `W` squares: bit `i % 64` of word `i / 64` is square i, counted row by row from the top left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Squares<const W: usize = 10>([u64; W]);

impl<const W: usize> Squares<W> {
    /// No square.
    pub const NONE: Self = Self([0; W]);

    /// The first `count` squares.
    pub fn first(count: usize) -> Self {
        (0..count).collect()
    }

    /// Whether a square is in the set.
    #[inline]
    pub fn contains(&self, square: usize) -> bool {
        self.0[square / 64] >> (square % 64) & 1 == 1
    }

    /// Puts a square in.
    #[inline]
    pub fn insert(&mut self, square: usize) {
        self.0[square / 64] |= 1 << (square % 64);
    }

    /// Takes a square out.
    #[inline]
    pub fn remove(&mut self, square: usize) {
        self.0[square / 64] &= !(1 << (square % 64));
    }

    /// The squares that are here and not there.
    #[inline]
    pub fn without(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= !other);
        self
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }

    /// The squares, ascending.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = usize> + use<W> {
        self.0.into_iter().enumerate().flat_map(|(index, word)| {
            let lowest = |word: u64| (word != 0).then_some(word);
            std::iter::successors(lowest(word), move |word| lowest(word & (word - 1)))
                .map(move |word| 64 * index + word.trailing_zeros() as usize)
        })
    }

    /// As [`crate::game::Planes::words`] takes them.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// Every square moved on by `distance`, which is 1 to 63.
    #[inline]
    pub fn moved_on(self, distance: usize) -> Self {
        let carry = |index: usize| if index == 0 { 0 } else { self.0[index - 1] >> (64 - distance) };
        Self(std::array::from_fn(|index| self.0[index] << distance | carry(index)))
    }

    /// Every square moved back by `distance`, which is 1 to 63.
    #[inline]
    pub fn moved_back(self, distance: usize) -> Self {
        let carry = |index: usize| if index + 1 == W { 0 } else { self.0[index + 1] << (64 - distance) };
        Self(std::array::from_fn(|index| self.0[index] >> distance | carry(index)))
    }
}

impl<const W: usize> BitAnd for Squares<W> {
    type Output = Self;
    #[inline]
    fn bitand(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= other);
        self
    }
}

impl<const W: usize> BitOr for Squares<W> {
    type Output = Self;
    #[inline]
    fn bitor(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
        self
    }
}

impl<const W: usize> FromIterator<usize> for Squares<W> {
    fn from_iter<I: IntoIterator<Item = usize>>(squares: I) -> Self {
        let mut set = Self::NONE;
        squares.into_iter().for_each(|square| set.insert(square));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::Squares;

    #[test]
    fn a_set_is_what_was_put_into_it() {
        let squares = [0, 63, 64, 127, 300, 624];
        let mut set: Squares = squares.into_iter().collect();
        assert!(set.iter().eq(squares) && set.len() == 6 && !set.is_empty());
        assert!((0..625).all(|square| set.contains(square) == squares.contains(&square)));
        let others = Squares::first(625).without(set);
        assert_eq!((others.len(), others | set, others & set), (619, Squares::first(625), Squares::NONE));
        set.remove(63);
        assert!(set.contains(64) && !set.contains(63));
    }

    #[test]
    fn squares_move_from_word_to_word() {
        let set: Squares<2> = [0, 60, 63, 127].into_iter().collect();
        assert!(set.moved_on(5).iter().eq([5, 65, 68]) && set.moved_back(5).iter().eq([55, 58, 122]));
    }
}
