//! The search below the root.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::order::{Candidate, DEFAULT_VALUE, Order};
use super::table::Table;
use super::{CLOCK_INTERVAL, FRACTION, LineEvaluation, MAX_EVALUATION, MAX_HEIGHT, Parts, WIN};
use crate::alpha_beta::Bound;
use crate::game::{Action, Game, Outcome, Position, PositionKeys, Tactics};
use crate::player::Player;
use crate::tables::Tables;

/// No value is beyond this.
const INFINITY: i32 = WIN + 1;
/// Values beyond this are wins and losses.
const RESULT: i32 = WIN - 1000;
/// A count that ends the game is near if it allows at most this many plies beyond the depth: then the table is not used.
const COUNTER_MARGIN: u32 = 8;
/// Half the first window of an iteration around the value of the one before, in centipawns.
const ASPIRATION: i32 = 30;
/// Half a window that is wider than this is the whole window.
const WIDEST_ASPIRATION: i32 = 5000;
/// Shallower iterations have the whole window.
const ASPIRATION_DEPTH: i32 = 4;
/// The least depth of a null move and of reductions.
const NULL_DEPTH: i32 = 3;
const REDUCTION_DEPTH: i32 = 3;
/// Moves of a node that are not reduced.
const FULL_MOVES: usize = 3;
/// The largest depth at which futile nodes and moves are cut off, and the margin a ply in centipawns.
const FUTILITY_DEPTH: i32 = 6;
const FUTILITY_MARGIN: i32 = 90;
/// Most positions of one quiescence search. Without a limit, shogi's promotions, checks and drops go on for millions of positions
/// below one move, where values are those of an untrained network.
const QUIESCENCE_NODES: u32 = 500;
/// What a capture may gain besides the piece in the quiescence search, in centipawns.
const DELTA: i32 = 200;

/// A value and whether it rests on the moves that led to the position: by repetition, or by a count of moves.
#[derive(Clone, Copy)]
struct Value {
    of_mover: i32,
    is_historical: bool,
}

/// What stops a search.
pub struct Clock<'a> {
    pub most_nodes: u64,
    pub deadline: Option<Instant>,
    pub stop: &'a AtomicBool,
    pub check_interrupt: &'a dyn Fn(),
    pub num_nodes: u64,
}

impl Clock<'_> {
    /// Counts a node; returns whether the search must stop.
    #[inline]
    fn count(&mut self) -> bool {
        self.num_nodes += 1;
        if self.num_nodes.is_multiple_of(CLOCK_INTERVAL) {
            (self.check_interrupt)();
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return true;
            }
        }
        self.num_nodes > self.most_nodes || self.stop.load(Ordering::Relaxed)
    }
}

/// What an iteration has found.
pub struct Found {
    pub value: i32,
    pub line: Vec<Action>,
    pub is_complete: bool,
}

/// One iteration of a search.
pub struct Descent<'a, G: Game> {
    game: &'a G,
    evaluation: &'a mut dyn LineEvaluation<G>,
    parts: Parts,
    piece_values: &'a [i32],
    table: &'a mut Table,
    order: &'a mut Order,
    /// Tables of exact results, and how many positions they knew.
    tables: &'a Tables,
    num_table_hits: u64,
    /// The positions from the root on, and the moves of each.
    line: Vec<Position<G::State>>,
    candidates: Vec<Vec<Candidate>>,
    legal: Vec<Action>,
    /// For each height, the best line from there on.
    best_lines: Vec<Vec<Action>>,
    clock: Clock<'a>,
    is_stopped: bool,
    /// Positions that the present quiescence search may still look below.
    quiescence_left: u32,
}

impl<'a, G: Game> Descent<'a, G> {
    #[allow(clippy::too_many_arguments)] // the parts of one search
    pub fn new(
        game: &'a G,
        evaluation: &'a mut dyn LineEvaluation<G>,
        parts: Parts,
        piece_values: &'a [i32],
        table: &'a mut Table,
        order: &'a mut Order,
        tables: &'a Tables,
        root: Position<G::State>,
        clock: Clock<'a>,
    ) -> Self {
        Self {
            game,
            evaluation,
            parts,
            piece_values,
            table,
            order,
            tables,
            num_table_hits: 0,
            line: vec![root],
            candidates: vec![Vec::new(); MAX_HEIGHT + 2],
            legal: Vec::new(),
            best_lines: vec![Vec::new(); MAX_HEIGHT + 2],
            clock,
            is_stopped: false,
            quiescence_left: 0,
        }
    }

