//! Sets of points of a board of up to 64 `W` points, and which points lie beside which.

use std::ops::{BitAnd, BitOr, Not};

/// A set of points; bit i of word j is point 64 j + i, row by row from the top left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits<const W: usize>(pub [u64; W]);

impl<const W: usize> Bits<W> {
    /// No point.
    pub const NONE: Self = Self([0; W]);

    /// True if the point is in the set; points that no set of this width can hold are not.
    #[inline]
    pub fn has(&self, point: usize) -> bool {
        self.0.get(point / 64).is_some_and(|word| word >> (point % 64) & 1 == 1)
    }

    /// Puts a point in.
    #[inline]
    pub fn add(&mut self, point: usize) {
        self.0[point / 64] |= 1 << (point % 64);
    }

    /// Takes a point out.
    #[inline]
    pub fn remove(&mut self, point: usize) {
        self.0[point / 64] &= !(1 << (point % 64));
    }

    /// How many there are.
    #[inline]
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The points, ascending.
    #[inline]
    pub fn points(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(index, mut word)| {
            std::iter::from_fn(move || {
                let point = (word != 0).then(|| 64 * index + word.trailing_zeros() as usize);
                word &= word.wrapping_sub(1);
                point
            })
        })
    }

    /// Every point moved on by `distance`, which is 1 to 63.
    #[inline]
    fn moved_on(self, distance: usize) -> Self {
        let carry = |index: usize| if index == 0 { 0 } else { self.0[index - 1] >> (64 - distance) };
        Self(std::array::from_fn(|index| self.0[index] << distance | carry(index)))
    }

    /// Every point moved back by `distance`, which is 1 to 63.
    #[inline]
    fn moved_back(self, distance: usize) -> Self {
        let carry = |index: usize| if index + 1 == W { 0 } else { self.0[index + 1] << (64 - distance) };
        Self(std::array::from_fn(|index| self.0[index] >> distance | carry(index)))
    }
}

impl<const W: usize> BitAnd for Bits<W> {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self(std::array::from_fn(|index| self.0[index] & other.0[index]))
    }
}

impl<const W: usize> BitOr for Bits<W> {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(std::array::from_fn(|index| self.0[index] | other.0[index]))
    }
}

impl<const W: usize> Not for Bits<W> {
    type Output = Self;
    #[inline]
    fn not(self) -> Self {
        Self(self.0.map(|word| !word))
    }
}

/// Which points there are, and which lie side by side.
#[derive(Clone, Debug)]
pub struct Geometry<const W: usize> {
    /// Points of a side.
    pub size: usize,
    /// All points.
    pub all: Bits<W>,
    /// Of each point, those above, to the left, to the right and below; beyond the edge it is point size².
    pub neighbours: Vec<[u16; 4]>,
    not_first_column: Bits<W>,
    not_last_column: Bits<W>,
}

impl<const W: usize> Geometry<W> {
    /// A board with `size` points a side.
    pub fn new(size: usize) -> Self {
        let (count, mut all) = (size * size, Bits::NONE);
        (0..count).for_each(|point| all.add(point));
        let (mut not_first_column, mut not_last_column) = (all, all);
        (0..size).for_each(|row| not_first_column.remove(row * size));
        (0..size).for_each(|row| not_last_column.remove(row * size + size - 1));
        let neighbour = |is_on_board: bool, point: usize| if is_on_board { point as u16 } else { count as u16 };
        let neighbours = (0..count).map(|point| {
            [
                neighbour(point >= size, point.wrapping_sub(size)),
                neighbour(point % size > 0, point.wrapping_sub(1)),
                neighbour(point % size < size - 1, point + 1),
                neighbour(point + size < count, point + size),
            ]
        });
        Self { size, all, neighbours: neighbours.collect(), not_first_column, not_last_column }
    }

    /// The points of the board beside one of these.
    #[inline]
    pub fn beside(&self, points: Bits<W>) -> Bits<W> {
        let rows = points.moved_on(self.size) | points.moved_back(self.size);
        let columns = (points & self.not_last_column).moved_on(1) | (points & self.not_first_column).moved_back(1);
        (rows | columns) & self.all
    }
}

#[cfg(test)]
mod tests {
    use super::{Bits, Geometry};

    fn set<const W: usize>(points: &[usize]) -> Bits<W> {
        let mut bits = Bits::NONE;
        for point in points {
            bits.add(*point);
        }
        bits
    }

    #[test]
    fn neighbours_are_the_same_by_table_and_by_shifts() {
        fn check<const W: usize>(size: usize) {
            let geometry = Geometry::<W>::new(size);
            for point in 0..size * size {
                let mut expected: Vec<usize> = geometry.neighbours[point].iter().map(|p| usize::from(*p)).collect();
                expected.retain(|neighbour| *neighbour < size * size);
                assert_eq!(geometry.beside(set(&[point])).points().collect::<Vec<_>>(), expected, "{size}: {point}");
                let is_near = |other: &usize| {
                    let (row, column) = (point / size, point % size);
                    row.abs_diff(other / size) + column.abs_diff(other % size) == 1
                };
                assert_eq!((0..size * size).filter(is_near).collect::<Vec<_>>(), expected, "{size}: {point}");
            }
        }
        check::<1>(5);
        check::<2>(8);
        check::<2>(9);
        check::<3>(13);
        check::<6>(19);
        check::<10>(25);
    }

    #[test]
    fn sets_hold_what_was_put_in() {
        let mut bits = set::<2>(&[0, 63, 64, 80]);
        assert_eq!((bits.points().collect::<Vec<_>>(), bits.count()), (vec![0, 63, 64, 80], 4));
        bits.remove(63);
        assert!(bits.has(64) && !bits.has(63) && !bits.has(5000));
        assert_eq!((!bits & set(&[0, 1])).points().collect::<Vec<_>>(), [1]);
    }
}
