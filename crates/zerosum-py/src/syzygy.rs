//! `Syzygy`, and folders of files behind it.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zerosum_core::syzygy::{self, Folder, Source};

use crate::game::Game;
use crate::state::State;

/// Tables of chess endings, for `Search` and to be asked. `zerosum.search.syzygy.open_syzygy` opens them.
#[pyclass(frozen, module = "zerosum._core")]
pub struct Syzygy {
    pub inner: Arc<syzygy::Syzygy>,
}

/// A file that is read piece by piece, so that its size needs no memory and a file that shrinks is an error and no signal.
struct OpenFile {
    file: File,
    len: u64,
}

impl Source for OpenFile {
    fn len(&self) -> u64 {
        self.len
    }

    #[cfg(unix)]
    fn read(&self, at: u64, bytes: &mut [u8]) -> bool {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, bytes, at).is_ok()
    }

    #[cfg(windows)]
    fn read(&self, at: u64, bytes: &mut [u8]) -> bool {
        let mut done = 0;
        while done < bytes.len() {
            match std::os::windows::fs::FileExt::seek_read(&self.file, &mut bytes[done..], at + done as u64) {
                Ok(read) if read > 0 => done += read,
                _ => return false,
            }
        }
        true
    }
}

/// Files by their names in folders; the first folder that has a name counts.
struct Folders(Vec<PathBuf>);

impl Folder for Folders {
    fn names(&self) -> Vec<String> {
        let entries = self.0.iter().filter_map(|folder| folder.read_dir().ok()).flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn open(&self, name: &str) -> Result<Box<dyn Source>, String> {
        let path = self.0.iter().map(|folder| folder.join(name)).find(|path| path.exists()).unwrap_or_default();
        let opened = File::open(&path).and_then(|file| file.metadata().map(|found| (file, found)));
        let (file, found) = opened.map_err(|error| format!("cannot be read ({error})"))?;
        if !found.is_file() {
            return Err("is not a file".into());
        }
        Ok(Box::new(OpenFile { file, len: found.len() }))
    }
}

#[pymethods]
impl Syzygy {
    /// The tables of these folders. The beginning of each file is read, the rest as it is needed.
    ///
    /// Raises ValueError with the rest of a sentence that begins with the folders: none is there, or one is damaged.
    #[new]
    fn new(py: Python<'_>, folders: Vec<PathBuf>) -> PyResult<Self> {
        let opened = py.detach(|| syzygy::Syzygy::open(&Folders(folders)));
        Ok(Self { inner: Arc::new(opened.map_err(PyValueError::new_err)?) })
    }

    /// Number of files.
    #[getter]
    fn num_files(&self) -> usize {
        self.inner.num_files()
    }

    /// Men of the largest ending, the kings included.
    #[getter]
    fn max_men(&self) -> usize {
        self.inner.max_men()
    }

    /// The endings, sorted by name, each with whether its tables of results and of distances are there.
    #[getter]
    fn endings(&self) -> Vec<(String, bool, bool)> {
        self.inner.endings().into_iter().map(|(name, [has_wdl, has_dtz])| (name, has_wdl, has_dtz)).collect()
    }

    /// The result of a position of `game` for the player to move, just after a capture or a pawn's move.
    ///
    /// 2 is a win, 1 a win that the fifty-move rule makes a draw, 0 a draw, -1 and -2 losses. None if no table has the
    /// position: there are too many men, castling is possible, or it is of another game.
    fn wdl(&self, game: &Game, state: &State) -> PyResult<Option<i32>> {
        game.at(state, |position| position.syzygy_wdl(&self.inner).map(|wdl| wdl as i32))
    }

    /// Plies to the next capture or pawn's move with the result kept: above 0 for a win of the player to move.
    ///
    /// Beyond 100 the fifty-move rule makes it a draw; 0 is a draw. It may be wrong by one ply, but not where the rule
    /// decides. None as for `wdl`, or if the table of distances is missing.
    fn dtz(&self, game: &Game, state: &State) -> PyResult<Option<i32>> {
        game.at(state, |position| position.syzygy_dtz(&self.inner))
    }
}
