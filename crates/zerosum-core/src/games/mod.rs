//! The games of the core. Tic-tac-toe is the file to read first.

mod board5;
pub mod breakthrough;
pub mod chess;
pub mod connect4;
mod fen;
pub mod go;
pub mod gomoku;
pub mod hex;
pub mod minichess;
pub mod minishogi;
pub mod nim;
pub mod options;
pub mod othello;
mod past;
mod policy;
pub mod rows;
mod sfen;
pub mod shogi;
pub mod squares;
pub mod tictactoe;

use std::sync::Arc;

use crate::erased::{AnyGame, Erased};
use crate::game::{Action, Game, PlaneSpec};
pub use breakthrough::Breakthrough;
pub use chess::Chess;
pub use connect4::ConnectFour;
pub use go::Go;
pub use gomoku::Gomoku;
pub use hex::Hex;
pub use minichess::Minichess;
pub use minishogi::Minishogi;
pub use nim::Nim;
pub use options::Options;
pub use othello::Othello;
pub use shogi::Shogi;
pub use tictactoe::TicTacToe;

/// The names that [`by_name`] knows, ascending.
pub const NAMES: [&str; 16] = [
    "breakthrough",
    "chess",
    "chess960",
    "connect4",
    "go",
    "go13",
    "go19",
    "go9",
    "gomoku",
    "hex",
    "minichess",
    "minishogi",
    "nim",
    "othello",
    "shogi",
    "tictactoe",
];

/// Names for a game with an option: its own name, the option, the value.
const SHORT_FORMS: [(&str, &str, &str, &str); 3] =
    [("go9", "go", "size", "9"), ("go13", "go", "size", "13"), ("go19", "go", "size", "19")];

/// The game of this name with the options in brackets behind it, its type hidden; `None` if no game has the name.
///
/// # Errors
/// A sentence, if the options are malformed, unknown or out of range.
pub fn by_name(text: &str) -> Result<Option<Arc<dyn AnyGame>>, String> {
    let (mut name, mut options) = Options::parse(text)?;
    if let Some((_, game, option, value)) = SHORT_FORMS.iter().find(|(short, ..)| *short == name) {
        (*game).clone_into(&mut name);
        options.give(option, value)?;
    }
    Ok(Some(match name.as_str() {
        "breakthrough" => erased(Breakthrough::from_options(options)?),
        "chess" => erased(Chess::from_options(options, chess::Variant::Chess)?),
        "chess960" => erased(Chess::from_options(options, chess::Variant::Chess960)?),
        "connect4" => erased(ConnectFour::from_options(options)?),
        "go" => go::Variant::from_options(options)?.game(),
        "gomoku" => erased(Gomoku::from_options(options)?),
        "hex" => erased(Hex::from_options(options)?),
        "minichess" => erased(Minichess::from_options(options)?),
        "minishogi" => erased(Minishogi::from_options(options)?),
        "nim" => erased(Nim::from_options(options)?),
        "othello" => erased(Othello::from_options(options)?),
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
    names.into_iter().map(PlaneSpec::bits).collect()
}

/// A square as people write it: its column as a letter, counted from 0, and the row's number.
fn square_text(column: usize, row_number: usize) -> String {
    format!("{}{row_number}", char::from(b'a' + column as u8))
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
