//! The number of a position within its table.
//!
//! Positions are counted up to symmetry: without pawns the first piece is turned into the triangle a1-d1-d4, with pawns the leading
//! pawn to the files a to d. Pieces of a kind are a combination of squares, not a sequence. The first group is the two kings (462 ways)
//! or three pieces that differ (31,332 ways), or the leading pawns.
//!
//! The numbering is that of Ronald de Man's generator, as Fathom and Pyrrhic (MIT) have it.

use super::material::Material;

/// Maximum number of men of a table.
pub const MAX_MEN: usize = 7;

/// Squares of the triangle in the order of their numbers; the last four are on the diagonal.
///
/// ```text
/// 4 . . . 9
/// 3 . . 8 5
/// 2 . 7 3 4
/// 1 6 0 1 2
///   a b c d
/// ```
const TRIANGLE: [u8; 10] = [1, 2, 3, 10, 11, 19, 0, 9, 18, 27];

/// The first group of a table without pawns.
const NUM_KING_PAIRS: u64 = 462;
const NUM_TRIPLES: u64 = 31_332;

/// How the squares of a table's positions become a number.
#[derive(Debug)]
pub struct Numbering {
    /// Kinds of pieces in the order of their squares: 1 to 6 for White's pawn to king, 9 to 14 for Black's.
    pub pieces: [u8; MAX_MEN],
    /// Sizes of the groups of pieces, at the index of each group's first piece.
    group: [u8; MAX_MEN],
    /// The weight of each group, at the same index.
    factor: [u64; MAX_MEN],
    /// Number of positions.
    pub num_positions: u64,
}

impl Numbering {
    /// Reads the order of pieces from the beginning of a table: a byte for each piece, with White's to move in its low half and
    /// Black's in the high half. `file` is that of the leading pawn.
    ///
    /// Returns `None` if these are not the material's pieces.
    pub fn read(bytes: &[u8], shift: u32, material: &Material, file: usize) -> Option<Self> {
        let nibble = |index: usize| bytes.get(index).map(|byte| byte >> shift & 0xf);
        let has_second = material.pawns[1] > 0;
        let first = 1 + usize::from(has_second);
        let mut pieces = [0; MAX_MEN];
        for (index, piece) in pieces.iter_mut().enumerate().take(material.num_men) {
            *piece = nibble(first + index)?;
        }
        if !material.is_listed_by(&pieces[..material.num_men]) {
            return None;
        }
        let mut group = [0; MAX_MEN];
        let lead = match material.pawns[0] {
            0 if material.has_unique_pieces => 3,
            0 => 2,
            pawns => usize::from(pawns),
        };
        group[0] = lead as u8;
        let mut placed = lead;
        if has_second {
            group[placed] = material.pawns[1];
            placed += usize::from(material.pawns[1]);
        }
        let mut index = placed;
        while index < material.num_men {
            let same = pieces[index..material.num_men].iter().take_while(|piece| **piece == pieces[index]).count();
            group[index] = same as u8;
            index += same;
        }
        let order = usize::from(nibble(0)?);
        let second_order = if has_second { usize::from(nibble(1)?) } else { usize::MAX };
        let mut factor = [0; MAX_MEN];
        let (mut num_positions, mut free, mut step) = (1_u64, 64 - placed as u64, 0);
        while placed < material.num_men || step == order || step == second_order {
            let (place, ways) = if step == order {
                let ways = match material.pawns[0] {
                    0 if material.has_unique_pieces => NUM_TRIPLES,
                    0 => NUM_KING_PAIRS,
                    pawns => leading_pawns(usize::from(pawns), file).1,
                };
                (0, ways)
            } else if step == second_order {
                (lead, binomial(group[lead].into(), 48 - lead as u64))
            } else {
                let size = u64::from(group[placed]);
                let found = (placed, binomial(size, free));
                free -= size;
                placed += size as usize;
                found
            };
            factor[place] = num_positions;
            num_positions = num_positions.checked_mul(ways)?;
            step += 1;
        }
        let is_complete = factor[0] > 0 && (!has_second || factor[lead] > 0);
        is_complete.then_some(Self { pieces, group, factor, num_positions })
    }

