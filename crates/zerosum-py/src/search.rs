//! `Search` and `Root`.

use std::sync::{LockResult, Mutex, MutexGuard, OnceLock};

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyIndexError, PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use zerosum_core::erased::AnySearch;
use zerosum_core::game::Action;
use zerosum_core::search::{
    self, Evaluations, MoveChoice, Noise, PolicyTarget, RootSelection, SETTLED_NODES, SearchConfig,
    UNLIMITED_SIMULATIONS, UnvisitedValue,
};

use crate::failure::{catch, game_error, misuse};
use crate::game::{Game, Line, State, action_index};
use crate::leaves::Leaves;

/// What [`SETTLED_NODES`] is for rules in Python.
const SETTLED_NODES_OF_PYTHON: u32 = 256;

/// Searches of many positions of one game side by side. `zerosum.search.new_search` makes one from a `SearchConfig`.
///
/// Each tree runs `reset` or `advance`, then `begin`; all trees share `gather` and `apply`. Calls from several
/// threads wait for one another. After an exception of a Python game the search refuses further calls with a
/// RuntimeError that says what ended it.
#[pyclass(frozen, module = "zerosum._core")]
pub struct Search {
    #[pyo3(get)]
    game: Py<Game>,
    inner: Mutex<Box<dyn AnySearch>>,
    /// What Python's exception was, if one unwound through the search: else a poisoned lock is a fault of ours.
    end: OnceLock<&'static str>,
    /// Memory for what `apply` is given.
    copies: Mutex<Vec<Vec<f32>>>,
    /// How the root of each tree came about.
    lines: Mutex<Vec<Line>>,
}

type Guard<'a> = MutexGuard<'a, Box<dyn AnySearch>>;

impl Search {
    fn sound<'a>(&self, lock: LockResult<Guard<'a>>) -> PyResult<Guard<'a>> {
        lock.map_err(|_| {
            let end = self.end.get().unwrap_or(&"a fault of zerosum itself, not of the game (please report it)");
            PyRuntimeError::new_err(format!("this search ended in {end}: make a new one"))
        })
    }

    /// Waits without the interpreter lock, which a user's game needs in the thread that is waited for.
    fn lock(&self, py: Python<'_>) -> PyResult<Guard<'_>> {
        self.sound(self.inner.lock_py_attached(py))
    }

    /// Runs what may call a user's game. An error of the game poisons the lock, because the guard is dropped on its way.
    fn call_rules<T>(&self, py: Python<'_>, function: impl FnOnce(&mut dyn AnySearch) -> T) -> PyResult<T> {
        let guard = self.lock(py)?;
        catch(|| {
            let mut search = guard;
            function(&mut **search)
        })
        .inspect_err(|error| {
            let is_interrupt = error.is_instance_of::<PyKeyboardInterrupt>(py);
            let end = if is_interrupt { "an interrupt" } else { "an error of the game's rules" };
            self.end.get_or_init(|| end);
        })
    }

    /// The numbers of an array, which other threads may write to once the interpreter lock is released.
    fn copy(&self, array: &PyReadonlyArray1<'_, f32>) -> PyResult<Vec<f32>> {
        let numbers = array.as_slice()?;
        let mut copy = self.copies.lock().ok().and_then(|mut copies| copies.pop()).unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(numbers);
        Ok(copy)
    }

    fn lines(&self) -> MutexGuard<'_, Vec<Line>> {
        self.lines.lock().expect("no call panics with this lock")
    }

    fn tree(&self, py: Python<'_>, tree: usize) -> PyResult<Guard<'_>> {
        let search = self.lock(py)?;
        if tree >= search.num_trees() {
            let message = format!("tree {tree} does not exist, there are {}", search.num_trees());
            return Err(PyIndexError::new_err(message));
        }
        Ok(search)
    }
}

fn unknown_word(name: &str, word: &str, known: &str) -> PyErr {
    PyValueError::new_err(format!("{name} is {word:?}, expected {known}"))
}

