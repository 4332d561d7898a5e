//! `Leaves`.

use std::sync::Arc;

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArray3, PyArray4, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyReadwriteArray1, PyReadwriteArray4, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use zerosum_core::erased::AnyLeaves;
use zerosum_core::leaves::{InputBuffers, LogitLayout};

use crate::failure::{catch, check_signals, game_error, value_error};

/// The planes of all leaves, `[B * C * H * W]`, flat.
pub fn expand<'py>(py: Python<'py>, leaves: &dyn AnyLeaves) -> Bound<'py, PyArray1<f32>> {
    let spec = leaves.spec();
    let mut planes = vec![0.0; leaves.arrays().len() * spec.planes().len() * spec.num_squares()];
    leaves.arrays().write_planes(spec, &mut planes);
    planes.into_pyarray(py)
}

/// Refuses arrays in Fortran order: `as_slice` would take them, and give their numbers in that order.
fn check_order(name: &str, is_c_contiguous: bool) -> PyResult<()> {
    if is_c_contiguous {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("{name}: expected a C-contiguous array, as numpy.ascontiguousarray makes it")))
}

/// B positions that `Search.gather` wants evaluated. Frozen.
#[pyclass(frozen, module = "zerosum._core")]
pub struct Leaves {
    pub inner: Arc<dyn AnyLeaves>,
    /// The key of these leaves for `Search.apply`; None if no search waits for them.
    #[pyo3(get)]
    ticket: Option<u64>,
    /// A dictionary of the search that asked, for an evaluator's hidden states; None outside a search.
    #[pyo3(get)]
    memory: Option<Py<PyDict>>,
    is_python: bool,
}

impl Leaves {
    pub fn outside_search(inner: Arc<dyn AnyLeaves>, is_python: bool) -> Self {
        Self { inner, ticket: None, memory: None, is_python }
    }

    pub fn of_search(inner: Arc<dyn AnyLeaves>, memory: Py<PyDict>, is_python: bool) -> Self {
        Self { ticket: Some(inner.arrays().ticket()), inner, memory: Some(memory), is_python }
    }

    /// Refuses leaves of a search by learned rules: only their roots have positions.
    pub fn require_positions(&self) -> PyResult<()> {
        if self.inner.arrays().hidden().is_empty() {
            return Ok(());
        }
        Err(PyValueError::new_err(
            "these leaves are of a search by learned rules (search.rules), whose moves have hidden states in the place of \
             positions: only the evaluator of a MuZero network (network.kind 'muzero') answers them",
        ))
    }
}

#[pymethods]
impl Leaves {
    /// B.
    fn __len__(&self) -> usize {
        self.inner.arrays().len()
    }

    /// True if `Search.gather` stopped because its budget was spent: it may be called again at once.
    ///
    /// An empty batch means that nothing is left to ask about (False) or that nothing was found so far (True).
    #[getter]
    fn budget_spent(&self) -> bool {
        self.inner.arrays().budget_spent()
    }

