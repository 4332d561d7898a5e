use super::memory::{GROWTH, block_size, grow, shrink};
use super::*;
use crate::player::ValueForFirst;
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

/// A text of all that the tree holds of a node and of the nodes below it.
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

/// A tree of `num_nodes` expanded nodes, each at a random place below the root.
fn random_tree(max_bytes: u64, has_details: bool, num_nodes: usize, random: &mut RandomStream) -> Arena {
    let mut arena = Arena::new(max_bytes, has_details);
    for number in 0..num_nodes {
        let mut id = ROOT;
        while arena.nodes[id as usize].kind == NodeKind::Expanded {
            let node = arena.nodes[id as usize];
            let index = random.below(node.num_edges.into()) as u16;
            id = if index < node.num_children { node.first_child + u32::from(index) } else { arena.add_child(id) };
        }
        let actions: Vec<Action> = (0..=random.below(30) as u16).collect();
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
    let mut random = RandomStream::new(1, 2, 3, "a tree");
    for (max_bytes, has_details) in [(64 << 10, false), (1 << 30, true), (1 << 40, true)] {
        let mut arena = random_tree(max_bytes, has_details, 3000, &mut random);
        while arena.nodes[ROOT as usize].num_children > 0 {
            let root = arena.nodes[ROOT as usize];
            let child = root.first_child + random.below(root.num_children.into()) as NodeId;
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

#[test]
fn a_list_has_little_spare_room() {
    let mut list = Vec::<u32>::new();
    for _ in 0..1000 {
        grow(&mut list, 3);
    }
    assert!(list.capacity() <= 3000 + 3000 / GROWTH + 3, "it does not double: {}", list.capacity());
    list.truncate(40);
    shrink(&mut list);
    assert!((40..=40 + 40 / GROWTH).contains(&list.capacity()), "{}", list.capacity());
}