/// The attributes of Python's `SearchConfig` that a search needs.
#[derive(FromPyObject)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
struct Settings {
    c_init: f32,
    c_base: f32,
    c_factor: f32,
    unvisited_value: String,
    unvisited_reduction: f32,
    root_noise_fraction: f32,
    root_noise_total: f32,
    root_unvisited_reduction: Option<f32>,
    root_selection: String,
    gumbel_actions: u16,
    gumbel_visit_scale: f32,
    gumbel_value_scale: f32,
    gumbel_rescale: bool,
    policy_target: String,
    forced_playouts: f32,
    move_choice: String,
    lcb_deviations: f32,
    lcb_least_share: f32,
    variance_scale: f32,
    variance_prior: f32,
    variance_prior_visits: f32,
    draw_value: f32,
    moves_left_effect: f32,
    moves_left_slope: f32,
    moves_left_threshold: f32,
    keep_draws: bool,
    exact_bounds: bool,
    twofold_draw: bool,
    count_reused_visits: bool,
    leaves_in_flight: u16,
    virtual_loss: f32,
    collision_share: f32,
    threads: u16,
    cache_positions: u32,
    memory_mib: u32,
}

impl Settings {
    fn config(&self, noise_alpha: f32) -> PyResult<SearchConfig> {
        Ok(SearchConfig {
            c_init: self.c_init,
            c_base: self.c_base,
            c_factor: self.c_factor,
            unvisited_value: match self.unvisited_value.as_str() {
                "loss" => UnvisitedValue::Loss,
                "zero" => UnvisitedValue::Zero,
                "parent" => UnvisitedValue::Parent { reduction: self.unvisited_reduction },
                other => return Err(unknown_word("unvisited_value", other, "loss, zero or parent")),
            },
            noise_fraction: self.root_noise_fraction,
            noise_alpha,
            noise_total: self.root_noise_total,
            root_unvisited_reduction: self.root_unvisited_reduction.unwrap_or(self.unvisited_reduction),
            root_selection: match self.root_selection.as_str() {
                "puct" => RootSelection::Puct,
                "gumbel" => RootSelection::Gumbel,
                other => return Err(unknown_word("root_selection", other, "puct or gumbel")),
            },
            gumbel_actions: self.gumbel_actions,
            gumbel_visit_scale: self.gumbel_visit_scale,
            gumbel_value_scale: self.gumbel_value_scale,
            gumbel_rescale: self.gumbel_rescale,
            policy_target: match self.policy_target.as_str() {
                "visits" => PolicyTarget::Visits,
                "completed-q" => PolicyTarget::CompletedQ,
                other => return Err(unknown_word("policy_target", other, "visits or completed-q")),
            },
            forced_playouts: self.forced_playouts,
            move_choice: match self.move_choice.as_str() {
                "visits" => MoveChoice::Visits,
                "lcb" => MoveChoice::LowerConfidenceBound {
                    deviations: self.lcb_deviations,
                    least_share: self.lcb_least_share,
                },
                other => return Err(unknown_word("move_choice", other, "visits or lcb")),
            },
            variance_scale: self.variance_scale,
            variance_prior: self.variance_prior,
            variance_prior_visits: self.variance_prior_visits,
            draw_value: self.draw_value,
            moves_left_effect: self.moves_left_effect,
            moves_left_slope: self.moves_left_slope,
            moves_left_threshold: self.moves_left_threshold,
            keep_draws: self.keep_draws,
            exact_bounds: self.exact_bounds,
            twofold_draw: self.twofold_draw,
            count_reused_visits: self.count_reused_visits,
            leaves_in_flight: self.leaves_in_flight,
            virtual_loss: self.virtual_loss,
            collision_share: self.collision_share,
            threads: self.threads,
            cache_positions: self.cache_positions,
            memory_mib: self.memory_mib,
        })
    }
}

#[pymethods]
impl Search {
    #[new]
    #[pyo3(signature = (game, config, num_trees, *, noise_alpha))]
    fn new(game: Py<Game>, config: &Bound<'_, PyAny>, num_trees: usize, noise_alpha: f32) -> PyResult<Self> {
        let mut config = config.extract::<Settings>()?.config(noise_alpha)?;
        if game.get().is_python {
            config.threads = 1; // only the one that asks has the interpreter's lock
        }
        let inner = catch(|| game.get().inner.search(config, num_trees))?.map_err(misuse)?;
        let lines = Mutex::new(vec![game.get().initial_line(); num_trees]);
        Ok(Self { game, inner: Mutex::new(inner), end: OnceLock::new(), copies: Mutex::default(), lines })
    }

