//! `Root`.

use numpy::PyArray1;
use pyo3::prelude::*;
use zerosum_core::game::Action;
use zerosum_core::search;

/// Statistics of a searched root. Values are for the player to move; arrays [L] in the order of `actions`.
#[pyclass(frozen, module = "zerosum._core")]
pub struct Root {
    pub inner: search::Root,
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
