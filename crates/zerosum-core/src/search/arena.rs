//! The tree's memory: nodes in blocks of siblings, edges in runs, both addressed by index. No allocation a node.
//!
//! ```text
//!   nodes   root | c0 c1 c2 c3 | g0 g1 | ...      a block holds the visited children of one node, in the order of its
//!             └────^             ^                edges; it doubles when it is full (the old one is used again)
//!                   c1 ──────────┘
//!   edges   [prior,action] × legal actions        sorted by (higher prior, lower action); at the root by action
//! ```
//!
//! Below the root all unvisited children share one Q, so the best of them is always the first in edge order: the visited
//! ones are a prefix of the edges, and the i-th child belongs to the i-th edge.

use super::prior::Edge;
use crate::game::{Player, ValueForFirst};

/// An index into [`Arena::nodes`].
pub type NodeId = u32;

/// The root is the first node.
pub const ROOT: NodeId = 0;

/// What is known about a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NodeKind {
    /// Made, not yet evaluated.
    #[default]
    Fresh,
    /// On its way to the evaluator.
    Pending,
    /// Evaluated: its edges exist.
    Expanded,
    /// The game is over here.
    Terminal,
}

/// Statistics of one visited position. Values are for the first player.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Sum of the values backed up through this node.
    pub value_sum: f64,
    /// How many were: its own evaluation and its children's visits.
    pub visits: u32,
    /// `value_sum / visits`, or the exact value once it is proven.
    pub q: f32,
    /// The network's own value.
    pub net_value: f32,
    /// The exact result is at least this.
    pub lower: f32,
    /// The exact result is at most this.
    pub upper: f32,
    /// Where its block of children starts.
    pub first_child: NodeId,
    /// Where its edges start.
    pub first_edge: u32,
    /// How many legal actions.
    pub num_edges: u16,
    /// How many of them have a child: the first ones.
    pub num_children: u16,
    /// Leaves in flight below (or at) this node.
    pub in_flight: u16,
    /// What is known.
    pub kind: NodeKind,
    /// Who is to move.
    pub player: Player,
}

impl Default for Node {
    fn default() -> Self {
        Self {
            value_sum: 0.0,
            visits: 0,
            q: 0.0,
            net_value: 0.0,
            lower: -1.0,
            upper: 1.0,
            first_child: 0,
            first_edge: 0,
            num_edges: 0,
            num_children: 0,
            in_flight: 0,
            kind: NodeKind::Fresh,
            player: Player::First,
        }
    }
}

impl Node {
    /// The exact result, once the bounds meet.
    #[inline]
    pub fn proven(&self) -> Option<ValueForFirst> {
        (self.lower == self.upper).then_some(ValueForFirst(self.lower))
    }

    /// Counts one value.
    #[inline]
    pub fn add(&mut self, value: ValueForFirst) {
        self.value_sum += f64::from(value.0);
        self.visits += 1;
        self.q = if self.lower == self.upper { self.lower } else { (self.value_sum / f64::from(self.visits)) as f32 };
    }
}

/// All nodes and edges of one tree.
#[derive(Debug)]
pub struct Arena {
    /// Blocks of siblings; the root is alone in the first.
    pub nodes: Vec<Node>,
    /// Runs of edges.
    pub edges: Vec<Edge>,
    /// Blocks that were outgrown, by the logarithm of their size.
    free: [Vec<NodeId>; 17],
}

impl Arena {
    /// A root about which nothing is known.
    pub fn new() -> Self {
        Self { nodes: vec![Node::default()], edges: Vec::new(), free: Default::default() }
    }

    /// A root about which nothing is known, in the memory that is there.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.nodes.push(Node::default());
        self.edges.clear();
        self.free.iter_mut().for_each(Vec::clear);
    }

    /// The edges of a node.
    #[inline]
    pub fn edges_of(&self, node: &Node) -> &[Edge] {
        let start = node.first_edge as usize;
        &self.edges[start..start + usize::from(node.num_edges)]
    }

    /// The children of a node, the i-th by the i-th edge.
    #[inline]
    pub fn children_of(&self, node: &Node) -> &[Node] {
        let start = node.first_child as usize;
        &self.nodes[start..start + usize::from(node.num_children)]
    }

    /// Gives a node its edges, which come in the order of actions: they are sorted unless it is the root.
    pub fn expand(&mut self, id: NodeId, edges: impl Iterator<Item = Edge>) {
        let first_edge = self.edges.len();
        self.edges.extend(edges);
        let run = &mut self.edges[first_edge..];
        if id != ROOT {
            run.sort_unstable_by(|a, b| b.cmp(a));
        }
        let node = &mut self.nodes[id as usize];
        node.first_edge = first_edge as u32;
        node.num_edges = run.len() as u16;
        node.kind = NodeKind::Expanded;
    }

    /// Makes the child of the next edge and answers its id. Ids of the node's other children may change.
    pub fn add_child(&mut self, parent: NodeId) -> NodeId {
        let Node { num_children, num_edges, first_child, .. } = self.nodes[parent as usize];
        debug_assert!(num_children < num_edges);
        let mut start = first_child;
        if num_children == 0 || num_children.is_power_of_two() {
            let capacity = if num_children == 0 { 1 } else { 2 * u32::from(num_children) };
            start = self.allocate(capacity);
            let old = first_child as usize;
            self.nodes.copy_within(old..old + usize::from(num_children), start as usize);
            if num_children > 0 {
                self.free[num_children.ilog2() as usize].push(first_child);
            }
        }
        let node = &mut self.nodes[parent as usize];
        node.first_child = start;
        node.num_children += 1;
        let child = start + u32::from(num_children);
        self.nodes[child as usize] = Node::default();
        child
    }

    /// Makes all children of the root at once: its list is dense.
    pub fn add_all_children(&mut self, parent: NodeId) {
        let num_edges = self.nodes[parent as usize].num_edges;
        let start = self.allocate(u32::from(num_edges).next_power_of_two());
        let node = &mut self.nodes[parent as usize];
        node.first_child = start;
        node.num_children = num_edges;
        self.nodes[start as usize..start as usize + usize::from(num_edges)].fill(Node::default());
    }

    fn allocate(&mut self, capacity: u32) -> NodeId {
        self.free[capacity.ilog2() as usize].pop().unwrap_or_else(|| {
            let start = self.nodes.len() as NodeId;
            self.nodes.resize(self.nodes.len() + capacity as usize, Node::default());
            start
        })
    }

    /// A fresh arena whose root is the given node with all that is below it.
    pub fn subtree(&self, id: NodeId) -> Self {
        let mut copy = Self::new();
        copy.nodes[ROOT as usize] = self.nodes[id as usize];
        let mut next = vec![ROOT];
        while let Some(new) = next.pop() {
            // What was copied still points into the old arena.
            let node = copy.nodes[new as usize];
            copy.nodes[new as usize].first_edge = copy.edges.len() as u32;
            copy.edges.extend_from_slice(self.edges_of(&node));
            if node.num_children > 0 {
                let start = copy.allocate(u32::from(node.num_children).next_power_of_two());
                let end = start + u32::from(node.num_children);
                copy.nodes[start as usize..end as usize].copy_from_slice(self.children_of(&node));
                copy.nodes[new as usize].first_child = start;
                next.extend(start..end);
            }
        }
        copy
    }

    /// Bytes in use, capacity that is not used included.
    pub fn num_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.edges.capacity() * size_of::<Edge>()
    }
}
