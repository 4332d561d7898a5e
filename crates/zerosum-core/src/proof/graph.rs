//! Retrograde analysis of all positions that can be reached from one, where they are few: a king and a rook against a king have
//! 400,000.
//!
//! The graph ignores how a position was reached. That is exact for wins: the winner comes nearer to the end with every move, so
//! no position of the win occurs twice. What remains of the history is checked: positions that had occurred twice before, and
//! counters of moves.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::Forced;
use crate::game::{Action, Game, Position, PositionKeys};
use crate::player::Player;

/// Maximum number of positions.
const MAX_POSITIONS: usize = 600_000;
/// Number of positions after which the size is estimated.
const SAMPLE: usize = 500;
/// Moves that are taken back in the time in which one is made.
const BACKWARD_EDGES: u64 = 8;
/// Maximum product of both sides' mean numbers of moves. A rook's ending has 90, a game of chess 400 and more.
const MAX_BRANCHING: f64 = 160.0;

/// A hasher for keys that are hashes.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are u64");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// What is known of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// Neither side wins, as far as is known.
    Open,
    /// This side wins in so many plies.
    Won(Player, u16),
}

/// How a position was reached first: the parent's number and the move.
#[derive(Clone, Copy)]
struct Origin {
    parent: u32,
    action: Action,
}

/// The analysis of a complete graph, from the ends of games backwards.
struct Solving {
    /// Predecessors of all positions, in order; those of position i begin at `starts[i]`.
    predecessors: Vec<u32>,
    starts: Vec<u32>,
    /// Where the next predecessor of each position is noted.
    free: Vec<u32>,
    /// Number of successors of each position that the analysis has not reached, of positions whose moves have been noted.
    num_open: Vec<u32>,
    /// Positions with a winner, in the order of their distance from the end, and the number of those that are done.
    queue: Vec<u32>,
    num_done: usize,
}

/// All positions that can be reached from a root.
pub struct PositionGraph {
    ids: HashMap<u64, u32, BuildHasherDefault<Identity>>,
    /// First way to each position; positions are numbered in the order of breadth-first search.
    origins: Vec<Origin>,
    movers: Vec<Player>,
    status: Vec<Status>,
    /// Successors of all expanded positions, in order; those of position i end at `ends[i]`.
    successors: Vec<u32>,
    ends: Vec<u32>,
    /// Number of moves that lead to each position.
    num_predecessors: Vec<u32>,
    solving: Option<Solving>,
    root: Box<dyn std::any::Any + Send + Sync>,
    /// Keys of positions that occurred twice since the graph's root.
    occurred_twice: Vec<u64>,
    /// Legal moves of each side in the first positions, and the number of these positions.
    moves: [(u64, u64); 2],
    is_too_large: bool,
}

impl PositionGraph {
    /// The graph of one position; `None` if the game has no keys of positions.
    pub fn new<G: Game>(game: &G, root: &Position<G::State>) -> Option<Self> {
        let key = game.keys()?.position_key(&root.state)?.key;
        let mut graph = Self {
            ids: HashMap::default(),
            origins: Vec::new(),
            movers: Vec::new(),
            status: Vec::new(),
            successors: Vec::new(),
            ends: Vec::new(),
            num_predecessors: Vec::new(),
            solving: None,
            root: Box::new(root.state.clone()),
            occurred_twice: Vec::new(),
            moves: [(0, 0); 2],
            is_too_large: false,
        };
        graph.add(key, game.player(&root.state), Status::Open, Origin { parent: 0, action: 0 });
        Some(graph)
    }

    fn add(&mut self, key: u64, mover: Player, status: Status, origin: Origin) {
        self.ids.insert(key, self.origins.len() as u32);
        self.origins.push(origin);
        self.movers.push(mover);
        self.status.push(status);
        self.num_predecessors.push(0);
    }

    pub fn is_too_large(&self) -> bool {
        self.is_too_large
    }

    pub fn is_complete(&self) -> bool {
        self.ends.len() == self.origins.len()
    }

