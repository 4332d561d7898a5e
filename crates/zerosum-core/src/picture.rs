//! A board for a drawing program, and as text: one description for the terminal, for SVG and for a web page.

use std::fmt;

use crate::player::Player;

/// The kind of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// Squares, in two shades (chess).
    Chequered,
    /// Squares of one shade (shogi, Othello).
    Squares,
    /// Points where lines cross (Go, Gomoku).
    Points,
    /// Hexagons, each row half a cell further to the right than the one above (Hex).
    Hexagons,
}

impl Grid {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Chequered, Self::Squares, Self::Points, Self::Hexagons];

    /// The kind's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chequered => "chequered",
            Self::Squares => "squares",
            Self::Points => "points",
            Self::Hexagons => "hexagons",
        }
    }
}

/// A piece on a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The owner.
    pub owner: Player,
    /// The text in the terminal: one or two ASCII characters.
    pub text: String,
    /// The character in a drawing, such as ♞; "" for a stone.
    pub glyph: String,
}

impl Piece {
    /// A stone: X for the first player, O for the second.
    pub fn stone(owner: Player) -> Self {
        Self { owner, text: ["X", "O"][owner.index()].to_owned(), glyph: String::new() }
    }
}

/// A position for a drawing program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The kind of cells.
    pub grid: Grid,
    /// The cells, row by row from the top left: `row_labels.len() * column_labels.len()` of them.
    pub cells: Vec<Option<Piece>>,
    /// Column labels from the left.
    pub column_labels: Vec<String>,
    /// Row labels from the top; empty texts if people do not number the rows.
    pub row_labels: Vec<String>,
    /// Cells of the last move; may be empty.
    pub last_move: Vec<usize>,
    /// Lines of text below the board: pieces in hand, the player to move if the board does not show it.
    pub captions: Vec<String>,
}

impl Picture {
    /// A board of stones without captions.
    pub fn of_stones(
        grid: Grid,
        column_labels: Vec<String>,
        row_labels: Vec<String>,
        owner: impl Fn(usize) -> Option<Player>,
    ) -> Self {
        let cells = (0..column_labels.len() * row_labels.len()).map(|cell| owner(cell).map(Piece::stone)).collect();
        Self { grid, cells, column_labels, row_labels, last_move: Vec::new(), captions: Vec::new() }
    }

    /// The same with the player to move below the board, for games in which the stones do not show it.
    pub fn with_mover(mut self, mover: Player) -> Self {
        self.captions.push(format!("{} to move", ["X", "O"][mover.index()]));
        self
    }
}

/// Labels of columns: a, b, c …; after z come aa, ab ….
pub fn letters(count: usize) -> Vec<String> {
    let letter = |index: usize| char::from(b'a' + (index % 26) as u8);
    (0..count).map(|index| if index < 26 { letter(index).to_string() } else { format!("a{}", letter(index)) }).collect()
}

/// Labels of rows from the top: `count` down to 1.
pub fn numbers_from_top(count: usize) -> Vec<String> {
    (1..=count).rev().map(|number| number.to_string()).collect()
}

impl fmt::Display for Picture {
    /// The board as text: rows with their labels, the columns' labels below, then the captions.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widest = |texts: &[String]| texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
        let pieces = self.cells.iter().flatten().map(|piece| piece.text.chars().count()).max().unwrap_or(1);
        let (label, cell) = (widest(&self.row_labels), pieces.max(widest(&self.column_labels)));
        let margin = if label == 0 { 0 } else { label + 1 };
        let slant = |row: usize| if self.grid == Grid::Hexagons { row } else { 0 };
        for (row, cells) in self.cells.chunks(self.column_labels.len()).enumerate() {
            write!(formatter, "{:slant$}{:>label$}", "", self.row_labels[row], slant = slant(row))?;
            formatter.write_str(if label == 0 { "" } else { " " })?;
            for piece in cells {
                write!(formatter, " {:>cell$}", piece.as_ref().map_or(".", |piece| &piece.text))?;
            }
            formatter.write_str("\n")?;
        }
        write!(formatter, "{:indent$}", "", indent = margin + slant(self.row_labels.len()))?;
        for column in &self.column_labels {
            write!(formatter, " {column:>cell$}")?;
        }
        formatter.write_str("\n")?;
        self.captions.iter().try_for_each(|caption| writeln!(formatter, "{caption}"))
    }
}
