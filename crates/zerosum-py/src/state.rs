//! `State`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use zerosum_core::erased::AnyState;
use zerosum_core::game::Action;

use crate::failure::catch;

/// The origin of a game: the name of a game of the core or of a file, or a user's object.
pub enum GameSource {
    Name(String),
    Object(Py<PyAny>),
}

impl GameSource {
    pub fn to_python(&self, py: Python<'_>) -> Py<PyAny> {
        match self {
            Self::Name(name) => PyString::new(py, name).into_any().unbind(),
            Self::Object(object) => object.clone_ref(py),
        }
    }
}

/// The first position of a line of play: one of the game's starts by its number, or a position that was read.
#[derive(Clone)]
pub enum Start {
    Number(i64),
    Text(Arc<str>),
}

/// The moves that led to a position.
#[derive(Clone)]
pub struct LineOfPlay {
    source: Arc<GameSource>,
    /// `None` is the initial state.
    start: Option<Start>,
    moves: Moves,
}

/// Moves that a block holds.
const BLOCK_SIZE: usize = 64;

/// Moves in order. Lines share all but the latest block, so a further move costs no more in a long game than in a short one.
#[derive(Clone, Default)]
struct Moves {
    older: Option<Arc<Block>>,
    latest: Arc<[Action]>,
}

/// A full block, and the one before it.
struct Block {
    actions: Arc<[Action]>,
    older: Option<Arc<Block>>,
}

impl Moves {
    fn then(&self, action: Action) -> Self {
        if self.latest.len() < BLOCK_SIZE {
            let latest = self.latest.iter().copied().chain([action]).collect();
            return Self { older: self.older.clone(), latest };
        }
        let block = Block { actions: Arc::clone(&self.latest), older: self.older.clone() };
        Self { older: Some(Arc::new(block)), latest: Arc::from([action]) }
    }

    fn to_vec(&self) -> Vec<Action> {
        let mut blocks = vec![&self.latest];
        let mut next = self.older.as_deref();
        while let Some(block) = next {
            blocks.push(&block.actions);
            next = block.older.as_deref();
        }
        blocks.into_iter().rev().flat_map(|block| block.iter().copied()).collect()
    }
}

/// One block after the other, because a long chain that drops itself would overflow the stack.
impl Drop for Block {
    fn drop(&mut self) {
        let mut next = self.older.take();
        while let Some(mut block) = next.and_then(Arc::into_inner) {
            next = block.older.take();
        }
    }
}

impl LineOfPlay {
    pub fn new(source: &Arc<GameSource>, start: Option<Start>) -> Self {
        Self { source: Arc::clone(source), start, moves: Moves::default() }
    }

    /// The line with one more move.
    pub fn then(&self, action: Action) -> Self {
        Self { source: Arc::clone(&self.source), start: self.start.clone(), moves: self.moves.then(action) }
    }
}

/// An immutable position with the history its rules need. Made by `Game.initial_state` and `Game.play`.
///
/// Games of the same name, version, board and numbering of actions share their states: options such as komi may differ.
/// Any other game, and a search of one, refuses the state with a ValueError that names both.
///
/// States are equal if their games have the same name, options and encoding, and their positions, plies and whatever
/// history rules and planes need are equal; states of a Python game compare as the user's states do. Equal states have
/// equal hashes. A pickle holds the game, the start and the moves.
#[pyclass(frozen, from_py_object, module = "zerosum._core")]
#[derive(Clone)]
pub struct State {
    pub inner: AnyState,
    pub line: LineOfPlay,
}

#[pymethods]
impl State {
    /// Moves made since the initial state.
    #[getter]
    fn plies(&self) -> u32 {
        self.inner.plies()
    }

    fn __eq__(&self, other: &Self) -> PyResult<bool> {
        catch(|| self.inner == other.inner)
    }

    fn __hash__(&self) -> PyResult<u64> {
        catch(|| {
            let mut hasher = DefaultHasher::new();
            self.inner.hash(&mut hasher);
            hasher.finish()
        })
    }

    /// The game, the start and the moves: a game's history is part of its states.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let start = match &self.line.start {
            None => py.None(),
            Some(Start::Number(number)) => number.into_pyobject(py)?.into_any().unbind(),
            Some(Start::Text(text)) => PyString::new(py, text).into_any().unbind(),
        };
        let moves = self.line.moves.to_vec().into_pyobject(py)?;
        let arguments = (self.line.source.to_python(py), start, moves).into_pyobject(py)?;
        Ok((py.import("zerosum.games.rules")?.getattr("restore_state")?, arguments))
    }

    /// The board as the text of an SVG file, which notebooks show.
    fn _repr_svg_(&self, py: Python<'_>) -> PyResult<String> {
        let source = self.line.source.to_python(py);
        py.import("zerosum.games.picture")?.getattr("state_svg")?.call1((source, self.clone()))?.extract()
    }
}
