//! Compaction: a subtree becomes the whole tree, without a copy.

use super::memory::{block_size, run_length, shrink};
use super::{Arena, ROOT};
use crate::search::node::{Node, NodeId};

impl Arena {
    /// Makes a node without leaves in flight the root, keeps its subtree, and forgets all other nodes.
    ///
    /// The subtree moves down within the same memory, in its order: a copy would need as much memory again. Meanwhile two
    /// fields serve as back pointers. The first words of a run hold the id of its node, whose field `run` holds the network's
    /// value that belongs there. Q of the first node of a block holds the id of the parent; Q is computed again from the
    /// sum of values and the visits.
    pub fn keep(&mut self, id: NodeId) {
        self.move_node(ROOT, id);
        let mut runs = BitSet::new(self.runs.len() >> self.run_shift);
        let mut blocks = BitSet::new(self.nodes.len());
        let mut next = vec![ROOT];
        while let Some(id) = next.pop() {
            let node = self.nodes[id as usize];
            if run_length(node.kind, node.num_edges) > 0 {
                runs.insert(node.run as usize);
                self.nodes[id as usize].run = self.first_words(node.run);
                self.set_first_words(node.run, id);
            }
            if node.num_children > 0 {
                blocks.insert(node.first_child as usize);
                self.nodes[node.first_child as usize].q = f32::from_bits(id);
                next.extend(node.first_child..node.first_child + NodeId::from(node.num_children));
            }
        }
        self.move_runs(&runs);
        self.move_blocks(&blocks);
        self.free_blocks.iter_mut().for_each(Vec::clear);
        self.free_runs.iter_mut().for_each(Vec::clear);
        shrink(&mut self.nodes);
        shrink(&mut self.details);
        shrink(&mut self.runs);
    }

    fn move_runs(&mut self, runs: &BitSet) {
        let mut end = 0;
        for run in runs.iter() {
            let from = run << self.run_shift;
            let node = self.first_words(run as u32) as usize;
            let length = run_length(self.nodes[node].kind, self.nodes[node].num_edges);
            self.runs.copy_within(from..from + length, end);
            let (new, value) = ((end >> self.run_shift) as u32, self.nodes[node].run);
            self.set_first_words(new, value);
            self.nodes[node].run = new;
            end += length.next_multiple_of(1 << self.run_shift);
        }
        self.runs.truncate(end);
    }

    fn move_blocks(&mut self, blocks: &BitSet) {
        let mut end = 1;
        for from in blocks.iter() {
            let parent = self.nodes[from].q.to_bits() as usize;
            let Node { num_children, num_edges, .. } = self.nodes[parent];
            self.nodes[from].q = self.nodes[from].mean();
            let block = from..from + usize::from(num_children);
            self.nodes.copy_within(block.clone(), end);
            if self.has_details {
                self.details.copy_within(block, end);
            }
            self.nodes[parent].first_child = end as NodeId;
            for id in end..end + usize::from(num_children) {
                let Node { num_children, first_child, .. } = self.nodes[id];
                // A block that has moved already has its Q again, no back pointer.
                if num_children > 0 && first_child as usize > from {
                    self.nodes[first_child as usize].q = f32::from_bits(id as NodeId);
                }
            }
            end += usize::from(block_size(num_children, num_edges));
        }
        self.nodes.truncate(end);
        if self.has_details {
            self.details.truncate(end);
        }
    }
}

/// A set of small numbers, a bit each.
struct BitSet(Vec<u64>);

impl BitSet {
    /// An empty set for numbers below `len`.
    fn new(len: usize) -> Self {
        Self(vec![0; len.div_ceil(64)])
    }

    fn insert(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    /// The numbers, ascending.
    fn iter(&self) -> impl Iterator<Item = usize> {
        let is_set = |word: u64, bit: &usize| word >> bit & 1 == 1;
        let filled = self.0.iter().enumerate().filter(|(_, word)| **word != 0);
        filled.flat_map(move |(index, word)| {
            (0..64).filter(move |bit| is_set(*word, bit)).map(move |bit| 64 * index + bit)
        })
    }
}
