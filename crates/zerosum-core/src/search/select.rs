//! Selection: which child a simulation visits next, by PUCT.

use super::arena::{Arena, ROOT};
use super::config::{SearchConfig, UnvisitedValue};
use super::forced::forced_visits;
use super::node::{Node, NodeId};
use super::prior::prior_of;
use super::root_moves::RootMoves;
use crate::player::Player;

/// c(s) · √N(s), from a table for small N: the logarithm would be most of the cost of a selection.
#[derive(Debug)]
pub struct ExplorationTable {
    config: SearchConfig,
    table: Vec<f32>,
}

impl ExplorationTable {
    /// The table for these settings.
    pub fn new(config: SearchConfig) -> Self {
        Self { config, table: (0..4096).map(|visits| exploration(&config, visits)).collect() }
    }

    /// c(s) · √N(s).
    #[inline]
    pub fn at(&self, visits: u32) -> f32 {
        self.table.get(visits as usize).copied().unwrap_or_else(|| exploration(&self.config, visits))
    }
}

/// c(s) = c_init + c_factor · ln((1 + N(s) + c_base) / c_base), in f64 and rounded once, times √N(s) in f32.
fn exploration(config: &SearchConfig, visits: u32) -> f32 {
    let base = f64::from(config.c_base);
    let growth = libm::log((1.0 + f64::from(visits) + base) / base);
    let rate = f64::from(config.c_init) + f64::from(config.c_factor) * growth;
    rate as f32 * libm::sqrtf(visits as f32)
}

/// Q of an unvisited child for the node's player to move; `visited_prior` is the sum of its visited children's priors.
#[inline]
fn unvisited_q(value: UnvisitedValue, node: &Node, visited_prior: f32) -> f32 {
    match value {
        UnvisitedValue::Loss => -1.0,
        UnvisitedValue::Zero => 0.0,
        UnvisitedValue::Parent { reduction } => {
            (node.player.sign() * node.q - reduction * libm::sqrtf(visited_prior)).max(-1.0)
        }
    }
}

/// Q + U of a visited child that is not proven.
#[derive(Clone, Copy)]
struct Score {
    /// A leaf in flight counts as a visit worth Q − `virtual_loss`, with the node's Q if the child has no other visits.
    of_choice: f32,
    /// Without virtual losses, which compare open moves with each other: a proven result must not be visited only because
    /// the leaves of a better open move are in flight.
    without_loss: f32,
}

/// Whether a child is proven to lose for `player`. Such a child is not visited while another move exists.
#[inline]
pub fn is_proven_loss(config: &SearchConfig, child: &Node, player: Player) -> bool {
    child.lower == child.upper && config.exact_bounds && player.sign() * child.lower < 0.0
}

/// N(s): visits and leaves in flight.
#[inline]
pub fn visits_of(node: &Node) -> u32 {
    node.visits + u32::from(node.in_flight)
}

/// A node on the way down, with the terms that the scores of all its children share.
pub struct Parent<'a> {
    arena: &'a Arena,
    config: &'a SearchConfig,
    pub node: &'a Node,
    pub children: &'a [Node],
    /// c(s) · √N(s).
    pub rate: f32,
}

impl<'a> Parent<'a> {
    #[inline]
    pub fn new(arena: &'a Arena, config: &'a SearchConfig, exploration: &ExplorationTable, id: NodeId) -> Self {
        let node = &arena.nodes[id as usize];
        Self { arena, config, node, children: arena.children_of(node), rate: exploration.at(visits_of(node)) }
    }

    /// Q + U of a visited child that is not proven.
    #[inline]
    fn score(&self, child: &Node, prior: f32) -> Score {
        let sign = self.node.player.sign();
        if child.in_flight == 0 {
            let score = sign * child.q + self.rate * prior / (1.0 + child.visits as f32);
            return Score { of_choice: score, without_loss: score };
        }
        let q = sign * if child.visits == 0 { self.node.q } else { child.q };
        let (visits, in_flight) = (visits_of(child) as f32, f32::from(child.in_flight));
        let bonus = self.rate * prior / (1.0 + visits);
        let lowered = q - self.config.virtual_loss * in_flight / visits;
        Score { of_choice: lowered + bonus, without_loss: q + bonus }
    }

    /// The result of a proven child for the mover; `None` if it is open, or bounds are not used.
    #[inline]
    fn proven(&self, child: &Node) -> Option<f32> {
        let is_proven = child.lower == child.upper && self.config.exact_bounds;
        is_proven.then(|| self.node.player.sign() * child.lower)
    }

    /// Q + U of an unvisited child in comparison with proven results: Q is that of the node, whatever unvisited children have in
    /// comparison with others.
    #[inline]
    fn hope(&self, prior: f32) -> f32 {
        self.node.player.sign() * self.node.q + self.rate * prior
    }

    /// Q + U of an unvisited child.
    #[inline]
    fn unvisited_score(&self, value: UnvisitedValue, prior: f32, visited_prior: f32) -> f32 {
        unvisited_q(value, self.node, visited_prior) + self.rate * prior
    }
}

