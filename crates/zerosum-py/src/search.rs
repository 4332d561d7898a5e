//! `Search`.

use std::sync::{Arc, LockResult, Mutex, MutexGuard, OnceLock};

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyIndexError, PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;
use zerosum_core::erased::AnySearch;
use zerosum_core::game::Action;
use zerosum_core::proof::Forced;
use zerosum_core::search::{Evaluations, MAX_SETTLED_NODES, Noise, UNLIMITED_SIMULATIONS};
use zerosum_core::tables::Tables;

use crate::failure::{catch, game_error, value_error};
use crate::game::{Game, action_index};
use crate::leaves::Leaves;
use crate::result_table::ResultTable;
use crate::root::Root;
use crate::settings::Settings;
use crate::state::{LineOfPlay, State};
use crate::syzygy::Syzygy;

/// The equivalent of [`MAX_SETTLED_NODES`] for rules in Python.
const MAX_SETTLED_NODES_PYTHON: u32 = 256;

/// Positions of a game of the core in the time of one of a game in Python, at least.
const NODES_PER_PYTHON_NODE: u64 = 16;

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
    /// The kind of Python exception that unwound through the search. Without one, a poisoned lock is a defect of the core.
    end: OnceLock<&'static str>,
    /// Memory for the arguments of `apply`, kept to spare the allocation.
    copies: Mutex<Vec<Vec<f32>>>,
    /// What evaluators remember of this search.
    memory: Py<PyDict>,
    /// For each tree, the moves that led to its root.
    lines: Mutex<Vec<LineOfPlay>>,
}

type Guard<'a> = MutexGuard<'a, Box<dyn AnySearch>>;

