//! `zerosum._core`: the Rust core seen from Python. Thin: names, arrays, the interpreter lock, errors.

// PyO3 hands arguments over by value, and a Python signature's keywords are a Rust function's arguments.
#![allow(clippy::needless_pass_by_value, clippy::too_many_arguments)]
// Docs of what Python sees are those of `_core.pyi`, word for word, which `tests/test_stub.py` checks.
#![allow(
    clippy::doc_markdown,
    clippy::doc_lazy_continuation,
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags
)]

mod deepening;
mod failure;
mod game;
mod games_in_flight;
mod leaves;
mod packed_plies;
mod picture;
mod python_game;
mod result_table;
mod root;
mod search;
mod settings;
mod spec;
mod state;
mod syzygy;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use zerosum_core::random::{self, RandomStream};

/// Names of the games in the core, as `Game(name)` takes them; each may have its options in brackets behind it.
#[pyfunction]
fn core_game_names() -> Vec<&'static str> {
    zerosum_core::games::names().collect()
}

/// True if this CPU has instructions for sums of 8-bit products (AVX512-VNNI, AVX-VNNI); false if unknown.
#[pyfunction]
fn has_int8_products() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("avx512vnni") || std::is_x86_feature_detected!("avxvnni");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// A number in [0, 1), a pure function of its arguments: the counter-based generator behind every draw.
///
/// `purpose` is any short text ("move", "opening", ...): different purposes give independent draws.
#[pyfunction]
fn uniform(seed: u64, game: u64, ply: u64, purpose: &str) -> f64 {
    RandomStream::new(seed, game, ply, purpose).uniform()
}

/// Dir(alpha) of `size` entries that sum to 1: the root noise that a search keyed (seed, game, ply) mixes in.
#[pyfunction]
fn dirichlet_noise(
    py: Python<'_>,
    seed: u64,
    game: u64,
    ply: u64,
    alpha: f64,
    size: usize,
) -> Bound<'_, PyArray1<f32>> {
    RandomStream::new(seed, game, ply, "noise").dirichlet(alpha, size).into_pyarray(py)
}

/// `size` standard Gumbel numbers: the noise of a Gumbel root in a search keyed (seed, game, ply).
#[pyfunction]
fn gumbel_noise(py: Python<'_>, seed: u64, game: u64, ply: u64, size: usize) -> Bound<'_, PyArray1<f32>> {
    random::gumbel_noise(seed, game, ply, size).into_pyarray(py)
}

/// Priors as the tree keeps them below the root: float32 rounded to nearest even at 16 bits. Shape kept.
#[pyfunction]
fn round_prior<'py>(py: Python<'py>, priors: PyReadonlyArrayDyn<'py, f32>) -> Bound<'py, numpy::PyArrayDyn<f32>> {
    let rounded = |prior: &f32| zerosum_core::search::prior_of(zerosum_core::search::round_prior(*prior));
    priors.as_array().map(rounded).into_pyarray(py)
}

/// The Rust core: rules, encodings and tree search. `zerosum.games` and `zerosum.search` are the doors to it.
///
/// Perspectives: a `value` is in [-1, 1] for the player to move at its position; an `outcome` is in [-1, 1] for the first
/// player (player 0). Actions are integers in [0, num_actions).
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("MIN_TREE_KIB", zerosum_core::search::MIN_TREE_KIB)?;
    module.add("UNLIMITED_SIMULATIONS", zerosum_core::search::UNLIMITED_SIMULATIONS)?;
    module.add("CENTIPAWNS_PER_LOGIT", zerosum_core::deepening::CENTIPAWNS_PER_LOGIT)?;
    module.add("DEEPENING_PARTS", zerosum_core::deepening::PART_NAMES.to_vec())?;
    module.add("MAX_ALPHA_BETA_DEPTH", zerosum_core::alpha_beta::MAX_DEPTH)?;
    module.add_class::<game::AlphaBeta>()?;
    module.add_class::<spec::Description>()?;
    module.add_class::<game::Game>()?;
    module.add_class::<game::LinearEvaluation>()?;
    module.add_class::<deepening::UpdatableNetwork>()?;
    module.add_class::<deepening::DeepeningSearch>()?;
    module.add_class::<deepening::Iteration>()?;
    module.add_class::<spec::GameSpec>()?;
    module.add_class::<spec::OptionSpec>()?;
    module.add_class::<picture::Picture>()?;
    module.add_class::<spec::PlaneSpec>()?;
    module.add_class::<state::State>()?;
    module.add_class::<leaves::Leaves>()?;
    module.add_class::<search::Search>()?;
    module.add_class::<root::Root>()?;
    module.add_class::<game::TreeErrors>()?;
    module.add_class::<syzygy::Syzygy>()?;
    module.add_class::<result_table::ResultTable>()?;
    module.add_class::<games_in_flight::GamesInFlight>()?;
    module.add_class::<games_in_flight::PlayedMoves>()?;
    module.add_function(wrap_pyfunction!(core_game_names, module)?)?;
    module.add_function(wrap_pyfunction!(has_int8_products, module)?)?;
    module.add_function(wrap_pyfunction!(uniform, module)?)?;
    module.add_function(wrap_pyfunction!(packed_plies::ply_entries, module)?)?;
    module.add_function(wrap_pyfunction!(packed_plies::ply_columns, module)?)?;
    module.add_function(wrap_pyfunction!(dirichlet_noise, module)?)?;
    module.add_function(wrap_pyfunction!(gumbel_noise, module)?)?;
    module.add_function(wrap_pyfunction!(round_prior, module)?)?;
    Ok(())
}
