//! The tree's memory: nodes in blocks of siblings, priors and actions in runs, both addressed by index. No allocation a
//! node.
//!
//! ```text
//!   nodes   root | c0 c1 c2 | g0 g1 | ...     a block holds the visited children of one node, in the order of its edges;
//!             └────^          ^               it doubles, or grows by a half, when it is full
//!                   c1 ───────┘
//!   runs    value p p p p                     of a node visited once: its priors, in the order of actions
//!           value p p p p a a a a             of one visited again: priors and actions, in the order of edges, which is the
//!                                             best first, but at the root by action
//! ```
//!
//! Most nodes of a large tree are visited once, and two bytes a legal action are all that these need: the rules are asked
//! for the actions again when the first child is made. A tree keeps them while it is small (a mebibyte, and a sixteenth of
//! what it may hold): there time is what counts.
//! Below the root all unvisited children share one Q, so the best of them is always the first in edge order: the visited
//! ones are a prefix of the edges, and the i-th child belongs to the i-th edge. Blocks and runs that were outgrown are used
//! again.

use super::node::{Details, Node, NodeKind};
use super::prior::{Edge, round_prior};
use crate::game::Action;

/// An index into [`Arena::nodes`].
pub type NodeId = u32;

/// The root is the first node.
pub const ROOT: NodeId = 0;

/// The network's own value, ahead of the priors.
const VALUE_WORDS: usize = size_of::<f32>() / size_of::<u16>();

/// All nodes of one tree, and the priors and actions of their moves.
#[derive(Debug)]
pub struct Arena {
    /// Blocks of siblings; the root is alone in the first.
    pub nodes: Vec<Node>,
    /// More of each node, where the settings ask for it; else empty.
    pub details: Vec<Details>,
    has_details: bool,
    /// What a draw is worth to the first player.
    pub draw_utility: f32,
    most_bytes: u64,
    runs: Vec<u16>,
    /// The index of a run counts units of 2 to the power of this many words: one word, unless 32 bits are too few for that.
    run_shift: u32,
    /// Blocks that were outgrown, by their size.
    free_blocks: Vec<Vec<NodeId>>,
    /// Runs that were outgrown, by their length.
    free_runs: Vec<Vec<u32>>,
    /// Words of runs up to which every node keeps its actions.
    small_words: usize,
    /// The most legal actions that any node had.
    most_edges: u16,
    /// Kept to spare the allocation.
    edges: Vec<Edge>,
}

impl Arena {
    /// A root about which nothing is known, in a tree that may hold so many bytes.
    pub fn new(most_bytes: u64, has_details: bool) -> Self {
        let mut arena = Self {
            nodes: Vec::new(),
            details: Vec::new(),
            has_details,
            draw_utility: 0.0,
            runs: Vec::new(),
            free_blocks: Vec::new(),
            free_runs: Vec::new(),
            most_bytes,
            run_shift: (0..64)
                .find(|shift| (most_bytes / WORD) >> shift <= MOST_UNITS)
                .expect("a number of 64 bits ends"),
            small_words: (most_bytes / 16).min(1 << 20) as usize / size_of::<u16>(),
            most_edges: 0,
            edges: Vec::new(),
        };
        arena.clear();
        arena
    }

