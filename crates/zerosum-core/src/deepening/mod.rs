//! Alpha-beta search for play: iterative deepening to a depth, a number of nodes or a time, with any evaluation.
//!
//! The search is the principal variation search of chess programs (Marsland 1986): the first move of a node is searched with
//! the whole window, the others are only shown to be no better. What makes it fast is in [`Parts`], each a switch. A game says
//! by its [`Tactics`] which moves are tactical and when a side is in check, and what a [pass](Game::passed) leaves; a game that
//! says nothing is searched all the same. [`descent`] has the search below the root, [`table`] the transposition table,
//! [`order`] the order of moves.
//!
//! Values are for the player to move, in centipawns: a hundredth of material, and [`CENTIPAWNS_PER_LOGIT`] to one of the logit of
//! an expected result. A result outweighs any evaluation, an early win is better than a late one.

mod descent;
mod order;
mod table;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use self::descent::Descent;
pub(crate) use self::order::DEFAULT_VALUE;
use self::order::Order;
use self::table::Table;
use crate::erased::{AnyLeaves, leaves_of};
use crate::error::UsageError;
use crate::evaluation::{LinearEvaluation, Material};
use crate::game::{Action, Game, Position, Tactics, Valuation};
pub use crate::line_evaluation::{CENTIPAWNS_PER_LOGIT, LineEvaluation, MAX_EVALUATION};
use crate::line_evaluation::{MAX_HEIGHT, disturbed, from_expected, of_material};
use crate::tables::Tables;
use crate::updatable::Accumulators;

/// Largest depth of an iteration, in plies.
pub const MAX_DEPTH: u32 = 100;
/// Positions for each move of the root that a first iteration may take, whatever the limit.
const NODES_A_MOVE: u64 = 50;
/// The value of a win at once; a win in n plies is worth n less.
pub const WIN: i32 = 1_000_000;
/// What a result between a draw and a win, or one that tables know, is worth beyond any evaluation, times the result.
const FRACTION: i32 = 500_000;
/// Nodes between two looks at the clock.
const CLOCK_INTERVAL: u64 = 1024;

/// The parts of the search that are switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of its own
pub struct Parts {
    /// Transposition table: positions that other move orders reached are not searched again.
    pub table: bool,
    /// Each iteration first expects a value near that of the one before.
    pub aspiration: bool,
    /// Quiet moves that refuted others at the same distance from the root come early.
    pub killers: bool,
    /// Quiet moves that refuted others anywhere in the tree come early.
    pub history: bool,
    /// Late quiet moves are searched less deeply first.
    pub reductions: bool,
    /// Tactical moves are searched on beyond the depth.
    pub quiescence: bool,
    /// A node is cut off if the opponent could move twice and not repair it.
    pub null_move: bool,
    /// Nodes near the leaves are cut off, and quiet moves left out, whose evaluation is far outside of the window.
    pub futility: bool,
    /// A check is searched a ply deeper.
    pub extensions: bool,
    /// Exchanges that lose material come last, and are left out of the quiescence search.
    pub exchanges: bool,
}

/// Names of the parts, as [`Parts::switch`] takes them.
pub const PART_NAMES: [&str; 10] = [
    "table",
    "aspiration",
    "killers",
    "history",
    "reductions",
    "quiescence",
    "null_move",
    "futility",
    "extensions",
    "exchanges",
];

impl Default for Parts {
    fn default() -> Self {
        let mut parts = Self::NONE;
        for name in PART_NAMES {
            *parts.switch(name).expect("a name of the list") = true;
        }
        parts
    }
}

impl Parts {
    /// Plain alpha-beta with iterative deepening.
    pub const NONE: Self = Self {
        table: false,
        aspiration: false,
        killers: false,
        history: false,
        reductions: false,
        quiescence: false,
        null_move: false,
        futility: false,
        extensions: false,
        exchanges: false,
    };

