//! Games, positions and searches with the game's type hidden, for callers that learn it at run time (the Python binding).

mod deepening;
mod game;
mod position;
mod search;

pub use deepening::AnyDeepening;
pub use game::{AnyGame, Erased};
pub use position::{AnyPosition, AnyState};
pub(crate) use search::leaves_of;
pub use search::{AnyLeaves, AnySearch};