    /// A root about which nothing is known, in the memory that is there.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.details.clear();
        self.runs.clear();
        self.free_blocks.iter_mut().for_each(Vec::clear);
        self.free_runs.iter_mut().for_each(Vec::clear);
        self.append_nodes(1);
    }

    /// The network's own value of a node, for the first player; 0 if it has not been asked.
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

    /// Where the network's own value stands, as bits.
    fn first_words(&self, run: u32) -> u32 {
        let start = self.start_of(run);
        u32::from(self.runs[start]) | u32::from(self.runs[start + 1]) << 16
    }

    fn set_first_words(&mut self, run: u32, bits: u32) {
        let start = self.start_of(run);
        self.runs[start..start + VALUE_WORDS].copy_from_slice(&[bits as u16, (bits >> 16) as u16]);
    }

    /// The rounded priors of an evaluated node, in the order of its edges or, while it has none, of actions.
    #[inline]
    pub fn priors_of(&self, node: &Node) -> &[u16] {
        let start = self.start_of(node.run) + VALUE_WORDS;
        &self.runs[start..start + usize::from(node.num_edges)]
    }

    /// The actions of an expanded node, in the order of its edges.
    #[inline]
    pub fn actions_of(&self, node: &Node) -> &[Action] {
        debug_assert_ne!(node.kind, NodeKind::Evaluated, "such a node does not know its actions");
        let start = self.start_of(node.run) + VALUE_WORDS + usize::from(node.num_edges);
        &self.runs[start..start + usize::from(node.num_edges)]
    }

    /// The children of a node, the i-th by the i-th edge.
    #[inline]
    pub fn children_of(&self, node: &Node) -> &[Node] {
        let start = node.first_child as usize;
        &self.nodes[start..start + usize::from(node.num_children)]
    }

    /// More of the children of a node, where the settings ask for it.
    #[inline]
    pub fn details_of_children(&self, node: &Node) -> &[Details] {
        let start = node.first_child as usize;
        &self.details[start..start + usize::from(node.num_children)]
    }

    /// Takes what the network said of a node: its value for the first player, and the priors of its legal actions, which are
    /// ascending.
    pub fn evaluate(&mut self, id: NodeId, net_value: f32, priors: &[f32], actions: &[Action]) {
        let num_edges = priors.len() as u16;
        self.most_edges = self.most_edges.max(num_edges);
        // The root is expanded at once, and may be evaluated anew in a large tree that was kept.
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

    /// Tells a node that does not know them its legal actions, ascending.
    pub fn list(&mut self, id: NodeId, actions: &[Action]) {
        let Node { run: old, num_edges, kind, .. } = self.nodes[id as usize];
        let count = usize::from(num_edges);
        assert!(
            kind == NodeKind::Evaluated && count == actions.len(),
            "the rules answered the same question otherwise"
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

    /// Gives a node that knows its actions its edges: the best come first, unless it is the root.
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

    /// Makes the child of the next edge and answers its id. Ids of the node's other children may change.
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
        self.forget(child);
        child
    }

    /// Makes all children of the root at once: its list is dense.
    pub fn add_all_children(&mut self, parent: NodeId) {
        let num_edges = self.nodes[parent as usize].num_edges;
        let start = self.allocate_block(num_edges);
        let node = &mut self.nodes[parent as usize];
        (node.first_child, node.num_children) = (start, num_edges);
        (start..start + NodeId::from(num_edges)).for_each(|child| self.forget(child));
    }

    /// Puts one node, with all that is below it, in another's place.
    pub fn move_node(&mut self, to: NodeId, from: NodeId) {
        self.nodes[to as usize] = self.nodes[from as usize];
        if self.has_details {
            self.details[to as usize] = self.details[from as usize];
        }
    }

    fn forget(&mut self, id: NodeId) {
        self.nodes[id as usize] = Node::default();
        if self.has_details {
            self.details[id as usize] = Details::default();
        }
    }

    fn allocate_block(&mut self, size: u16) -> NodeId {
        let unused = self.free_blocks.get_mut(usize::from(size)).and_then(Vec::pop);
        unused.unwrap_or_else(|| self.append_nodes(size.into()))
    }

    fn append_nodes(&mut self, count: usize) -> NodeId {
        if self.has_details {
            grow(&mut self.details, count);
        }
        grow(&mut self.nodes, count) as NodeId
    }

    fn allocate_run(&mut self, length: usize) -> u32 {
        let unused = self.free_runs.get_mut(length).and_then(Vec::pop);
        let words = length.next_multiple_of(1 << self.run_shift);
        unused.unwrap_or_else(|| (grow(&mut self.runs, words) >> self.run_shift) as u32)
    }

    /// Makes the given node, without leaves in flight, the root, with all that is below it, and forgets the rest.
    ///
    /// What is kept moves down in the memory that is there, in its order: a copy would need as much again. On the way the
    /// first words of a run say which node it belongs to (the value that stands there waits in the node), and Q of the first
    /// node of a block says which is the parent (it is the quotient of what stands beside it).
    pub fn keep(&mut self, id: NodeId) {
        self.move_node(ROOT, id);
        let mut runs = Marks::new(self.runs.len() >> self.run_shift);
        let mut blocks = Marks::new(self.nodes.len());
        let mut next = vec![ROOT];
        while let Some(id) = next.pop() {
            let node = self.nodes[id as usize];
            if run_length(node.kind, node.num_edges) > 0 {
                runs.set(node.run as usize);
                self.nodes[id as usize].run = self.first_words(node.run);
                self.set_first_words(node.run, id);
            }
            if node.num_children > 0 {
                blocks.set(node.first_child as usize);
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

    fn move_runs(&mut self, marks: &Marks) {
        let mut end = 0;
        for run in marks.iter() {
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

    fn move_blocks(&mut self, marks: &Marks) {
        let mut end = 1;
        for from in marks.iter() {
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
                // Blocks of children that moved already have forgotten their parent.
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

    /// Whether so many more simulations surely fit, what is set aside for growth included.
    pub fn has_room(&self, num_simulations: u32) -> bool {
        let a_node = size_of::<Node>() + if self.has_details { size_of::<Details>() } else { 0 };
        let used = self.nodes.len() * a_node + self.runs.len() * size_of::<u16>();
        // At the most a simulation moves the children of one node, and makes two runs.
        let a_simulation = (usize::from(self.most_edges) + 1) * (a_node + 3 * size_of::<u16>());
        let most = used + a_simulation * num_simulations as usize;
        most as u64 + most as u64 / GROWTH as u64 <= self.most_bytes && (self.nodes.len() as u64) < MOST_UNITS
    }

    /// Bytes held, used or not.
    pub fn num_bytes(&self) -> usize {
        let lists = |lists: &[Vec<u32>]| lists.iter().map(|list| list.capacity() * size_of::<u32>()).sum::<usize>();
        self.nodes.capacity() * size_of::<Node>()
            + self.details.capacity() * size_of::<Details>()
            + self.runs.capacity() * size_of::<u16>()
            + lists(&self.free_blocks)
            + lists(&self.free_runs)
    }
}

/// Beyond this an index could leave 32 bits.
const MOST_UNITS: u64 = u32::MAX as u64 - (1 << 24);

/// Bytes of a word of a run.
const WORD: u64 = size_of::<u16>() as u64;

/// A bit for each of many places.
struct Marks(Vec<u64>);

impl Marks {
    fn new(len: usize) -> Self {
        Self(vec![0; len.div_ceil(64)])
    }

    fn set(&mut self, place: usize) {
        self.0[place / 64] |= 1 << (place % 64);
    }

    /// The places that are marked, ascending.
    fn iter(&self) -> impl Iterator<Item = usize> {
        let is_set = |word: u64, bit: &usize| word >> bit & 1 == 1;
        let filled = self.0.iter().enumerate().filter(|(_, word)| **word != 0);
        filled.flat_map(move |(index, word)| {
            (0..64).filter(move |bit| is_set(*word, bit)).map(move |bit| 64 * index + bit)
        })
    }
}

/// One part in so many is set aside whenever memory runs out.
const GROWTH: usize = 4;

/// Appends so many default values and answers where they start. Doubling, as vectors do by themselves, would leave half of a
/// large tree's memory unused.
fn grow<T: Clone + Default>(list: &mut Vec<T>, count: usize) -> usize {
    let start = list.len();
    if list.capacity() - start < count {
        list.reserve_exact(count + start / GROWTH);
    }
    list.resize(start + count, T::default());
    start
}

/// Gives back what is more than growth needs.
fn shrink<T>(list: &mut Vec<T>) {
    list.shrink_to(list.len() + list.len() / GROWTH);
}

fn free(lists: &mut Vec<Vec<u32>>, start: u32, size: usize) {
    if lists.len() <= size {
        lists.resize_with(size + 1, Vec::new);
    }
    if size > 0 {
        lists[size].push(start);
    }
}

/// Nodes of the block that holds so many children: 1, 2, 4, 8, 12, 16, 24 and so on, but not more than there are edges.
fn block_size(num_children: u16, num_edges: u16) -> u16 {
    let power = u32::from(num_children).next_power_of_two();
    let less = power / 16 * 12;
    let size = if u32::from(num_children) <= less { less } else { power };
    if num_children == 0 { 0 } else { size.min(num_edges.into()) as u16 }
}

/// Words of a node's run.
#[inline]
fn run_length(kind: NodeKind, num_edges: u16) -> usize {
    match kind {
        NodeKind::Evaluated => VALUE_WORDS + usize::from(num_edges),
        NodeKind::Listed | NodeKind::Expanded => VALUE_WORDS + 2 * usize::from(num_edges),
        NodeKind::Fresh | NodeKind::Pending | NodeKind::Terminal => 0,
    }
}

/// A node with so few keeps its actions in any tree.
const FEW_EDGES: u16 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::ValueForFirst;
    use crate::random::RandomStream;

    #[test]
    fn blocks_are_as_large_as_they_need_to_be() {
        let sizes: Vec<u16> = (0..=17).map(|children| block_size(children, 100)).collect();
        assert_eq!(sizes, [0, 1, 2, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12, 16, 16, 16, 16, 24]);
        assert_eq!(block_size(5, 5), 5);
        assert_eq!(block_size(u16::MAX, u16::MAX), u16::MAX);
    }

    /// A root with the moves 0, 1, 2 and so on, and the first of its children.
    fn root(num_moves: u16) -> (Arena, NodeId) {
        let mut arena = Arena::new(64 << 10, false);
        let actions: Vec<Action> = (0..num_moves).collect();
        arena.evaluate(ROOT, 0.5, &vec![1.0 / f32::from(num_moves); actions.len()], &actions);
        arena.expand(ROOT);
        arena.add_all_children(ROOT);
        let first_child = arena.nodes[ROOT as usize].first_child;
        (arena, first_child)
    }

    #[test]
    fn an_expanded_node_lists_its_best_moves_first() {
        for is_large in [false, true] {
            let (mut arena, id) = root(20);
            if is_large {
                arena.runs.resize(arena.small_words, 0);
            }
            let priors: Vec<f32> = (0..10_u16).map(|action| f32::from(action % 4) / 4.0).collect();
            let actions: Vec<Action> = (20..30).collect();
            arena.evaluate(id, -0.125, &priors, &actions);
            if is_large {
                assert_eq!(arena.nodes[id as usize].kind, NodeKind::Evaluated);
                arena.list(id, &actions);
            }
            assert_eq!(arena.actions_of(&arena.nodes[id as usize]), actions);
            arena.expand(id);
            let (top, node) = (arena.nodes[ROOT as usize], arena.nodes[id as usize]);
            assert_eq!(arena.actions_of(&top), (0..20).collect::<Vec<_>>());
            assert_eq!(arena.actions_of(&node), [23, 27, 22, 26, 21, 25, 29, 20, 24, 28]);
            assert_eq!(arena.priors_of(&node)[..3], [0.75, 0.75, 0.5].map(round_prior));
            assert_eq!((arena.net_value(&top), arena.net_value(&node)), (0.5, -0.125));
            arena.keep(id);
            assert_eq!(arena.actions_of(&arena.nodes[ROOT as usize]), [23, 27, 22, 26, 21, 25, 29, 20, 24, 28]);
            assert_eq!(arena.net_value(&arena.nodes[ROOT as usize]), -0.125);
        }
    }

    /// All that is known of a node, and of those below it.
    fn describe(arena: &Arena, id: NodeId) -> String {
        let node = &arena.nodes[id as usize];
        let (details, is_expanded) = (arena.details.get(id as usize), node.kind == NodeKind::Expanded);
        let priors = node.is_evaluated().then(|| (arena.net_value(node), arena.priors_of(node)));
        let actions = is_expanded.then(|| arena.actions_of(node));
        let first = node.first_child;
        let children: Vec<String> =
            (first..first + NodeId::from(node.num_children)).map(|child| describe(arena, child)).collect();
        let known = (node.kind, node.value_sum, node.visits, node.q);
        format!("{known:?} {details:?} {priors:?} {actions:?} {children:?}")
    }

    /// A tree of so many expanded nodes, at random places below the root.
    fn random_tree(most_bytes: u64, has_details: bool, num_nodes: usize, draws: &mut RandomStream) -> Arena {
        let mut arena = Arena::new(most_bytes, has_details);
        for number in 0..num_nodes {
            let mut id = ROOT;
            while arena.nodes[id as usize].kind == NodeKind::Expanded {
                let node = arena.nodes[id as usize];
                let index = draws.below(node.num_edges.into()) as u16;
                id = if index < node.num_children { node.first_child + u32::from(index) } else { arena.add_child(id) };
            }
            let actions: Vec<Action> = (0..=draws.below(30) as u16).collect();
            let priors: Vec<f32> = actions.iter().map(|action| f32::from(*action) / 31.0).collect();
            arena.evaluate(id, number as f32, &priors, &actions);
            if number % 3 > 0 || id == ROOT {
                if arena.nodes[id as usize].kind == NodeKind::Evaluated {
                    arena.list(id, &actions);
                }
                arena.expand(id);
            }
            arena.nodes[id as usize].add(ValueForFirst(number as f32 / 7.0));
            arena.nodes[id as usize].add(ValueForFirst(0.3));
            if has_details {
                arena.details[id as usize].squares = number as f64;
            }
        }
        arena
    }

    #[test]
    fn a_kept_subtree_is_what_it_was_in_less_memory() {
        let mut draws = RandomStream::new(1, 2, 3, "a tree");
        for (most_bytes, has_details) in [(64 << 10, false), (1 << 30, true), (1 << 40, true)] {
            let mut arena = random_tree(most_bytes, has_details, 3000, &mut draws);
            while arena.nodes[ROOT as usize].num_children > 0 {
                let root = arena.nodes[ROOT as usize];
                let child = root.first_child + draws.below(root.num_children.into()) as NodeId;
                let (num_nodes, num_words) = (arena.nodes.len(), arena.runs.len());
                let before = describe(&arena, child);
                arena.keep(child);
                assert_eq!(before, describe(&arena, ROOT));
                assert!(arena.nodes.len() < num_nodes && arena.runs.len() < num_words);
                assert!(!has_details || arena.details.len() == arena.nodes.len());
            }
        }
    }

    #[test]
    fn runs_are_found_in_any_memory() {
        for (gibibytes, shift) in [(1, 0), (7, 0), (9, 1), (64, 4), (1024, 8)] {
            assert_eq!(Arena::new(gibibytes << 30, false).run_shift, shift, "{gibibytes}");
        }
    }

    #[test]
    fn outgrown_memory_is_used_again() {
        let (mut arena, children) = root(10);
        arena.runs.resize(arena.small_words, 0);
        let actions: Vec<Action> = (0..10).collect();
        for child in children..children + 10 {
            arena.evaluate(child, 0.0, &[0.1; 10], &actions);
            arena.list(child, &actions);
            arena.expand(child);
            (0..10).for_each(|_| _ = arena.add_child(child));
        }
        // What the first child outgrew served those after it: 10 blocks of 10, and one each of 1, 2, 4 and 8.
        assert_eq!(arena.nodes.len(), 1 + 10 + 10 * 10 + 1 + 2 + 4 + 8);
        assert_eq!(arena.runs.len(), arena.small_words + 10 * (2 + 20) + (2 + 10));
    }
}
