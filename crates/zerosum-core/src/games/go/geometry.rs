//! The points of a board of Go, and which points are adjacent.

use crate::games::squares::SquareSet;

/// The points, and which of them are adjacent.
#[derive(Clone, Debug)]
pub struct Geometry<const W: usize> {
    /// Length of a side.
    pub size: usize,
    /// All points.
    pub all: SquareSet<W>,
    /// For each point, the points above, to the left, to the right and below; size² stands for the outside.
    pub neighbours: Vec<[u16; 4]>,
    not_first_column: SquareSet<W>,
    not_last_column: SquareSet<W>,
}

impl<const W: usize> Geometry<W> {
    /// A board with `size` points a side.
    pub fn new(size: usize) -> Self {
        let count = size * size;
        let all = SquareSet::first(count);
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

    /// The points that are adjacent to one of these.
    #[inline]
    pub fn adjacent(&self, points: SquareSet<W>) -> SquareSet<W> {
        let rows = points.shifted_up(self.size) | points.shifted_down(self.size);
        let columns = (points & self.not_last_column).shifted_up(1) | (points & self.not_first_column).shifted_down(1);
        (rows | columns) & self.all
    }
}

#[cfg(test)]
mod tests {
    use super::Geometry;

    #[test]
    fn neighbours_are_the_same_by_table_and_by_shifts() {
        fn check<const W: usize>(size: usize) {
            let geometry = Geometry::<W>::new(size);
            for point in 0..size * size {
                let mut expected: Vec<usize> = geometry.neighbours[point].iter().map(|p| usize::from(*p)).collect();
                expected.retain(|neighbour| *neighbour < size * size);
                let adjacent = geometry.adjacent(std::iter::once(point).collect());
                assert_eq!(adjacent.iter().collect::<Vec<_>>(), expected, "{size}: {point}");
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
}