    /// Notes a position that the game has reached.
    pub fn note_root<G: Game>(&mut self, game: &G, state: &G::State) {
        if let Some(keys) = game.keys().filter(|keys| keys.num_repetitions(state) > 0) {
            self.occurred_twice.extend(keys.position_key(state).map(|key| key.key));
        }
    }

    /// Adds the successors of further positions, about `max_edges` of them.
    pub fn grow<G: Game>(&mut self, game: &G, max_edges: u64) {
        let last = self.successors.len() as u64 + max_edges;
        let mut parent: Option<(u32, G::State)> = None;
        let mut actions = Vec::new();
        while !self.is_complete() && !self.is_too_large && (self.successors.len() as u64) < last {
            let id = self.ends.len();
            let Origin { parent: from, action } = self.origins[id];
            // Positions of the same parent follow each other.
            if parent.as_ref().is_none_or(|(known, _)| *known != from) {
                parent = Some((from, self.state_of(game, from)));
            }
            let mut state = parent.as_ref().expect("it was just set").1.clone();
            if id > 0 {
                game.play(&mut state, action);
            }
            if self.status[id] == Status::Open && (id == 0 || game.outcome(&state).is_none()) {
                actions.clear();
                game.legal_actions(&state, &mut actions);
                let moves = &mut self.moves[self.movers[id].index()];
                *moves = (moves.0 + actions.len() as u64, moves.1 + 1);
                for action in &actions {
                    self.add_edge(game, &state, id as u32, *action);
                }
            }
            self.ends.push(self.successors.len() as u32);
            self.judge_size();
        }
    }

    fn add_edge<G: Game>(&mut self, game: &G, state: &G::State, id: u32, action: Action) {
        let mut next = state.clone();
        game.play(&mut next, action);
        let key = game.keys().and_then(|keys| keys.position_key(&next));
        let key = key.expect("a game has keys of all positions or of none").key;
        if let Some(known) = self.ids.get(&key) {
            self.successors.push(*known);
            self.num_predecessors[*known as usize] += 1;
            return;
        }
        let status = match game.outcome(&next).map(|outcome| outcome.result.0) {
            Some(1.0) => Status::Won(Player::First, 0),
            Some(-1.0) => Status::Won(Player::Second, 0),
            _ => Status::Open,
        };
        self.successors.push(self.origins.len() as u32);
        self.add(key, game.player(&next), status, Origin { parent: id, action });
        *self.num_predecessors.last_mut().expect("it was just added") = 1;
    }

    fn judge_size(&mut self) {
        let mean = |(sum, count): (u64, u64)| sum as f64 / count.max(1) as f64;
        let branching = mean(self.moves[0]) * mean(self.moves[1]);
        self.is_too_large =
            self.origins.len() > MAX_POSITIONS || (self.ends.len() >= SAMPLE && branching > MAX_BRANCHING);
    }

    /// The position with a number, by the moves that lead to it.
    fn state_of<G: Game>(&self, game: &G, mut id: u32) -> G::State {
        let mut line = Vec::new();
        while id > 0 {
            line.push(self.origins[id as usize].action);
            id = self.origins[id as usize].parent;
        }
        let mut state = self.root.downcast_ref::<G::State>().expect("the graph is of this game").clone();
        line.iter().rev().for_each(|action| game.play(&mut state, *action));
        state
    }

    /// Computes who wins in how many plies, in about the time in which `max_edges` moves are made. Returns true at its end.
    pub fn solve(&mut self, max_edges: u64) -> bool {
        let mut solving = self.solving.take().unwrap_or_else(|| self.begin_solving());
        let mut left = BACKWARD_EDGES * max_edges;
        self.note_predecessors(&mut solving, &mut left);
        self.go_back(&mut solving, &mut left);
        let is_done = solving.num_open.len() == self.ends.len() && solving.num_done == solving.queue.len();
        self.solving = (!is_done).then_some(solving);
        is_done
    }