    pub fn num_nodes(&self) -> u64 {
        self.clock.num_nodes
    }

    /// Positions whose result tables knew.
    pub fn num_table_hits(&self) -> u64 {
        self.num_table_hits
    }

    /// Searches all moves of the root, the first of `actions` first, and moves the best to the front. `expected` is the value
    /// of the iteration before. `None` if no move was searched to the end.
    pub fn root(&mut self, depth: i32, actions: &mut [Action], expected: i32) -> Option<Found> {
        let is_aspiring = self.parts.aspiration && depth >= ASPIRATION_DEPTH && expected.abs() < RESULT;
        let mut half = ASPIRATION;
        let (mut alpha, mut beta) =
            if is_aspiring { (expected - half, expected + half) } else { (-INFINITY, INFINITY) };
        let mut before = None;
        loop {
            // A stopped search keeps what a narrower window has found.
            let Some(found) = self.root_window(depth, actions, alpha, beta) else { return before };
            if self.is_stopped || (alpha < found.value && found.value < beta) {
                return Some(found);
            }
            half *= 4;
            if found.value <= alpha {
                alpha = if half > WIDEST_ASPIRATION { -INFINITY } else { found.value - half };
            } else {
                beta = if half > WIDEST_ASPIRATION { INFINITY } else { found.value + half };
            }
            before = Some(Found { is_complete: false, ..found });
        }
    }

    fn root_window(&mut self, depth: i32, actions: &mut [Action], alpha: i32, beta: i32) -> Option<Found> {
        let mover = self.mover(0);
        let (mut found, mut low) = (None, alpha);
        for index in 0..actions.len() {
            let action = actions[index];
            let value = self.after(0, action, mover, depth, low, beta, index > 0, 0).of_mover;
            if self.is_stopped {
                break;
            }
            if index == 0 || value > low {
                found = Some(Found { value, line: self.line_after(0, action), is_complete: false });
                actions[..=index].rotate_right(1);
            }
            low = low.max(value);
            if low >= beta {
                break;
            }
        }
        found.map(|found| Found { is_complete: !self.is_stopped, ..found })
    }

    /// The best line that begins with a move from this height.
    fn line_after(&self, height: usize, action: Action) -> Vec<Action> {
        [&[action], &self.best_lines[height + 1][..]].concat()
    }

    #[inline]
    fn mover(&self, height: usize) -> Player {
        self.game.player(&self.line[height].state)
    }

    /// The value for `mover` of its move from `height`, in a search of `depth` plies from there. `is_late` moves are only to be
    /// shown to be no better than `alpha`, with the depth less `reduction` first.
    #[allow(clippy::too_many_arguments)] // a move and its window
    fn after(
        &mut self,
        height: usize,
        action: Action,
        mover: Player,
        depth: i32,
        alpha: i32,
        beta: i32,
        is_late: bool,
        reduction: i32,
    ) -> Value {
        let mut position = self.line[height].clone();
        position.play(self.game, action);
        if let Some(end) = self.enter(position, height + 1, mover) {
            return end;
        }
        let mut value = Value { of_mover: alpha + 1, is_historical: false };
        if is_late {
            value = self.child(height + 1, mover, depth - 1 - reduction, alpha, alpha + 1);
            if reduction > 0 && value.of_mover > alpha && !self.is_stopped {
                value = self.child(height + 1, mover, depth - 1, alpha, alpha + 1);
            }
        }
        if !is_late || (value.of_mover > alpha && value.of_mover < beta && !self.is_stopped) {
            value = self.child(height + 1, mover, depth - 1, alpha, beta);
        }
        value
    }

