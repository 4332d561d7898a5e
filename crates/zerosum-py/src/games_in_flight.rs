//! `GamesInFlight` and `PlayedMoves`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyList};
use zerosum_core::search::UNLIMITED_SIMULATIONS;
use zerosum_core::selfplay::{self, MoveSettings, NextSearch, Played, PlayedPly, Resigning};

use crate::failure::value_error;
use crate::packed_plies::packed_ply;
use crate::search::Search;

/// The games of self-play at the trees of a search, whose moves it plays. `zerosum.selfplay.worker` makes one.
///
/// `settings` is (seed, temperature, temperature_plies, has_noise, reuse_tree). A `next` is
/// (num_simulations, fast_simulations, full_search_share, network_step): what the searches that begin now are given.
#[pyclass(frozen, module = "zerosum._core")]
pub struct GamesInFlight {
    search: Py<Search>,
    games: Mutex<selfplay::GamesInFlight>,
}

type Settings = (u64, f64, u32, bool, bool);
type Next = (u32, u32, f64, u32);

fn next_search((num_simulations, fast_simulations, full_search_share, network_step): Next) -> PyResult<NextSearch> {
    if num_simulations.max(fast_simulations) > UNLIMITED_SIMULATIONS {
        return Err(PyValueError::new_err(format!("more than {UNLIMITED_SIMULATIONS} simulations")));
    }
    Ok(NextSearch { num_simulations, fast_simulations, full_search_share, network_step })
}

impl GamesInFlight {
    /// Taken with the interpreter lock: a user's game may give that to another thread meanwhile.
    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, selfplay::GamesInFlight> {
        self.games.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner) // a poisoned search refuses calls itself
    }
}

#[pymethods]
impl GamesInFlight {
    #[new]
    fn new(py: Python<'_>, search: Py<Search>, settings: Settings) -> PyResult<Self> {
        let (seed, temperature, temperature_plies, has_noise, reuse_tree) = settings;
        let settings = MoveSettings { seed, temperature, temperature_plies, has_noise, reuse_tree };
        let games = selfplay::GamesInFlight::new(settings, search.get().num_trees(py)?);
        Ok(Self { search, games: Mutex::new(games) })
    }

    /// Begin the first search of a game, from the state at a tree's root.
    fn start(&self, py: Python<'_>, tree: usize, game_id: u64, num_opening_plies: u32, next: Next) -> PyResult<()> {
        let next = next_search(next)?;
        let mut games = self.lock(py);
        let games = &mut *games;
        // So short that the interpreter lock stays.
        let started =
            self.search.get().call_rules(py, |search| games.start(search, tree, game_id, num_opening_plies, &next));
        started?.map_err(value_error)
    }

    /// Make the moves of finished searches, from a tree on in order, and begin the next searches.
    ///
    /// `resigning` is (threshold, share of games that are played out), the threshold None while nobody resigns. With it
    /// the call returns after the first game that ends.
    #[pyo3(signature = (first_tree, next, *, resigning = None))]
    fn play(
        &self,
        py: Python<'_>,
        first_tree: usize,
        next: Next,
        resigning: Option<(Option<f64>, f64)>,
    ) -> PyResult<PlayedMoves> {
        let next = next_search(next)?;
        let resigning = resigning.map(|(threshold, played_out_share)| Resigning { threshold, played_out_share });
        let search = self.search.get();
        let mut games = self.lock(py);
        let games = &mut *games;
        let played = search.run(py, |trees| {
            let played = games.play(trees, first_tree, &next, resigning.as_ref())?;
            played.plies.iter().for_each(|ply| search.follow(ply.tree, ply.action));
            let packed = packed(&played);
            Ok((played, packed))
        });
        let (played, packed) = played?.map_err(value_error)?;
        PlayedMoves::new(py, played, &packed)
    }
}

/// What finished searches have decided, in the order of trees.
#[pyclass(frozen, get_all, module = "zerosum._core")]
pub struct PlayedMoves {
    /// The game of each move.
    game_ids: Py<PyList>,
    /// The moves, packed.
    plies: Py<PyList>,
    /// (tree, first player's result, ending) of each game that ended; the ending is None for a resignation.
    ended: Vec<(usize, f32, Option<String>)>,
    /// Simulations of the finished searches, without reused ones.
    num_simulations: u64,
    /// Searches that ended early because their trees were full.
    num_short: u64,
    /// The first tree that was not looked at; the number of trees if all were.
    next_tree: usize,
}

impl PlayedMoves {
    fn new(py: Python<'_>, played: Played, packed: &[Vec<u8>]) -> PyResult<Self> {
        Ok(Self {
            game_ids: PyList::new(py, played.plies.iter().map(|ply| ply.game_id))?.unbind(),
            plies: PyList::new(py, packed.iter().map(|ply| PyBytes::new(py, ply)))?.unbind(),
            ended: played.ended.into_iter().map(|ended| (ended.tree, ended.outcome, ended.ending)).collect(),
            num_simulations: played.num_simulations,
            num_short: played.num_short,
            next_tree: played.next_tree,
        })
    }
}

/// All plies, packed.
fn packed(played: &Played) -> Vec<Vec<u8>> {
    let mut start = 0;
    let pack = |ply: &PlayedPly| {
        let target = &played.target[start..ply.target_end];
        start = ply.target_end;
        packed_ply(ply, target)
    };
    played.plies.iter().map(pack).collect()
}
