//! Selection: which child a simulation visits next, by PUCT.

use super::arena::{Arena, ROOT};
use super::config::SearchConfig;
use super::node::NodeId;
use super::prior::prior_of;
use super::puct::{ExplorationTable, Parent, is_visited};
use super::root_moves::RootMoves;
use super::root_scores::RootScores;

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
    let mut best_result = f32::NEG_INFINITY;
    for (index, (child, prior)) in parent.children.iter().zip(priors).enumerate() {
        let prior = prior_of(*prior);
        visited_prior += prior;
        if parent.is_proven(child) {
            best_result = best_result.max(parent.result(child));
            continue;
        }
        let score = parent.score(child, prior);
        if score > best_score {
            (best, best_score) = (index, score);
        }
    }
    // Each child was made by a visit, so the edges without one are unvisited: the first has the highest prior.
    let unvisited = priors.get(parent.children.len()).map(|prior| prior_of(*prior));
    if let Some(prior) = unvisited
        && parent.unvisited_score(prior, visited_prior) > best_score
    {
        best = parent.children.len();
    }
    // No proven child is followed that loses or is below the best score, which `proven_choice` raises by its virtual losses.
    if best_result >= 0.0 && best_result > best_score {
        let open = unvisited.map_or(f32::NEG_INFINITY, |prior| parent.hope(prior));
        let children = parent.children.iter().zip(priors).enumerate();
        let children = children.map(|(index, (child, prior))| (index, child, prior_of(*prior)));
        best = parent.proven_choice(children, open).unwrap_or(best);
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
/// The best of the allowed `moves` must not be proven. `scores` are those of the root's children, mostly all that it takes.
pub fn select_root_child(
    arena: &Arena,
    config: &SearchConfig,
    exploration: &ExplorationTable,
    priors: &[f32],
    moves: &RootMoves,
    scores: &RootScores,
) -> usize {
    let parent = Parent::new(arena, config, exploration, ROOT);
    if moves.allowed.is_empty() && moves.favoured.is_empty() && !moves.has_results {
        if scores.are_complete(parent.node) {
            let best = scores.select(&parent);
            debug_assert_eq!(best, best_root_child::<false>(&parent, priors, |_| true));
            return best;
        }
        return best_root_child::<false>(&parent, priors, |_| true);
    }
    let actions = arena.actions_of(parent.node);
    let has_favoured = moves.has_favoured(arena, config);
    let is_searched = |index: usize| {
        let action = actions[index];
        if has_favoured { moves.is_favoured(config, action, &parent.children[index]) } else { moves.is_allowed(action) }
    };
    best_root_child::<true>(&parent, priors, is_searched)
}

/// `HAS_RESULTS` is false where no move without visits is proven: they are most moves of a large root.
#[inline]
fn best_root_child<const HAS_RESULTS: bool>(
    parent: &Parent<'_>,
    priors: &[f32],
    is_searched: impl Fn(usize) -> bool,
) -> usize {
    let (mut best, mut best_score, mut best_prior) = (usize::MAX, f32::NEG_INFINITY, 0.0);
    // All unvisited moves share one Q, so the one with the highest prior stands for them.
    let (mut visited_prior, mut unvisited, mut unvisited_prior) = (0.0_f32, usize::MAX, -1.0);
    let mut has_proven = false;
    for (index, (child, prior)) in parent.children.iter().zip(priors).enumerate() {
        let is_visited = is_visited(child);
        if is_visited {
            visited_prior += *prior;
        }
        if !is_searched(index) {
            continue;
        }
        if !is_visited {
            if HAS_RESULTS && parent.is_proven(child) {
                has_proven = true;
            } else if *prior > unvisited_prior {
                (unvisited, unvisited_prior) = (index, *prior);
            }
            continue;
        }
        if parent.is_proven(child) {
            has_proven = true;
            continue;
        }
        let score = parent.score(child, *prior);
        if score > best_score || (score == best_score && *prior > best_prior) {
            (best, best_score, best_prior) = (index, score, *prior);
        }
    }
    let mut open = f32::NEG_INFINITY;
    if unvisited != usize::MAX {
        let score = parent.unvisited_score(unvisited_prior, visited_prior);
        let is_before = unvisited_prior > best_prior || (unvisited_prior == best_prior && unvisited < best);
        open = parent.hope(unvisited_prior);
        if score > best_score || (score == best_score && is_before) {
            best = unvisited;
        }
    }
    if has_proven {
        let children = parent.children.iter().zip(priors).enumerate();
        let children = children
            .filter(|(index, (child, _))| is_searched(*index) && (is_visited(child) || parent.is_proven(child)));
        best =
            parent.proven_choice(children.map(|(index, (child, prior))| (index, child, *prior)), open).unwrap_or(best);
    }
    debug_assert_ne!(best, usize::MAX, "the search ends before every move is a proven loss");
    best
}
