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
    /// Sum of the values backed up through this node.
    pub value_sum: f64,
    /// How many were: its own evaluation and its children's visits.
    pub visits: u32,
    /// `value_sum / visits`, or the exact value once it is proven.
    pub q: f32,
    /// The exact result is at least this.
    pub lower: f32,
    /// The exact result is at most this.
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
    /// The exact result, once the bounds meet.
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
        self.q = if self.lower == self.upper { self.lower } else { (self.value_sum / f64::from(self.visits)) as f32 };
    }
}

/// More sums over the values that were backed up, for the settings that ask for them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Details {
    /// Of the squares of the values.
    pub square_sum: f64,
    /// Of the draws' shares.
    pub draw_sum: f64,
    /// Of the plies that were left, counted from this node.
    pub plies_left_sum: f64,
}