    #[getter]
    fn num_trees(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.lock(py)?.num_trees())
    }

    /// Put a position at the tree's root and forget what the tree knew.
    fn reset(&self, py: Python<'_>, tree: usize, state: &State) -> PyResult<()> {
        self.lock(py)?.reset(tree, &state.inner).map_err(misuse)?;
        self.lines()[tree] = state.line.clone();
        Ok(())
    }

    /// Make a legal move at the root; with `keep`, what is known below it stays.
    #[pyo3(signature = (tree, action, *, keep))]
    fn advance(&self, py: Python<'_>, tree: usize, action: i64, keep: bool) -> PyResult<()> {
        let action = action_index(py, action, self.game.get().inner.spec())?;
        let advanced = if self.game.get().is_python {
            self.call_rules(py, |search| search.advance(tree, action, keep))?
        } else {
            py.detach(|| self.sound(self.inner.lock()).map(|mut search| search.advance(tree, action, keep)))?
        };
        advanced.map_err(|error| game_error(py, error.0))?;
        let line = &mut self.lines()[tree];
        *line = line.then(action);
        Ok(())
    }

    /// Begin a search of the root; `noise` is (seed, game, ply), the key of its Dirichlet or Gumbel draw.
    ///
    /// Raises ValueError: `num_simulations` is not in 0 to `UNLIMITED_SIMULATIONS`.
    #[pyo3(signature = (tree, num_simulations, *, noise=None))]
    fn begin(&self, py: Python<'_>, tree: usize, num_simulations: i64, noise: Option<(u64, u64, u64)>) -> PyResult<()> {
        let num_simulations =
            u32::try_from(num_simulations).ok().filter(|number| *number <= UNLIMITED_SIMULATIONS).ok_or_else(|| {
                PyValueError::new_err(format!(
                    "num_simulations is {num_simulations}, expected 0 to {UNLIMITED_SIMULATIONS}"
                ))
            })?;
        let noise = noise.map_or(Noise::None, |(seed, game, ply)| Noise::Drawn { seed, game, ply });
        self.call_rules(py, |search| search.begin(tree, num_simulations, noise))?.map_err(misuse)
    }

    /// Run simulations until `max_leaves` positions wait for an evaluation, or no tree has another to ask about.
    ///
    /// Simulations that end in a settled position (the end of a game, a proof, a known evaluation) need none, and there
    /// may be millions of them. A tree is left for the next call once they have walked through `max_settled` of its
    /// nodes; if not given, that is a few milliseconds' worth.
    #[pyo3(signature = (max_leaves, *, max_settled=None))]
    fn gather(&self, py: Python<'_>, max_leaves: usize, max_settled: Option<u32>) -> PyResult<Leaves> {
        let game = self.game.get();
        let max_settled = max_settled.unwrap_or(if game.is_python { SETTLED_NODES_OF_PYTHON } else { SETTLED_NODES });
        let leaves = if game.is_python {
            self.call_rules(py, |search| search.gather(max_leaves, max_settled))?
        } else {
            py.detach(|| self.sound(self.inner.lock()).map(|mut search| search.gather(max_leaves, max_settled)))?
        };
        Ok(Leaves::of_search(leaves, game.is_python))
    }

    /// Back up the answers to the leaves with this ticket.
    ///
    /// `logits` [sum L], one for each legal action; `values` [B] in [-1, 1] for the player to move; `draws` [B] in
    /// [0, 1], how likely they are; `moves_left` [B], plies until the game ends, which `moves_left_effect` needs.
    /// The arrays are read before the interpreter lock is released: other threads may overwrite them then.
    #[pyo3(signature = (ticket, logits, values, *, draws=None, moves_left=None))]
    fn apply(
        &self,
        py: Python<'_>,
        ticket: u64,
        logits: PyReadonlyArray1<'_, f32>,
        values: PyReadonlyArray1<'_, f32>,
        draws: Option<PyReadonlyArray1<'_, f32>>,
        moves_left: Option<PyReadonlyArray1<'_, f32>>,
    ) -> PyResult<()> {
        let (logits, values) = (self.copy(&logits)?, self.copy(&values)?);
        let draws = draws.map(|draws| self.copy(&draws)).transpose()?;
        let moves_left = moves_left.map(|moves_left| self.copy(&moves_left)).transpose()?;
        let evaluations = Evaluations {
            logits: &logits,
            values: &values,
            draws: draws.as_deref(),
            moves_left: moves_left.as_deref(),
        };
        let applied = py.detach(|| self.sound(self.inner.lock()).map(|mut search| search.apply(ticket, &evaluations)));
        if let Ok(mut copies) = self.copies.lock() {
            copies.extend([Some(values), draws, moves_left, Some(logits)].into_iter().flatten());
        }
        applied?.map_err(misuse)
    }

    /// Take the leaves with this ticket back as if they had never been asked for.
    fn cancel(&self, py: Python<'_>, ticket: u64) -> PyResult<()> {
        self.lock(py)?.cancel(ticket).map_err(misuse)
    }

    /// The trees whose search is over, ascending.
    fn finished<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        Ok(PyArray1::from_vec(py, self.lock(py)?.finished()))
    }

    /// The result of the tree's search so far.
    fn root(&self, py: Python<'_>, tree: usize) -> PyResult<Root> {
        Ok(Root { inner: self.tree(py, tree)?.root(tree) })
    }

    /// The tree's line of best play as far as it was searched, from the best move or from `first`.
    #[pyo3(signature = (tree, first=None))]
    fn best_line(&self, py: Python<'_>, tree: usize, first: Option<Action>) -> PyResult<Vec<Action>> {
        Ok(self.tree(py, tree)?.best_line(tree, first))
    }

    /// From now on search and play only these legal moves of the root, or all again if none is given.
    ///
    /// The search ends once the best of them is proven. It holds until the root is another one, and may change with
    /// leaves in flight. A Gumbel root takes no notice.
    fn restrict(&self, py: Python<'_>, tree: usize, actions: Vec<Action>) -> PyResult<()> {
        self.call_rules(py, |search| search.restrict(tree, &actions))?.map_err(misuse)
    }

    /// From now on begin simulations with these legal moves of the root, or any again if none is given.
    ///
    /// The search ends once all allowed moves are proven; until then it goes on, even if its root is proven. It
    /// holds until the root is another one, and may change with leaves in flight. A Gumbel root takes no notice.
    fn favour(&self, py: Python<'_>, tree: usize, actions: Vec<Action>) -> PyResult<()> {
        self.call_rules(py, |search| search.favour(tree, &actions))?.map_err(misuse)
    }

    /// The position at the tree's root.
    fn state(&self, py: Python<'_>, tree: usize) -> PyResult<State> {
        let inner = self.tree(py, tree)?.state(tree);
        Ok(State { inner, line: self.lines()[tree].clone() })
    }

    /// Forget the evaluations that were kept: to be called when the network changes.
    ///
    /// What is in flight is not kept either.
    fn clear_cache(&self, py: Python<'_>) -> PyResult<()> {
        self.lock(py)?.clear_cache();
        Ok(())
    }

    /// Leaves, since the search was made, that were not asked about because the cache knew them.
    #[getter]
    fn num_cached(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.num_cached())
    }

    /// Whether `apply` has to be told `moves_left`.
    #[getter]
    fn wants_moves_left(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.config().moves_left_effect > 0.0)
    }

    /// Leaves that were asked about, none of them twice, however many are in flight.
    #[getter]
    fn num_leaves(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.num_leaves())
    }

    /// Simulations that met a leaf in flight and were put off: the next ones went elsewhere.
    #[getter]
    fn num_collisions(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.num_collisions())
    }

    /// Memory that the trees and the cache hold.
    #[getter]
    fn num_bytes(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.lock(py)?.num_bytes())
    }
}

