//! Errors on their way to Python.
//!
//! The methods of the core's `Game` cannot fail, those of a Python game can. An error of a Python game unwinds through the
//! core (`raise`) and becomes a Python exception again at the edge of the binding (`catch`). The search that it went through
//! is left in an unknown state and refuses further calls. Any other panic is a defect of the core; PyO3 turns it into a
//! `PanicException`.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use zerosum_core::UsageError;

struct GameFailure(PyErr);

/// Unwinds through the core with a Python error. The panic hook is not called, so nothing is printed.
pub fn raise(error: PyErr) -> ! {
    resume_unwind(Box::new(GameFailure(error)))
}

/// Runs a function that may call a user's game, and returns the error that the game raised.
pub fn catch<T>(function: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(function)).map_err(|payload| match payload.downcast::<GameFailure>() {
        Ok(failure) => failure.0,
        Err(bug) => resume_unwind(bug),
    })
}

/// Unwinds through the core if Ctrl-C was pressed. The core calls it now and then during long calls.
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method's path has one lifetime, not any")]
pub fn check_signals() {
    Python::attach(|py| py.check_signals()).unwrap_or_else(|error| raise(error));
}

/// `zerosum.base.errors.GameError` with this message.
pub fn game_error(py: Python<'_>, message: String) -> PyErr {
    static GAME_ERROR: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = GAME_ERROR
        .get_or_try_init(py, || Ok::<_, PyErr>(py.import("zerosum.base.errors")?.getattr("GameError")?.unbind()));
    match class.and_then(|class| class.bind(py).call1((message,))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// A ValueError with the message of the core.
pub fn value_error(error: UsageError) -> PyErr {
    PyValueError::new_err(error.0)
}
