//! `Game`, `GameSpec`, `PlaneSpec` and `State`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray3, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use zerosum_core::alpha_beta;
use zerosum_core::erased::{AnyGame, AnyState, Erased};
use zerosum_core::game::{self, Action, PlaneKind};
use zerosum_core::games;
use zerosum_core::random::Draws;

use crate::failure::{catch, game_error, heed_signals, misuse};
use crate::leaves::{Leaves, expand};
use crate::python_game::PythonGame;

/// Plies of the lines that perft counts: each is a call inside another one, and a stack ends.
const MAX_PERFT_DEPTH: u32 = 255;

#[pyclass(frozen, module = "zerosum._core")]
pub struct PlaneSpec {
    #[pyo3(get)]
    name: String,
    #[pyo3(get)]
    is_constant: bool,
}

/// One option that a game has.
#[pyclass(frozen, get_all, module = "zerosum._core")]
pub struct OptionSpec {
    name: &'static str,
    default: String,
    expected: String,
}

#[pyclass(frozen, module = "zerosum._core")]
pub struct GameSpec {
    spec: game::GameSpec,
}

#[pymethods]
impl GameSpec {
    #[getter]
    fn name(&self) -> &str {
        self.spec.name()
    }
    #[getter]
    fn options(&self) -> &str {
        self.spec.options()
    }
    #[getter]
    fn known_options(&self) -> Vec<OptionSpec> {
        let spec = |option: &games::options::OptionSpec| OptionSpec {
            name: option.name,
            default: option.default.clone(),
            expected: option.expected.clone(),
        };
        self.spec.known_options().iter().map(spec).collect()
    }
    #[getter]
    fn full_name(&self) -> String {
        self.spec.full_name()
    }
    #[getter]
    fn version(&self) -> u32 {
        self.spec.version()
    }
    #[getter]
    fn num_actions(&self) -> usize {
        self.spec.num_actions()
    }
    #[getter]
    fn board_shape(&self) -> (usize, usize) {
        self.spec.board_shape()
    }
    #[getter]
    fn planes(&self) -> Vec<PlaneSpec> {
        let plane = |plane: &game::PlaneSpec| PlaneSpec {
            name: plane.name.clone(),
            is_constant: plane.kind == PlaneKind::Constant,
        };
        self.spec.planes().iter().map(plane).collect()
    }
    #[getter]
    fn max_plies(&self) -> u32 {
        self.spec.max_plies()
    }
    #[getter]
    fn symmetries(&self) -> Vec<Vec<Action>> {
        self.spec.symmetries().to_vec()
    }
    #[getter]
    fn has_action_planes(&self) -> bool {
        self.spec.has_action_planes()
    }
    #[getter]
    fn encoder_id(&self) -> String {
        self.spec.encoder_id()
    }
    fn __repr__(&self) -> String {
        format!("GameSpec({})", self.spec.encoder_id())
    }
}

/// What the documentation says of a game.
#[pyclass(frozen, get_all, module = "zerosum._core")]
pub struct Description {
    board: String,
    rules: String,
    planes: String,
    actions: String,
    material: String,
}

/// A position to be drawn.
#[pyclass(frozen, get_all, module = "zerosum._core")]
pub struct Picture {
    grid: &'static str,
    cells: Vec<Option<(usize, String, String)>>,
    column_labels: Vec<String>,
    row_labels: Vec<String>,
    last_move: Vec<usize>,
    captions: Vec<String>,
}

/// What an alpha-beta search found.
#[pyclass(frozen, get_all, module = "zerosum._core")]
pub struct AlphaBeta {
    action: Action,
    result: f32,
    delay: i32,
    material: f32,
    num_nodes: u64,
}

/// What makes a game again: the name of one of the core or of a file, or a user's object.
pub enum Source {
    Name(String),
    Object(Py<PyAny>),
}

impl Source {
    fn to_python(&self, py: Python<'_>) -> Py<PyAny> {
        match self {
            Self::Name(name) => PyString::new(py, name).into_any().unbind(),
            Self::Object(object) => object.clone_ref(py),
        }
    }
}

/// What a line of play begins with: one of the game's starts by its number, or a position that was read.
#[derive(Clone)]
enum Start {
    Number(i64),
    Text(Arc<str>),
}

/// How a position came about: `None` is the initial state.
#[derive(Clone)]
pub struct Line {
    source: Arc<Source>,
    start: Option<Start>,
    moves: Arc<[Action]>,
}

impl Line {
    pub fn then(&self, action: Action) -> Self {
        Self { moves: self.moves.iter().copied().chain([action]).collect(), ..self.clone() }
    }
}

#[pyclass(frozen, from_py_object, module = "zerosum._core")]
#[derive(Clone)]
pub struct State {
    pub inner: AnyState,
    pub line: Line,
}

#[pymethods]
impl State {
    #[getter]
    fn plies(&self) -> u32 {
        self.inner.plies()
    }

    fn __eq__(&self, other: &Self) -> PyResult<bool> {
        catch(|| self.inner == other.inner)
    }