    fn begin_solving(&self) -> Solving {
        let mut end = 0;
        let starts: Vec<u32> = std::iter::once(0)
            .chain(self.num_predecessors.iter().map(|number| {
                end += number;
                end
            }))
            .collect();
        let is_won = |id: &u32| self.status[*id as usize] != Status::Open;
        Solving {
            predecessors: vec![0; self.successors.len()],
            free: starts.clone(),
            starts,
            num_open: Vec::with_capacity(self.ends.len()),
            queue: (0..self.ends.len() as u32).filter(is_won).collect(),
            num_done: 0,
        }
    }

    fn note_predecessors(&self, solving: &mut Solving, left: &mut u64) {
        while *left > 0 && solving.num_open.len() < self.ends.len() {
            let id = solving.num_open.len();
            let first = if id == 0 { 0 } else { self.ends[id - 1] };
            for to in &self.successors[first as usize..self.ends[id] as usize] {
                let place = &mut solving.free[*to as usize];
                solving.predecessors[*place as usize] = id as u32;
                *place += 1;
            }
            solving.num_open.push(self.ends[id] - first);
            *left = left.saturating_sub(1 + u64::from(self.ends[id] - first));
        }
    }

    fn go_back(&mut self, solving: &mut Solving, left: &mut u64) {
        while *left > 0 && solving.num_done < solving.queue.len() {
            let id = solving.queue[solving.num_done] as usize;
            solving.num_done += 1;
            let Status::Won(winner, plies) = self.status[id] else { continue };
            let range = solving.starts[id] as usize..solving.starts[id + 1] as usize;
            *left = left.saturating_sub(1 + range.len() as u64);
            for index in range {
                let before = solving.predecessors[index] as usize;
                if self.status[before] != Status::Open {
                    continue;
                }
                solving.num_open[before] -= 1;
                if self.movers[before] == winner || solving.num_open[before] == 0 {
                    self.status[before] = Status::Won(winner, plies + 1);
                    solving.queue.push(before as u32);
                }
            }
        }
    }

    fn status_of<G: Game>(&self, game: &G, state: &G::State) -> Option<Status> {
        let key = game.keys()?.position_key(state)?.key;
        self.ids.get(&key).map(|id| self.status[*id as usize])
    }

    /// The forced result of a position of the solved graph, if there is one and the history does not interfere.
    pub fn forced<G: Game>(&self, game: &G, root: &Position<G::State>) -> Option<Forced> {
        let Status::Won(winner, plies) = self.status_of(game, &root.state)? else { return None };
        let plies_left = game.keys()?.position_key(&root.state)?.plies_left;
        let plies_to_cap = game.spec().max_plies().saturating_sub(root.plies);
        let interferes = |key: &u64| match self.ids.get(key).map(|id| self.status[*id as usize]) {
            Some(Status::Won(player, before)) => player == winner && before < plies,
            _ => false,
        };
        let plies = u32::from(plies);
        if plies == 0 || plies > plies_left || plies > plies_to_cap || self.occurred_twice.iter().any(interferes) {
            return None;
        }
        let line = self.line(game, &root.state, winner)?;
        Some(if game.player(&root.state) == winner { Forced::Win(line) } else { Forced::Loss(line) })
    }

    fn line<G: Game>(&self, game: &G, state: &G::State, winner: Player) -> Option<Vec<Action>> {
        let (mut state, mut line) = (state.clone(), Vec::new());
        loop {
            let Status::Won(_, plies) = self.status_of(game, &state)? else { return None };
            if plies == 0 {
                return Some(line);
            }
            let mut actions = Vec::new();
            game.legal_actions(&state, &mut actions);
            let next = actions.into_iter().find_map(|action| {
                let mut next = state.clone();
                game.play(&mut next, action);
                let is_next = self.status_of(game, &next) == Some(Status::Won(winner, plies - 1));
                is_next.then_some((action, next))
            });
            let (action, after) = next?;
            line.push(action);
            state = after;
        }
    }
}
