//! Features of lines of squares: what stands on all squares of a line together, as n-tuple networks have it (Lucas 2008).
//!
//! The content of a line of k squares is a number of k digits to the base 3, its first square the lowest: 1 for an own piece of the
//! game's first kind (its stones, its pawns), 2 for one of the other side, 0 for neither. It is the place of a feature in a table
//! that many lines share, and an empty line has none. The geometry is the caller's: for each line its squares, and its tables in
//! both sides' views.

use super::features::FeatureMap;

/// The largest number of squares of a line.
pub const MAX_LENGTH: usize = 6;

/// A line of squares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The squares in the first player's view.
    pub squares: Vec<u32>,
    /// The first feature of its table in the view of the player that is to move if it is the first.
    pub own: u32,
    /// The same in the other side's view.
    pub other: u32,
    /// Whether the other side reads the squares in the opposite order.
    pub is_reversed: bool,
}

/// The lines of a board, and the weights of their features.
#[derive(Debug)]
pub struct Lines {
    all: Vec<Line>,
    /// For each square, the lines through it.
    through: Vec<Vec<u32>>,
    /// For each feature of the features' map, its square and the digit of its side in the first player's view.
    places: Vec<Option<(u32, u8)>>,
    /// For each content, that which the other side sees: read in the same order, and in the opposite one.
    swapped: [Vec<u32>; 2],
    /// [features][units].
    weights: Vec<i16>,
}

impl Lines {
    /// Lines on the board of some features, with `weights` of `num_units` for each feature.
    ///
    /// # Errors
    /// A sentence, if a square or a table is out of range, or the lines differ in length.
    pub fn new(features: &FeatureMap, lines: Vec<Line>, weights: Vec<i16>, num_units: usize) -> Result<Self, String> {
        let (num_squares, length) = (features.num_squares(), lines.first().map_or(0, |line| line.squares.len()));
        if !(1..=MAX_LENGTH).contains(&length) {
            return Err(format!("lines of {length} squares, expected 1 to {MAX_LENGTH}"));
        }
        let num_contents = 3_usize.pow(length as u32);
        let num_features = weights.len() / num_units;
        let is_in_range = |table: u32| table as usize + num_contents <= num_features;
        let is_sound = |line: &Line| {
            let has_squares = line.squares.iter().all(|square| (*square as usize) < num_squares);
            line.squares.len() == length && has_squares && is_in_range(line.own) && is_in_range(line.other)
        };
        if weights.len() != num_features * num_units || !lines.iter().all(is_sound) {
            return Err(format!("lines do not fit {num_squares} squares and {num_features} features"));
        }
        let mut through = vec![Vec::new(); num_squares];
        for (index, line) in lines.iter().enumerate() {
            line.squares.iter().for_each(|square| through[*square as usize].push(index as u32));
        }
        let seen = |content: u32, is_reversed: bool| {
            (0..length).fold(0, |sum, place| {
                let digit = (3 - content / 3_u32.pow(place as u32) % 3) % 3;
                let other_place = if is_reversed { length - 1 - place } else { place };
                sum + digit * 3_u32.pow(other_place as u32)
            })
        };
        let swapped = [false, true]
            .map(|is_reversed| (0..num_contents as u32).map(|content| seen(content, is_reversed)).collect());
        Ok(Self { all: lines, through, places: features.places_of_first_kind(), swapped, weights })
    }

    /// The square of a feature and the digit of its side, in the first player's view; `None` for another kind than the first.
    #[inline]
    pub fn place(&self, feature: usize) -> Option<(usize, u8)> {
        self.places[feature].map(|(square, digit)| (square as usize, digit))
    }

    /// Number of lines.
    pub fn num_lines(&self) -> usize {
        self.all.len()
    }

    /// The lines through a square.
    #[inline]
    pub fn through(&self, square: usize) -> impl Iterator<Item = usize> {
        self.through[square].iter().map(|line| *line as usize)
    }

    /// The feature of a line in each side's view, for the digits of all squares in the first player's; `None` if it is empty.
    #[inline]
    pub fn features(&self, line: usize, digits: &[u8]) -> Option<[usize; 2]> {
        let line = &self.all[line];
        let content = line.squares.iter().rev().fold(0, |sum, square| 3 * sum + u32::from(digits[*square as usize]));
        let other = self.swapped[usize::from(line.is_reversed)][content as usize];
        (content != 0).then_some([(line.own + content) as usize, (line.other + other) as usize])
    }

    /// The weights of a feature.
    #[inline]
    pub fn column(&self, feature: usize, num_units: usize) -> &[i16] {
        &self.weights[feature * num_units..][..num_units]
    }
}
