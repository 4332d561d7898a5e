//! The games of the core. Tic-tac-toe is the file to read first.

mod board5;
pub mod connect4;
pub mod minichess;
pub mod minishogi;
pub mod options;
mod past;
pub mod rows;
pub mod shogi;
pub mod tictactoe;

use std::sync::Arc;

use crate::erased::{AnyGame, Erased};
use crate::game::{Action, Game, PlaneKind, PlaneSpec};
pub use connect4::ConnectFour;
pub use minichess::Minichess;
pub use minishogi::Minishogi;
pub use options::Options;
pub use shogi::Shogi;
pub use tictactoe::TicTacToe;

/// The names that [`by_name`] knows, ascending.
pub const NAMES: [&str; 5] = ["connect4", "minichess", "minishogi", "shogi", "tictactoe"];

/// The game of this name with the options in brackets behind it, its type hidden; `None` if no game has the name.
///
/// # Errors
/// A sentence, if the options are malformed, unknown or out of range.
pub fn by_name(text: &str) -> Result<Option<Arc<dyn AnyGame>>, String> {
    let (name, options) = Options::parse(text)?;
    Ok(Some(match name.as_str() {
        "connect4" => erased(ConnectFour::from_options(options)?),
        "minichess" => erased(Minichess::from_options(options)?),
        "minishogi" => erased(Minishogi::from_options(options)?),
        "shogi" => erased(Shogi::from_options(options)?),
        "tictactoe" => erased(TicTacToe::from_options(options)?),
        _ => return Ok(None),
    }))
}

fn erased<G: Game>(game: G) -> Arc<dyn AnyGame> {
    Arc::new(Erased::new(game))
}

/// Bit planes with these meanings.
pub fn bit_planes<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<PlaneSpec> {
    names.into_iter().map(|name| PlaneSpec { name: name.into(), kind: PlaneKind::Bits }).collect()
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
