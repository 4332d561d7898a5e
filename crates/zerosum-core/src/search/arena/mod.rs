//! The memory of a tree: nodes in blocks of siblings, priors and actions in runs, both addressed by index. No node has an
//! allocation of its own.
//!
//! ```text
//!   nodes   root | c0 c1 c2 | g0 g1 | ...     a block holds the visited children of one node, in the order of its edges;
//!             └────^          ^               when it is full it doubles, or grows by a half
//!                   c1 ───────┘
//!   runs    value p p p p                     of a node visited once: its priors, in the order of actions
//!           value p p p p a a a a             of a node visited again: priors and actions, in the order of edges
//! ```
//!
//! The edges of a node are its legal actions, the best prior first; at the root they are ordered by action. Below the root
//! all unvisited children share one Q, so the best of them is always the first in edge order. The visited children are
//! therefore a prefix of the edges, and the i-th child belongs to the i-th edge.
//!
//! Most nodes of a large tree are visited once and need only two bytes per legal action: the rules are asked for the actions
//! again when the first child is made. A small tree (1 MiB, and a sixteenth of its limit) keeps the actions, to save time.
//! Outgrown blocks and runs are used again.

mod compaction;
mod memory;
#[cfg(test)]
mod tests;

use super::node::{Details, Node, NodeId, NodeKind};
use super::prior::{Edge, round_prior};
use crate::game::Action;
use memory::{block_size, free, run_length, run_shift};

/// The root: the first node.
pub const ROOT: NodeId = 0;

/// Words of the network's value, at the start of a run.
const VALUE_WORDS: usize = size_of::<f32>() / size_of::<u16>();

/// Maximum number of edges of a node that keeps its actions in a tree of any size.
const FEW_EDGES: u16 = 8;

/// All nodes of one tree, with the priors and actions of their moves.
#[derive(Debug)]
pub struct Arena {
    /// Blocks of siblings; the root is alone in the first.
    pub nodes: Vec<Node>,
    /// Further sums of each node; empty unless the settings need them.
    pub details: Vec<Details>,
    has_details: bool,
    max_bytes: u64,
    runs: Vec<u16>,
    /// Run indices count units of 2^run_shift words: one word, unless 32 bits are too few for that.
    run_shift: u32,
    /// Outgrown blocks, by size.
    free_blocks: Vec<Vec<NodeId>>,
    /// Outgrown runs, by length.
    free_runs: Vec<Vec<u32>>,
    /// Words of all runs up to which every node keeps its actions.
    small_words: usize,
    /// Maximum number of legal actions of any node so far.
    max_edges: u16,
    /// Scratch of `expand`.
    edges: Vec<Edge>,
}

impl Arena {
    /// A tree of one unevaluated root, limited to `max_bytes`.
    pub fn new(max_bytes: u64, has_details: bool) -> Self {
        let mut arena = Self {
            nodes: Vec::new(),
            details: Vec::new(),
            has_details,
            runs: Vec::new(),
            free_blocks: Vec::new(),
            free_runs: Vec::new(),
            max_bytes,
            run_shift: run_shift(max_bytes),
            small_words: (max_bytes / 16).min(1 << 20) as usize / size_of::<u16>(),
            max_edges: 0,
            edges: Vec::new(),
        };
        arena.clear();
        arena
    }

