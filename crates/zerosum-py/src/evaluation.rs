//! `LinearEvaluation`.

use std::sync::Arc;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use zerosum_core::evaluation;

use crate::failure::game_error;
use crate::game::Game;

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
