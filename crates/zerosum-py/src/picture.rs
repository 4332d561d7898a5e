//! `Picture`.

use pyo3::prelude::*;
use zerosum_core::picture::{self, Grid, Piece};
use zerosum_core::player::Player;

use crate::failure::game_error;

const PLAYERS: [Player; 2] = [Player::First, Player::Second];

/// (owner, text, glyph) of a piece.
type Cell = Option<(usize, String, String)>;

/// A position for a drawing program. A game of one's own may return one from `picture(state)`.
#[pyclass(frozen, module = "zerosum._core")]
pub struct Picture(picture::Picture);

impl Picture {
    /// The picture of the core.
    pub fn inner(&self) -> &picture::Picture {
        &self.0
    }
}

impl From<picture::Picture> for Picture {
    fn from(inner: picture::Picture) -> Self {
        Self(inner)
    }
}

#[pymethods]
impl Picture {
    /// A position; arguments are as the properties below. Raises GameError if they do not fit together.
    #[new]
    #[pyo3(signature = (grid, cells, column_labels, row_labels, last_move = Vec::new(), captions = Vec::new()))]
    fn new(
        py: Python<'_>,
        grid: &str,
        cells: Vec<Cell>,
        column_labels: Vec<String>,
        row_labels: Vec<String>,
        last_move: Vec<usize>,
        captions: Vec<String>,
    ) -> PyResult<Self> {
        let Some(grid) = Grid::ALL.into_iter().find(|known| known.name() == grid) else {
            let known = Grid::ALL.map(Grid::name).join(", ");
            return Err(game_error(py, format!("a picture has the grid {grid:?}, expected one of {known}")));
        };
        let (num_rows, num_columns) = (row_labels.len(), column_labels.len());
        if cells.len() != num_rows * num_columns || cells.is_empty() {
            let message = format!(
                "a picture has {} cells, expected a cell for each of {num_rows} row labels times {num_columns} column \
                 labels",
                cells.len()
            );
            return Err(game_error(py, message));
        }
        if let Some(cell) = last_move.iter().find(|cell| **cell >= cells.len()) {
            let message = format!("a picture marks cell {cell} of the last move, expected 0 to {}", cells.len() - 1);
            return Err(game_error(py, message));
        }
        let piece = |cell: Cell| match cell {
            None => Ok(None),
            Some((owner, text, glyph)) => match PLAYERS.get(owner) {
                Some(owner) => Ok(Some(Piece { owner: *owner, text, glyph })),
                None => Err(game_error(py, format!("a picture has a piece of the owner {owner}, expected 0 or 1"))),
            },
        };
        let cells = cells.into_iter().map(piece).collect::<PyResult<_>>()?;
        Ok(Self(picture::Picture { grid, cells, column_labels, row_labels, last_move, captions }))
    }

    /// Kind of cells: "chequered", "squares", "points" or "hexagons" (each row half a cell further right).
    #[getter]
    fn grid(&self) -> &'static str {
        self.0.grid.name()
    }

    /// Row by row from the top left: None, or (owner, text, glyph); a stone's glyph is empty.
    #[getter]
    fn cells(&self) -> Vec<Option<(usize, &str, &str)>> {
        let cells = self.0.cells.iter();
        cells.map(|cell| cell.as_ref().map(|piece| (piece.owner.index(), &*piece.text, &*piece.glyph))).collect()
    }

    /// Column labels from the left.
    #[getter]
    fn column_labels(&self) -> Vec<String> {
        self.0.column_labels.clone()
    }

    /// Row labels from the top; empty texts if people do not number the rows.
    #[getter]
    fn row_labels(&self) -> Vec<String> {
        self.0.row_labels.clone()
    }

    /// Cells of the last move.
    #[getter]
    fn last_move(&self) -> Vec<usize> {
        self.0.last_move.clone()
    }

    /// Lines of text below the board.
    #[getter]
    fn captions(&self) -> Vec<String> {
        self.0.captions.clone()
    }
}
