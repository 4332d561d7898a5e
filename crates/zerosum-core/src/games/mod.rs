//! The games of the core. Tic-tac-toe is the file to read first.
//!
//! A new game is a file with a type that is a [`CoreGame`], its `mod` line below, and its row in [`GAMES`].

pub mod breakthrough;
pub mod chess;
pub mod connect4;
mod fen;
mod fide;
pub mod go;
pub mod gomoku;
pub mod hex;
mod history;
pub mod medley;
mod mini;
pub mod minichess;
pub mod minishogi;
pub mod nim;
pub mod options;
pub mod othello;
mod policy;
pub mod rows;
mod sfen;
pub mod shogi;
pub mod squares;
pub mod tictactoe;

use std::sync::Arc;

use crate::erased::{AnyGame, Erased};
use crate::game::{Action, Game, PlaneSpec};
use options::Options;

/// A game of the core, made from its options.
pub trait CoreGame: Game + Sized {
    /// The game with these options.
    ///
    /// # Errors
    /// A sentence, if an option is unknown or its value is not allowed.
    fn from_options(options: Options) -> Result<Self, String>;

    /// The game with the defaults of all options.
    fn standard() -> Self {
        Self::from_options(Options::default()).expect("the defaults are allowed")
    }
}

/// The result of making a game of any type.
pub type AnyGameResult = Result<Arc<dyn AnyGame>, String>;

/// A name for a game: the name, the options that it implies, and the function that makes the game.
type Row = (&'static str, &'static [(&'static str, &'static str)], fn(Options) -> AnyGameResult);

/// Every name that [`by_name`] knows, ascending.
const GAMES: [Row; 18] = [
    ("breakthrough", &[], make::<breakthrough::Breakthrough>),
    ("chess", &[], make::<chess::Chess>),
    ("chess960", &[], |options| Ok(erased(chess::Chess::with_encoding(options, chess::Variant::Chess960)?))),
    ("connect4", &[], make::<connect4::ConnectFour>),
    ("go", &[], go::make),
    ("go13", &[("size", "13")], go::make),
    ("go19", &[("size", "19")], go::make),
    ("go9", &[("size", "9")], go::make),
    ("gomoku", &[], make::<gomoku::Gomoku>),
    ("hex", &[], make::<hex::Hex>),
    ("medley", &[], make::<medley::Medley>),
    ("minichess", &[], make::<minichess::Minichess>),
    ("minishogi", &[], make::<minishogi::Minishogi>),
    ("mixedgo", &[], go::mixed::make),
    ("nim", &[], make::<nim::Nim>),
    ("othello", &[], make::<othello::Othello>),
    ("shogi", &[], make::<shogi::Shogi>),
    ("tictactoe", &[], make::<tictactoe::TicTacToe>),
];

/// The names of the core's games, ascending.
pub fn names() -> impl Iterator<Item = &'static str> {
    GAMES.iter().map(|(name, ..)| *name)
}

/// The game of a name with options in brackets, its type hidden; `None` if no game has the name.
///
/// # Errors
/// A sentence, if the options are malformed, unknown or out of range.
pub fn by_name(text: &str) -> Result<Option<Arc<dyn AnyGame>>, String> {
    let (name, mut options) = Options::parse(text)?;
    let Some((_, implied, make)) = GAMES.iter().find(|(known, ..)| *known == name) else { return Ok(None) };
    implied.iter().try_for_each(|(option, value)| options.give(option, value))?;
    make(options).map(Some)
}

fn make<G: CoreGame>(options: Options) -> AnyGameResult {
    Ok(erased(G::from_options(options)?))
}

fn erased<G: Game>(game: G) -> Arc<dyn AnyGame> {
    Arc::new(Erased::new(game))
}

/// Bit planes with these names.
pub fn bit_planes<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<PlaneSpec> {
    names.into_iter().map(PlaneSpec::bits).collect()
}

/// A square as text: the letter of its column, which is counted from 0, and the number of its row.
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
