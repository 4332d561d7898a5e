//! A set of squares of a board of up to 25 × 25, whose side is known at run time; without a heap, so that states stay values.

use std::ops::BitOr;

/// Bit `i % 64` of word `i / 64` is square i, counted row by row from the top left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Squares([u64; 10]);

impl Squares {
    /// The longest side of a board.
    pub const MAX_SIDE: usize = 25;

    /// The first `count` squares.
    pub fn first(count: usize) -> Self {
        let mut squares = Self::default();
        (0..count).for_each(|square| squares.insert(square));
        squares
    }

    /// Whether a square is in the set.
    #[inline]
    pub fn contains(&self, square: usize) -> bool {
        self.0[square / 64] >> (square % 64) & 1 == 1
    }

    /// Puts a square into the set.
    #[inline]
    pub fn insert(&mut self, square: usize) {
        self.0[square / 64] |= 1 << (square % 64);
    }

    /// The squares that are here and not there.
    #[inline]
    pub fn without(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= !other);
        self
    }

    /// How many squares there are.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The squares, ascending.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = usize> {
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
}

impl BitOr for Squares {
    type Output = Self;

    #[inline]
    fn bitor(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
        self
    }
}

impl FromIterator<usize> for Squares {
    fn from_iter<I: IntoIterator<Item = usize>>(squares: I) -> Self {
        let mut set = Self::default();
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
        let set: Squares = squares.into_iter().collect();
        assert!(set.iter().eq(squares) && set.len() == 6 && !set.is_empty());
        assert!((0..625).all(|square| set.contains(square) == squares.contains(&square)));
        let others = Squares::first(625).without(set);
        assert_eq!((others.len(), others | set), (619, Squares::first(625)));
        assert!(others.without(others).is_empty());
    }
}
