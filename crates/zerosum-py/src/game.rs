//! `Game`, and the results of its methods.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray3, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use zerosum_core::alpha_beta;
use zerosum_core::erased::{AnyGame, AnyPosition, AnyState, Erased};
use zerosum_core::evaluation;
use zerosum_core::game::{self, Action, PlaneKind};
use zerosum_core::games;
use zerosum_core::player::Player;
use zerosum_core::random::RandomStream;

use crate::failure::{catch, check_signals, game_error, value_error};
use crate::leaves::{Leaves, expand};
use crate::packed_plies::packed_opening;
use crate::picture::Picture;
use crate::python_game::PythonGame;
use crate::spec::{Description, GameSpec};
use crate::state::{GameSource, LineOfPlay, Start, State};

/// Largest depth of perft: each ply is a nested call, and the stack is finite.
const MAX_PERFT_DEPTH: u32 = 255;

/// The result of an alpha-beta search; `result`, `delay` and `evaluation` are for the player to move.
///
/// One position is better than another if its `result` is greater; if that is the same, its `delay`; then its
/// `evaluation`.
#[pyclass(frozen, get_all, module = "zerosum._core")]
pub struct AlphaBeta {
    /// The best move.
    action: Action,
    /// In [-1, 1]; 0 if the game is drawn or goes on beyond the depth.
    result: f32,
    /// Plies until a win, negative, or until a loss; 0 if `result` is 0.
    delay: i32,
    /// The search's evaluation at the full depth, for the player to move; 0 if the game ends earlier.
    evaluation: f32,
    /// Number of moves tried.
    num_nodes: u64,
}

/// What the inner nodes of an alpha-beta search say of its evaluation (`Game.tree_errors`).
///
/// The error of a node is its search value less its evaluation, both as an expected result (1 + result) / 2: an
/// evaluation is a logit of it. `squares` [bit planes * H * W], `numbers` [constant planes] and `bias` are sums over
/// the nodes of the error times what a `LinearEvaluation`'s weights are multiplied with: the steepest way down of the
/// evaluations' cross-entropy.
#[pyclass(frozen, get_all, module = "zerosum._core")]
pub struct TreeErrors {
    /// The best move.
    action: Action,
    /// Number of moves tried.
    num_nodes: u64,
    /// Number of nodes in the sums.
    num_wrong: u64,
    squares: Py<PyArray1<f64>>,
    numbers: Py<PyArray1<f64>>,
    bias: f64,
}

/// A weighted sum of a game's planes as the player to move sees them, for `Game.alpha_beta`.
///
/// `squares` [bit planes * H * W] has a weight for each square of each bit plane, `numbers` [constant planes] one for
/// the number of each constant plane; the sum begins at `bias`. It is in units of its own, positive for the player to
/// move.
///
/// Raises GameError if the game has no bit planes, a number of weights is not the game's, or a weight is not finite.
#[pyclass(frozen, module = "zerosum._core")]
pub struct LinearEvaluation {
    pub inner: Arc<evaluation::LinearEvaluation>,
}

#[pymethods]
impl LinearEvaluation {
    #[new]
    #[pyo3(signature = (game, squares, numbers, *, bias = 0.0))]
    fn new(
        py: Python<'_>,
        game: &Game,
        squares: PyReadonlyArray1<'_, f32>,
        numbers: PyReadonlyArray1<'_, f32>,
        bias: f32,
    ) -> PyResult<Self> {
        let inner =
            evaluation::LinearEvaluation::new(game.inner.spec(), squares.as_slice()?, numbers.as_slice()?, bias)
                .map_err(|message| game_error(py, message))?;
        Ok(Self { inner: Arc::new(inner) })
    }
}

/// The rules of one game. A user's Python game, adopted by `adopt`, is seen through the same methods.
#[pyclass(frozen, module = "zerosum._core")]
pub struct Game {
    pub inner: Arc<dyn AnyGame>,
    /// True if the rules are Python: then only one thread at a time can search.
    #[pyo3(get)]
    pub is_python: bool,
    source: Arc<GameSource>,
}

impl Game {
    pub fn initial_line(&self) -> LineOfPlay {
        self.line(None)
    }

    fn line(&self, start: Option<Start>) -> LineOfPlay {
        LineOfPlay::new(&self.source, start)
    }

    /// Calls the rules at a state.
    pub fn at<T>(&self, state: &State, call: impl FnOnce(&dyn AnyPosition) -> T) -> PyResult<T> {
        catch(|| self.inner.position(&state.inner).map(|position| call(&*position)))?.map_err(value_error)
    }