    /// The number of a position with its pieces on these squares, in the order of `pieces`; squares are changed on the way.
    pub fn number(&self, squares: &mut [u8], material: &Material) -> u64 {
        if squares[0] & 4 != 0 {
            for square in squares.iter_mut() {
                *square ^= 7;
            }
        }
        let (mut number, mut placed) = if material.pawns[0] == 0 {
            self.without_pawns(squares, material)
        } else {
            self.with_pawns(squares, material)
        };
        while placed < squares.len() {
            let end = placed + usize::from(self.group[placed]);
            number += self.combination(squares, placed, end, 0);
            placed = end;
        }
        number
    }

    fn without_pawns(&self, squares: &mut [u8], material: &Material) -> (u64, usize) {
        if squares[0] & 0x20 != 0 {
            for square in squares.iter_mut() {
                *square ^= 0x38;
            }
        }
        let lead = usize::from(self.group[0]);
        // The first piece that is off the diagonal a1-h8 comes below it.
        if squares[..lead].iter().find(|square| above_diagonal(**square) != 0).is_some_and(|at| above_diagonal(*at) > 0)
        {
            for square in squares.iter_mut() {
                *square = *square >> 3 | (*square & 7) << 3;
            }
        }
        let number = if material.has_unique_pieces {
            triple(squares[0], squares[1], squares[2])
        } else {
            king_pair(squares[0], squares[1])
        };
        (number * self.factor[0], lead)
    }

    fn with_pawns(&self, squares: &mut [u8], material: &Material) -> (u64, usize) {
        let lead = usize::from(self.group[0]);
        squares[1..lead].sort_unstable_by_key(|square| std::cmp::Reverse(pawn_order(*square)));
        let mut number = leading_pawns(lead, usize::from(squares[0] & 7)).0[usize::from(squares[0] >> 3) - 1];
        for (index, square) in squares[..lead].iter().enumerate().skip(1) {
            number += binomial((lead - index) as u64, pawn_order(*square));
        }
        number *= self.factor[0];
        let end = lead + usize::from(material.pawns[1]);
        if end > lead {
            number += self.combination(squares, lead, end, 8);
        }
        (number, end)
    }

    /// The number of a group's combination of squares, counted without the squares of the groups before it.
    fn combination(&self, squares: &mut [u8], start: usize, end: usize, first_square: u64) -> u64 {
        squares[start..end].sort_unstable();
        let mut number = 0;
        for index in start..end {
            let taken = squares[..start].iter().filter(|other| squares[index] > **other).count() as u64;
            number += binomial((index - start + 1) as u64, u64::from(squares[index]) - taken - first_square);
        }
        number * self.factor[start]
    }
}

/// Moves the pawn that leads, of these squares of the leading pawns, to the front, and returns its file, folded to 0 to 3.
pub fn put_leader_first(pawns: &mut [u8]) -> usize {
    for index in 1..pawns.len() {
        if leader_order(pawns[0]) > leader_order(pawns[index]) {
            pawns.swap(0, index);
        }
    }
    folded_file(pawns[0])
}

fn folded_file(square: u8) -> usize {
    usize::from((square & 7).min(7 - (square & 7)))
}

/// 1 above the diagonal a1-h8, −1 below it.
fn above_diagonal(square: u8) -> i8 {
    (square >> 3) as i8 - (square & 7) as i8
}

/// The pawn with the lowest number leads: edge files first, then low ranks.
fn leader_order(square: u8) -> u8 {
    6 * folded_file(square) as u8 + (square >> 3) - 1
}

/// The number of a pawn's square among the 48, from the centre outwards.
fn pawn_order(square: u8) -> u64 {
    47 - 12 * folded_file(square) as u64 - 2 * (u64::from(square >> 3) - 1) - u64::from(square & 7 > 3)
}

/// For `pawns` leading pawns, the first of them on a file: the number of the first combination by its rank, and the number of all.
fn leading_pawns(pawns: usize, file: usize) -> ([u64; 6], u64) {
    let file = file.min(7 - file) as u8;
    let (mut first, mut sum) = ([0; 6], 0);
    for (rank, first) in (1..7).zip(&mut first) {
        *first = sum;
        sum += binomial(pawns as u64 - 1, pawn_order(rank * 8 + file));
    }
    (first, sum)
}

