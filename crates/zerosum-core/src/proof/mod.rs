//! Forced results of a position, from the rules alone: a search beside the tree search, for every game.
//!
//! | module | subject |
//! |---|---|
//! | `tree` | proof numbers: forced wins that are a few forcing moves deep |
//! | `graph` | retrograde analysis of all positions that can be reached, where they are few |
//!
//! Start with [`Prover`]. What it finds is exact under all rules, repetition and counters of moves included.

mod graph;
mod tree;

use crate::game::{Action, Game, Position};
use crate::player::Player;
use graph::PositionGraph;
use tree::ProofTree;

/// Nodes of one proof tree between two looks at the others.
const SLICE: u64 = 256;
/// Trees that are searched in turn.
const NUM_JOBS: usize = 4;
/// Without a known win, all wins in so many plies are looked for beside the trees of any depth.
const SHALLOW_PLIES: u32 = 3;
/// Plies after which a graph is tried again, once one was too large.
const PLIES_BETWEEN_GRAPHS: u32 = 16;

/// A forced result for the player to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forced {
    /// The player wins by this line: the shortest one known, against the longest resistance.
    Win(Vec<Action>),
    /// The player loses by this line: the longest resistance known.
    Loss(Vec<Action>),
}

impl Forced {
    /// The line of play, to the end of the game.
    pub fn line(&self) -> &[Action] {
        match self {
            Self::Win(line) | Self::Loss(line) => line,
        }
    }
}

enum Graph {
    /// No graph was begun.
    Untried,
    Growing(Box<PositionGraph>),
    Solved(Box<PositionGraph>),
    /// A graph was too large, at this ply.
    TooLarge(u32),
}

/// The search for forced results of one position. It can be continued at any time, and follows the game.
pub struct Prover<G: Game> {
    root: Position<G::State>,
    mover: Player,
    /// The root's moves to search; empty for all.
    allowed: Vec<Action>,
    /// Proof trees of any depth, by attacker.
    trees: [ProofTree; 2],
    /// A tree of limited depth, for all short wins of the mover; its limit grows.
    shallow: Option<ProofTree>,
    /// A tree for wins that are shorter than the one known.
    closer: Option<ProofTree>,
    /// The mover has no win in so many plies.
    no_win_within: u32,
    graph: Graph,
    found: Option<Forced>,
    /// Whether no shorter win exists, or none can be looked for.
    is_final: bool,
    next_job: usize,
    num_nodes: u64,
}

impl<G: Game> Prover<G> {
    /// A search at a position whose game is not over.
    pub fn new(game: &G, root: Position<G::State>) -> Self {
        let mover = game.player(&root.state);
        Self {
            root,
            mover,
            allowed: Vec::new(),
            trees: [Player::First, Player::Second].map(|attacker| ProofTree::new(attacker, mover, None)),
            shallow: Some(ProofTree::new(mover, mover, Some(1))),
            closer: None,
            no_win_within: 0,
            graph: Graph::Untried,
            found: None,
            is_final: false,
            // Wins in one come first.
            next_job: NUM_JOBS - 1,
            num_nodes: 0,
        }
    }

    /// Restricts the root to these moves, ascending; an empty list allows all.
    pub fn restrict(&mut self, game: &G, allowed: &[Action]) {
        if self.allowed != allowed {
            let graph = std::mem::replace(&mut self.graph, Graph::Untried);
            *self = Self { allowed: allowed.to_vec(), graph, ..Self::new(game, self.root.clone()) };
        }
    }

    /// Makes a legal move at the root; what is known of the position after it is kept.
    pub fn advance(&mut self, game: &G, action: Action) {
        let was_restricted = !self.allowed.is_empty();
        self.root.play(game, action);
        if !self.root.has_move(game) {
            return;
        }
        self.mover = game.player(&self.root.state);
        for tree in &mut self.trees {
            if was_restricted || !tree.advance(action) {
                *tree = ProofTree::new(tree.attacker(), self.mover, None);
            }
        }
        self.allowed.clear();
        self.shallow = Some(ProofTree::new(self.mover, self.mover, Some(1)));
        self.closer = None;
        self.no_win_within = 0;
        self.next_job = NUM_JOBS - 1;
        if let Graph::Growing(graph) | Graph::Solved(graph) = &mut self.graph {
            graph.note_root(game, &self.root.state);
        }
        if matches!(self.graph, Graph::TooLarge(ply) if self.root.plies >= ply + PLIES_BETWEEN_GRAPHS) {
            self.graph = Graph::Untried;
        }
        self.found = None;
        self.is_final = false;
        self.look();
        self.ask_graph(game);
    }

