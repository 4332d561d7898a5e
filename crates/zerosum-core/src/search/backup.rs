//! Backup: how a value and proven bounds travel from a leaf to the root.

use super::arena::Arena;
use super::config::SearchConfig;
use super::node::{Estimate, NodeId};
use crate::player::{Player, ValueForFirst};

/// Backs up an estimate from the last node of `path` to the root.
///
/// Bounds come first: a node that is proven, or becomes proven on the way, passes on its exact value instead.
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
            leaf.draw_share = 1.0 - exact.0.abs();
        }
        node.add(leaf.value);
        if has_details {
            let details = &mut arena.details[*id as usize];
            details.squares += f64::from(leaf.value.0) * f64::from(leaf.value.0);
            details.draw_sum += f64::from(leaf.draw_share);
        }
    }
}

/// Computes the bounds of an expanded node from its children's: for the mover the best certain result and the best possible
/// one. Bounds that are known from elsewhere ([`super::Search::prove`]) stay. Returns whether they changed.
pub fn tighten(arena: &mut Arena, id: NodeId) -> bool {
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
    let (lower, upper) = (lower.max(node.lower), upper.min(node.upper));
    let changed = lower != node.lower || upper != node.upper;
    let node = &mut arena.nodes[id as usize];
    (node.lower, node.upper) = (lower, upper);
    changed
}