impl Search {
    fn usable<'a>(&self, lock: LockResult<Guard<'a>>) -> PyResult<Guard<'a>> {
        lock.map_err(|_| {
            let end = self.end.get().unwrap_or(&"a fault of zerosum itself, not of the game (please report it)");
            PyRuntimeError::new_err(format!("this search ended in {end}: make a new one"))
        })
    }

    /// Waits without the interpreter lock, because the thread that holds the search may need it for a user's game.
    fn lock(&self, py: Python<'_>) -> PyResult<Guard<'_>> {
        self.usable(self.inner.lock_py_attached(py))
    }

    /// Runs a function that may call a user's game. An error of the game drops the guard while it unwinds, which poisons the
    /// lock.
    pub fn call_rules<T>(&self, py: Python<'_>, function: impl FnOnce(&mut dyn AnySearch) -> T) -> PyResult<T> {
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

    /// Runs a function, without the interpreter lock if the rules are Rust.
    pub fn run<T: Send>(&self, py: Python<'_>, function: impl FnOnce(&mut dyn AnySearch) -> T + Send) -> PyResult<T> {
        if self.game.get().is_python {
            self.call_rules(py, function)
        } else {
            py.detach(|| self.usable(self.inner.lock()).map(|mut search| function(&mut **search)))
        }
    }

    /// Notes a move at a tree's root.
    pub fn follow(&self, tree: usize, action: Action) {
        let line = &mut self.lines()[tree];
        *line = line.then(action);
    }

    /// A copy of an array: other threads may write to it once the interpreter lock is released.
    fn copy(&self, array: &PyReadonlyArray1<'_, f32>) -> PyResult<Vec<f32>> {
        let numbers = array.as_slice()?;
        let mut copy = self.copies.lock().ok().and_then(|mut copies| copies.pop()).unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(numbers);
        Ok(copy)
    }

    fn lines(&self) -> MutexGuard<'_, Vec<LineOfPlay>> {
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

#[pymethods]
impl Search {
    #[new]
    #[pyo3(signature = (game, config, num_trees, *, noise_alpha, syzygy=None, results=Vec::new()))]
    fn new(
        py: Python<'_>,
        game: Py<Game>,
        config: &Bound<'_, PyAny>,
        num_trees: usize,
        noise_alpha: f32,
        syzygy: Option<&Syzygy>,
        results: Vec<PyRef<'_, ResultTable>>,
    ) -> PyResult<Self> {
        let mut config = config.extract::<Settings>()?.config(noise_alpha)?;
        if game.get().is_python {
            config.threads = 1; // only the one that asks has the interpreter's lock
        }
        let mut inner = catch(|| game.get().inner.search(config, num_trees))?.map_err(value_error)?;
        let syzygy = syzygy.map(|syzygy| Arc::clone(&syzygy.inner));
        let results = results.iter().map(|table| Arc::clone(&table.inner)).collect();
        inner.use_tables(Tables { syzygy, results }).map_err(value_error)?;
        let lines = Mutex::new(vec![game.get().initial_line(); num_trees]);
        let (inner, memory) = (Mutex::new(inner), PyDict::new(py).unbind());
        Ok(Self { game, inner, end: OnceLock::new(), copies: Mutex::default(), memory, lines })
    }

    #[getter]
    pub fn num_trees(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.lock(py)?.num_trees())
    }

    /// Put a position at the tree's root and forget the tree's contents.
    fn reset(&self, py: Python<'_>, tree: usize, state: &State) -> PyResult<()> {
        self.lock(py)?.reset(tree, &state.inner).map_err(value_error)?;
        self.lines()[tree] = state.line.clone();
        Ok(())
    }

    /// Make a legal move at the root; with `keep` the subtree below it stays.
    #[pyo3(signature = (tree, action, *, keep))]
    fn advance(&self, py: Python<'_>, tree: usize, action: i64, keep: bool) -> PyResult<()> {
        let action = action_index(py, action, self.game.get().inner.spec())?;
        let advanced = self.run(py, |search| search.advance(tree, action, keep))?;
        advanced.map_err(|error| game_error(py, error.0))?;
        self.follow(tree, action);
        Ok(())
    }

    /// Begin a search of the root; `noise` is (seed, game, ply), the key of its Dirichlet or Gumbel noise.
    ///
    /// Raises ValueError if `num_simulations` is not in 0 to `UNLIMITED_SIMULATIONS`.
    #[pyo3(signature = (tree, num_simulations, *, noise=None))]
    fn begin(&self, py: Python<'_>, tree: usize, num_simulations: i64, noise: Option<(u64, u64, u64)>) -> PyResult<()> {
        let num_simulations =
            u32::try_from(num_simulations).ok().filter(|number| *number <= UNLIMITED_SIMULATIONS).ok_or_else(|| {
                PyValueError::new_err(format!(
                    "num_simulations is {num_simulations}, expected 0 to {UNLIMITED_SIMULATIONS}"
                ))
            })?;
        let noise = noise.map_or(Noise::None, |(seed, game, ply)| Noise::Drawn { seed, game, ply });
        self.call_rules(py, |search| search.begin(tree, num_simulations, noise))?.map_err(value_error)
    }

    /// Run simulations until `max_leaves` positions wait for an evaluation, or no tree finds another one.
    ///
    /// Simulations that end in a settled position (end of a game, proof, cached evaluation) need none; there may
    /// be millions of them. A tree waits for the next call once they have walked through `max_settled` of its nodes, by
    /// default a few milliseconds.
    #[pyo3(signature = (max_leaves, *, max_settled=None))]
    fn gather(&self, py: Python<'_>, max_leaves: usize, max_settled: Option<u32>) -> PyResult<Leaves> {
        let game = self.game.get();
        let max_settled =
            max_settled.unwrap_or(if game.is_python { MAX_SETTLED_NODES_PYTHON } else { MAX_SETTLED_NODES });
        let leaves = self.run(py, |search| search.gather(max_leaves, max_settled))?;
        Ok(Leaves::of_search(leaves, self.memory.clone_ref(py), game.is_python))
    }

    /// Back up the evaluations of the leaves with this ticket.
    ///
    /// `logits` [sum L], one for each legal action; `values` [B] in [-1, 1] for the player to move; `draw_shares` [B],
    /// probabilities of a draw.
    /// The arrays are read before the interpreter lock is released: other threads may overwrite them then.
    #[pyo3(signature = (ticket, logits, values, *, draw_shares=None))]
    fn apply(
        &self,
        py: Python<'_>,
        ticket: u64,
        logits: PyReadonlyArray1<'_, f32>,
        values: PyReadonlyArray1<'_, f32>,
        draw_shares: Option<PyReadonlyArray1<'_, f32>>,
    ) -> PyResult<()> {
        let (logits, values) = (self.copy(&logits)?, self.copy(&values)?);
        let draw_shares = draw_shares.map(|draw_shares| self.copy(&draw_shares)).transpose()?;
        let evaluations = Evaluations { logits: &logits, values: &values, draw_shares: draw_shares.as_deref() };
        let applied = py.detach(|| self.usable(self.inner.lock()).map(|mut search| search.apply(ticket, &evaluations)));
        if let Ok(mut copies) = self.copies.lock() {
            copies.extend([Some(values), draw_shares, Some(logits)].into_iter().flatten());
        }
        applied?.map_err(value_error)
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

    /// The `count` most visited nodes of the tree, the root first, each after its parent.
    ///
    /// A node is (place of its parent in the list, move, visits, value for the first player); the root names itself and
    /// the move 0. Raises ValueError if the rules are learned: nothing below the root is a position then.
    fn most_visited(&self, py: Python<'_>, tree: usize, count: usize) -> PyResult<Vec<(u32, Action, u32, f32)>> {
        let nodes = self.tree(py, tree)?.most_visited(tree, count).map_err(value_error)?;
        Ok(nodes.iter().map(|node| (node.parent, node.action, node.visits, node.value)).collect())
    }

    /// Restrict search and play to these legal moves of the root; an empty list allows all.
    ///
    /// The search ends once the best of them is proven. The restriction ends when the root changes, and may change with
    /// leaves in flight. A Gumbel root ignores it.
    fn restrict(&self, py: Python<'_>, tree: usize, actions: Vec<Action>) -> PyResult<()> {
        self.call_rules(py, |search| search.restrict(tree, &actions))?.map_err(value_error)
    }

    /// Make simulations begin with these legal moves of the root; an empty list ends this.
    ///
    /// The search goes on until all of them that are allowed are proven, even if the root is proven before. The favour
    /// ends when the root changes, and may change with leaves in flight. A Gumbel root ignores it.
    fn favour(&self, py: Python<'_>, tree: usize, actions: Vec<Action>) -> PyResult<()> {
        self.call_rules(py, |search| search.favour(tree, &actions))?.map_err(value_error)
    }

    /// Search for forced results of the root beside the tree, through about `max_nodes` positions.
    ///
    /// Each call goes on where the last one ended. Results become exact bounds of the root's moves once a
    /// simulation was made, and end the search. A forced win is played by the shortest line known. Without exact
    /// bounds in the settings they change nothing but `forced`. A game in Python searches through a sixteenth of
    /// `max_nodes`. With `max_edges` a table of all positions that can be reached grows by up to so many moves, if
    /// there are few. Returns the number of positions of this call, without those of the table: 0 if nothing is
    /// left to search.
    #[pyo3(signature = (tree, max_nodes, *, max_edges=0))]
    fn prove(&self, py: Python<'_>, tree: usize, max_nodes: u64, max_edges: u64) -> PyResult<u64> {
        let max_nodes = if self.game.get().is_python { max_nodes / NODES_PER_PYTHON_NODE } else { max_nodes };
        self.run(py, |search| search.prove(tree, max_nodes, max_edges))?.map_err(value_error)
    }

    /// Whether `prove` builds a table of all positions that can be reached from the root, which may be small.
    fn builds_table(&self, py: Python<'_>, tree: usize) -> PyResult<bool> {
        Ok(self.tree(py, tree)?.builds_table(tree))
    }

    /// The forced result of the root that `prove` has found, with its line to the end of the game; None if unknown.
    ///
    /// The result is 1 for a win of the player to move and -1 for a loss.
    fn forced(&self, py: Python<'_>, tree: usize) -> PyResult<Option<(i32, Vec<Action>)>> {
        Ok(self.tree(py, tree)?.forced(tree).map(|forced| match forced {
            Forced::Win(line) => (1, line),
            Forced::Loss(line) => (-1, line),
        }))
    }

    /// The position at the tree's root.
    fn state(&self, py: Python<'_>, tree: usize) -> PyResult<State> {
        let inner = self.tree(py, tree)?.state(tree);
        Ok(State { inner, line: self.lines()[tree].clone() })
    }

    /// Empty the evaluation cache: call this when the network changes.
    ///
    /// Evaluations in flight are not kept either.
    fn clear_cache(&self, py: Python<'_>) -> PyResult<()> {
        self.lock(py)?.clear_cache();
        Ok(())
    }

    /// Number of leaves handed out; none is handed out twice, however many are in flight.
    #[getter]
    fn num_leaves(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.num_leaves())
    }

    /// Number of simulations that met a leaf in flight and were put off; the next ones go elsewhere.
    #[getter]
    fn num_collisions(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.num_collisions())
    }

    /// Number of positions that tables have settled.
    #[getter]
    fn num_table_hits(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.num_table_hits())
    }

    /// Bytes of the trees and the cache.
    #[getter]
    fn num_bytes(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.lock(py)?.num_bytes())
    }
}