    /// The forced result, if one is known.
    pub fn found(&self) -> Option<&Forced> {
        self.found.as_ref()
    }

    /// Moves of the root that are known to lose by force.
    pub fn losing_moves(&self) -> Vec<Action> {
        self.trees[self.mover.opponent().index()].won_moves()
    }

    /// Positions visited so far.
    pub fn num_nodes(&self) -> u64 {
        self.num_nodes
    }

    /// Whether a graph is under way that may be small.
    pub fn grows_graph(&self) -> bool {
        self.found.is_none() && matches!(self.graph, Graph::Growing(_))
    }

    /// Searches on through about `max_nodes` positions, and up to `max_edges` moves between the positions of a small graph.
    pub fn work(&mut self, game: &G, max_nodes: u64, max_edges: u64) {
        self.grow_graph(game, max_edges);
        let mut left = max_nodes;
        while left > 0 && !self.is_final {
            let made = self.do_job(game, left.min(SLICE));
            self.look();
            if made == 0 {
                break;
            }
            self.num_nodes += made;
            left = left.saturating_sub(made);
        }
    }

    /// Searches on in one of the trees that have work to do, each in its turn. Returns the number of nodes made; 0 if none has.
    fn do_job(&mut self, game: &G, max_nodes: u64) -> u64 {
        for _ in 0..NUM_JOBS {
            self.next_job = (self.next_job + 1) % NUM_JOBS;
            let tree = match self.next_job {
                0 => self.shallow.as_mut(),
                1 => self.closer.as_mut(),
                _ if self.found.is_some() => None,
                2 => Some(&mut self.trees[self.mover.index()]),
                _ => Some(&mut self.trees[self.mover.opponent().index()]),
            };
            let Some(tree) = tree else { continue };
            let made = tree.work(game, &self.root, &self.allowed, max_nodes);
            if made > 0 {
                return made;
            }
        }
        0
    }

    /// Looks at what the trees have proven, and begins the next ones of limited depth.
    fn look(&mut self) {
        if self.is_final {
            return;
        }
        for tree in [&self.shallow, &self.closer].into_iter().flatten() {
            if tree.is_disproven() {
                self.no_win_within = self.no_win_within.max(tree.limit().unwrap_or(0));
            }
        }
        let known = self.num_plies();
        let limited = [&self.shallow, &self.closer].into_iter().flatten().filter_map(ProofTree::won_line);
        let line = limited.min_by_key(Vec::len).or_else(|| match known {
            None => self.trees[self.mover.index()].won_line(),
            Some(_) => None,
        });
        if let Some(line) = line.filter(|line| known.is_none_or(|known| line.len() < known as usize)) {
            self.found = Some(Forced::Win(line));
        } else if let Some(line) = self.trees[self.mover.opponent().index()].won_line().filter(|_| known.is_none()) {
            self.found = Some(Forced::Loss(line));
            self.is_final = true;
            return;
        }
        self.begin_limited_trees();
    }

    /// The length of the known win.
    fn num_plies(&self) -> Option<u32> {
        self.found.as_ref().map(|found| found.line().len() as u32)
    }

    /// Begins the trees of limited depth that are due, and ends those that are over.
    fn begin_limited_trees(&mut self) {
        let new = |limit| Some(ProofTree::new(self.mover, self.mover, Some(limit)));
        let limit_of = |tree: &Option<ProofTree>| tree.as_ref().and_then(ProofTree::limit);
        let known = self.num_plies();
        if self.shallow.as_ref().is_none_or(ProofTree::is_over) {
            // Without a win, longer ones are left to the tree of any depth. In most games the winner makes the last move, so wins
            // have odd lengths.
            let longest = known.map_or(SHALLOW_PLIES, |plies| plies - 1);
            let next = if self.no_win_within == 0 { 1 } else { self.no_win_within + 2 };
            let was_too_large = self.shallow.as_ref().is_some_and(|tree| tree.is_over() && !tree.is_disproven());
            self.shallow = if next <= longest && !was_too_large { new(next) } else { None };
        }
        let Some(known) = known else { return };
        let closer = known.saturating_sub(2);
        if limit_of(&self.closer) != Some(closer) {
            let is_needed = closer > self.no_win_within && limit_of(&self.shallow) != Some(closer);
            self.closer = if is_needed { new(closer) } else { None };
        }
        let is_over = |tree: &Option<ProofTree>| tree.as_ref().is_none_or(ProofTree::is_over);
        self.is_final = closer <= self.no_win_within || (is_over(&self.shallow) && is_over(&self.closer));
    }

