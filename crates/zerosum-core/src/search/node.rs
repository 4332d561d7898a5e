//! What a search knows of one position.

use super::arena::NodeId;
use crate::game::{Player, ValueForFirst};

/// What is known about a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NodeKind {
    /// Made, not yet evaluated.
    #[default]
    Fresh,
    /// On its way to the evaluator.
    Pending,
    /// Evaluated: its priors are known, in the order of actions, which only the rules know.
    Evaluated,
    /// Evaluated: its priors and actions are known, in the order of actions.
    Listed,
    /// Its priors and actions are known, in the order of edges, and it may have children.
    Expanded,
    /// The game is over here.
    Terminal,
}

/// Statistics of one visited position. Values are for the first player.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Sum of the values, as utilities (see [`utility_of`]), backed up through this node.
    pub value_sum: f64,
    /// How many were: its own evaluation and its children's visits.
    pub visits: u32,
    /// `value_sum / visits`, or the exact value once it is proven.
    pub q: f32,
    /// The exact result's utility is at least this.
    pub lower: f32,
    /// It is at most this.
    pub upper: f32,
    /// Where its block of children starts.
    pub first_child: NodeId,
    /// Where its run of priors and actions starts.
    pub run: u32,
    /// How many legal actions.
    pub num_edges: u16,
    /// How many of them have a child: the first ones.
    pub num_children: u16,
    /// Leaves in flight below (or at) this node.
    pub in_flight: u16,
    /// What is known.
    pub kind: NodeKind,
    /// Who is to move.
    pub player: Player,
}

/// There are millions of these: a field more is eight bytes more.
const _: () = assert!(size_of::<Node>() == 40);

impl Default for Node {
    fn default() -> Self {
        Self {
            value_sum: 0.0,
            visits: 0,
            q: 0.0,
            lower: -1.0,
            upper: 1.0,
            first_child: 0,
            run: 0,
            num_edges: 0,
            num_children: 0,
            in_flight: 0,
            kind: NodeKind::Fresh,
            player: Player::First,
        }
    }
}

impl Node {
    /// The exact result's utility, once the bounds meet.
    #[inline]
    pub fn proven(&self) -> Option<ValueForFirst> {
        (self.lower == self.upper).then_some(ValueForFirst(self.lower))
    }

    /// Whether the network has answered about it.
    #[inline]
    pub fn is_evaluated(&self) -> bool {
        matches!(self.kind, NodeKind::Evaluated | NodeKind::Listed | NodeKind::Expanded)
    }

    /// Counts one value.
    #[inline]
    pub fn add(&mut self, value: ValueForFirst) {
        self.value_sum += f64::from(value.0);
        self.visits += 1;
        self.q = self.mean();
    }

    /// What `q` is.
    #[inline]
    pub fn mean(&self) -> f32 {
        if self.lower == self.upper {
            self.lower
        } else if self.visits == 0 {
            0.0
        } else {
            (self.value_sum / f64::from(self.visits)) as f32
        }
    }
}

/// Sums over what was backed up, beyond the values', for the settings that ask for them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Details {
    /// The squares of the values.
    pub squares: f64,
    /// The shares of draws.
    pub draws: f64,
    /// The plies that are left, counted from this node.
    pub plies_left: f64,
}

/// What is backed up from a leaf, or said of it by an evaluator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate<V> {
    /// The expected result.
    pub value: V,
    /// How likely a draw is.
    pub draw: f32,
    /// Plies until the game ends.
    pub plies_left: f32,
}

/// What a result is worth to the first player, to whom a draw is worth `draw_utility`.
pub fn utility_of(result: f32, draw_utility: f32) -> f32 {
    result + draw_utility * (1.0 - result.abs())
}

/// The result that is worth so much to the first player: what [`utility_of`] takes back.
pub fn result_of(utility: f32, draw_utility: f32) -> f32 {
    let range = if utility >= draw_utility { 1.0 - draw_utility } else { 1.0 + draw_utility };
    (utility - draw_utility) / range
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_back_from_what_they_are_worth() {
        for draw_utility in [-0.9, -0.25, 0.0, 0.3, 0.7] {
            assert_eq!([-1.0, 0.0, 1.0].map(|result| utility_of(result, draw_utility)), [-1.0, draw_utility, 1.0]);
            for result in [-1.0, -0.5, 0.0, 0.5, 1.0] {
                let back = result_of(utility_of(result, draw_utility), draw_utility);
                assert!((back - result).abs() < 1e-6 && (result.fract() != 0.0 || back == result), "{result} {back}");
            }
        }
    }
}
