//! `DeepeningSearch`, and the networks that it evaluates by.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use zerosum_core::deepening::{self, AnyEvaluation, Limit, MAX_DEPTH, PART_NAMES, Parts, Settings};
use zerosum_core::erased::AnyDeepening;
use zerosum_core::game::Action;
use zerosum_core::tables::Tables;
use zerosum_core::updatable::features::{BitPlane, FeatureMap, NumberPlane};
use zerosum_core::updatable::lines::Line;
use zerosum_core::updatable::{self, Weights};

use crate::failure::{catch, check_signals, game_error, raise, value_error};
use crate::game::{Game, LinearEvaluation};
use crate::leaves::Leaves;
use crate::result_table::ResultTable;
use crate::state::State;
use crate::syzygy::Syzygy;

/// Largest number of entries of a table.
const MAX_TABLE_ENTRIES: u64 = 1 << 32;

/// A line of squares: the squares, its table's first feature in both views, whether the other side reads it backwards.
type LineWords = (Vec<u32>, u32, u32, bool);

/// An efficiently updatable network as a search evaluates it: in whole numbers.
///
/// A feature is a square of a bit plane or a step of a constant plane's number. For each bit plane `bits` has the
/// number of its first square's feature in the view of the player to move and in the other side's view, or -1 twice if
/// it has none; `turned` has each square's place in the other side's view. For each constant plane `numbers` has the
/// same two features of its first step, the number of steps and the count that the plane's number 1 stands for.
/// Weights are `input` [features * units], `input_bias` [units], `output` [2 * units] and `output_bias`. For each line
/// of squares `lines` has its squares, the first feature of its contents in the view of the player to move and in the
/// other side's view, and whether that side reads it in the opposite order; `line_weights` are [line features * units].
///
/// Raises GameError if a number of planes, features or weights is not the game's, or a weight is out of range.
#[pyclass(frozen, module = "zerosum._core")]
pub struct UpdatableNetwork {
    pub inner: Arc<updatable::Network>,
}

#[pymethods]
impl UpdatableNetwork {
    #[new]
    #[pyo3(signature = (
        game, bits, numbers, turned, num_features, *, input, input_bias, output, output_bias, lines=None, line_weights=None
    ))]
    #[allow(clippy::too_many_arguments)] // keywords in Python
    fn new(
        py: Python<'_>,
        game: &Game,
        bits: Vec<(i64, i64)>,
        numbers: Vec<(i64, i64, u32, f32)>,
        turned: Vec<u32>,
        num_features: usize,
        input: PyReadonlyArray1<'_, f32>,
        input_bias: PyReadonlyArray1<'_, f32>,
        output: PyReadonlyArray1<'_, f32>,
        output_bias: f32,
        lines: Option<Vec<LineWords>>,
        line_weights: Option<PyReadonlyArray1<'_, f32>>,
    ) -> PyResult<Self> {
        let feature = |number: i64| u32::try_from(number).ok();
        let bits =
            bits.into_iter().map(|(own, other)| BitPlane { own: feature(own), other: feature(other).unwrap_or(0) });
        let numbers = numbers.into_iter().map(|(own, other, num_steps, scale)| NumberPlane {
            own: feature(own),
            other: feature(other).unwrap_or(0),
            num_steps,
            scale,
        });
        let spec = game.inner.spec();
        let features = FeatureMap::new(spec, bits.collect(), numbers.collect(), turned, num_features);
        let weights = Weights {
            input: input.as_slice()?,
            input_bias: input_bias.as_slice()?,
            output: output.as_slice()?,
            output_bias,
            lines: line_weights.as_ref().map_or(Ok(&[][..]), |weights| weights.as_slice())?,
        };
        let line = |(squares, own, other, is_reversed)| Line { squares, own, other, is_reversed };
        let lines = lines.unwrap_or_default().into_iter().map(line).collect();
        let inner = features.and_then(|features| updatable::Network::new(features, lines, weights));
        Ok(Self { inner: inner.map_err(|message| game_error(py, message))? })
    }

    /// The evaluation of each position for its player to move, in centipawns: 400 are one of the logit.
    ///
    /// Raises GameError if the network is of another game.
    fn evaluations<'py>(&self, py: Python<'py>, leaves: &Leaves) -> PyResult<Bound<'py, PyArray1<i32>>> {
        leaves.require_positions()?;
        let found = catch(|| leaves.inner.evaluations(&self.inner))?;
        Ok(found.map_err(|error| game_error(py, error.0))?.into_pyarray(py))
    }
}