    /// [B], the tree of the search that asked.
    #[getter]
    fn trees<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, self.inner.arrays().trees())
    }

    /// [B], the player to move (0 or 1).
    #[getter]
    fn players<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u8>> {
        let players: Vec<u8> = self.inner.arrays().players().iter().map(|player| player.index() as u8).collect();
        players.into_pyarray(py)
    }

    /// [B, number of bit planes, ceil(H*W/8)], bit i%8 (little endian) of byte i//8 is square i, row by row.
    #[getter]
    fn packed_planes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<u8>>> {
        let arrays = self.inner.arrays();
        PyArray1::from_slice(py, arrays.packed_planes()).reshape(arrays.packed_shape())
    }

    /// [B, number of constant planes], one number a plane.
    #[getter]
    fn constant_planes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let arrays = self.inner.arrays();
        PyArray1::from_slice(py, arrays.constant_planes()).reshape(arrays.constant_shape())
    }

    /// [sum L], the legal actions of each position, ascending, one position after the other.
    #[getter]
    fn legal_actions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u16>> {
        PyArray1::from_slice(py, self.inner.arrays().legal_actions())
    }

    /// [sum L], the place of each legal action's logit in a network's row: `legal_actions`, but for `planes=lc0`.
    #[getter]
    fn logit_actions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u16>> {
        PyArray1::from_slice(py, self.inner.arrays().logit_actions())
    }

    /// [B + 1], position b's are legal_actions[legal_offsets[b]:legal_offsets[b + 1]].
    #[getter]
    fn legal_offsets<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_slice(py, self.inner.arrays().legal_offsets())
    }

    /// The hidden states of leaves whose search has learned rules; None where the rules are known.
    ///
    /// Three arrays [B]: the slot of the hidden state that a leaf starts from, 0 for a root, whose position is in the
    /// planes; the move from there, by the place of its logit; and the slot of the hidden state to come.
    #[allow(clippy::type_complexity)] // three arrays, as the stub names them
    fn hidden<'py>(
        &self,
        py: Python<'py>,
    ) -> Option<(Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u16>>, Bound<'py, PyArray1<u32>>)> {
        let hidden = self.inner.arrays().hidden();
        if hidden.is_empty() {
            return None;
        }
        let parents: Vec<u32> = hidden.iter().map(|leaf| leaf.parent).collect();
        let actions: Vec<u16> = hidden.iter().map(|leaf| leaf.action).collect();
        let slots: Vec<u32> = hidden.iter().map(|leaf| leaf.slot).collect();
        Some((parents.into_pyarray(py), actions.into_pyarray(py), slots.into_pyarray(py)))
    }

    /// [B, C, H, W], expanded, in channel order.
    fn planes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray4<f32>>> {
        self.require_positions()?;
        let spec = self.inner.spec();
        let (height, width) = spec.board_shape();
        expand(py, &*self.inner).reshape([self.__len__(), spec.planes().len(), height, width])
    }

    /// Expand into the first B rows of a C-contiguous `out` [>= B, C, H, W]; further rows stay as they are.
    fn write_planes(&self, py: Python<'_>, mut out: PyReadwriteArray4<'_, f32>) -> PyResult<()> {
        self.require_positions()?;
        let spec = self.inner.spec();
        let (height, width) = spec.board_shape();
        let shape = out.shape().to_vec();
        if shape[0] < self.__len__() || shape[1..] != [spec.planes().len(), height, width] {
            let expected = [self.__len__(), spec.planes().len(), height, width];
            return Err(PyValueError::new_err(format!("out has shape {shape:?}, expected at least {expected:?}")));
        }
        check_order("out", out.is_c_contiguous())?;
        let out = out.as_slice_mut()?;
        py.detach(|| self.inner.arrays().write_planes(spec, out));
        Ok(())
    }

    /// Write what a device reads of the positions start to stop, without their planes being expanded.
    ///
    /// Into `bits` their `packed_planes`, into `numbers` their `constant_planes` and into `places` [>= number of legal
    /// actions] where a network's output has the logit of each legal action: for action a of the b-th position,
    /// b * row_width + place_of_action[a]. All arrays are flat, and written from their beginnings. The interpreter lock
    /// is released meanwhile.
    ///
    /// Raises ValueError if an array is too short or a place does not fit 32 bits.
    #[pyo3(signature = (start, stop, *, bits, numbers, places, place_of_action, row_width))]
    #[allow(clippy::too_many_arguments)] // one call instead of three, each of which would wait for the interpreter lock
    fn write_input(
        &self,
        py: Python<'_>,
        start: usize,
        stop: usize,
        mut bits: PyReadwriteArray1<'_, u8>,
        mut numbers: PyReadwriteArray1<'_, f32>,
        mut places: PyReadwriteArray1<'_, i32>,
        place_of_action: PyReadonlyArray1<'_, i32>,
        row_width: usize,
    ) -> PyResult<()> {
        self.require_positions()?;
        if start > stop || stop > self.__len__() {
            let message = format!("positions {start} to {stop} of {}", self.__len__());
            return Err(PyValueError::new_err(message));
        }
        let mut out = InputBuffers {
            bits: bits.as_slice_mut()?,
            numbers: numbers.as_slice_mut()?,
            places: places.as_slice_mut()?,
        };
        let layout = LogitLayout { place_of_action: place_of_action.as_slice()?, row_width };
        py.detach(|| self.inner.arrays().write_input(start..stop, &layout, &mut out)).map_err(value_error)
    }

    /// The logits of the legal actions, [sum L], from C-contiguous logits [>= B, num_actions].
    fn select_legal<'py>(
        &self,
        py: Python<'py>,
        logits: PyReadonlyArray2<'py, f32>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let num_actions = self.inner.spec().num_actions();
        if logits.shape()[0] < self.__len__() || logits.shape()[1] != num_actions {
            let (expected, found) = ([self.__len__(), num_actions], logits.shape());
            return Err(PyValueError::new_err(format!("logits have shape {found:?}, expected at least {expected:?}")));
        }
        check_order("logits", logits.is_c_contiguous())?;
        let (logits, actions) = (logits.as_slice()?, self.inner.arrays().logit_actions());
        let mut legal = Vec::with_capacity(actions.len());
        for (row, range) in logits.chunks_exact(num_actions).zip(self.inner.arrays().legal_offsets().windows(2)) {
            legal.extend(actions[range[0] as usize..range[1] as usize].iter().map(|action| row[usize::from(*action)]));
        }
        Ok(legal.into_pyarray(py))
    }

    /// [B, num_actions], True where a network has the logit of a legal action.
    fn legal_mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let num_actions = self.inner.spec().num_actions();
        let mut mask = vec![false; self.__len__() * num_actions];
        for (row, range) in mask.chunks_exact_mut(num_actions).zip(self.inner.arrays().legal_offsets().windows(2)) {
            for action in &self.inner.arrays().logit_actions()[range[0] as usize..range[1] as usize] {
                row[usize::from(*action)] = true;
            }
        }
        mask.into_pyarray(py).reshape([self.__len__(), num_actions])
    }

    /// [B], the mean result for the player to move of uniformly random games from each position.
    fn rollout_values<'py>(
        &self,
        py: Python<'py>,
        num_rollouts: u32,
        seed: u64,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        self.require_positions()?;
        let roll = || catch(|| self.inner.rollout_values(num_rollouts, seed, &check_signals));
        let values = if self.is_python { roll() } else { py.detach(roll) }?;
        Ok(values.into_pyarray(py))
    }

    /// [B], for each position a standard normal number that is a function of position and seed.
    ///
    /// A `DeepeningSearch` with a `disturbance` adds the same numbers, times the disturbance.
    fn disturbances<'py>(&self, py: Python<'py>, seed: u64) -> PyResult<Bound<'py, PyArray1<f32>>> {
        self.require_positions()?;
        Ok(catch(|| self.inner.disturbances(seed))?.into_pyarray(py))
    }

    /// [B], `Game.material` for the player to move.
    fn material<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        self.require_positions()?;
        let count = || catch(|| self.inner.material());
        let material = if self.is_python { count() } else { py.detach(count) }?;
        Ok(material.into_pyarray(py))
    }

    /// [B, squares], the owner of each square after some moves from each position; None if squares have no owners.
    ///
    /// It is 1 for the position's player to move, -1 for the other and 0 for neither; squares are in the order of the
    /// planes. The moves from position i are actions[offsets[i]:offsets[i + 1]], to the end of a game.
    ///
    /// Raises GameError if a move is illegal or the offsets do not fit.
    fn owners_after<'py>(
        &self,
        py: Python<'py>,
        actions: PyReadonlyArray1<'py, u16>,
        offsets: PyReadonlyArray1<'py, i64>,
    ) -> PyResult<Option<Bound<'py, PyArray2<i8>>>> {
        self.require_positions()?;
        // Copies: other threads may write to the arrays once the interpreter lock is released.
        let (actions, offsets) = (actions.as_slice()?.to_vec(), offsets.as_slice()?.to_vec());
        let follow = || catch(|| self.inner.owners_after(&actions, &offsets));
        let owners =
            if self.is_python { follow() } else { py.detach(follow) }?.map_err(|error| game_error(py, error))?;
        let shape = [self.__len__(), self.inner.spec().num_squares()];
        owners.map(|owners| owners.into_pyarray(py).reshape(shape)).transpose()
    }
}
