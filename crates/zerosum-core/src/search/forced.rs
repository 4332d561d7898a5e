//! Forced playouts at a root with noise, and how the policy target leaves them out (Wu 2019, arXiv 1902.10565, section 3.2).

use super::arena::{Arena, ROOT};
use super::config::SearchConfig;
use super::node::Node;
use super::puct::{ExplorationTable, Parent, is_proven_loss, visits_of};

/// The minimum visits of a visited root move, √(k · P · N).
#[inline]
pub fn forced_visits(forced_playouts: f32, prior: f32, root: &Node) -> f32 {
    libm::sqrtf(forced_playouts * prior * (visits_of(root) as f32 - 1.0))
}

/// The visits of the root's moves without the forced ones ("policy target pruning").
///
/// Each move but the most visited one, c*, loses up to √(k · P · N) visits, as long as its score with its final Q stays
/// below that of c*. A single visit that remains is removed, too.
pub fn unforced_visits(
    arena: &Arena,
    config: &SearchConfig,
    exploration: &ExplorationTable,
    priors: &[f32],
    forced_playouts: f32,
) -> Vec<u32> {
    let Parent { node: root, children, rate, .. } = Parent::new(arena, config, exploration, ROOT);
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
            let is_forced = |taken: &u32| score(index, child.visits - taken) < limit;
            let taken = (1..=forced.min(child.visits)).take_while(is_forced).last().unwrap_or(0);
            let left = child.visits - taken;
            if taken > 0 && left == 1 { 0 } else { left }
        }
        _ => child.visits,
    };
    children.iter().enumerate().map(unforced).collect()
}