    /// Puts a position at a height. Returns its value for `side` if the game is over there or the search must stop.
    fn enter(&mut self, position: Position<G::State>, height: usize, side: Player) -> Option<Value> {
        self.line.truncate(height);
        self.line.push(position);
        self.evaluation.enter(height);
        self.best_lines[height].clear();
        if self.clock.count() {
            self.is_stopped = true;
            return Some(Value { of_mover: 0, is_historical: true });
        }
        let position = &self.line[height];
        let Some(outcome) = position.outcome(self.game) else { return self.by_tables(height, side) };
        let is_historical = position.plies >= self.game.spec().max_plies()
            || self.game.keys().is_some_and(|keys| {
                keys.num_repetitions(&position.state) > 0 || keys.table_key(&position.state).plies_left == 0
            });
        Some(Value { of_mover: of_outcome(&outcome, side, height), is_historical })
    }

    /// The value for `side` of the position at `height` if tables know its result.
    #[inline]
    fn by_tables(&mut self, height: usize, side: Player) -> Option<Value> {
        if self.tables.are_empty() {
            return None;
        }
        let result = self.tables.result(self.game, &self.line[height])?;
        self.num_table_hits += 1;
        // Results of our own tables hang on the counts of moves that the position has.
        let is_historical = !self.tables.results.is_empty();
        Some(Value { of_mover: of_result(result.0 * side.sign(), height), is_historical })
    }

    /// The value for `side` of the position at `height`, whoever is to move there: a side may move several times in a row.
    #[inline]
    fn child(&mut self, height: usize, side: Player, depth: i32, alpha: i32, beta: i32) -> Value {
        if self.mover(height) == side {
            return self.value(height, depth, alpha, beta, true);
        }
        let value = self.value(height, depth, -beta, -alpha, true);
        Value { of_mover: -value.of_mover, ..value }
    }

    /// The value of the position at `height`, which is not over, for its player to move. It is exact between `alpha` and
    /// `beta`, and a bound outside.
    #[allow(clippy::too_many_lines)] // one node, step by step
    fn value(&mut self, height: usize, mut depth: i32, mut alpha: i32, beta: i32, may_pass: bool) -> Value {
        if height >= MAX_HEIGHT {
            return self.evaluated(height);
        }
        let mover = self.mover(height);
        let is_check = self.is_check(height);
        if is_check && self.parts.extensions && depth < MAX_HEIGHT as i32 / 2 && height < 2 * MAX_HEIGHT / 3 {
            depth += 1;
        }
        if depth <= 0 {
            return if self.parts.quiescence && self.game.tactics().is_some() {
                self.quiescence_left = QUIESCENCE_NODES;
                self.quiescence(height, alpha, beta)
            } else {
                self.evaluated(height)
            };
        }
        let is_window_open = beta - alpha > 1;
        let (key, repeats) = self.key(height, depth);
        let known = key.and_then(|key| self.table.get(key));
        if let Some(known) = known
            && !is_window_open
            && i32::from(known.depth) >= depth
        {
            let value = from_table(known.value, height);
            let is_enough = match known.bound {
                Bound::Exact => true,
                Bound::Lower => value >= beta,
                Bound::Upper => value <= alpha,
            };
            if is_enough {
                return Value { of_mover: value, is_historical: false };
            }
        }
        let mut is_historical = repeats;
        let static_value = if is_check { -INFINITY } else { self.evaluated(height).of_mover };
        let is_quiet = !is_check && !is_window_open && beta.abs() < RESULT;
        if is_quiet && self.parts.futility && depth <= FUTILITY_DEPTH && static_value - FUTILITY_MARGIN * depth >= beta
        {
            return Value { of_mover: static_value, is_historical };
        }
        if is_quiet
            && may_pass
            && self.parts.null_move
            && depth >= NULL_DEPTH
            && static_value >= beta
            && let Some(state) = self.game.passed(&self.line[height].state)
        {
            let position = Position { state, plies: self.line[height].plies + 1 };
            let reduction = 2 + depth / 4;
            let value = if let Some(end) = self.enter(position, height + 1, mover) {
                end
            } else {
                let value = self.value(height + 1, depth - 1 - reduction, -beta, 1 - beta, false);
                Value { of_mover: -value.of_mover, ..value }
            };
            if self.is_stopped {
                return value;
            }
            // A result that rests on a pass is none.
            if value.of_mover >= beta && value.of_mover <= MAX_EVALUATION {
                return Value { of_mover: value.of_mover, is_historical: value.is_historical || is_historical };
            }
        }
        self.list(height, mover, known.and_then(|known| known.action), false);
        let is_futile = is_quiet
            && self.parts.futility
            && depth <= FUTILITY_DEPTH / 2
            && static_value + FUTILITY_MARGIN * depth <= alpha;
        let (first_alpha, mut best, mut best_action) = (alpha, -INFINITY, None);
        let num_moves = self.candidates[height].len();
        for index in 0..num_moves {
            let candidate = self.pick(height, index);
            let is_tactical = candidate.tactics.is_some();
            if is_futile && index > 0 && !is_tactical {
                best = best.max(static_value + FUTILITY_MARGIN * depth);
                continue;
            }
            let mut reduction = 0;
            if self.parts.reductions && depth >= REDUCTION_DEPTH && index >= FULL_MOVES && !is_tactical && !is_check {
                let by_history = self.order.history_of(mover, candidate.action);
                let by_place = libm::log(f64::from(depth)) * libm::log(index as f64) / 2.0 + 0.3;
                reduction = (by_place - f64::from(by_history)) as i32 - i32::from(is_window_open);
                reduction = reduction.clamp(0, depth - 2);
            }
            let value = self.after(height, candidate.action, mover, depth, alpha, beta, index > 0, reduction);
            if self.is_stopped {
                return Value { of_mover: best, is_historical: true };
            }
            is_historical |= value.is_historical;
            if value.of_mover > best {
                best = value.of_mover;
                if best > alpha {
                    best_action = Some(candidate.action);
                    alpha = best;
                    self.best_lines[height] = self.line_after(height, candidate.action);
                }
            }
            if alpha >= beta {
                if !is_tactical {
                    let tried = &self.candidates[height][..index];
                    self.order.refuted(height, mover, candidate.action, depth, tried);
                }
                break;
            }
        }
        if let Some(key) = key
            && !is_historical
        {
            let bound = if best >= beta {
                Bound::Lower
            } else if best > first_alpha {
                Bound::Exact
            } else {
                Bound::Upper
            };
            self.table.put(key, to_table(best, height), best_action, depth.min(127) as i8, bound);
        }
        Value { of_mover: best, is_historical }
    }

