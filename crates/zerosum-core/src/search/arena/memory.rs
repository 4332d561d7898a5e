//! Allocation: blocks and runs, used again once they are outgrown, within a limit on bytes.

use super::{Arena, VALUE_WORDS};
use crate::search::node::{Details, Node, NodeId, NodeKind};

/// Maximum index of a node or run, with a margin for growth: indices have 32 bits.
const MAX_INDEX: u64 = u32::MAX as u64 - (1 << 24);

/// Spare capacity when a list grows: one part in this many.
pub(super) const GROWTH: usize = 4;

impl Arena {
    /// Whether this many more simulations surely fit, spare capacity included.
    pub fn has_room(&self, num_simulations: u32) -> bool {
        let bytes_per_node = size_of::<Node>() + if self.has_details { size_of::<Details>() } else { 0 };
        let used = self.nodes.len() * bytes_per_node + self.runs.len() * size_of::<u16>();
        // A simulation moves the children of at most one node, and makes at most two runs.
        let bytes_per_simulation = (usize::from(self.max_edges) + 1) * (bytes_per_node + 3 * size_of::<u16>());
        let needed = used + bytes_per_simulation * num_simulations as usize;
        needed as u64 + needed as u64 / GROWTH as u64 <= self.max_bytes && (self.nodes.len() as u64) < MAX_INDEX
    }

    /// Bytes allocated, used or not.
    pub fn num_bytes(&self) -> usize {
        let lists = |lists: &[Vec<u32>]| lists.iter().map(|list| list.capacity() * size_of::<u32>()).sum::<usize>();
        self.nodes.capacity() * size_of::<Node>()
            + self.details.capacity() * size_of::<Details>()
            + self.runs.capacity() * size_of::<u16>()
            + lists(&self.free_blocks)
            + lists(&self.free_runs)
    }

    pub(super) fn allocate_block(&mut self, size: u16) -> NodeId {
        let unused = self.free_blocks.get_mut(usize::from(size)).and_then(Vec::pop);
        unused.unwrap_or_else(|| self.append_nodes(size.into()))
    }

    pub(super) fn append_nodes(&mut self, count: usize) -> NodeId {
        if self.has_details {
            grow(&mut self.details, count);
        }
        grow(&mut self.nodes, count) as NodeId
    }

    pub(super) fn allocate_run(&mut self, length: usize) -> u32 {
        let unused = self.free_runs.get_mut(length).and_then(Vec::pop);
        let words = length.next_multiple_of(1 << self.run_shift);
        unused.unwrap_or_else(|| (grow(&mut self.runs, words) >> self.run_shift) as u32)
    }
}

/// The shift of run indices in a tree of `max_bytes`: 0 unless 32 bits are too few to count its words.
pub(super) fn run_shift(max_bytes: u64) -> u32 {
    let max_words = max_bytes / size_of::<u16>() as u64;
    (0..64).find(|shift| max_words >> shift <= MAX_INDEX).expect("a shift by 63 leaves at most 1")
}

/// Appends default values and returns the index of the first.
///
/// Vectors double by themselves, which would leave half of a large tree's memory unused.
pub(super) fn grow<T: Clone + Default>(list: &mut Vec<T>, count: usize) -> usize {
    let start = list.len();
    if list.capacity() - start < count {
        list.reserve_exact(count + start / GROWTH);
    }
    list.resize(start + count, T::default());
    start
}

/// Frees capacity beyond the spare part.
pub(super) fn shrink<T>(list: &mut Vec<T>) {
    list.shrink_to(list.len() + list.len() / GROWTH);
}

/// Adds a block or run to the free ones of its size.
pub(super) fn free(lists: &mut Vec<Vec<u32>>, start: u32, size: usize) {
    if lists.len() <= size {
        lists.resize_with(size + 1, Vec::new);
    }
    if size > 0 {
        lists[size].push(start);
    }
}

/// Nodes of a block with this many children: 1, 2, 4, 8, 12, 16, 24 and so on, but at most the number of edges.
pub(super) fn block_size(num_children: u16, num_edges: u16) -> u16 {
    let power = u32::from(num_children).next_power_of_two();
    let less = power / 16 * 12;
    let size = if u32::from(num_children) <= less { less } else { power };
    if num_children == 0 { 0 } else { size.min(num_edges.into()) as u16 }
}

/// Words of a node's run.
#[inline]
pub(super) fn run_length(kind: NodeKind, num_edges: u16) -> usize {
    match kind {
        NodeKind::Evaluated => VALUE_WORDS + usize::from(num_edges),
        NodeKind::Listed | NodeKind::Expanded => VALUE_WORDS + 2 * usize::from(num_edges),
        NodeKind::Fresh | NodeKind::Pending | NodeKind::Terminal => 0,
    }
}
