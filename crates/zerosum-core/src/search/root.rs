//! What a search found about its root: statistics a move, the policy to learn, the move to play.

use super::arena::{Arena, Node};
use super::config::SearchConfig;
use super::prior::Edge;
use crate::game::{Action, Player};

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// All simulations are done.
    Simulations,
    /// The root's result is proven.
    Proven,
    /// The tree holds as many nodes as it may.
    Memory,
    /// There was nothing to search: the game is over.
    GameOver,
}

impl Limit {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Simulations => "simulations",
            Self::Proven => "proven",
            Self::Memory => "memory",
            Self::GameOver => "game over",
        }
    }
}

/// Statistics of a searched root. All values are for the player to move; lists are in the order of `actions`.
#[derive(Clone, Debug)]
pub struct Root {
    /// The legal actions, ascending.
    pub actions: Vec<Action>,
    /// N(s, a).
    pub visits: Vec<u32>,
    /// Q(s, a); NaN where N is 0.
    pub q: Vec<f32>,
    /// The network's priors, without noise.
    pub priors: Vec<f32>,
    /// The exact result of a move is at least this.
    pub lower: Vec<f32>,
    /// The exact result of a move is at most this.
    pub upper: Vec<f32>,
    /// The search's value of the position: the mean of all that was backed up, or the exact result.
    pub value: f32,
    /// The network's own value of the position.
    pub net_value: f32,
    /// The exact result, once it is proven.
    pub proven: Option<f32>,
    /// Who is to move.
    pub player: Player,
    /// Simulations that the tree holds, reused ones included.
    pub num_simulations: u32,
    /// How many of those came with the reused tree.
    pub num_reused: u32,
    /// Why the search ended; `None` while it goes on or before it began.
    pub limit: Option<Limit>,
}

impl Root {
    pub(super) fn new(root: &Node, edges: &[Edge], children: &[Node], priors: &[f32], limit: Option<Limit>) -> Self {
        let sign = root.player.sign();
        let bounds = |child: &Node| match root.player {
            Player::First => (child.lower, child.upper),
            Player::Second => (-child.upper, -child.lower),
        };
        Self {
            actions: edges.iter().map(|edge| edge.action()).collect(),
            visits: children.iter().map(|child| child.visits).collect(),
            q: children.iter().map(|child| if child.visits == 0 { f32::NAN } else { sign * child.q }).collect(),
            priors: priors.to_vec(),
            lower: children.iter().map(|child| bounds(child).0).collect(),
            upper: children.iter().map(|child| bounds(child).1).collect(),
            value: sign * root.q,
            net_value: sign * root.net_value,
            proven: root.proven().map(|value| sign * value.0),
            player: root.player,
            num_simulations: 0,
            num_reused: 0,
            limit,
        }
    }

    pub(super) fn with_simulations(self, num_simulations: u32, num_reused: u32) -> Self {
        Self { num_simulations, num_reused, ..self }
    }

    /// Without exact bounds nothing is known of a move but its visits, not even of one that ends the game.
    pub(super) fn knowing(mut self, config: &SearchConfig) -> Self {
        if !config.exact_bounds {
            self.lower.fill(-1.0);
            self.upper.fill(1.0);
            self.proven = None;
        }
        self
    }

    fn is_proven_at(&self, index: usize, value: f32) -> bool {
        self.lower[index] == value && self.upper[index] == value
    }

    fn is_proven_loss(&self, index: usize) -> bool {
        self.lower[index] == self.upper[index] && self.upper[index] < 0.0
    }

    /// The policy to learn, sums to 1: uniform over proven wins if there are any, else the visits without the proven
    /// losses. Where that leaves nothing, the priors without the proven losses; where every move loses, the visits.
    pub fn policy_target(&self) -> Vec<f32> {
        let weigh = |weight: &dyn Fn(usize) -> f32| {
            let weights: Vec<f32> = (0..self.actions.len()).map(weight).collect();
            let sum: f32 = weights.iter().sum();
            (sum > 0.0).then(|| weights.iter().map(|weight| weight / sum).collect())
        };
        let won = self.proven.filter(|value| *value > 0.0);
        won.and_then(|value| weigh(&|index| f32::from(self.is_proven_at(index, value))))
            .or_else(|| weigh(&|index| if self.is_proven_loss(index) { 0.0 } else { self.visits[index] as f32 }))
            .or_else(|| weigh(&|index| if self.is_proven_loss(index) { 0.0 } else { self.priors[index] }))
            .or_else(|| weigh(&|index| self.visits[index] as f32))
            .unwrap_or_default()
    }

    /// The index of the move to play: a proven win first, a proven loss last, else the most visited; ties go to the
    /// higher Q, then the higher prior, then the lower action.
    pub fn best_index(&self) -> Option<usize> {
        let rank = |index: &usize| {
            let is_win = self.lower[*index] == self.upper[*index] && self.lower[*index] > 0.0;
            let q = if self.visits[*index] == 0 { -1.0 } else { self.q[*index] };
            let certainty = if is_win { 2 } else { i32::from(!self.is_proven_loss(*index)) };
            (certainty, if is_win { self.lower[*index] } else { 0.0 }, self.visits[*index], q, self.priors[*index])
        };
        (0..self.actions.len())
            .rev()
            .max_by(|a, b| rank(a).partial_cmp(&rank(b)).expect("no NaN among visits, Q and priors"))
    }
}

/// The child that [`Root::best_index`] would choose at any expanded node, among those that were visited.
pub(super) fn best_child(arena: &Arena, config: &SearchConfig, node: &Node) -> Option<(Action, Node)> {
    let (edges, children) = (arena.edges_of(node), arena.children_of(node));
    let priors: Vec<f32> = edges.iter().take(children.len()).map(|edge| edge.prior()).collect();
    let edges = &edges[..children.len()];
    let best = Root::new(node, edges, children, &priors, None).knowing(config).best_index()?;
    (children[best].visits > 0).then(|| (edges[best].action(), children[best]))
}