/// The edge to follow from an expanded node below the root: `num_children` if it is the best unvisited one.
///
/// Maximises Q(s,a) + c(s) · P(s,a) · √N(s) / (1 + N(s,a)); ties go to the higher prior, then to the lower action, which
/// is the order of the edges. A proven child has nothing to explore: it is followed only if its result is better than Q + U of
/// every open move, where unvisited ones have the Q of the node, and never if it loses while another move exists.
#[inline]
pub fn select_child(arena: &Arena, config: &SearchConfig, exploration: &ExplorationTable, id: NodeId) -> usize {
    let parent = Parent::new(arena, config, exploration, id);
    let priors = parent.arena.priors_of(parent.node);
    let (mut best, mut best_score, mut visited_prior) = (usize::MAX, f32::NEG_INFINITY, 0.0_f32);
    let (mut proven, mut proven_value, mut best_open) = (usize::MAX, 0.0_f32, f32::NEG_INFINITY);
    for (index, (child, prior)) in parent.children.iter().zip(priors).enumerate() {
        let prior = prior_of(*prior);
        visited_prior += prior;
        if let Some(value) = parent.proven(child) {
            if value >= 0.0 && (proven == usize::MAX || value > proven_value) {
                (proven, proven_value) = (index, value);
            }
            continue;
        }
        let score = parent.score(child, prior);
        best_open = best_open.max(score.without_loss);
        if score.of_choice > best_score {
            (best, best_score) = (index, score.of_choice);
        }
    }
    // Each child was made by a visit, so the edges without one are unvisited: the first has the highest prior.
    if let Some(prior) = priors.get(parent.children.len()) {
        let prior = prior_of(*prior);
        let score = parent.unvisited_score(parent.config.unvisited_value, prior, visited_prior);
        best_open = best_open.max(parent.hope(prior));
        if score > best_score {
            best = parent.children.len();
        }
    }
    if proven != usize::MAX && proven_value > best_open {
        best = proven;
    }
    debug_assert_ne!(
        best,
        usize::MAX,
        "a node whose children are all proven losses is proven, and no selection starts from it"
    );
    best
}

/// The edge to follow from the root, which has all its children, in the order of actions, and unrounded priors.
///
/// In a search with noise, moves with fewer visits than `forced_playouts` asks for come first; 0 forces none. The best of
/// the allowed `moves` must not be proven.
pub fn select_root_child(
    arena: &Arena,
    config: &SearchConfig,
    exploration: &ExplorationTable,
    priors: &[f32],
    has_noise: bool,
    moves: &RootMoves,
) -> usize {
    // Forced playouts and another Q of unvisited moves serve the exploration of a root with noise alone.
    let forced_playouts = if has_noise { config.forced_playouts } else { 0.0 };
    let unvisited_value = match config.unvisited_value {
        UnvisitedValue::Parent { .. } if has_noise => {
            UnvisitedValue::Parent { reduction: config.root_unvisited_reduction }
        }
        value => value,
    };
    let is_plain = moves.allowed.is_empty() && moves.favoured.is_empty();
    let parent = Parent::new(arena, config, exploration, ROOT);
    if forced_playouts == 0.0 && is_plain {
        return best_root_child(&parent, unvisited_value, priors, |_| true, |_, _| false);
    }
    let actions = arena.actions_of(parent.node);
    let has_favoured = moves.has_favoured(arena, config);
    let is_searched = |index: usize| {
        let action = actions[index];
        if has_favoured { moves.is_favoured(config, action, &parent.children[index]) } else { moves.is_allowed(action) }
    };
    let is_owed = |child: &Node, prior| (visits_of(child) as f32) < forced_visits(forced_playouts, prior, parent.node);
    best_root_child(&parent, unvisited_value, priors, is_searched, is_owed)
}

#[inline]
fn best_root_child(
    parent: &Parent<'_>,
    unvisited_value: UnvisitedValue,
    priors: &[f32],
    is_searched: impl Fn(usize) -> bool,
    is_owed: impl Fn(&Node, f32) -> bool,
) -> usize {
    let (mut best, mut best_score, mut best_prior) = (usize::MAX, f32::NEG_INFINITY, 0.0);
    // As in `select_child`.
    let (mut proven, mut proven_value, mut best_open) = (usize::MAX, 0.0_f32, f32::NEG_INFINITY);
    // All unvisited moves share one Q, so the one with the highest prior stands for them.
    let (mut visited_prior, mut unvisited, mut unvisited_prior) = (0.0_f32, usize::MAX, -1.0);
    for (index, (child, prior)) in parent.children.iter().zip(priors).enumerate() {
        let is_visited = child.visits > 0 || child.in_flight > 0;
        if is_visited {
            visited_prior += *prior;
        }
        if !is_searched(index) {
            continue;
        }
        if let Some(value) = parent.proven(child) {
            if value >= 0.0 && (proven == usize::MAX || value > proven_value) {
                (proven, proven_value) = (index, value);
            }
            continue;
        }
        if !is_visited {
            if *prior > unvisited_prior {
                (unvisited, unvisited_prior) = (index, *prior);
            }
            continue;
        }
        let Score { of_choice: mut score, without_loss } = parent.score(child, *prior);
        if is_owed(child, *prior) {
            score = f32::INFINITY;
        }
        best_open = best_open.max(without_loss.max(score));
        if score > best_score || (score == best_score && *prior > best_prior) {
            (best, best_score, best_prior) = (index, score, *prior);
        }
    }
    if unvisited != usize::MAX {
        let score = parent.unvisited_score(unvisited_value, unvisited_prior, visited_prior);
        let is_before = unvisited_prior > best_prior || (unvisited_prior == best_prior && unvisited < best);
        best_open = best_open.max(parent.hope(unvisited_prior));
        if score > best_score || (score == best_score && is_before) {
            best = unvisited;
        }
    }
    if proven != usize::MAX && proven_value > best_open {
        best = proven;
    }
    debug_assert_ne!(best, usize::MAX, "the search ends before every move is a proven loss");
    best
}