    /// The switch with this name.
    pub fn switch(&mut self, name: &str) -> Option<&mut bool> {
        Some(match name {
            "table" => &mut self.table,
            "aspiration" => &mut self.aspiration,
            "killers" => &mut self.killers,
            "history" => &mut self.history,
            "reductions" => &mut self.reductions,
            "quiescence" => &mut self.quiescence,
            "null_move" => &mut self.null_move,
            "futility" => &mut self.futility,
            "extensions" => &mut self.extensions,
            "exchanges" => &mut self.exchanges,
            _ => return None,
        })
    }
}

/// A function that evaluates one position: the expected result in [−1, 1] for its player to move.
pub type Called = Arc<dyn Fn(Arc<dyn AnyLeaves>) -> f32 + Send + Sync>;

/// An evaluation by a function that takes positions as evaluators do.
struct CalledEvaluation<G: Game> {
    game: Arc<G>,
    function: Called,
}

impl<G: Game> LineEvaluation<G> for CalledEvaluation<G> {
    fn evaluate(&mut self, game: &G, state: &G::State, _height: usize) -> i32 {
        let mut leaves = crate::leaves::Leaves::<G>::new(game.spec(), 0);
        leaves.push(game, 0, Position { state: state.clone(), plies: 0 });
        from_expected((self.function)(leaves_of(&self.game, leaves)))
    }
}

/// What a search evaluates positions by.
#[derive(Clone)]
pub enum AnyEvaluation {
    /// The material that the game counts.
    Material,
    /// A weighted sum of the game's planes.
    Linear(Arc<LinearEvaluation>),
    /// An efficiently updatable network.
    Updatable(Arc<crate::updatable::Network>),
    /// Any function.
    Called(Called),
}

/// The settings of a search.
#[derive(Clone)]
pub struct Settings {
    /// The evaluation.
    pub evaluation: AnyEvaluation,
    /// Standard deviation of a fixed error of each position's expected result; 0 for none.
    pub disturbance: f32,
    /// Key of these errors.
    pub seed: u64,
    /// The switches.
    pub parts: Parts,
    /// Values of the kinds of pieces in centipawns, in the order of [`crate::game::TacticalMove`]. A kind without one is worth 100;
    /// with [`AnyEvaluation::Material`] they are the game's own if this is empty.
    pub piece_values: Vec<i32>,
    /// Positions in the table, at most.
    pub table_entries: usize,
    /// Tables of exact results.
    pub tables: Tables,
}

/// When an iteration stops before its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limit {
    /// Nodes since [`Deepening::begin`].
    pub nodes: Option<u64>,
    /// Time since the call.
    pub time: Option<Duration>,
}

/// What an iteration has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// Its depth in plies.
    pub depth: u32,
    /// The best line, at least one move.
    pub line: Vec<Action>,
    /// The value of the root for its player to move.
    pub value: i32,
    /// Nodes since [`Deepening::begin`].
    pub num_nodes: u64,
    /// True if the iteration was finished.
    pub is_complete: bool,
    /// True if the player to move is not in check and the best move is not tactical: an evaluation can be held to the value.
    pub is_quiet: bool,
}

impl Iteration {
    /// Plies to a decided end, if the line leads to one: positive for a win, negative for a loss.
    pub fn plies_to_end(&self) -> Option<i32> {
        plies_to_end(self.value)
    }
}

/// See [`Iteration::plies_to_end`].
fn plies_to_end(value: i32) -> Option<i32> {
    let plies = WIN - value.abs();
    (plies <= MAX_HEIGHT as i32).then(|| if value > 0 { plies } else { -plies })
}

/// A search that is deepened a ply at a time. Its table outlives the root; equal calls since [`Self::clear`] have equal answers.
pub struct Deepening<G: Game> {
    game: Arc<G>,
    evaluation: Box<dyn LineEvaluation<G>>,
    parts: Parts,
    piece_values: Vec<i32>,
    table: Table,
    order: Order,
    tables: Tables,
    num_table_hits: u64,
    root: Option<Root<G>>,
    stop: Arc<AtomicBool>,
}

