//! The games of the core. Tic-tac-toe is the file to read first.

pub mod connect4;
pub mod tictactoe;

use std::sync::Arc;

use crate::erased::{AnyGame, Erased};
use crate::game::Action;
pub use connect4::ConnectFour;
pub use tictactoe::TicTacToe;

/// The names that [`by_name`] knows.
pub const NAMES: [&str; 2] = ["connect4", "tictactoe"];

/// The game of this name, its type hidden.
pub fn by_name(name: &str) -> Option<Arc<dyn AnyGame>> {
    match name {
        "connect4" => Some(Arc::new(Erased::new(ConnectFour::new()))),
        "tictactoe" => Some(Arc::new(Erased::new(TicTacToe::new()))),
        _ => None,
    }
}

/// The seven symmetries of a square board, besides the identity, for games whose actions are its squares row by row.
pub fn square_symmetries(side: usize) -> Vec<Vec<Action>> {
    let image = |turn: usize, row: usize, column: usize| {
        let (row, column) = if turn & 1 == 0 { (row, column) } else { (column, row) };
        let row = if turn & 2 == 0 { row } else { side - 1 - row };
        let column = if turn & 4 == 0 { column } else { side - 1 - column };
        (row * side + column) as Action
    };
    (1..8).map(|turn| (0..side * side).map(|square| image(turn, square / side, square % side)).collect()).collect()
}