    fn __hash__(&self) -> PyResult<u64> {
        catch(|| {
            let mut hasher = DefaultHasher::new();
            self.inner.hash(&mut hasher);
            hasher.finish()
        })
    }

    /// The game, the start and the moves: a game's history is part of its states.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let start = match &self.line.start {
            None => py.None(),
            Some(Start::Number(number)) => number.into_pyobject(py)?.into_any().unbind(),
            Some(Start::Text(text)) => PyString::new(py, text).into_any().unbind(),
        };
        let moves = self.line.moves.to_vec().into_pyobject(py)?;
        let arguments = (self.line.source.to_python(py), start, moves).into_pyobject(py)?;
        Ok((py.import("zerosum.games.rules")?.getattr("restore_state")?, arguments))
    }
}

#[pyclass(frozen, module = "zerosum._core")]
pub struct Game {
    pub inner: Arc<dyn AnyGame>,
    /// A Python game needs the interpreter lock, so long calls keep it.
    #[pyo3(get)]
    pub is_python: bool,
    source: Arc<Source>,
}

impl Game {
    pub fn initial_line(&self) -> Line {
        self.line(None)
    }

    fn line(&self, start: Option<Start>) -> Line {
        Line { source: Arc::clone(&self.source), start, moves: Arc::default() }
    }

    /// Runs a long call, without the interpreter lock where the rules are Rust.
    pub fn run<T: Send>(&self, py: Python<'_>, function: impl FnOnce() -> T + Send) -> PyResult<T> {
        if self.is_python { catch(function) } else { py.detach(|| catch(function)) }
    }
}