    /// The value if only tactical moves are made from here on, each side may stop, and checks are answered by all moves.
    /// Once it has had its share of positions, every position is worth its evaluation.
    fn quiescence(&mut self, height: usize, mut alpha: i32, beta: i32) -> Value {
        if height >= MAX_HEIGHT || self.quiescence_left == 0 {
            return self.evaluated(height);
        }
        self.quiescence_left -= 1;
        let mover = self.mover(height);
        let is_check = self.is_check(height);
        let (mut best, mut is_historical) = (-INFINITY, false);
        if !is_check {
            best = self.evaluated(height).of_mover;
            if best >= beta {
                return Value { of_mover: best, is_historical };
            }
            alpha = alpha.max(best);
        }
        let stand = best;
        self.list(height, mover, None, !is_check);
        for index in 0..self.candidates[height].len() {
            let candidate = self.pick(height, index);
            if !is_check && self.parts.futility {
                let taken = candidate.tactics.and_then(|tactics| tactics.taken);
                let gain = taken.map_or(0, |kind| self.piece_value(kind));
                let promotes = candidate.tactics.is_some_and(|tactics| tactics.promotes);
                if !promotes && stand + gain + DELTA <= alpha {
                    continue;
                }
            }
            if !is_check && candidate.key < 0 {
                continue;
            }
            let mut position = self.line[height].clone();
            position.play(self.game, candidate.action);
            let value = match self.enter(position, height + 1, mover) {
                Some(end) => end,
                None if self.mover(height + 1) == mover => self.quiescence(height + 1, alpha, beta),
                None => {
                    let value = self.quiescence(height + 1, -beta, -alpha);
                    Value { of_mover: -value.of_mover, ..value }
                }
            };
            if self.is_stopped {
                return Value { of_mover: best.max(alpha), is_historical: true };
            }
            is_historical |= value.is_historical;
            best = best.max(value.of_mover);
            alpha = alpha.max(best);
            if alpha >= beta {
                break;
            }
        }
        Value { of_mover: best, is_historical }
    }