/// Statistics of a searched root. Values are for the player to move; arrays [L] in the order of `actions`.
#[pyclass(frozen, module = "zerosum._core")]
pub struct Root {
    inner: search::Root,
}

#[pymethods]
impl Root {
    /// The legal actions, ascending; empty before the root's evaluation.
    #[getter]
    fn actions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u16>> {
        PyArray1::from_slice(py, &self.inner.actions)
    }
    #[getter]
    fn visits<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, &self.inner.visits)
    }
    /// Mean (or exact) value of each move, NaN where it has no visits; whatever a draw is worth in the search.
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, &self.inner.q)
    }
    /// Mean share of draws below each move, NaN where it has no visits; None unless a setting needs it.
    #[getter]
    fn draws<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f32>>> {
        self.inner.draw.map(|_| PyArray1::from_slice(py, &self.inner.draws))
    }
    /// The same of the position.
    #[getter]
    fn draw(&self) -> Option<f32> {
        self.inner.draw
    }
    /// Mean number of plies that are left after each move, NaN where it has no visits; None as `draws`.
    ///
    /// 0 from a leaf of which the evaluator does not say it.
    #[getter]
    fn plies_left<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f32>>> {
        self.inner.draw.map(|_| PyArray1::from_slice(py, &self.inner.plies_left))
    }
    /// The network's, without noise.
    #[getter]
    fn priors<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, &self.inner.priors)
    }
    /// The network's own value of the position after each move, exact where that ends the game.
    ///
    /// NaN where the network was not asked.
    #[getter]
    fn net_values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, &self.inner.net_values)
    }
    /// The exact result of each move is at least this.
    #[getter]
    fn lower<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, &self.inner.lower)
    }
    /// The exact result of each move is at most this.
    #[getter]
    fn upper<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, &self.inner.upper)
    }
    /// Mean of what was backed up, or the exact result.
    #[getter]
    fn value(&self) -> f32 {
        self.inner.value
    }
    /// The network's own value of the root.
    #[getter]
    fn net_value(&self) -> f32 {
        self.inner.net_value
    }
    /// The exact result once it is known.
    #[getter]
    fn proven(&self) -> Option<f32> {
        self.inner.proven
    }
    /// Who is to move.
    #[getter]
    fn player(&self) -> usize {
        self.inner.player.index()
    }
    /// Simulations that the tree holds, reused ones included.
    #[getter]
    fn num_simulations(&self) -> u32 {
        self.inner.num_simulations
    }
    /// How many of those came with the reused tree.
    #[getter]
    fn num_reused(&self) -> u32 {
        self.inner.num_reused
    }
    /// Plies of the longest simulation of this search.
    #[getter]
    fn deepest(&self) -> u32 {
        self.inner.deepest
    }
    /// Why the search ended ("simulations", "proven", "memory", "game over"); None while it goes on.
    #[getter]
    fn limit(&self) -> Option<&'static str> {
        self.inner.limit.map(search::Limit::name)
    }
    /// True if `best_action` is a draw from the improved policy, by the Gumbel noise that the search asked for.
    #[getter]
    fn has_gumbel_noise(&self) -> bool {
        self.inner.has_gumbel_noise
    }
    /// [L], sums to 1: uniform over proven wins if there are any, else visits without the proven losses.
    ///
    /// Visits that were only forced (`forced_playouts`) do not count. Where every move loses it is the priors.
    fn visit_policy<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_vec(py, self.inner.visit_policy())
    }
    /// [L], sums to 1, what a move is drawn from: `visit_policy`, or softmax(logit + sigma(q)) at a Gumbel root.
    ///
    /// The visits of sequential halving are those of its schedule, however good the moves are.
    fn move_policy<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_vec(py, self.inner.move_policy())
    }
    /// [L], sums to 1, what the policy is to learn: `visit_policy`, or softmax(logit + sigma(completed q)).
    ///
    /// The latter (`policy_target` = "completed-q" in the settings) is uniform over proven wins if there are any, and
    /// has no share for a proven loss while another move exists.
    fn policy_target<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_vec(py, self.inner.policy_target())
    }
    /// The move to play: a proven win first, a proven loss last, else the most visited, or as `move_choice` says.
    ///
    /// At a root whose result is proven, one of the moves that are certain to reach it.
    /// With a Gumbel root, of the moves that halving left and visited the one with the largest g + logit + sigma(q).
    #[getter]
    fn best_action(&self) -> Option<Action> {
        self.inner.best_index().map(|index| self.inner.actions[index])
    }
}