    /// Calls the rules at a state for long, without the interpreter lock if the rules are Rust.
    fn run_at<T: Send>(
        &self,
        py: Python<'_>,
        state: &State,
        call: impl FnOnce(&dyn AnyPosition) -> T + Send,
    ) -> PyResult<T> {
        self.run(py, || self.inner.position(&state.inner).map(|position| call(&*position)))?.map_err(value_error)
    }

    /// Runs a long call, without the interpreter lock if the rules are Rust.
    pub fn run<T: Send>(&self, py: Python<'_>, function: impl FnOnce() -> T + Send) -> PyResult<T> {
        if self.is_python { catch(function) } else { py.detach(|| catch(function)) }
    }
}

/// The moves of an opening, packed, from the first ply of a game on.
fn packed_openings(
    py: Python<'_>,
    game_id: u64,
    moves: impl IntoIterator<Item = (Action, Player)>,
) -> PyResult<Bound<'_, PyList>> {
    let plies: Vec<_> = moves
        .into_iter()
        .enumerate()
        .map(|(index, (action, player))| PyBytes::new(py, &packed_opening(game_id, index, action, player)))
        .collect();
    PyList::new(py, plies)
}

/// A number from Python as an action. A number that does not fit 16 bits is not an action of any game.
pub fn action_index(py: Python<'_>, action: i64, spec: &game::GameSpec) -> PyResult<Action> {
    Action::try_from(action).map_err(|_| {
        let last = spec.num_actions() - 1;
        game_error(py, format!("action {action} is illegal: the actions of {} are 0 to {last}", spec.name()))
    })
}

#[pymethods]
impl Game {
    #[new]
    fn new(py: Python<'_>, name: &str) -> PyResult<Self> {
        let inner = games::by_name(name)
            .and_then(|game| {
                let known = games::names().collect::<Vec<_>>().join(", ");
                game.ok_or_else(|| format!("unknown game {name:?}, the core has {known}"))
            })
            .map_err(|message| game_error(py, message))?;
        let source = Arc::new(GameSource::Name(inner.spec().full_name()));
        Ok(Self { inner, is_python: false, source })
    }

