//! Which child a simulation visits next, and how a value travels back. Nothing here knows a game's rules.

use super::arena::{Arena, NodeId, ROOT};
use super::config::{RootSelection, SearchConfig, UnvisitedValue};
use super::node::{Details, Estimate, Node, result_of};
use super::prior::prior_of;
use crate::game::{Action, Player, ValueForFirst};

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
fn unvisited_q(value: UnvisitedValue, node: &Node, visited_prior: f32) -> f32 {
    match value {
        UnvisitedValue::Loss => -1.0,
        UnvisitedValue::Zero => 0.0,
        UnvisitedValue::Parent { reduction } => {
            (node.player.sign() * node.q - reduction * libm::sqrtf(visited_prior)).max(-1.0)
        }
    }
}

/// Q of a visited child for the node's player to move, and its N. A leaf in flight is a visit that is worth less than the
/// others by `virtual_loss`; where there are no others, less than the node itself.
#[inline]
fn child_q(config: &SearchConfig, child: &Node, node: &Node) -> (f32, f32) {
    let q = node.player.sign() * child.q;
    if child.in_flight == 0 {
        return (q, child.visits as f32);
    }
    let q = if child.visits == 0 { node.player.sign() * node.q } else { q };
    let (visits, in_flight) = (visits_of(child) as f32, f32::from(child.in_flight));
    (q - config.virtual_loss * in_flight / visits, visits)
}

/// What is added to a visited child's Q for the plies that are left, those of its parent given: more for a shorter win and a
/// longer loss (Leela Chess Zero's moves-left utility, with its linear factor alone).
fn moves_left_utility(config: &SearchConfig, q: f32, child: &Node, details: &Details, plies_left: f64) -> f32 {
    let weight = (q.abs() - config.moves_left_threshold) / (1.0 - config.moves_left_threshold);
    if weight <= 0.0 || child.visits == 0 {
        return 0.0;
    }
    let longer = (details.plies_left / f64::from(child.visits) - plies_left) as f32;
    let effect = (config.moves_left_slope * longer).clamp(-config.moves_left_effect, config.moves_left_effect);
    -q.signum() * effect * weight
}

/// c(s) is multiplied by this: more where the values below a node differ more than is usual (KataGo's dynamic variance-scaled
/// cPUCT).
#[cold]
fn variance_factor(config: &SearchConfig, node: &Node, details: &Details) -> f32 {
    let (visits, prior) = (f64::from(node.visits), f64::from(config.variance_prior));
    if node.visits < 2 {
        return 1.0;
    }
    let prior_visits = f64::from(config.variance_prior_visits);
    let square = (node.value_sum / visits) * (node.value_sum / visits);
    let squares = details.squares.max(square * visits) + (square + prior * prior) * prior_visits;
    let deviation = libm::sqrt((squares / (visits + prior_visits - 1.0) - square).max(0.0));
    (1.0 + f64::from(config.variance_scale) * (deviation / prior - 1.0)) as f32
}

/// Proven to lose for `player`: no visit goes there while another move exists.
#[inline]
pub fn is_proven_loss(arena: &Arena, config: &SearchConfig, child: &Node, player: Player) -> bool {
    child.lower == child.upper && config.exact_bounds && player.sign() * (child.lower - arena.draw_utility) < 0.0
}

/// N(s): visits, and leaves in flight as the visits that they will be.
#[inline]
fn visits_of(node: &Node) -> u32 {
    node.visits + u32::from(node.in_flight)
}

/// One node on the way down, with what the scores of all its children share. Without `EXTRAS`, what few settings ask for is not
/// even looked for.
struct Parent<'a, const EXTRAS: bool> {
    arena: &'a Arena,
    config: &'a SearchConfig,
    node: &'a Node,
    children: &'a [Node],
    /// c(s) · √N(s).
    rate: f32,
    /// The mean number of plies that are left.
    plies_left: f64,
}

impl<'a, const EXTRAS: bool> Parent<'a, EXTRAS> {
    #[inline]
    fn new(arena: &'a Arena, config: &'a SearchConfig, exploration: &Exploration, id: NodeId) -> Self {
        let node = &arena.nodes[id as usize];
        let (mut rate, mut plies_left) = (exploration.at(visits_of(node)), 0.0);
        if EXTRAS && config.variance_scale > 0.0 {
            rate *= variance_factor(config, node, &arena.details[id as usize]);
        }
        if EXTRAS && config.moves_left_effect > 0.0 {
            plies_left = arena.details[id as usize].plies_left / f64::from(node.visits.max(1));
        }
        Self { arena, config, node, children: arena.children_of(node), rate, plies_left }
    }