/// A number from Python as an action: one that does not fit its 16 bits is no action of any game.
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
                game.ok_or_else(|| format!("unknown game {name:?}, the core has {}", games::NAMES.join(", ")))
            })
            .map_err(|message| game_error(py, message))?;
        let source = Arc::new(Source::Name(inner.spec().full_name()));
        Ok(Self { inner, is_python: false, source })
    }

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
        let source = source.map_or_else(|| Source::Object(game.clone().unbind()), Source::Name);
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

    fn player(&self, state: &State) -> PyResult<usize> {
        Ok(catch(|| self.inner.player(&state.inner))?.map_err(misuse)?.index())
    }

    #[getter]
    fn num_starts(&self) -> u32 {
        self.inner.num_starts()
    }

    fn start(&self, py: Python<'_>, number: i64) -> PyResult<State> {
        let start = catch(|| self.inner.start(number))?;
        let inner = start.map_err(|error| game_error(py, error.0))?;
        Ok(State { inner, line: self.line(Some(Start::Number(number))) })
    }

    fn parse_position(&self, py: Python<'_>, text: &str) -> PyResult<State> {
        let state = catch(|| self.inner.parse_position(text))?;
        let inner = state.map_err(|error| game_error(py, error.0))?;
        Ok(State { inner, line: self.line(Some(Start::Text(text.into()))) })
    }

    #[pyo3(signature = (state, notation = None))]
    fn position_text(&self, py: Python<'_>, state: &State, notation: Option<&str>) -> PyResult<Option<String>> {
        let text = catch(|| match notation {
            None => self.inner.position_text(&state.inner),
            Some(notation) => self.inner.position_text_in(&state.inner, notation),
        })?;
        text.map_err(|error| game_error(py, error.0))
    }

    #[getter]
    fn position_notations(&self) -> Vec<&'static str> {
        self.inner.position_notations().to_vec()
    }

    fn num_repetitions(&self, state: &State) -> PyResult<u32> {
        catch(|| self.inner.num_repetitions(&state.inner))?.map_err(misuse)
    }

    #[pyo3(signature = (state, *, past_soft_endings = false))]
    fn legal_actions(&self, state: &State, past_soft_endings: bool) -> PyResult<Vec<Action>> {
        catch(|| self.inner.legal_actions(&state.inner, past_soft_endings))?.map_err(misuse)
    }

    fn play(&self, py: Python<'_>, state: &State, action: i64) -> PyResult<State> {
        let action = action_index(py, action, self.inner.spec())?;
        let next = catch(|| self.inner.play(&state.inner, action))?;
        let inner = next.map_err(|error| game_error(py, error.0))?;
        Ok(State { inner, line: state.line.then(action) })
    }

    fn outcome(&self, state: &State) -> PyResult<Option<f32>> {
        Ok(catch(|| self.inner.outcome(&state.inner))?.map_err(misuse)?.map(|outcome| outcome.result.0))
    }

    fn ending(&self, state: &State) -> PyResult<Option<String>> {
        Ok(catch(|| self.inner.outcome(&state.inner))?.map_err(misuse)?.map(|outcome| outcome.ending.into_owned()))
    }

    fn planes<'py>(&self, py: Python<'py>, state: &State) -> PyResult<Bound<'py, PyArray3<f32>>> {
        let leaves = catch(|| self.inner.encode(std::slice::from_ref(&state.inner)))?.map_err(misuse)?;
        let spec = self.inner.spec();
        let shape = [spec.planes().len(), spec.board_shape().0, spec.board_shape().1];
        expand(py, &*leaves).reshape(shape)
    }

    fn is_soft_ending(&self, state: &State) -> PyResult<bool> {
        let outcome = catch(|| self.inner.outcome(&state.inner))?.map_err(misuse)?;
        Ok(outcome.is_some_and(|outcome| outcome.is_soft))
    }

    fn score(&self, state: &State) -> PyResult<Option<f32>> {
        catch(|| self.inner.score(&state.inner))?.map_err(misuse)
    }

    fn ownership<'py>(
        &self,
        py: Python<'py>,
        state: &State,
        num_games: u32,
        seed: u64,
    ) -> PyResult<Option<Bound<'py, PyArray1<f32>>>> {
        let owners = self.run(py, || self.inner.ownership(&state.inner, num_games, seed))?.map_err(misuse)?;
        Ok(owners.map(|owners| owners.into_pyarray(py)))
    }

    fn material(&self, state: &State) -> PyResult<f32> {
        catch(|| self.inner.material(&state.inner))?.map_err(misuse)
    }

    #[pyo3(signature = (state, *, depth, seed, game = 0))]
    fn alpha_beta(&self, py: Python<'_>, state: &State, depth: i64, seed: u64, game: u64) -> PyResult<AlphaBeta> {
        let depth = u32::try_from(depth).unwrap_or(0); // which is refused, as too great a depth is
        let draws = Draws::new(seed, game, state.inner.plies().into(), "alpha-beta");
        let found = self.run(py, || self.inner.alpha_beta(&state.inner, depth, draws, &heed_signals))?;
        let alpha_beta::AlphaBeta { action, worth, num_nodes } = found.map_err(|error| game_error(py, error.0))?;
        Ok(AlphaBeta { action, result: worth.result, delay: worth.delay, material: worth.material, num_nodes })
    }

    #[getter]
    fn notations(&self) -> Vec<&'static str> {
        self.inner.notations().to_vec()
    }

    #[pyo3(signature = (state, action, notation = None))]
    fn action_text(&self, py: Python<'_>, state: &State, action: i64, notation: Option<&str>) -> PyResult<String> {
        let action = action_index(py, action, self.inner.spec())?;
        let text = catch(|| match notation {
            None => self.inner.action_text(&state.inner, action),
            Some(notation) => self.inner.action_text_in(&state.inner, action, notation),
        })?;
        text.map_err(|error| game_error(py, error.0))
    }

    fn parse_action(&self, state: &State, text: &str) -> PyResult<Option<Action>> {
        catch(|| self.inner.parse_action(&state.inner, text))?.map_err(misuse)
    }

    #[getter]
    fn description(&self) -> Description {
        let game::Description { board, rules, planes, actions, material } = self.inner.description();
        Description { board, rules, planes, actions, material }
    }

    fn picture(&self, state: &State) -> PyResult<Option<Picture>> {
        let picture = catch(|| self.inner.picture(&state.inner))?.map_err(misuse)?;
        Ok(picture.map(|picture| Picture {
            grid: picture.grid.name(),
            cells: picture
                .cells
                .into_iter()
                .map(|cell| cell.map(|piece| (piece.owner.index(), piece.text, piece.glyph)))
                .collect(),
            column_labels: picture.column_labels,
            row_labels: picture.row_labels,
            last_move: picture.last_move,
            captions: picture.captions,
        }))
    }

    fn perft(&self, py: Python<'_>, state: &State, depth: i64) -> PyResult<u64> {
        let depth = u32::try_from(depth).ok().filter(|depth| *depth <= MAX_PERFT_DEPTH).ok_or_else(|| {
            game_error(py, format!("lines of {depth} plies cannot be counted, expected 0 to {MAX_PERFT_DEPTH}"))
        })?;
        self.run(py, || self.inner.perft(&state.inner, depth, &heed_signals))?.map_err(misuse)
    }

    fn random_plies(&self, py: Python<'_>, num_plies: u64, seed: u64) -> PyResult<u64> {
        self.run(py, || self.inner.random_plies(num_plies, seed, &heed_signals))
    }

    fn encode_again(&self, py: Python<'_>, states: Vec<State>, times: u32) -> PyResult<()> {
        let states: Vec<AnyState> = states.into_iter().map(|state| state.inner).collect();
        self.run(py, || self.inner.encode_again(&states, times, &heed_signals))?.map_err(misuse)
    }

    fn draw(&self, state: &State) -> PyResult<String> {
        catch(|| self.inner.draw(&state.inner))?.map_err(misuse)
    }

    fn encode(&self, states: Vec<State>) -> PyResult<Leaves> {
        let states: Vec<AnyState> = states.into_iter().map(|state| state.inner).collect();
        Ok(Leaves::outside_search(catch(|| self.inner.encode(&states))?.map_err(misuse)?, self.is_python))
    }

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
