//! Selection: which child a simulation visits next, by PUCT.

use super::arena::{Arena, ROOT};
use super::config::SearchConfig;
use super::node::NodeId;
use super::prior::prior_of;
use super::puct::{ExplorationTable, Parent};
use super::root_moves::RootMoves;

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
        let score = parent.unvisited_score(prior, visited_prior);
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
/// The best of the allowed `moves` must not be proven.
pub fn select_root_child(
    arena: &Arena,
    config: &SearchConfig,
    exploration: &ExplorationTable,
    priors: &[f32],
    moves: &RootMoves,
) -> usize {
    let parent = Parent::new(arena, config, exploration, ROOT);
    if moves.allowed.is_empty() && moves.favoured.is_empty() {
        return best_root_child(&parent, priors, |_| true);
    }
    let actions = arena.actions_of(parent.node);
    let has_favoured = moves.has_favoured(arena, config);
    let is_searched = |index: usize| {
        let action = actions[index];
        if has_favoured { moves.is_favoured(config, action, &parent.children[index]) } else { moves.is_allowed(action) }
    };
    best_root_child(&parent, priors, is_searched)
}

#[inline]
fn best_root_child(parent: &Parent<'_>, priors: &[f32], is_searched: impl Fn(usize) -> bool) -> usize {
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
        let score = parent.score(child, *prior);
        best_open = best_open.max(score.without_loss);
        if score.of_choice > best_score || (score.of_choice == best_score && *prior > best_prior) {
            (best, best_score, best_prior) = (index, score.of_choice, *prior);
        }
    }
    if unvisited != usize::MAX {
        let score = parent.unvisited_score(unvisited_prior, visited_prior);
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