/// What an iteration of a `DeepeningSearch` has found; `value` is for the player to move.
#[pyclass(frozen, get_all, module = "zerosum._core")]
pub struct Iteration {
    /// Depth in plies.
    depth: u32,
    /// The best line, at least one move.
    line: Vec<Action>,
    /// The value in centipawns; of results only the order counts.
    value: i32,
    /// Plies to a decided end on the best line: positive for a win, negative for a loss, None for neither.
    plies_to_end: Option<i32>,
    /// Positions visited since `begin`.
    num_nodes: u64,
    /// Whether the iteration was finished; the line of one that was not is the best so far.
    is_complete: bool,
    /// Whether the player to move is not in check and the best move is neither a capture nor a promotion.
    is_quiet: bool,
}

/// An evaluation by a function of Python. Its errors unwind through the search.
fn called(function: &Bound<'_, PyAny>, is_python: bool) -> AnyEvaluation {
    let function = function.clone().unbind();
    AnyEvaluation::Called(Arc::new(move |leaves| {
        let evaluate =
            |py: Python<'_>| function.bind(py).call1((Leaves::outside_search(leaves, is_python),))?.extract();
        Python::attach(evaluate).unwrap_or_else(|error| raise(error))
    }))
}

impl From<deepening::Iteration> for Iteration {
    fn from(found: deepening::Iteration) -> Self {
        let plies_to_end = found.plies_to_end();
        let deepening::Iteration { depth, line, value, num_nodes, is_complete, is_quiet } = found;
        Self { depth, line, value, plies_to_end, num_nodes, is_complete, is_quiet }
    }
}

fn limit(nodes: Option<u64>, seconds: Option<f64>) -> Limit {
    Limit { nodes, time: seconds.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or_default()) }
}

/// An alpha-beta search that is deepened a ply at a time: `begin`, then `deepen` until the answer is good enough.
///
/// The evaluation is a `LinearEvaluation`, an `UpdatableNetwork`, a function that returns the expected result of one
/// position (leaves of size 1) for its player to move, or, without one, `Game.material`. `parts` names the parts of the
/// search that are switched on (`DEEPENING_PARTS`), all if it is None. `piece_values` are in centipawns, in the order
/// of the planes; they order captures. `table_entries` bounds the transposition table, 24 bytes each. With
/// `disturbance` each position's evaluation is off by a fixed, normally distributed amount in the expected result with
/// this standard deviation, a function of position and `seed`. `syzygy` and `results` are tables as those of `Search`.
/// Equal calls since `clear` have equal answers. Calls from
/// several threads wait for one another, except `stop`.
///
/// Raises GameError if the evaluation or a table is of another game, or a part is unknown.
#[pyclass(frozen, module = "zerosum._core")]
pub struct DeepeningSearch {
    game: Py<Game>,
    inner: Mutex<Box<dyn AnyDeepening>>,
    stop: Arc<AtomicBool>,
    hold: Hold,
}

/// Lets the thread of a search stand still.
#[derive(Default)]
struct Hold {
    is_on: Mutex<bool>,
    changed: Condvar,
}

impl Hold {
    fn guard(&self) -> MutexGuard<'_, bool> {
        self.is_on.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, is_on: bool) {
        *self.guard() = is_on;
        self.changed.notify_all();
    }

    /// Waits until it is off, without the interpreter lock, which the thread that ends it may need.
    fn wait(&self) {
        if *self.guard() {
            let wait = || drop(self.changed.wait_while(self.guard(), |is_on| *is_on));
            Python::attach(|py| py.detach(wait));
        }
    }
}

#[pymethods]
impl DeepeningSearch {
    #[new]
    #[pyo3(signature = (game, evaluation = None, *, parts = None, piece_values = None, table_entries = 1_048_576, disturbance = 0.0, seed = 0, syzygy = None, results = Vec::new()))]
    #[allow(clippy::too_many_arguments)] // keywords in Python
    fn new(
        py: Python<'_>,
        game: Py<Game>,
        evaluation: Option<&Bound<'_, PyAny>>,
        parts: Option<Vec<String>>,
        piece_values: Option<Vec<i32>>,
        table_entries: u64,
        disturbance: f32,
        seed: u64,
        syzygy: Option<&Syzygy>,
        results: Vec<PyRef<'_, ResultTable>>,
    ) -> PyResult<Self> {
        let evaluation = match evaluation {
            None => AnyEvaluation::Material,
            Some(object) => {
                if let Ok(linear) = object.cast::<LinearEvaluation>() {
                    AnyEvaluation::Linear(Arc::clone(&linear.get().inner))
                } else if let Ok(network) = object.cast::<UpdatableNetwork>() {
                    AnyEvaluation::Updatable(Arc::clone(&network.get().inner))
                } else {
                    called(object, game.get().is_python)
                }
            }
        };
        let mut switched = if parts.is_some() { Parts::NONE } else { Parts::default() };
        for name in parts.unwrap_or_default() {
            *switched.switch(&name).ok_or_else(|| {
                game_error(
                    py,
                    format!("an alpha-beta search has no part {name:?}; available: {}", PART_NAMES.join(", ")),
                )
            })? = true;
        }
        if table_entries > MAX_TABLE_ENTRIES || !(0.0..=1000.0).contains(&disturbance) {
            let message = format!("a table of {table_entries} entries and a disturbance of {disturbance}");
            return Err(game_error(py, format!("{message}: expected at most {MAX_TABLE_ENTRIES} and 0 to 1000")));
        }
        let (piece_values, table_entries) = (piece_values.unwrap_or_default(), table_entries as usize);
        let tables = Tables {
            syzygy: syzygy.map(|syzygy| Arc::clone(&syzygy.inner)),
            results: results.iter().map(|table| Arc::clone(&table.inner)).collect(),
        };
        let settings = Settings { evaluation, disturbance, seed, parts: switched, piece_values, table_entries, tables };
        let inner = game.get().inner.deepening(settings).map_err(|error| game_error(py, error.0))?;
        Ok(Self { stop: inner.stop_flag(), game, inner: Mutex::new(inner), hold: Hold::default() })
    }

