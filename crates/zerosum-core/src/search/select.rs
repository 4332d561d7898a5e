//! Which child a simulation visits next, and how a value travels back. Nothing here knows a game's rules.

use super::arena::{Arena, NodeId, ROOT};
use super::config::{SearchConfig, UnvisitedValue};
use super::node::Node;
use super::prior::prior_of;
use crate::game::{Player, ValueForFirst};

/// c(s) · √N(s) for small N, computed once: the logarithm is most of the cost of a selection.
#[derive(Debug)]
pub struct Exploration {
    config: SearchConfig,
    table: Vec<f32>,
}

impl Exploration {
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
fn unvisited_q(config: &SearchConfig, node: &Node, visited_prior: f32) -> f32 {
    match config.unvisited_value {
        UnvisitedValue::Loss => -1.0,
        UnvisitedValue::Zero => 0.0,
        UnvisitedValue::Parent { reduction } => {
            (node.player.sign() * node.q - reduction * libm::sqrtf(visited_prior)).max(-1.0)
        }
    }
}

/// Q of a visited child for `player`, leaves in flight counted as losses; and its N.
#[inline]
fn child_q(config: &SearchConfig, child: &Node, player: Player) -> (f32, f32) {
    let q = player.sign() * child.q;
    if child.in_flight == 0 {
        return (q, child.visits as f32);
    }
    let (visits, losses) = (child.visits as f32, f32::from(child.in_flight) * config.virtual_loss);
    ((q * visits - losses) / (visits + losses), visits + losses)
}

/// Proven to lose for `player`: no visit goes there while another move exists.
#[inline]
pub fn is_proven_loss(config: &SearchConfig, child: &Node, player: Player) -> bool {
    config.exact_bounds && child.lower == child.upper && player.sign() * child.lower < 0.0
}

/// N(s): visits, and leaves in flight as the visits that they will be.
#[inline]
fn visits_of(node: &Node) -> u32 {
    node.visits + u32::from(node.in_flight)
}

/// The edge to follow from an expanded node below the root: `num_children` if it is the best unvisited one.
///
/// Maximises Q(s,a) + c(s) · P(s,a) · √N(s) / (1 + N(s,a)); ties go to the higher prior, then to the lower action, which
/// is the order of the edges.
#[inline]
pub fn select_child(arena: &Arena, config: &SearchConfig, exploration: &Exploration, node: &Node) -> usize {
    let (priors, children) = (arena.priors_of(node), arena.children_of(node));
    let rate = exploration.at(visits_of(node));
    let (mut best, mut best_score) = (usize::MAX, f32::NEG_INFINITY);
    let (mut visited_prior, mut first_unvisited) = (0.0_f32, usize::MAX);
    for (index, (child, prior)) in children.iter().zip(priors).enumerate() {
        let prior = prior_of(*prior);
        if child.visits == 0 && child.in_flight == 0 {
            // A cancelled leaf: as if it had never been visited.
            first_unvisited = first_unvisited.min(index);
            continue;
        }
        visited_prior += prior;
        if is_proven_loss(config, child, node.player) {
            continue;
        }
        let (q, visits) = child_q(config, child, node.player);
        let score = q + rate * prior / (1.0 + visits);
        if score > best_score {
            (best, best_score) = (index, score);
        }
    }
    let unvisited = first_unvisited.min(children.len());
    if unvisited < priors.len() {
        let score = unvisited_q(config, node, visited_prior) + rate * prior_of(priors[unvisited]);
        if score > best_score || (score == best_score && unvisited < best) {
            best = unvisited;
        }
    }
    debug_assert_ne!(best, usize::MAX, "every child is a proven loss, so the node was proven and not selected from");
    best
}

/// The fewest visits of a root's move that was visited at all, √(k · P · N) (Wu 2019, arXiv 1902.10565, section 3.2).
#[inline]
fn forced_visits(forced_playouts: f32, prior: f32, root: &Node) -> f32 {
    libm::sqrtf(forced_playouts * prior * (visits_of(root) as f32 - 1.0))
}

/// The edge to follow from the root, whose list is dense, in the order of actions, with priors of full precision.
///
/// Moves that are owed visits by `forced_playouts` come first; 0 forces none.
pub fn select_root_child(
    arena: &Arena,
    config: &SearchConfig,
    exploration: &Exploration,
    priors: &[f32],
    forced_playouts: f32,
) -> usize {
    let root = &arena.nodes[ROOT as usize];
    let children = arena.children_of(root);
    let rate = exploration.at(visits_of(root));
    let (mut best, mut best_score, mut best_prior) = (usize::MAX, f32::NEG_INFINITY, 0.0);
    // All unvisited moves share one Q, so the one with the highest prior stands for them.
    let (mut visited_prior, mut unvisited, mut unvisited_prior) = (0.0_f32, usize::MAX, -1.0);
    for (index, (child, prior)) in children.iter().zip(priors).enumerate() {
        if child.visits == 0 && child.in_flight == 0 {
            if *prior > unvisited_prior {
                (unvisited, unvisited_prior) = (index, *prior);
            }
            continue;
        }
        visited_prior += *prior;
        if is_proven_loss(config, child, root.player) {
            continue;
        }
        let (q, visits) = child_q(config, child, root.player);
        let is_owed = (visits_of(child) as f32) < forced_visits(forced_playouts, *prior, root);
        let score = if is_owed { f32::INFINITY } else { q + rate * *prior / (1.0 + visits) };
        if score > best_score || (score == best_score && *prior > best_prior) {
            (best, best_score, best_prior) = (index, score, *prior);
        }
    }
    if unvisited != usize::MAX {
        let score = unvisited_q(config, root, visited_prior) + rate * unvisited_prior;
        let is_before = unvisited_prior > best_prior || (unvisited_prior == best_prior && unvisited < best);
        if score > best_score || (score == best_score && is_before) {
            best = unvisited;
        }
    }
    debug_assert_ne!(best, usize::MAX, "every child is a proven loss, so the search had ended");
    best
}

/// The visits of the root's moves without those that were only forced (Wu 2019, section 3.2, "policy target pruning").
///
/// Of a move other than the most visited one, c*, up to √(k · P · N) visits are taken off, as long as its score stays below
/// that of c*, each with the Q that it has in the end. If that leaves a single visit, it goes as well.
pub fn unforced_visits(
    arena: &Arena,
    config: &SearchConfig,
    exploration: &Exploration,
    priors: &[f32],
    forced_playouts: f32,
) -> Vec<u32> {
    let root = &arena.nodes[ROOT as usize];
    let children = arena.children_of(root);
    let rate = exploration.at(visits_of(root));
    let score = |index: usize, visits: u32| {
        root.player.sign() * children[index].q + rate * priors[index] / (1.0 + visits as f32)
    };
    let rank = |index: &usize| (children[*index].visits, priors[*index]);
    let most_visited = (0..children.len())
        .rev()
        .filter(|index| !is_proven_loss(config, &children[*index], root.player))
        .max_by(|a, b| rank(a).partial_cmp(&rank(b)).expect("no NaN among priors"));
    let unforced = |(index, child): (usize, &Node)| match most_visited {
        Some(best) if best != index => {
            let forced = forced_visits(forced_playouts, priors[index], root) as u32;
            let limit = score(best, children[best].visits);
            let is_owed_alone = |taken: &u32| score(index, child.visits - taken) < limit;
            let taken = (1..=forced.min(child.visits)).take_while(is_owed_alone).last().unwrap_or(0);
            let left = child.visits - taken;
            if taken > 0 && left == 1 { 0 } else { left }
        }
        _ => child.visits,
    };
    children.iter().enumerate().map(unforced).collect()
}

/// Backs a value up from the last node of `path` to the root, bounds first.
///
/// A node that is proven (or becomes so on the way) passes its exact value on instead.
pub fn backup(arena: &mut Arena, config: &SearchConfig, path: &[NodeId], mut value: ValueForFirst) {
    let is_exact = |id: &NodeId| arena.nodes[*id as usize].proven().is_some();
    let mut child_changed = path.last().is_some_and(is_exact);
    for (depth, id) in path.iter().enumerate().rev() {
        if config.exact_bounds && depth + 1 < path.len() && child_changed {
            child_changed = tighten(arena, *id);
        }
        let node = &mut arena.nodes[*id as usize];
        if let Some(exact) = node.proven() {
            value = exact;
        }
        node.add(value);
    }
}

/// Bounds of an expanded node from its children's: the mover's best case and the best that is certain. True if changed.
fn tighten(arena: &mut Arena, id: NodeId) -> bool {
    let node = &arena.nodes[id as usize];
    let children = arena.children_of(node);
    let is_open = node.num_children < node.num_edges;
    let (lower, upper) = match node.player {
        Player::First => (
            children.iter().fold(-1.0, |best: f32, child| best.max(child.lower)),
            if is_open { 1.0 } else { children.iter().fold(-1.0, |best: f32, child| best.max(child.upper)) },
        ),
        Player::Second => (
            if is_open { -1.0 } else { children.iter().fold(1.0, |best: f32, child| best.min(child.lower)) },
            children.iter().fold(1.0, |best: f32, child| best.min(child.upper)),
        ),
    };
    let changed = lower != node.lower || upper != node.upper;
    let node = &mut arena.nodes[id as usize];
    (node.lower, node.upper) = (lower, upper);
    changed
}
