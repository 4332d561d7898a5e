//! The most visited part of a tree, as figure 4 of the AlphaZero paper draws it.

use std::collections::BinaryHeap;

use super::arena::{Arena, ROOT};
use super::node::NodeId;
use crate::game::Action;

/// A node of the most visited part of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VisitedNode {
    /// Its parent's place in the list; the root, the first of the list, names itself.
    pub parent: u32,
    /// The move from the parent's position; 0 for the root.
    pub action: Action,
    /// The number of visits: of simulations through it, and at the root one more for its own evaluation.
    pub visits: u32,
    /// The mean of the values backed up, or the exact result, for the first player.
    pub value: f32,
}

/// The `count` most visited nodes of a tree, the most visited first; of equal ones the one whose parent comes first.
///
/// A node has at most as many visits as its parent, so that each is in the list together with all nodes above it.
pub fn most_visited(arena: &Arena, count: usize) -> Vec<VisitedNode> {
    let mut found = Vec::new();
    let mut open = BinaryHeap::from([(arena.nodes[ROOT as usize].visits, std::cmp::Reverse((0_u32, 0_u32)), ROOT, 0)]);
    while let Some((visits, std::cmp::Reverse((parent, _)), id, action)) = open.pop() {
        if found.len() == count || visits == 0 {
            break;
        }
        let (node, place) = (&arena.nodes[id as usize], found.len() as u32);
        found.push(VisitedNode { parent, action, visits, value: node.mean() });
        for (edge, child) in arena.children_of(node).iter().enumerate() {
            let child_id = node.first_child + edge as NodeId;
            open.push((child.visits, std::cmp::Reverse((place, edge as u32)), child_id, arena.actions_of(node)[edge]));
        }
    }
    found
}