    /// See a Python object that keeps the `zerosum.games.Game` protocol as a game of the core.
    ///
    /// `planes` is (name, is_constant) in channel order. `source` is the name that makes the game again where a pickle
    /// is read; None puts the object itself into the pickle.
    #[staticmethod]
    #[pyo3(signature = (game, name, version, num_actions, board_shape, planes, max_plies, symmetries, has_action_planes,
        *, source = None))]
    fn adopt(
        py: Python<'_>,
        game: &Bound<'_, PyAny>,
        name: &str,
        version: u32,
        num_actions: usize,
        board_shape: (usize, usize),
        planes: Vec<(String, bool)>,
        max_plies: u32,
        symmetries: Vec<Vec<Action>>,
        has_action_planes: bool,
        source: Option<String>,
    ) -> PyResult<Self> {
        let kind = |is_constant| if is_constant { PlaneKind::Constant } else { PlaneKind::Bits };
        let planes = planes.into_iter().map(|(name, is_constant)| game::PlaneSpec { name, kind: kind(is_constant) });
        let spec = game::GameSpec::new(name, version, num_actions, board_shape, planes.collect(), max_plies)
            .and_then(|spec| spec.with_symmetries(symmetries))
            .map(|spec| if has_action_planes { spec.with_action_planes() } else { spec })
            .map_err(|message| game_error(py, message))?;
        let python_game = PythonGame::new(game, spec)?;
        let source = source.map_or_else(|| GameSource::Object(game.clone().unbind()), GameSource::Name);
        Ok(Self { inner: Arc::new(Erased::new(python_game)), is_python: true, source: Arc::new(source) })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Py<PyAny>,))> {
        Ok((py.import("zerosum.games.rules")?.getattr("make")?, (self.source.to_python(py),)))
    }

    #[getter]
    fn spec(&self) -> GameSpec {
        GameSpec { spec: self.inner.spec().clone() }
    }

    fn initial_state(&self) -> PyResult<State> {
        Ok(State { inner: catch(|| self.inner.initial_state())?, line: self.line(None) })
    }

    /// The player to move: 0 (first) or 1 (second).
    fn player(&self, state: &State) -> PyResult<usize> {
        Ok(self.at(state, |position| position.player())?.index())
    }

    /// Number of positions that a game may begin with (960 in Chess960); the initial state is one of them.
    #[getter]
    fn num_starts(&self) -> u32 {
        self.inner.num_starts()
    }

    /// The start with this number. Raises GameError if there is none.
    fn start(&self, py: Python<'_>, number: i64) -> PyResult<State> {
        let start = catch(|| self.inner.start(number))?;
        let inner = start.map_err(|error| game_error(py, error.0))?;
        Ok(State { inner, line: self.line(Some(Start::Number(number))) })
    }

    /// Read a position as people write it (FEN, SFEN, rows of stones); its `plies` is 0.
    ///
    /// Raises GameError, with the wrong token, if the text cannot be read or the game has no notation for positions.
    fn parse_position(&self, py: Python<'_>, text: &str) -> PyResult<State> {
        let state = catch(|| self.inner.parse_position(text))?;
        let inner = state.map_err(|error| game_error(py, error.0))?;
        Ok(State { inner, line: self.line(Some(Start::Text(text.into()))) })
    }

    /// The position as people write it; None if the game has no notation for positions.
    ///
    /// `notation` is one of `position_notations`; None is the game's own. Raises GameError if it is unknown.
    #[pyo3(signature = (state, notation = None))]
    fn position_text(&self, py: Python<'_>, state: &State, notation: Option<&str>) -> PyResult<Option<String>> {
        let text = self.at(state, |position| position.position_text(notation))?;
        text.map_err(|error| game_error(py, error.0))
    }

    /// Names of notations, besides the game's own, that `position_text` can write.
    #[getter]
    fn position_notations(&self) -> Vec<&'static str> {
        self.inner.position_notations().to_vec()
    }

    /// Number of earlier occurrences of the position in its game, counted as far as the rules need it.
    fn num_repetitions(&self, state: &State) -> PyResult<u32> {
        self.at(state, |position| position.num_repetitions())
    }

    /// Legal actions, ascending; empty if and only if the game is over.
    ///
    /// `past_soft_endings` adds the moves that are left when the rules stop a game that could go on.
    #[pyo3(signature = (state, *, past_soft_endings = false))]
    fn legal_actions(&self, state: &State, past_soft_endings: bool) -> PyResult<Vec<Action>> {
        self.at(state, |position| position.legal_actions(past_soft_endings))
    }

    /// The position after `action`, also past a soft ending. Raises GameError if the action is illegal.
    fn play(&self, py: Python<'_>, state: &State, action: i64) -> PyResult<State> {
        let action = action_index(py, action, self.inner.spec())?;
        let next = self.at(state, |position| position.play(action))?;
        let inner = next.map_err(|error| game_error(py, error.0))?;
        Ok(State { inner, line: state.line.then(action) })
    }

    /// The first player's result in [-1, 1], or None while the game goes on.
    fn outcome(&self, state: &State) -> PyResult<Option<f32>> {
        Ok(self.at(state, |position| position.outcome())?.map(|outcome| outcome.result.0))
    }

    /// The ending in the words of the game's federation ("four in a row"), or None while the game goes on.
    fn ending(&self, state: &State) -> PyResult<Option<String>> {
        Ok(self.at(state, |position| position.outcome())?.map(|outcome| outcome.ending.into_owned()))
    }

    /// [C, H, W], seen from the player to move.
    fn planes<'py>(&self, py: Python<'py>, state: &State) -> PyResult<Bound<'py, PyArray3<f32>>> {
        let leaves = catch(|| self.inner.encode(std::slice::from_ref(&state.inner)))?.map_err(value_error)?;
        let spec = self.inner.spec();
        let shape = [spec.planes().len(), spec.board_shape().0, spec.board_shape().1];
        expand(py, &*leaves).reshape(shape)
    }

    /// True if the game is over although a legal move is left: repetition, fifty moves, two passes, the ply cap.
    fn is_soft_ending(&self, state: &State) -> PyResult<bool> {
        let outcome = self.at(state, |position| position.outcome())?;
        Ok(outcome.is_some_and(|outcome| outcome.is_soft))
    }

    /// The first player's margin in points if the game ended here, komi included; None in other games.
    fn score(&self, state: &State) -> PyResult<Option<f32>> {
        self.at(state, |position| position.score())
    }

    /// [squares] in [-1, 1]: share of random games in which the first player owns a square, less the second's share.
    ///
    /// `num_games` random games (0 to 2^32 - 1) are played from the state; in Go they keep eyes. None if squares have
    /// no owners.
    fn ownership<'py>(
        &self,
        py: Python<'py>,
        state: &State,
        num_games: u32,
        seed: u64,
    ) -> PyResult<Option<Bound<'py, PyArray1<f32>>>> {
        let owners = self.run_at(py, state, |position| position.ownership(num_games, seed))?;
        Ok(owners.map(|owners| owners.into_pyarray(py)))
    }

    /// A plain count of pieces, discs or area, the first player's less the second's; 0 if the game has none.
    fn material(&self, state: &State) -> PyResult<f32> {
        self.at(state, |position| position.material())
    }

    /// Begin a game with up to `num_plies` random moves: the state after them, and the moves, packed.
    ///
    /// Each is drawn uniformly among the moves that do not end the game; there are fewer if all would. The key of the
    /// draws is (seed, game_id, number of the move).
    fn draw_opening<'py>(
        &self,
        py: Python<'py>,
        state: &State,
        num_plies: u32,
        seed: u64,
        game_id: u64,
    ) -> PyResult<(State, Bound<'py, PyList>)> {
        // So short that the interpreter lock stays: to take it again costs more.
        let (inner, moves) = self.at(state, |position| position.draw_opening(seed, game_id, num_plies))?;
        let line = moves.iter().fold(state.line.clone(), |line, (action, _)| line.then(*action));
        Ok((State { inner, line }, packed_openings(py, game_id, moves)?))
    }

    /// The best move by looking `depth` plies ahead (1 to MAX_ALPHA_BETA_DEPTH), with an evaluation there.
    ///
    /// Without an `evaluation` it is `Game.material`. Equally good moves are ordered by their evaluation at once, then
    /// by a draw keyed (seed, game, plies). With `noise` each move's evaluation is first raised by a random number
    /// below it, in units of the evaluation.
    /// Raises GameError if the depth is out of range, the game is over or the evaluation is of another encoding.
    #[pyo3(signature = (state, *, depth, seed, game = 0, evaluation = None, noise = 0.0))]
    #[allow(clippy::too_many_arguments)] // keywords in Python
    fn alpha_beta(
        &self,
        py: Python<'_>,
        state: &State,
        depth: i64,
        seed: u64,
        game: u64,
        evaluation: Option<&LinearEvaluation>,
        noise: f32,
    ) -> PyResult<AlphaBeta> {
        let depth = u32::try_from(depth).unwrap_or(0); // 0 is refused, as too large a depth is
        let random = RandomStream::new(seed, game, state.inner.plies().into(), "alpha-beta");
        let evaluation = evaluation.map(|evaluation| &*evaluation.inner);
        let search = |position: &dyn AnyPosition| position.alpha_beta(evaluation, depth, noise, random, &check_signals);
        let found = self.run_at(py, state, search)?;
        let alpha_beta::AlphaBeta { action, value, num_nodes } = found.map_err(|error| game_error(py, error.0))?;
        Ok(AlphaBeta { action, result: value.result, delay: value.delay, evaluation: value.evaluation, num_nodes })
    }

    /// The best move as by `alpha_beta` with this evaluation, and the errors of the evaluation in the search's tree.
    ///
    /// The tree's nodes are the positions that are neither over nor at the full depth. Where the search has only a
    /// bound on a node's value, its evaluation is wrong if it is beyond the bound. Raises as `alpha_beta`.
    #[pyo3(signature = (state, *, depth, seed, game = 0, evaluation))]
    fn tree_errors(
        &self,
        py: Python<'_>,
        state: &State,
        depth: i64,
        seed: u64,
        game: u64,
        evaluation: &LinearEvaluation,
    ) -> PyResult<TreeErrors> {
        let depth = u32::try_from(depth).unwrap_or(0); // 0 is refused, as too large a depth is
        let random = RandomStream::new(seed, game, state.inner.plies().into(), "alpha-beta");
        let evaluation = &*evaluation.inner;
        let search = |position: &dyn AnyPosition| position.tree_errors(evaluation, depth, random, &check_signals);
        let found = self.run_at(py, state, search)?;
        let (found, errors) = found.map_err(|error| game_error(py, error.0))?;
        Ok(TreeErrors {
            action: found.action,
            num_nodes: found.num_nodes,
            num_wrong: errors.num_wrong,
            squares: errors.squares.into_pyarray(py).unbind(),
            numbers: errors.numbers.into_pyarray(py).unbind(),
            bias: errors.bias,
        })
    }

    /// Names of notations, besides the game's own, that `action_text` can write.
    #[getter]
    fn notations(&self) -> Vec<&'static str> {
        self.inner.notations().to_vec()
    }

    /// A legal action as people write it, in the game's own notation or one of `notations`.
    ///
    /// Raises GameError if the action is illegal or the notation unknown.
    #[pyo3(signature = (state, action, notation = None))]
    fn action_text(&self, py: Python<'_>, state: &State, action: i64, notation: Option<&str>) -> PyResult<String> {
        let action = action_index(py, action, self.inner.spec())?;
        let text = self.at(state, |position| position.action_text(action, notation))?;
        text.map_err(|error| game_error(py, error.0))
    }

    /// The legal action that a text means in any of the game's notations, also past a soft ending.
    ///
    /// None if no action or more than one is written so.
    fn parse_action(&self, state: &State, text: &str) -> PyResult<Option<Action>> {
        self.at(state, |position| position.parse_action(text))
    }

    /// The documentation of the game.
    #[getter]
    fn description(&self) -> Description {
        self.inner.description().into()
    }

    /// The board for a drawing program; None if there is only its text.
    fn picture(&self, state: &State) -> PyResult<Option<Picture>> {
        Ok(self.at(state, |position| position.picture())?.map(Picture::from))
    }

    /// Number of lines of play of `depth` plies, 0 to 255; lines that end earlier do not count.
    ///
    /// Ctrl-C ends it, as it ends every long call here.
    ///
    /// Raises:
    ///     GameError: `depth` is out of range.
    fn perft(&self, py: Python<'_>, state: &State, depth: i64) -> PyResult<u64> {
        let depth = u32::try_from(depth).ok().filter(|depth| *depth <= MAX_PERFT_DEPTH).ok_or_else(|| {
            game_error(py, format!("lines of {depth} plies cannot be counted, expected 0 to {MAX_PERFT_DEPTH}"))
        })?;
        self.run_at(py, state, |position| position.perft(depth, &check_signals))
    }

    /// Play `num_plies` plies of random games as a search does: copy, move, outcome, legal moves. For timing.
    ///
    /// The answer is the sum of the numbers of legal moves.
    fn random_plies(&self, py: Python<'_>, num_plies: u64, seed: u64) -> PyResult<u64> {
        self.run(py, || self.inner.random_plies(num_plies, seed, &check_signals))
    }

    /// Write the planes of all positions `times` times. For timing.
    fn encode_again(&self, py: Python<'_>, states: Vec<State>, times: u32) -> PyResult<()> {
        let states: Vec<AnyState> = states.into_iter().map(|state| state.inner).collect();
        self.run(py, || self.inner.encode_again(&states, times, &check_signals))?.map_err(value_error)
    }

    /// The board as text, several lines.
    fn draw(&self, state: &State) -> PyResult<String> {
        self.at(state, |position| position.board_text())
    }

    /// Positions as an evaluator takes them, outside any search (`ticket` is None).
    fn encode(&self, states: Vec<State>) -> PyResult<Leaves> {
        let states: Vec<AnyState> = states.into_iter().map(|state| state.inner).collect();
        Ok(Leaves::outside_search(catch(|| self.inner.encode(&states))?.map_err(value_error)?, self.is_python))
    }

    /// Positions of recorded games: N samples, the i-th after `plies[i]` moves of game `games[i]`.
    ///
    /// Game g's moves are `actions[offsets[g]:offsets[g + 1]]`, played from `starts[g]`, or from the initial state
    /// where that is None or missing. `ticket` is None.
    /// Raises GameError if there is no such ply or a recorded move is illegal.
    #[pyo3(signature = (actions, offsets, games, plies, *, starts = None))]
    fn encode_plies(
        &self,
        py: Python<'_>,
        actions: PyReadonlyArray1<'_, u16>,
        offsets: PyReadonlyArray1<'_, i64>,
        games: PyReadonlyArray1<'_, i64>,
        plies: PyReadonlyArray1<'_, i64>,
        starts: Option<Vec<Option<State>>>,
    ) -> PyResult<Leaves> {
        // Copies: other threads may write to the arrays once the interpreter lock is released.
        let (actions, offsets) = (actions.as_slice()?.to_vec(), offsets.as_slice()?.to_vec());
        let (games, plies) = (games.as_slice()?.to_vec(), plies.as_slice()?.to_vec());
        let starts: Vec<_> =
            starts.unwrap_or_default().into_iter().map(|start| start.map(|state| state.inner)).collect();
        let leaves = self.run(py, || self.inner.encode_plies(&starts, &actions, &offsets, &games, &plies))?;
        Ok(Leaves::outside_search(leaves.map_err(|error| game_error(py, error.0))?, self.is_python))
    }

    fn __repr__(&self) -> String {
        format!("Game({:?})", self.inner.spec().name())
    }
}