    #[inline]
    fn evaluated(&mut self, height: usize) -> Value {
        let of_mover = self.evaluation.evaluate(self.game, &self.line[height].state, height);
        Value { of_mover, is_historical: false }
    }

    /// True if the player to move at a height is in check.
    #[inline]
    fn is_check(&self, height: usize) -> bool {
        self.game.tactics().is_some_and(|tactics| tactics.is_check(&self.line[height].state))
    }

    #[inline]
    fn piece_value(&self, kind: u8) -> i32 {
        self.piece_values.get(usize::from(kind)).copied().unwrap_or(DEFAULT_VALUE)
    }

    /// The key under which a position stands in the table, and whether it has occurred before. Near the end of a count of
    /// plies, or after a repetition, a position is worth something else than without its past.
    fn key(&self, height: usize, depth: i32) -> (Option<u64>, bool) {
        let position = &self.line[height];
        let Some(keys) = self.game.keys() else { return (None, false) };
        let repeats = keys.num_repetitions(&position.state) > 0;
        if !self.parts.table || repeats {
            return (None, repeats);
        }
        let reach = depth as u32 + COUNTER_MARGIN;
        let is_far = |key: &crate::game::PositionKey| {
            key.plies_left > reach && self.game.spec().max_plies().saturating_sub(position.plies) > reach
        };
        (Some(keys.table_key(&position.state)).filter(is_far).map(|key| key.key), false)
    }

    /// Lists the moves of the position at a height with their keys, without sorting them.
    fn list(&mut self, height: usize, mover: Player, first: Option<Action>, only_tactical: bool) {
        let state = &self.line[height].state;
        self.legal.clear();
        self.game.legal_actions(state, &mut self.legal);
        let ability = self.game.tactics();
        let candidates = &mut self.candidates[height];
        candidates.clear();
        for action in self.legal.iter().copied() {
            let tactics = ability.and_then(|ability| ability.tactical_move(state, action));
            let key = if first == Some(action) {
                Order::of_table()
            } else if let Some(tactics) = tactics {
                let loses = self.parts.exchanges
                    && tactics.taken.is_some()
                    && ability
                        .and_then(|ability| ability.exchange(state, action, self.piece_values))
                        .is_some_and(|gain| gain < 0);
                Order::of_tactics(self.piece_values, tactics, loses)
            } else if only_tactical {
                continue;
            } else {
                self.order.of_quiet(height, mover, action, self.parts.killers, self.parts.history)
            };
            candidates.push(Candidate { action, tactics, key });
        }
    }

    /// The best move from `index` on, which comes to that place.
    #[inline]
    fn pick(&mut self, height: usize, index: usize) -> Candidate {
        let candidates = &mut self.candidates[height];
        let mut best = index;
        for other in index + 1..candidates.len() {
            if candidates[other].key > candidates[best].key {
                best = other;
            }
        }
        candidates.swap(index, best);
        candidates[index]
    }
}

/// The value of an end at a height for a side.
fn of_outcome(outcome: &Outcome, side: Player, height: usize) -> i32 {
    let result = outcome.result.0 * side.sign();
    if result == 1.0 {
        WIN - height as i32
    } else if result == -1.0 {
        height as i32 - WIN
    } else if result == 0.0 {
        0
    } else {
        (result.signum() * MAX_EVALUATION as f32 + result * FRACTION as f32) as i32
    }
}

/// The value of a result that is known without its line, at a height: less than a win that is seen, more than any evaluation.
pub fn of_result(result: f32, height: usize) -> i32 {
    (result * (MAX_EVALUATION + FRACTION - height as i32) as f32) as i32
}

/// A value as the table has it: results count their plies from the position, not from the root.
#[inline]
fn to_table(value: i32, height: usize) -> i32 {
    if value > WIN - 2 * MAX_HEIGHT as i32 {
        value + height as i32
    } else if value < 2 * MAX_HEIGHT as i32 - WIN {
        value - height as i32
    } else {
        value
    }
}

/// The inverse of [`to_table`].
#[inline]
fn from_table(value: i32, height: usize) -> i32 {
    if value > WIN - 2 * MAX_HEIGHT as i32 {
        value - height as i32
    } else if value < 2 * MAX_HEIGHT as i32 - WIN {
        value + height as i32
    } else {
        value
    }
}