    /// Removes all nodes but an unevaluated root, and keeps the memory.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.details.clear();
        self.runs.clear();
        self.free_blocks.iter_mut().for_each(Vec::clear);
        self.free_runs.iter_mut().for_each(Vec::clear);
        self.append_nodes(1);
    }

    /// The network's value of a node for the first player; 0 if the node is not evaluated.
    pub fn net_value(&self, node: &Node) -> f32 {
        if !node.is_evaluated() {
            return 0.0;
        }
        f32::from_bits(self.first_words(node.run))
    }

    #[inline]
    fn start_of(&self, run: u32) -> usize {
        (run as usize) << self.run_shift
    }

    /// The first words of a run: the network's value, as bits.
    fn first_words(&self, run: u32) -> u32 {
        let start = self.start_of(run);
        u32::from(self.runs[start]) | u32::from(self.runs[start + 1]) << 16
    }

    fn set_first_words(&mut self, run: u32, bits: u32) {
        let start = self.start_of(run);
        self.runs[start..start + VALUE_WORDS].copy_from_slice(&[bits as u16, (bits >> 16) as u16]);
    }

    /// The rounded priors of an evaluated node: in the order of its edges if it is expanded, else of its actions.
    #[inline]
    pub fn priors_of(&self, node: &Node) -> &[u16] {
        let start = self.start_of(node.run) + VALUE_WORDS;
        &self.runs[start..start + usize::from(node.num_edges)]
    }

    /// The actions of an expanded node, in the order of its edges.
    #[inline]
    pub fn actions_of(&self, node: &Node) -> &[Action] {
        debug_assert_ne!(node.kind, NodeKind::Evaluated, "an evaluated node has no list of actions");
        let start = self.start_of(node.run) + VALUE_WORDS + usize::from(node.num_edges);
        &self.runs[start..start + usize::from(node.num_edges)]
    }

    /// The children of a node: the i-th belongs to the i-th edge.
    #[inline]
    pub fn children_of(&self, node: &Node) -> &[Node] {
        let start = node.first_child as usize;
        &self.nodes[start..start + usize::from(node.num_children)]
    }

    /// Further sums of the children of a node; only where the settings need them.
    #[inline]
    pub fn details_of_children(&self, node: &Node) -> &[Details] {
        let start = node.first_child as usize;
        &self.details[start..start + usize::from(node.num_children)]
    }

    /// Stores a node's evaluation: the network's value for the first player, and the priors of its legal actions, which are
    /// ascending.
    pub fn evaluate(&mut self, id: NodeId, net_value: f32, priors: &[f32], actions: &[Action]) {
        let num_edges = priors.len() as u16;
        self.max_edges = self.max_edges.max(num_edges);
        // The root is expanded at once, and a kept root is evaluated again in a tree of any size.
        let is_small = id == ROOT || self.runs.len() < self.small_words || num_edges <= FEW_EDGES;
        let kind = if is_small { NodeKind::Listed } else { NodeKind::Evaluated };
        let run = self.allocate_run(run_length(kind, num_edges));
        self.set_first_words(run, net_value.to_bits());
        let start = self.start_of(run);
        let lists = &mut self.runs[start + VALUE_WORDS..];
        for (word, prior) in lists.iter_mut().zip(priors) {
            *word = round_prior(*prior);
        }
        if is_small {
            lists[priors.len()..2 * priors.len()].copy_from_slice(actions);
        }
        let node = &mut self.nodes[id as usize];
        (node.run, node.num_edges, node.kind) = (run, num_edges, kind);
    }

    /// Adds the list of its legal actions, ascending, to an evaluated node.
    pub fn list(&mut self, id: NodeId, actions: &[Action]) {
        let Node { run: old, num_edges, kind, .. } = self.nodes[id as usize];
        let count = usize::from(num_edges);
        assert!(
            kind == NodeKind::Evaluated && count == actions.len(),
            "the rules returned another number of legal actions for the same state"
        );
        let (short, long) = (run_length(kind, num_edges), run_length(NodeKind::Listed, num_edges));
        let run = self.allocate_run(long);
        let (from, to) = (self.start_of(old), self.start_of(run));
        self.runs.copy_within(from..from + short, to);
        self.runs[to + short..to + long].copy_from_slice(actions);
        free(&mut self.free_runs, old, short);
        let node = &mut self.nodes[id as usize];
        (node.run, node.kind) = (run, NodeKind::Listed);
    }

    /// Sorts the actions of a listed node into edges: the best prior first, except at the root.
    pub fn expand(&mut self, id: NodeId) {
        let node = &mut self.nodes[id as usize];
        debug_assert_eq!(node.kind, NodeKind::Listed);
        node.kind = NodeKind::Expanded;
        if id == ROOT {
            return;
        }
        let (start, count) = (((node.run as usize) << self.run_shift) + VALUE_WORDS, usize::from(node.num_edges));
        let (priors, actions) = self.runs[start..start + 2 * count].split_at_mut(count);
        self.edges.clear();
        self.edges.extend(priors.iter().zip(&*actions).map(|(prior, action)| Edge::new(*prior, *action)));
        self.edges.sort_unstable_by(|a, b| b.cmp(a));
        for ((edge, prior), action) in self.edges.iter().zip(priors).zip(actions) {
            (*prior, *action) = (edge.prior(), edge.action());
        }
    }

    /// Makes the child of the next edge and returns its id. The ids of the node's other children may change.
    pub fn add_child(&mut self, parent: NodeId) -> NodeId {
        let Node { num_children, num_edges, first_child, .. } = self.nodes[parent as usize];
        debug_assert!(num_children < num_edges);
        let mut start = first_child;
        if num_children == block_size(num_children, num_edges) {
            start = self.allocate_block(block_size(num_children + 1, num_edges));
            let old = first_child as usize..first_child as usize + usize::from(num_children);
            self.nodes.copy_within(old.clone(), start as usize);
            if self.has_details {
                self.details.copy_within(old, start as usize);
            }
            free(&mut self.free_blocks, first_child, num_children.into());
        }
        let node = &mut self.nodes[parent as usize];
        node.first_child = start;
        node.num_children += 1;
        let child = start + NodeId::from(num_children);
        self.clear_node(child);
        child
    }

    /// Makes a child for each edge: the root has all of them.
    pub fn add_all_children(&mut self, parent: NodeId) {
        let num_edges = self.nodes[parent as usize].num_edges;
        let start = self.allocate_block(num_edges);
        let node = &mut self.nodes[parent as usize];
        (node.first_child, node.num_children) = (start, num_edges);
        (start..start + NodeId::from(num_edges)).for_each(|child| self.clear_node(child));
    }

    /// Replaces the node `to` by the node `from` with its subtree.
    pub fn move_node(&mut self, to: NodeId, from: NodeId) {
        self.nodes[to as usize] = self.nodes[from as usize];
        if self.has_details {
            self.details[to as usize] = self.details[from as usize];
        }
    }

    fn clear_node(&mut self, id: NodeId) {
        self.nodes[id as usize] = Node::default();
        if self.has_details {
            self.details[id as usize] = Details::default();
        }
    }
}
