//! `GamesInFlight` and `PlayedMoves`.

use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyList};
use zerosum_core::search::UNLIMITED_SIMULATIONS;
use zerosum_core::selfplay::{self, MoveSettings, NextSearch, Played, PlayedPly, Resigning, TargetEntry};

use crate::failure::value_error;
use crate::search::Search;

/// The games of self-play at the trees of a search, whose moves it plays. `zerosum.selfplay.worker` makes one.
///
/// `settings` is (seed, temperature, temperature_plies, has_noise, reuse_tree, reuse_in_full_searches). A `next` is
/// (num_simulations, fast_simulations, full_search_share, network_step): what the searches that begin now are given.
#[pyclass(frozen, module = "zerosum._core")]
pub struct GamesInFlight {
    search: Py<Search>,
    games: Mutex<selfplay::GamesInFlight>,
}

type Settings = (u64, f64, u32, bool, bool, bool);
type Next = (u32, u32, f64, u32);

fn next_search((num_simulations, fast_simulations, full_search_share, network_step): Next) -> PyResult<NextSearch> {
    if num_simulations.max(fast_simulations) > UNLIMITED_SIMULATIONS {
        return Err(PyValueError::new_err(format!("more than {UNLIMITED_SIMULATIONS} simulations")));
    }
    Ok(NextSearch { num_simulations, fast_simulations, full_search_share, network_step })
}

impl GamesInFlight {
    fn with_games<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(
            &mut selfplay::GamesInFlight,
            &mut dyn zerosum_core::erased::AnySearch,
        ) -> Result<T, zerosum_core::UsageError>
        + Send,
    ) -> PyResult<T> {
        // Taken with the interpreter lock: a user's game may give that to another thread meanwhile.
        let mut games = self.games.lock_py_attached(py).expect("no call panics but those that end the search");
        let games = &mut *games;
        self.search.get().run(py, |search| call(games, search))?.map_err(value_error)
    }
}

#[pymethods]
impl GamesInFlight {
    #[new]
    fn new(py: Python<'_>, search: Py<Search>, settings: Settings) -> PyResult<Self> {
        let (seed, temperature, temperature_plies, has_noise, reuse_tree, reuse_in_full_searches) = settings;
        let settings =
            MoveSettings { seed, temperature, temperature_plies, has_noise, reuse_tree, reuse_in_full_searches };
        let games = selfplay::GamesInFlight::new(settings, search.get().num_trees(py)?);
        Ok(Self { search, games: Mutex::new(games) })
    }

    /// Begin the first search of a game, from the state at a tree's root.
    fn start(&self, py: Python<'_>, tree: usize, game_id: u64, num_opening_plies: u32, next: Next) -> PyResult<()> {
        let next = next_search(next)?;
        self.with_games(py, |games, search| games.start(search, tree, game_id, num_opening_plies, &next))
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
        let (played, packed) = self.with_games(py, |games, trees| {
            let played = games.play(trees, first_tree, &next, resigning.as_ref())?;
            played.plies.iter().for_each(|ply| search.follow(ply.tree, ply.action));
            let packed = packed(&played);
            Ok((played, packed))
        })?;
        PlayedMoves::new(py, played, &packed)
    }
}

/// A ply's row of `PLY`: 20 bytes.
fn row_of(ply: &PlayedPly, row: &mut Vec<u8>) {
    row.extend(ply.action.to_ne_bytes());
    row.push(ply.player.index() as u8);
    row.extend(ply.network_step.to_ne_bytes());
    row.extend(ply.search_value.to_ne_bytes());
    row.extend(ply.net_value.to_ne_bytes());
    row.extend(ply.num_simulations.to_ne_bytes());
    row.push(ply.flags);
}

const ROW_SIZE: usize = 20;
const ENTRY_SIZE: usize = 8;

/// The rows of `PLY`, and those of `TARGET`.
fn packed(played: &Played) -> (Vec<u8>, Vec<u8>) {
    let mut rows = Vec::with_capacity(ROW_SIZE * played.plies.len());
    played.plies.iter().for_each(|ply| row_of(ply, &mut rows));
    let mut target = Vec::with_capacity(ENTRY_SIZE * played.target.len());
    for (action, share, visits) in &played.target {
        let (action, share, visits): TargetEntry = (*action, *share, *visits);
        target.extend(action.to_ne_bytes());
        target.extend(share.to_ne_bytes());
        target.extend(visits.to_ne_bytes());
    }
    (rows, target)
}

/// What finished searches have decided, in the order of trees.
#[pyclass(frozen, get_all, module = "zerosum._core")]
pub struct PlayedMoves {
    /// (game_id, row of `PLY`, rows of `TARGET`) of each move.
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
    fn new(py: Python<'_>, played: Played, (rows, target): &(Vec<u8>, Vec<u8>)) -> PyResult<Self> {
        let mut start = 0;
        let plies = played.plies.iter().zip(rows.chunks_exact(ROW_SIZE)).map(|(ply, row)| {
            let target = &target[ENTRY_SIZE * start..ENTRY_SIZE * ply.target_end];
            start = ply.target_end;
            (ply.game_id, PyBytes::new(py, row), PyBytes::new(py, target))
        });
        Ok(Self {
            plies: PyList::new(py, plies)?.unbind(),
            ended: played.ended.into_iter().map(|ended| (ended.tree, ended.outcome, ended.ending)).collect(),
            num_simulations: played.num_simulations,
            num_short: played.num_short,
            next_tree: played.next_tree,
        })
    }
}
