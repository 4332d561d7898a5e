//! The positions of a table and the moves between them, and what follows from the ends of games.
//!
//! A position is won if one of its moves leads to a position that its player wins, and lost if all of them lead to lost ones. These
//! are found in the order of their distance from the end, by taking moves back (Thompson, "Retrograde Analysis of Certain
//! Endgames", ICCA Journal 9(3), 1986). What is left is drawn.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::game::{Action, Game};

/// Bytes of a position, with what its lists and the hash table keep free or copy as they grow.
const BYTES_PER_POSITION: u64 = 100;
/// Bytes of a move, from a position and back to it.
const BYTES_PER_MOVE: u64 = 8;
/// Largest number of plies of a result.
const MAX_PLIES: u16 = i16::MAX as u16;
/// Positions between two looks for an interrupt.
const INTERVAL: usize = 1 << 14;

/// Bytes in which so many positions and moves have room.
pub fn num_bytes(num_positions: u64, num_moves: u64) -> u64 {
    num_positions * BYTES_PER_POSITION + num_moves * BYTES_PER_MOVE
}

/// A hasher for keys whose bits need not be random.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are u64");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = crate::random::mix(key);
    }
}

/// What is known of a position.
#[derive(Clone, Copy, Default)]
struct Node {
    /// Plies to the end, for the player to move, once they are known; 0 before.
    plies: i16,
    /// Moves that may lead to a win or a draw.
    num_open: u16,
    /// Most plies after a move that loses.
    longest: u16,
    /// Fewest plies of a win that waits in a bucket; 0 if there is none.
    shortest: u16,
    is_expanded: bool,
    /// A move draws the game at once. Later: the position is drawn.
    is_drawn: bool,
}

/// A move to a position, or from one, and whether its player moves on.
#[derive(Clone, Copy, Default)]
struct Edge(u32);

impl Edge {
    fn new(id: u32, moves_on: bool) -> Self {
        Self(id << 1 | u32::from(moves_on))
    }

    fn id(self) -> usize {
        (self.0 >> 1) as usize
    }

    fn moves_on(self) -> bool {
        self.0 & 1 == 1
    }
}

/// The positions that are not over, and their moves to each other.
pub struct Graph {
    ids: HashMap<u64, u32, BuildHasherDefault<Mixed>>,
    nodes: Vec<Node>,
    /// Moves of the expanded positions, in their order, and the end of each one's.
    edges: Vec<Edge>,
    expanded: Vec<u32>,
    ends: Vec<u64>,
    /// Positions that may have so many plies to the end.
    buckets: Vec<Vec<u32>>,
    max_bytes: u64,
    actions: Vec<Action>,
}

impl Graph {
    /// An empty graph, with room for so many positions.
    pub fn new(max_bytes: u64, num_positions: usize) -> Self {
        Self {
            ids: HashMap::with_capacity_and_hasher(num_positions, BuildHasherDefault::default()),
            nodes: Vec::with_capacity(num_positions),
            edges: Vec::new(),
            expanded: Vec::with_capacity(num_positions),
            ends: Vec::with_capacity(num_positions),
            buckets: Vec::new(),
            max_bytes,
            actions: Vec::new(),
        }
    }

    /// The number of a position, and whether it is new.
    pub fn add(&mut self, key: u64) -> (u32, bool) {
        let next = self.nodes.len() as u32;
        let id = *self.ids.entry(key).or_insert(next);
        if id == next {
            self.nodes.push(Node::default());
        }
        (id, id == next)
    }

    /// Looks for an interrupt, and at the memory that is taken, now and then.
    ///
    /// # Errors
    /// The rest of a sentence, if it is too much.
    pub fn check(&self, other_bytes: usize, check_interrupt: &dyn Fn()) -> Result<(), String> {
        if self.expanded.len().is_multiple_of(INTERVAL) {
            check_interrupt();
        }
        let (positions, moves) = (self.nodes.len() as u64, self.edges.len() as u64);
        if num_bytes(positions, moves) + other_bytes as u64 > self.max_bytes || positions > u64::from(u32::MAX >> 1) {
            return Err(format!(
                "needs more than {} MiB: {positions} positions and {moves} moves were found so far",
                self.max_bytes >> 20
            ));
        }
        Ok(())
    }

