//! The node of a tree: statistics of one position.

use crate::player::{Player, ValueForFirst};

/// Index of a node in its arena.
pub type NodeId = u32;

/// State of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NodeKind {
    /// Not yet evaluated.
    #[default]
    Fresh,
    /// With the evaluator.
    Pending,
    /// Evaluated. Keeps its priors, in the order of actions, but not the actions.
    Evaluated,
    /// Evaluated. Keeps its priors and actions, in the order of actions.
    Listed,
    /// Evaluated. Keeps its priors and actions, in the order of edges, and may have children.
    Expanded,
    /// The end of a game.
    Terminal,
}

/// Statistics of one visited position. Values are for the first player.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Sum of the values backed up through this node.
    pub value_sum: f64,
    /// Number of values backed up: the node's own evaluation and its children's visits.
    pub visits: u32,
    /// `value_sum / visits`, or the exact value once it is proven.
    pub q: f32,
    /// Lower bound of the exact result.
    pub lower: f32,
    /// Upper bound of the exact result.
    pub upper: f32,
    /// First node of its block of children.
    pub first_child: NodeId,
    /// Index of its run of priors and actions.
    pub run: u32,
    /// Number of legal actions.
    pub num_edges: u16,
    /// Number of children: they belong to the first edges.
    pub num_children: u16,
    /// Leaves in flight at or below this node.
    pub in_flight: u16,
    /// The node's state.
    pub kind: NodeKind,
    /// The player to move.
    pub player: Player,
}

/// A tree has millions of nodes, and one more field costs eight bytes in each.
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
    /// The exact result, if the bounds are equal.
    #[inline]
    pub fn proven(&self) -> Option<ValueForFirst> {
        (self.lower == self.upper).then_some(ValueForFirst(self.lower))
    }

    /// Whether the network has evaluated the node.
    #[inline]
    pub fn is_evaluated(&self) -> bool {
        matches!(self.kind, NodeKind::Evaluated | NodeKind::Listed | NodeKind::Expanded)
    }

    /// Adds one value.
    #[inline]
    pub fn add(&mut self, value: ValueForFirst) {
        self.value_sum += f64::from(value.0);
        self.visits += 1;
        self.q = self.mean();
    }

    /// Computes `q`.
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

/// Further numbers of a node, for the settings that need them: sums over the simulations through it, and its hidden state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Details {
    /// Sum of the squared values.
    pub squares: f64,
    /// Sum of the probabilities of a draw.
    pub draw_sum: f64,
    /// The slot of the hidden state, where the rules are learned; else [`NO_SLOT`](crate::hidden_move::NO_SLOT).
    pub slot: u32,
}

/// The estimate of a leaf: an evaluator's answer, or the numbers that are backed up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate<V> {
    /// The expected result.
    pub value: V,
    /// The probability of a draw.
    pub draw_share: f32,
}
