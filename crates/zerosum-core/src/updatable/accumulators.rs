//! The accumulators of the positions of a line.

use std::sync::Arc;

use super::lines::Lines;
use super::{Network, change};
use crate::game::Game;
use crate::line_evaluation::{LineEvaluation, MAX_HEIGHT};
use crate::player::Player;

/// A network that follows a search: a position's accumulators come from those of the nearest position before it that has some.
pub struct Accumulators {
    network: Arc<Network>,
    /// For each height, whether the accumulators there are of the position of the present line.
    is_known: Vec<bool>,
    /// [heights][words of a set of features], in the first player's view.
    features: Vec<u64>,
    /// [heights][first player's units, second player's units].
    sums: Vec<i32>,
    /// The contents of lines; without lines it stays empty.
    followed: FollowedLines,
}

impl Accumulators {
    /// Nothing is known.
    pub fn new(network: Arc<Network>) -> Self {
        let (num_heights, num_words) = (MAX_HEIGHT + 2, network.features.num_words());
        Self {
            is_known: vec![false; num_heights],
            features: vec![0; num_heights * num_words],
            sums: vec![0; num_heights * 2 * network.num_units],
            followed: network.lines.as_ref().map_or_else(FollowedLines::default, |lines| {
                FollowedLines::new(lines, network.features.num_squares(), num_heights)
            }),
            network,
        }
    }

    /// Makes the accumulators of a position.
    fn update<G: Game>(&mut self, game: &G, state: &G::State, height: usize) {
        let network = &*self.network;
        let (num_words, num_units) = (network.features.num_words(), network.num_units);
        let before = (0..height).rev().find(|earlier| self.is_known[*earlier]);
        let (earlier_features, features) = self.features.split_at_mut(height * num_words);
        let (earlier_sums, sums) = self.sums.split_at_mut(height * 2 * num_units);
        let features = &mut features[..num_words];
        features.fill(0);
        network.features.write(game, state, features);
        let (first, second) = sums[..2 * num_units].split_at_mut(num_units);
        if let Some(before) = before {
            let sums = &earlier_sums[before * 2 * num_units..][..2 * num_units];
            first.copy_from_slice(&sums[..num_units]);
            second.copy_from_slice(&sums[num_units..]);
        } else {
            first.copy_from_slice(&network.input_bias);
            second.copy_from_slice(&network.input_bias);
        }
        let then = before.map(|before| &earlier_features[before * num_words..][..num_words]);
        for (index, now) in features.iter().enumerate() {
            let mut changed = now ^ then.map_or(0, |then| then[index]);
            while changed != 0 {
                let bit = changed & changed.wrapping_neg();
                changed ^= bit;
                let feature = 64 * index + bit.trailing_zeros() as usize;
                network.change(first, feature, now & bit != 0);
                network.change(second, network.features.swapped(feature), now & bit != 0);
                if let Some(lines) = &network.lines {
                    self.followed.changed.extend(lines.place(feature).map(|place| (place, now & bit != 0)));
                }
            }
        }
        if let Some(lines) = &network.lines {
            self.followed.update(lines, before, height, [first, second]);
        }
        self.is_known[height] = true;
    }
}

/// The contents of lines at the heights of a search.
#[derive(Default)]
struct FollowedLines {
    num_squares: usize,
    /// [heights][squares], whose piece is there in the first player's view: 0, 1 or 2 as in [`Lines`].
    digits: Vec<u8>,
    /// Squares and digits that come or go, with whether they come.
    changed: Vec<((usize, u8), bool)>,
    /// For each line, the number of the update that changed it last.
    changed_by: Vec<u64>,
    num_updates: u64,
}

impl FollowedLines {
    fn new(lines: &Lines, num_squares: usize, num_heights: usize) -> Self {
        Self {
            num_squares,
            digits: vec![0; num_heights * num_squares],
            changed_by: vec![0; lines.num_lines()],
            ..Self::default()
        }
    }

    /// Adds to both sides' sums what the changed squares change, from those at the height `before`, or from an empty board.
    fn update(&mut self, lines: &Lines, before: Option<usize>, height: usize, sums: [&mut [i32]; 2]) {
        let (num_squares, num_units) = (self.num_squares, sums[0].len());
        let (earlier, digits) = self.digits.split_at_mut(height * num_squares);
        let digits = &mut digits[..num_squares];
        let then = before.map(|before| &earlier[before * num_squares..][..num_squares]);
        match then {
            Some(then) => digits.copy_from_slice(then),
            None => digits.fill(0),
        }
        for &((square, digit), is_added) in &self.changed {
            digits[square] = if is_added { digits[square] + digit } else { digits[square] - digit };
        }
        self.num_updates += 1;
        let [first, second] = sums;
        for ((square, _), _) in self.changed.drain(..) {
            for line in lines.through(square) {
                if std::mem::replace(&mut self.changed_by[line], self.num_updates) == self.num_updates {
                    continue;
                }
                let was = then.and_then(|then| lines.features(line, then));
                for (features, is_added) in [(was, false), (lines.features(line, digits), true)] {
                    let Some([own, other]) = features else { continue };
                    change(first, lines.column(own, num_units), is_added);
                    change(second, lines.column(other, num_units), is_added);
                }
            }
        }
    }
}

impl<G: Game> LineEvaluation<G> for Accumulators {
    fn begin(&mut self) {
        self.is_known.fill(false);
    }

    #[inline]
    fn enter(&mut self, height: usize) {
        self.is_known[height] = false;
    }

    #[inline]
    fn evaluate(&mut self, game: &G, state: &G::State, height: usize) -> i32 {
        if !self.is_known[height] {
            self.update(game, state, height);
        }
        let num_units = self.network.num_units;
        let (first, second) = self.sums[height * 2 * num_units..][..2 * num_units].split_at(num_units);
        match game.player(state) {
            Player::First => self.network.output(first, second),
            Player::Second => self.network.output(second, first),
        }
    }
}
