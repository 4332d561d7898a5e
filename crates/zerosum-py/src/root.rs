//! `Root`.

use numpy::PyArray1;
use pyo3::prelude::*;
use zerosum_core::game::Action;
use zerosum_core::search::{self, SearchedMove};

use crate::failure::value_error;
use crate::game::Game;
use crate::state::State;

/// Statistics of a searched root. Values are for the player to move; arrays [L] in the order of `actions`.
#[pyclass(frozen, module = "zerosum._core")]
pub struct Root {
    pub inner: search::Root,
}

#[pymethods]
impl Root {
    /// The statistics of a position as another kind of search has them: of some legal moves, the best first.
    ///
    /// `searched` has moves with their nodes, which count as visits, their values and whether they certainly win. All
    /// moves have the same prior. Raises ValueError if the state is of another game.
    #[staticmethod]
    #[pyo3(signature = (game, state, searched, *, net_value, depth))]
    fn of_moves(
        game: &Game,
        state: &State,
        searched: Vec<(Action, u32, f32, bool)>,
        net_value: f32,
        depth: u32,
    ) -> PyResult<Self> {
        let position = game.inner.position(&state.inner).map_err(value_error)?;
        let moves: Vec<SearchedMove> = searched
            .into_iter()
            .map(|(action, num_nodes, value, is_win)| SearchedMove { action, num_nodes, value, is_win })
            .collect();
        let inner = search::Root::of_moves(position.legal_actions(true), position.player(), &moves, net_value, depth);
        Ok(Self { inner })
    }

    /// The legal actions, ascending; empty before the root's evaluation.
    #[getter]
    fn actions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u16>> {
        PyArray1::from_slice(py, &self.inner.actions)
    }
    #[getter]
    fn visits<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, &self.inner.visits)
    }
    /// Mean or exact result of each move, NaN where it has no visits.
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, &self.inner.q)
    }
    /// Mean probability of a draw below each move, NaN where it has no visits; None unless a setting needs it.
    #[getter]
    fn draw_shares<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f32>>> {
        self.inner.draw_share.map(|_| PyArray1::from_slice(py, &self.inner.draw_shares))
    }
    /// Mean probability of a draw at the root; None unless a setting needs it.
    #[getter]
    fn draw_share(&self) -> Option<f32> {
        self.inner.draw_share
    }
    /// The network's priors, without noise.
    #[getter]
    fn priors<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, &self.inner.priors)
    }
    /// The network's value of the position after each move, exact where that ends the game.
    ///
    /// NaN where the network was not asked.
    #[getter]
    fn net_values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, &self.inner.net_values)
    }
    /// Lower bound of each move's exact result.
    #[getter]
    fn lower<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, &self.inner.lower)
    }
    /// Upper bound of each move's exact result.
    #[getter]
    fn upper<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, &self.inner.upper)
    }
    /// Mean of the values backed up, or the exact result.
    #[getter]
    fn value(&self) -> f32 {
        self.inner.value
    }
    /// The network's value of the root.
    #[getter]
    fn net_value(&self) -> f32 {
        self.inner.net_value
    }
    /// The exact result, if it is proven.
    #[getter]
    fn proven(&self) -> Option<f32> {
        self.inner.proven
    }
    /// The player to move.
    #[getter]
    fn player(&self) -> usize {
        self.inner.player.index()
    }
    /// Simulations in the tree, reused ones included.
    #[getter]
    fn num_simulations(&self) -> u32 {
        self.inner.num_simulations
    }
    /// Simulations that were reused from an earlier search.
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
    fn stop_reason(&self) -> Option<&'static str> {
        self.inner.stop_reason.map(search::StopReason::name)
    }
    /// The shares of the visits, [L], sums to 1: uniform over proven wins if any, else without the proven losses.
    ///
    /// If every move loses, it is the priors.
    fn visit_policy<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_vec(py, self.inner.visit_policy())
    }
    /// The policy to sample moves from, [L], sums to 1: `visit_policy`; at a Gumbel root softmax(logit + sigma(q)).
    ///
    /// Visits of sequential halving follow its schedule, however good the moves are.
    fn move_policy<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_vec(py, self.inner.move_policy())
    }
    /// The policy to learn, [L], sums to 1: `visit_policy`, or softmax(logit + sigma(completed q)).
    ///
    /// The latter (`policy_target` = "completed-q" in the settings) is uniform over proven wins if there are any, and
    /// has no share for a proven loss while another move exists.
    fn policy_target<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_vec(py, self.inner.policy_target())
    }
    /// The move to play: a proven win first, a proven loss last, else the most visited, or as `move_choice` says.
    ///
    /// At a root with a proven result it is a move that is certain to reach it.
    /// At a Gumbel root it is the survivor of the halving with the largest g + logit + sigma(q).
    #[getter]
    fn best_action(&self) -> Option<Action> {
        self.inner.best_index().map(|index| self.inner.actions[index])
    }
}