    /// Take a position as the root, with all legal moves or those of `allowed`. Soft endings end the game below it.
    ///
    /// Raises GameError if no move is left, ValueError if the state is of another game.
    #[pyo3(signature = (state, allowed = None))]
    fn begin(&self, py: Python<'_>, state: &State, allowed: Option<Vec<Action>>) -> PyResult<()> {
        let state = state.inner.clone();
        self.run(py, |search| search.begin(&state, allowed.as_deref()))?.map_err(value_error)
    }

    /// Search the root a ply deeper, until `nodes` positions were visited since `begin` or `seconds` have passed.
    ///
    /// None if it was stopped before a move was searched, or the largest depth is reached.
    #[pyo3(signature = (*, nodes = None, seconds = None))]
    fn deepen(&self, py: Python<'_>, nodes: Option<u64>, seconds: Option<f64>) -> PyResult<Option<Iteration>> {
        let limit = limit(nodes, seconds);
        let found = self.run(py, |search| search.deepen(limit, &|| self.check()))?;
        Ok(found.map_err(|error| game_error(py, error.0))?.map(Iteration::from))
    }

    /// Begin at a position and deepen until a limit is reached or the result is certain, at least by a ply.
    ///
    /// None if it was stopped before a move was searched. Raises as `begin`.
    #[pyo3(signature = (state, *, nodes = None, seconds = None, depth = None, allowed = None))]
    fn think(
        &self,
        py: Python<'_>,
        state: &State,
        nodes: Option<u64>,
        seconds: Option<f64>,
        depth: Option<u32>,
        allowed: Option<Vec<Action>>,
    ) -> PyResult<Option<Iteration>> {
        let (state, limit) = (state.inner.clone(), limit(nodes, seconds));
        let found = self.run(py, |search| {
            search.begin(&state, allowed.as_deref())?;
            search.think(limit, depth.unwrap_or(MAX_DEPTH), &|| self.check())
        })?;
        Ok(found.map_err(value_error)?.map(Iteration::from))
    }

    /// End the iteration under way, from another thread; the next `begin` takes it back.
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.hold.set(false);
    }

    /// Let a call in another thread stand still, within about a thousand positions, until `release` or `stop`.
    ///
    /// What it finds is the same as without.
    fn hold(&self) {
        self.hold.set(true);
    }

    /// Let a call that is held go on.
    fn release(&self) {
        self.hold.set(false);
    }

    /// Number of positions whose result tables knew.
    #[getter]
    fn num_table_hits(&self, py: Python<'_>) -> PyResult<u64> {
        self.run(py, |search| search.num_table_hits())
    }

    /// Forget all positions.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, |search| search.clear())
    }
}

impl DeepeningSearch {
    /// Called by a search now and then.
    fn check(&self) {
        check_signals();
        self.hold.wait();
    }

    /// Runs a function, without the interpreter lock if the rules are Rust.
    fn run<T: Send>(&self, py: Python<'_>, function: impl FnOnce(&mut dyn AnyDeepening) -> T + Send) -> PyResult<T> {
        // A panic or an interrupt leaves no half-made entry behind, so a poisoned lock is a lock.
        if self.game.get().is_python {
            // Waits without the interpreter lock, because the thread that holds the search may need it for a user's game.
            let mut guard = self.inner.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
            catch(|| function(&mut **guard))
        } else {
            py.detach(|| catch(|| function(&mut **self.inner.lock().unwrap_or_else(PoisonError::into_inner))))
        }
    }
}