    /// Q + U of a visited child; `None` if it is proven to lose.
    #[inline]
    fn score(&self, index: usize, child: &Node, prior: f32) -> Option<f32> {
        if is_proven_loss(self.arena, self.config, child, self.node.player) {
            return None;
        }
        let (mut q, visits) = child_q(self.config, child, self.node);
        if EXTRAS && self.config.moves_left_effect > 0.0 {
            let details = &self.arena.details_of_children(self.node)[index];
            q += moves_left_utility(self.config, q, child, details, self.plies_left);
        }
        Some(q + self.rate * prior / (1.0 + visits))
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
/// is the order of the edges.
#[inline]
pub fn select_child(arena: &Arena, config: &SearchConfig, exploration: &Exploration, id: NodeId) -> usize {
    if arena.details.is_empty() {
        best_child(&Parent::<false>::new(arena, config, exploration, id))
    } else {
        best_child(&Parent::<true>::new(arena, config, exploration, id))
    }
}

#[inline]
fn best_child<const EXTRAS: bool>(parent: &Parent<'_, EXTRAS>) -> usize {
    let priors = parent.arena.priors_of(parent.node);
    let (mut best, mut best_score) = (usize::MAX, f32::NEG_INFINITY);
    let (mut visited_prior, mut unvisited) = (0.0_f32, parent.children.len());
    for (index, (child, prior)) in parent.children.iter().zip(priors).enumerate() {
        let prior = prior_of(*prior);
        if child.visits == 0 && child.in_flight == 0 {
            // A cancelled leaf: as if it had never been visited.
            unvisited = unvisited.min(index);
            continue;
        }
        visited_prior += prior;
        if let Some(score) = parent.score(index, child, prior).filter(|score| *score > best_score) {
            (best, best_score) = (index, score);
        }
    }
    if unvisited < priors.len() {
        let score = parent.unvisited_score(parent.config.unvisited_value, prior_of(priors[unvisited]), visited_prior);
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

/// The moves of a root that are searched. Lists are ascending.
#[derive(Debug, Default)]
pub struct RootMoves {
    /// These alone, or all of them if there are none.
    pub allowed: Vec<Action>,
    /// Moves to search alone among the allowed ones, as long as one of them is not proven.
    pub favoured: Vec<Action>,
}

impl RootMoves {
    fn is_allowed(&self, action: Action) -> bool {
        self.allowed.is_empty() || self.allowed.binary_search(&action).is_ok()
    }

    fn is_favoured(&self, config: &SearchConfig, action: Action, child: &Node) -> bool {
        let is_open = !config.exact_bounds || child.proven().is_none();
        is_open && self.favoured.binary_search(&action).is_ok() && self.is_allowed(action)
    }

    fn has_favoured(&self, arena: &Arena, config: &SearchConfig) -> bool {
        let root = &arena.nodes[ROOT as usize];
        let children = arena.children_of(root);
        !self.favoured.is_empty()
            && !children.is_empty()
            && arena
                .actions_of(root)
                .iter()
                .zip(children)
                .any(|(action, child)| self.is_favoured(config, *action, child))
    }

    /// Whether nothing is left to find out: the best of the allowed moves is proven, and no favoured one is open.
    pub fn are_settled(&self, arena: &Arena, config: &SearchConfig) -> bool {
        if !config.exact_bounds {
            return false;
        }
        let root = &arena.nodes[ROOT as usize];
        let children = arena.children_of(root);
        if (self.allowed.is_empty() && self.favoured.is_empty())
            || children.is_empty()
            || config.root_selection == RootSelection::Gumbel
        {
            return root.proven().is_some();
        }
        let allowed = || arena.actions_of(root).iter().zip(children).filter(|(action, _)| self.is_allowed(**action));
        let best = |bound: fn(&Node) -> f32| {
            let signed = allowed().map(|(_, child)| root.player.sign() * bound(child));
            signed.fold(f32::NEG_INFINITY, f32::max)
        };
        best(|child| child.lower) == best(|child| child.upper) && !self.has_favoured(arena, config)
    }
}

/// The edge to follow from the root, whose list is dense, in the order of actions, with priors of full precision.
///
/// In a search with noise, moves that are owed visits by `forced_playouts` come first; 0 forces none. The best of the `moves`
/// must not be proven.
pub fn select_root_child(
    arena: &Arena,
    config: &SearchConfig,
    exploration: &Exploration,
    priors: &[f32],
    has_noise: bool,
    moves: &RootMoves,
) -> usize {
    // Exploration is forced, and unvisited moves may be thought better of, only where noise asks for it.
    let forced_playouts = if has_noise { config.forced_playouts } else { 0.0 };
    let unvisited_value = match config.unvisited_value {
        UnvisitedValue::Parent { .. } if has_noise => {
            UnvisitedValue::Parent { reduction: config.root_unvisited_reduction }
        }
        value => value,
    };
    let is_plain = moves.allowed.is_empty() && moves.favoured.is_empty();
    if arena.details.is_empty() && forced_playouts == 0.0 && is_plain {
        let parent = Parent::<false>::new(arena, config, exploration, ROOT);
        return best_root_child(&parent, unvisited_value, priors, |_| true, |_, _| false);
    }
    let parent = Parent::<true>::new(arena, config, exploration, ROOT);
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
fn best_root_child<const EXTRAS: bool>(
    parent: &Parent<'_, EXTRAS>,
    unvisited_value: UnvisitedValue,
    priors: &[f32],
    is_searched: impl Fn(usize) -> bool,
    is_owed: impl Fn(&Node, f32) -> bool,
) -> usize {
    let (mut best, mut best_score, mut best_prior) = (usize::MAX, f32::NEG_INFINITY, 0.0);
    // All unvisited moves share one Q, so the one with the highest prior stands for them.
    let (mut visited_prior, mut unvisited, mut unvisited_prior) = (0.0_f32, usize::MAX, -1.0);
    for (index, (child, prior)) in parent.children.iter().zip(priors).enumerate() {
        if !is_searched(index) {
            continue;
        }
        if child.visits == 0 && child.in_flight == 0 {
            if *prior > unvisited_prior {
                (unvisited, unvisited_prior) = (index, *prior);
            }
            continue;
        }
        visited_prior += *prior;
        let Some(mut score) = parent.score(index, child, *prior) else { continue };
        if is_owed(child, *prior) {
            score = f32::INFINITY;
        }
        if score > best_score || (score == best_score && *prior > best_prior) {
            (best, best_score, best_prior) = (index, score, *prior);
        }
    }
    if unvisited != usize::MAX {
        let score = parent.unvisited_score(unvisited_value, unvisited_prior, visited_prior);
        let is_before = unvisited_prior > best_prior || (unvisited_prior == best_prior && unvisited < best);
        if score > best_score || (score == best_score && is_before) {
            best = unvisited;
        }
    }
    debug_assert_ne!(best, usize::MAX, "every move is a proven loss, so the search was over");
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
    let Parent { node: root, children, rate, .. } = Parent::<true>::new(arena, config, exploration, ROOT);
    let score = |index: usize, visits: u32| {
        root.player.sign() * children[index].q + rate * priors[index] / (1.0 + visits as f32)
    };
    let rank = |index: &usize| (children[*index].visits, priors[*index]);
    let most_visited = (0..children.len())
        .rev()
        .filter(|index| !is_proven_loss(arena, config, &children[*index], root.player))
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

/// Backs an estimate, its value a utility, up from the last node of `path` to the root, bounds first.
///
/// A node that is proven (or becomes so on the way) passes its exact value on instead.
pub fn backup(arena: &mut Arena, config: &SearchConfig, path: &[NodeId], mut leaf: Estimate<ValueForFirst>) {
    let is_exact = |id: &NodeId| arena.nodes[*id as usize].proven().is_some();
    let mut child_changed = path.last().is_some_and(is_exact);
    let has_details = !arena.details.is_empty();
    for (depth, id) in path.iter().enumerate().rev() {
        if config.exact_bounds && depth + 1 < path.len() && child_changed {
            child_changed = tighten(arena, *id);
        }
        let node = &mut arena.nodes[*id as usize];
        if let Some(exact) = node.proven() {
            leaf.value = exact;
            leaf.draw = 1.0 - result_of(exact.0, arena.draw_utility).abs();
        }
        node.add(leaf.value);
        if has_details {
            let details = &mut arena.details[*id as usize];
            details.squares += f64::from(leaf.value.0) * f64::from(leaf.value.0);
            details.draws += f64::from(leaf.draw);
            details.plies_left += f64::from(leaf.plies_left) + (path.len() - 1 - depth) as f64;
        }
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
