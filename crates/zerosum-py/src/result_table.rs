//! `ResultTable`.

use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zerosum_core::retrograde::{self, Keys};

use crate::failure::{catch, check_signals, value_error};
use crate::game::Game;
use crate::state::State;

/// Exact results of a small game, or of endings with few men, by retrograde analysis: for `Search`, and to be asked.
///
/// `zerosum.search.result_tables` makes, writes and reads them.
#[pyclass(frozen, module = "zerosum._core")]
pub struct ResultTable {
    pub inner: Arc<retrograde::ResultTable>,
}

#[pymethods]
impl ResultTable {
    /// A table from its columns: `keys` [N], ascending, and `plies` [N].
    ///
    /// Raises ValueError with the rest of a sentence if they do not fit each other.
    #[new]
    #[pyo3(signature = (keys, plies, *, is_of_endings))]
    fn new(keys: PyReadonlyArray1<'_, u64>, plies: PyReadonlyArray1<'_, i16>, is_of_endings: bool) -> PyResult<Self> {
        let kind = if is_of_endings { Keys::Endings } else { Keys::Game };
        let table = retrograde::ResultTable::new(kind, keys.as_slice()?.to_vec(), plies.as_slice()?.to_vec());
        Ok(Self { inner: Arc::new(table.map_err(PyValueError::new_err)?) })
    }

    /// The results of all positions of `game` or, with names such as KQvKR, of endings and of all they lead to.
    ///
    /// Raises ValueError with a sentence if more than `max_bytes` would be needed, or the game has no such table.
    #[staticmethod]
    #[pyo3(signature = (game, *, endings, max_bytes))]
    fn solve(py: Python<'_>, game: &Game, endings: Vec<String>, max_bytes: u64) -> PyResult<Self> {
        let solve = || game.inner.solve(&endings, max_bytes, &check_signals);
        let solved = if game.is_python { catch(solve)? } else { py.detach(|| catch(solve))? };
        Ok(Self { inner: Arc::new(solved.map_err(value_error)?) })
    }

    /// Number of positions.
    fn __len__(&self) -> usize {
        self.inner.keys().len()
    }

    /// Whether the positions are those of endings, and not those of a whole game.
    #[getter]
    fn is_of_endings(&self) -> bool {
        self.inner.kind() == Keys::Endings
    }

    /// The positions' numbers [N], ascending.
    #[getter]
    fn keys<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_slice(py, self.inner.keys())
    }

    /// Plies to the end [N]: above 0 if the player to move wins, below if it loses, 0 for a draw.
    #[getter]
    fn plies<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i16>> {
        PyArray1::from_slice(py, self.inner.results())
    }

    /// Plies to the end of a position of `game` with best play: above 0 if the player to move wins, 0 for a draw.
    ///
    /// Counters of moves and repetition do not count. None if the table does not have the position: it is over, or of
    /// another kind.
    fn get(&self, game: &Game, state: &State) -> PyResult<Option<i16>> {
        game.at(state, |position| position.plies_to_end(&self.inner))
    }
}