    fn grow_graph(&mut self, game: &G, max_edges: u64) {
        if matches!(self.graph, Graph::Untried) && max_edges > 0 && self.found.is_none() {
            self.graph = match PositionGraph::new(game, &self.root) {
                Some(graph) => Graph::Growing(Box::new(graph)),
                None => Graph::TooLarge(u32::MAX - PLIES_BETWEEN_GRAPHS),
            };
        }
        let Graph::Growing(graph) = &mut self.graph else { return };
        graph.grow(game, max_edges);
        if graph.is_too_large() {
            self.graph = Graph::TooLarge(self.root.plies);
        } else if graph.is_complete() && graph.solve(max_edges) {
            let Graph::Growing(graph) = std::mem::replace(&mut self.graph, Graph::Untried) else { return };
            self.graph = Graph::Solved(graph);
            self.ask_graph(game);
        }
    }

    fn ask_graph(&mut self, game: &G) {
        let Graph::Solved(graph) = &self.graph else { return };
        if !self.allowed.is_empty() {
            return;
        }
        if let Some(forced) = graph.forced(game, &self.root) {
            self.found = Some(forced);
            self.is_final = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Notation;
    use crate::games::CoreGame;
    use crate::games::chess::{Chess, Variant};
    use crate::games::tictactoe::TicTacToe;

    fn prover(fen: &str) -> (Chess, Prover<Chess>) {
        let chess = Chess::new(Variant::Chess);
        let root = Position { state: chess.parse_position(fen).unwrap(), plies: 0 };
        let prover = Prover::new(&chess, root);
        (chess, prover)
    }

    fn texts(chess: &Chess, prover: &Prover<Chess>) -> Vec<String> {
        let mut position = prover.root.clone();
        let line = prover.found().map_or(&[][..], Forced::line);
        line.iter()
            .map(|action| {
                let text = chess.action_text(&position.state, *action);
                position.play(chess, *action);
                text
            })
            .collect()
    }

    #[test]
    fn a_sacrifice_mates_in_two() {
        let (chess, mut prover) = prover("2kr3r/pp1nqppp/2p1pn2/8/1b1P1B2/2NB1Q2/PPP2PPP/2KR3R w - - 0 1");
        prover.work(&chess, 50_000, 0);
        assert!(matches!(prover.found(), Some(Forced::Win(line)) if line.len() == 3), "{:?}", texts(&chess, &prover));
        assert_eq!(texts(&chess, &prover)[0], "f3c6");
    }

    #[test]
    fn a_long_win_does_not_hide_a_short_one() {
        for fen in ["7Q/8/3R4/1P6/1K6/8/8/2k5 w - - 1 64", "8/8/3K4/3P4/k6P/8/1Q6/8 w - - 22 63"] {
            let (chess, mut prover) = prover(fen);
            prover.work(&chess, 50_000, 0);
            assert!(matches!(prover.found(), Some(Forced::Win(line)) if line.len() == 3), "{:?}", prover.found());
        }
    }

    #[test]
    fn the_shortest_win_is_found_and_kept() {
        // Mate in one and many longer ones.
        let (chess, mut prover) = prover("7k/5Q2/6K1/8/8/8/8/8 w - - 0 1");
        prover.work(&chess, 10_000, 0);
        assert!(matches!(prover.found(), Some(Forced::Win(line)) if line.len() == 1));
    }

    #[test]
    fn a_rook_wins_from_anywhere() {
        let (chess, mut prover) = prover("8/8/8/3k4/8/8/8/R3K3 w - - 0 1");
        prover.work(&chess, 1_000_000, 20_000_000);
        let mut last = usize::MAX;
        let mut num_plies = 0;
        while prover.root.has_move(&chess) {
            let line = prover.found().expect("the graph is solved").line().to_vec();
            assert!(line.len() < last, "{} after {last}", line.len());
            last = line.len();
            prover.advance(&chess, line[0]);
            num_plies += 1;
        }
        assert!(num_plies <= 32, "{num_plies} plies");
        assert_eq!(prover.root.outcome(&chess).unwrap().result.0, 1.0);
    }

    #[test]
    fn the_fifty_move_rule_comes_before_a_late_mate() {
        let (chess, mut prover) = prover("8/8/8/3k4/8/8/8/R3K3 w - - 90 1");
        prover.work(&chess, 1_000_000, 20_000_000);
        assert_eq!(prover.found(), None);
    }

    #[test]
    fn no_win_is_found_in_a_drawn_game() {
        let game = TicTacToe::standard();
        let mut prover = Prover::new(&game, Position::initial(&game));
        prover.work(&game, 1_000_000, 20_000_000);
        assert_eq!(prover.found(), None);
        assert_eq!(prover.losing_moves(), []);
    }
}