fn binomial(chosen: u64, of: u64) -> u64 {
    (0..chosen).fold(1, |product, index| product * of.saturating_sub(index) / (index + 1))
}

/// The number of a square below or above the diagonal, the same for both.
fn off_diagonal(square: u8) -> u64 {
    let (low, high) = (u64::from((square >> 3).min(square & 7)), u64::from((square >> 3).max(square & 7)));
    low * (15 - low) / 2 + high - low - 1
}

fn in_triangle(square: u8) -> u64 {
    TRIANGLE.iter().position(|known| *known == square).unwrap_or(0) as u64
}

/// The number of two kings that are not beside each other, the first in the triangle. Pairs on the diagonal come last.
fn king_pair(first: u8, second: u8) -> u64 {
    static NUMBERS: std::sync::OnceLock<Vec<[u16; 64]>> = std::sync::OnceLock::new();
    let numbers = NUMBERS.get_or_init(|| {
        let mut numbers = vec![[0; 64]; 10];
        let mut next = 0;
        for on_diagonal in [false, true] {
            for (row, first) in TRIANGLE.iter().enumerate() {
                for second in 0..64_u8 {
                    let distance = (first >> 3).abs_diff(second >> 3).max((first & 7).abs_diff(second & 7));
                    let is_mirrored = row > 5 && above_diagonal(second) > 0;
                    if distance > 1 && !is_mirrored && on_diagonal == (row > 5 && above_diagonal(second) == 0) {
                        numbers[row][usize::from(second)] = next;
                        next += 1;
                    }
                }
            }
        }
        numbers
    });
    numbers[in_triangle(first) as usize][usize::from(second & 63)].into()
}

/// The number of three pieces of different kinds, the first in the triangle.
fn triple(first: u8, second: u8, third: u8) -> u64 {
    let skip =
        |square: u8, before: &[u8]| u64::from(square) - before.iter().filter(|other| square > **other).count() as u64;
    // On the diagonal a square's number is its file.
    let on_diagonal = |square: u8, before: &[u8]| {
        u64::from(square & 7) - before.iter().filter(|other| square > **other).count() as u64
    };
    if above_diagonal(first) != 0 {
        in_triangle(first) * 63 * 62 + skip(second, &[first]) * 62 + skip(third, &[first, second])
    } else if above_diagonal(second) != 0 {
        let start = 6 * 63 * 62;
        start + u64::from(first & 7) * 28 * 62 + off_diagonal(second) * 62 + skip(third, &[first, second])
    } else if above_diagonal(third) != 0 {
        let start = 6 * 63 * 62 + 4 * 28 * 62;
        start + u64::from(first & 7) * 7 * 28 + on_diagonal(second, &[first]) * 28 + off_diagonal(third)
    } else {
        let start = 6 * 63 * 62 + 4 * 28 * 62 + 4 * 7 * 28;
        start + u64::from(first & 7) * 7 * 6 + on_diagonal(second, &[first]) * 6 + on_diagonal(third, &[first, second])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kings_have_462_numbers() {
        let mut seen = vec![false; 462];
        for first in TRIANGLE {
            for second in 0..64_u8 {
                let distance = (first >> 3).abs_diff(second >> 3).max((first & 7).abs_diff(second & 7));
                if distance > 1 && !(above_diagonal(first) == 0 && above_diagonal(second) > 0) {
                    assert!(!std::mem::replace(&mut seen[king_pair(first, second) as usize], true));
                }
            }
        }
        assert!(seen.iter().all(|is_seen| *is_seen));
    }

    #[test]
    fn pawns_have_48_numbers() {
        let mut orders: Vec<_> = (8..56).map(pawn_order).collect();
        orders.sort_unstable();
        assert_eq!(orders, (0..48).collect::<Vec<_>>());
    }

    #[test]
    fn binomials_are_pascals() {
        for of in 1..64 {
            for chosen in 1..7 {
                assert_eq!(binomial(chosen, of), binomial(chosen - 1, of - 1) + binomial(chosen, of - 1));
            }
        }
    }
}