    /// Notes the moves of a position that is not over; once is enough. Positions after a move that were unknown go to `take`.
    ///
    /// `key` is the key of a position, `known` the plies to the end of one, by its key, that another table has.
    ///
    /// # Errors
    /// The rest of a sentence, if the game has other results than win, draw and loss.
    pub fn expand<G: Game>(
        &mut self,
        game: &G,
        from: u64,
        state: &G::State,
        key: &dyn Fn(&G::State) -> Option<u64>,
        known: &dyn Fn(u64) -> Option<i16>,
        take: &mut dyn FnMut(u64, G::State),
    ) -> Result<(), String> {
        let id = self.add(from).0;
        if std::mem::replace(&mut self.nodes[id as usize].is_expanded, true) {
            return Ok(());
        }
        let mover = game.player(state);
        let mut actions = std::mem::take(&mut self.actions);
        actions.clear();
        game.legal_actions(state, &mut actions);
        let mut node = self.nodes[id as usize];
        for action in &actions {
            let mut next = game.scratch(state);
            game.play(&mut next, *action);
            let moves_on = game.player(&next) == mover;
            let to = key(&next).ok_or("has positions without a key")?;
            let found = if self.ids.contains_key(&to) {
                None
            } else if let Some(outcome) = game.outcome(&next) {
                let result = outcome.result.for_mover(mover).0;
                if result != 0.0 && result.abs() != 1.0 {
                    return Err(format!("has results such as {result}, expected wins, draws and losses alone"));
                }
                Some((result as i16, 0))
            } else {
                known(to).map(|plies| (if moves_on { plies } else { -plies }.signum(), plies.unsigned_abs()))
            };
            match found {
                Some((1, plies)) => {
                    node.num_open += 1;
                    node.shortest = if node.shortest == 0 { plies + 1 } else { node.shortest.min(plies + 1) };
                }
                Some((0, _)) => node.is_drawn = true,
                Some((_, plies)) => node.longest = node.longest.max(plies),
                None => {
                    let (id, is_new) = self.add(to);
                    self.edges.push(Edge::new(id, moves_on));
                    node.num_open += 1;
                    if is_new {
                        take(to, next);
                    }
                }
            }
        }
        self.actions = actions;
        if node.shortest > 0 {
            self.put(id, node.shortest);
        } else if node.num_open == 0 && !node.is_drawn {
            self.put(id, node.longest + 1);
        }
        self.nodes[id as usize] = node;
        self.expanded.push(id);
        self.ends.push(self.edges.len() as u64);
        Ok(())
    }

    fn put(&mut self, id: u32, plies: u16) {
        let plies = usize::from(plies.min(MAX_PLIES));
        if self.buckets.len() <= plies {
            self.buckets.resize_with(plies + 1, Vec::new);
        }
        self.buckets[plies].push(id);
    }

    /// The moves to each position, as edges from their positions, and where those to each one end.
    fn taken_back(&self) -> (Vec<Edge>, Vec<u64>) {
        let mut ends = vec![0_u64; self.nodes.len() + 1];
        for edge in &self.edges {
            ends[edge.id() + 1] += 1;
        }
        for id in 1..ends.len() {
            ends[id] += ends[id - 1];
        }
        let mut back = vec![Edge::default(); self.edges.len()];
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        for ((from, end), begin) in self.expanded.iter().zip(&self.ends).zip(begins) {
            for edge in &self.edges[begin as usize..*end as usize] {
                let place = &mut ends[edge.id()];
                back[*place as usize] = Edge::new(*from, edge.moves_on());
                *place += 1;
            }
        }
        (back, ends)
    }

    /// Finds all wins and losses, and after them the draws that are sure without repetition.
    pub fn go_back(&mut self, check_interrupt: &dyn Fn()) {
        assert_eq!(self.expanded.len(), self.nodes.len(), "each position has had its turn");
        let (back, ends) = self.taken_back();
        let edges_to = |id: u32| {
            let begin = if id == 0 { 0 } else { ends[id as usize - 1] };
            back[begin as usize..ends[id as usize] as usize].iter()
        };
        let (mut distance, mut num_done) = (0, 0_usize);
        while distance < self.buckets.len() {
            // Only later buckets grow meanwhile.
            for id in std::mem::take(&mut self.buckets[distance]) {
                num_done += 1;
                if num_done.is_multiple_of(INTERVAL) {
                    check_interrupt();
                }
                let (node, plies) = (&mut self.nodes[id as usize], distance as u16);
                if node.plies != 0 {
                    continue;
                }
                let is_won = node.shortest > 0;
                node.plies = if is_won { plies as i16 } else { -(plies as i16) };
                for edge in edges_to(id) {
                    let before = &mut self.nodes[edge.id()];
                    let next = (plies + 1).min(MAX_PLIES);
                    if before.plies != 0 {
                        continue;
                    }
                    if is_won == edge.moves_on() {
                        if before.shortest == 0 || before.shortest > next {
                            before.shortest = next;
                            self.put(edge.id() as u32, next);
                        }
                        continue;
                    }
                    before.num_open -= 1;
                    before.longest = before.longest.max(plies);
                    if before.num_open == 0 && !before.is_drawn {
                        let longest = before.longest;
                        self.put(edge.id() as u32, longest + 1);
                    }
                }
            }
            distance += 1;
        }
        let is_sure = |node: &Node| node.plies == 0 && node.num_open == 0;
        let mut drawn: Vec<u32> =
            (0..self.nodes.len() as u32).filter(|id| is_sure(&self.nodes[*id as usize])).collect();
        while let Some(id) = drawn.pop() {
            for edge in edges_to(id) {
                let before = &mut self.nodes[edge.id()];
                before.num_open = before.num_open.saturating_sub(1);
                if is_sure(before) {
                    drawn.push(edge.id() as u32);
                }
            }
        }
    }

    /// Whether all draws are ends of games, and none a repetition.
    pub fn are_draws_final(&self) -> bool {
        self.nodes.iter().all(|node| node.plies != 0 || node.num_open == 0)
    }

    /// The keys of all positions with their plies.
    pub fn into_entries(self) -> Vec<(u64, i16)> {
        let Self { ids, nodes, .. } = self;
        let mut entries: Vec<_> = ids.into_iter().map(|(key, id)| (key, nodes[id as usize].plies)).collect();
        entries.sort_unstable();
        entries
    }
}
