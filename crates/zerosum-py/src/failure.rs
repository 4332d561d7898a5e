//! Errors on their way to Python, those of a user's game among them.
//!
//! The core's `Game` methods cannot fail. A Python game's can, so its error unwinds through the core (`raise`) and is caught
//! at the binding's edge (`catch`), where it becomes the Python exception that it was. The search that it went through is
//! left in an unknown state and refuses further calls. Any other panic is a fault of ours: it goes on, and PyO3 makes it a
//! `PanicException`.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use zerosum_core::SearchError;

struct GameFailure(PyErr);

/// Sends a Python error up through the core. Without the panic hook, so nothing is printed.
pub fn raise(error: PyErr) -> ! {
    resume_unwind(Box::new(GameFailure(error)))
}

/// Runs what may call a user's game, which may `raise`.
pub fn catch<T>(function: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(function)).map_err(|payload| match payload.downcast::<GameFailure>() {
        Ok(failure) => failure.0,
        Err(bug) => resume_unwind(bug),
    })
}

/// Ends a long call where Ctrl-C was pressed: for what the core calls now and then.
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method's path has one lifetime, not any")]
pub fn heed_signals() {
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

/// A misuse of a search or state.
pub fn misuse(error: SearchError) -> PyErr {
    PyValueError::new_err(error.0)
}
