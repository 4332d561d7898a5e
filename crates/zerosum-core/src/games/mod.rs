//! The games of the core. Tic-tac-toe is the file to read first.

pub mod connect4;
pub mod tictactoe;

use std::sync::Arc;

use crate::erased::{AnyGame, Erased};
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