struct Root<G: Game> {
    position: Position<G::State>,
    /// Legal moves, the best of the iteration before first.
    actions: Vec<Action>,
    depth: u32,
    value: i32,
    /// The value by the tables, if they decide the game: no line of the search may reach a position that they know.
    decided: Option<i32>,
    num_nodes: u64,
}

impl<G: Game> Deepening<G> {
    /// A search without a root.
    ///
    /// # Errors
    /// A sentence, if the evaluation or the tables are of another game.
    pub fn new(game: Arc<G>, settings: Settings) -> Result<Self, UsageError> {
        settings.tables.require_game(&*game)?;
        let mut piece_values = settings.piece_values;
        if piece_values.is_empty() && matches!(settings.evaluation, AnyEvaluation::Material) {
            let values = game.valuation().map_or(&[][..], |valuation| valuation.piece_values());
            piece_values = values.iter().copied().map(of_material).collect();
        }
        let evaluation: Box<dyn LineEvaluation<G>> = match settings.evaluation {
            AnyEvaluation::Material => disturbed(Material, settings.disturbance, settings.seed),
            AnyEvaluation::Linear(linear) => {
                linear.require_game(game.spec())?;
                disturbed(linear, settings.disturbance, settings.seed)
            }
            AnyEvaluation::Updatable(network) => {
                network.require_game(game.spec())?;
                disturbed(Accumulators::new(network), settings.disturbance, settings.seed)
            }
            AnyEvaluation::Called(function) => {
                let called = CalledEvaluation { game: Arc::clone(&game), function };
                disturbed(called, settings.disturbance, settings.seed)
            }
        };
        Ok(Self {
            order: Order::new(game.spec().num_actions()),
            table: Table::new(settings.table_entries),
            game,
            evaluation,
            parts: settings.parts,
            piece_values,
            tables: settings.tables,
            num_table_hits: 0,
            root: None,
            stop: Arc::default(),
        })
    }

    /// Forgets all positions.
    pub fn clear(&mut self) {
        self.table.clear();
        self.order.clear();
    }

    /// A flag that ends the iteration under way, for other threads.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Positions of which tables knew the result, in all searches.
    pub fn num_table_hits(&self) -> u64 {
        self.num_table_hits
    }

    /// Takes a position as the root. With `allowed`, only these moves are considered there. Soft endings end the game below
    /// the root. Of moves that tables know to be worse than others none is considered.
    ///
    /// # Errors
    /// A sentence, if no move is left.
    pub fn begin(&mut self, position: Position<G::State>, allowed: Option<&[Action]>) -> Result<(), UsageError> {
        let mut actions = position.legal_actions(&*self.game, true);
        if actions.is_empty() {
            return Err(UsageError("the game is over, there is nothing to search in".into()));
        }
        if let Some(allowed) = allowed {
            actions.retain(|action| allowed.contains(action));
            if actions.is_empty() {
                return Err(UsageError(format!("none of the moves {allowed:?} is legal here")));
            }
        }
        self.table.age();
        self.order.begin();
        self.stop.store(false, Ordering::Relaxed);
        let decided = self.keep_best_by_tables(&position, &mut actions);
        self.root = Some(Root { position, actions, depth: 0, value: 0, decided, num_nodes: 0 });
        Ok(())
    }

    /// Keeps the moves that tables do not know to be worse than others. Returns the value of the root, if they decide it.
    fn keep_best_by_tables(&self, position: &Position<G::State>, actions: &mut Vec<Action>) -> Option<i32> {
        if self.tables.are_empty() {
            return None;
        }
        let ranked = self.tables.rank(&*self.game, position, actions)?;
        if let Some(best) = ranked.best {
            actions.retain(|action| *action == best);
            let (_, result) = ranked.results.iter().find(|(action, _)| *action == best)?;
            return Some(descent::of_result(result.0, 0));
        }
        actions.retain(|action| ranked.results.iter().all(|(known, _)| known != action));
        None
    }

    /// Searches the root a ply deeper. `None` if it was stopped before any move was searched, or the depth is the largest.
    /// `check_interrupt` is called now and then; it may unwind.
    ///
    /// # Errors
    /// A sentence, if there is no root.
    pub fn deepen(&mut self, limit: Limit, check_interrupt: &dyn Fn()) -> Result<Option<Iteration>, UsageError> {
        let Some(root) = &mut self.root else { return Err(UsageError("the search has no position: begin one".into())) };
        if root.depth == MAX_DEPTH {
            return Ok(None);
        }
        root.depth += 1;
        let deadline = limit.time.map(|time| Instant::now() + time);
        self.evaluation.begin();
        let mut descent = Descent::new(
            &*self.game,
            &mut *self.evaluation,
            self.parts,
            &self.piece_values,
            &mut self.table,
            &mut self.order,
            &self.tables,
            root.position.clone(),
            descent::Clock {
                most_nodes: limit.nodes.unwrap_or(u64::MAX),
                deadline,
                stop: &self.stop,
                check_interrupt,
                num_nodes: root.num_nodes,
            },
        );
        let found = descent.root(root.depth as i32, &mut root.actions, root.value);
        root.num_nodes = descent.num_nodes();
        self.num_table_hits += descent.num_table_hits();
        let Some(found) = found else { return Ok(None) };
        root.value = found.value;
        let state = &root.position.state;
        let is_quiet = self
            .game
            .tactics()
            .is_none_or(|tactics| !tactics.is_check(state) && tactics.tactical_move(state, found.line[0]).is_none());
        Ok(Some(Iteration {
            depth: root.depth,
            line: found.line,
            value: root.decided.filter(|_| plies_to_end(found.value).is_none()).unwrap_or(found.value),
            num_nodes: root.num_nodes,
            is_complete: found.is_complete,
            is_quiet,
        }))
    }

    /// Deepens until a limit is reached or the result is certain, at least by a ply. `None` if it was stopped before.
    ///
    /// # Errors
    /// A sentence, if there is no root.
    pub fn think(&mut self, limit: Limit, depth: u32, check: &dyn Fn()) -> Result<Option<Iteration>, UsageError> {
        let started = Instant::now();
        let mut last = self.first_iteration(limit, check)?;
        while let Some(found) = &last {
            let is_certain = found.plies_to_end().is_some_and(|plies| plies.unsigned_abs() <= found.depth);
            let is_over = limit.nodes.is_some_and(|nodes| found.num_nodes >= nodes)
                || limit.time.is_some_and(|time| started.elapsed() >= time);
            if is_certain || is_over || !found.is_complete || found.depth >= depth {
                break;
            }
            let left = limit.time.map(|time| time.saturating_sub(started.elapsed()));
            match self.deepen(Limit { time: left, ..limit }, check)? {
                Some(found) => last = Some(found),
                None => break,
            }
        }
        Ok(last)
    }

    /// The first iteration. It may take some positions for each move whatever the limit, and as many as it needs to search one
    /// move.
    fn first_iteration(&mut self, limit: Limit, check: &dyn Fn()) -> Result<Option<Iteration>, UsageError> {
        let num_moves = self.root.as_ref().map_or(0, |root| root.actions.len() as u64);
        let mut nodes = limit.nodes.map(|nodes| nodes.max(NODES_A_MOVE * num_moves));
        loop {
            let found = self.deepen(Limit { nodes, ..limit }, check)?;
            let (Some(most), Some(root)) = (nodes, &mut self.root) else { return Ok(found) };
            if found.is_some() || root.num_nodes <= most {
                return Ok(found);
            }
            // It was the number of positions that stopped it.
            root.depth = 0;
            nodes = Some(most.saturating_mul(2));
        }
    }

    /// The search's game.
    pub fn game(&self) -> &Arc<G> {
        &self.game
    }
}
