//! Rules, encodings and tree search for two-player, zero-sum, perfect-information board games.
//!
//! This crate is independent of networks, files and Python. A game implements the [`Game`] trait (start with
//! [`games::tictactoe`]). [`Search`] walks trees of any game, returns the positions to evaluate as [`Leaves`] and takes
//! [`search::Evaluations`]. [`erased`] hides the game's type for callers that learn it at run time.
//!
//! ```
//! use zerosum_core::{Search, SearchConfig, games::{CoreGame, tictactoe::TicTacToe}, search::{Evaluations, Noise, MAX_SETTLED_NODES}};
//!
//! let mut search = Search::new(TicTacToe::standard().into(), SearchConfig::default(), 1)?;
//! search.begin(0, 100, Noise::None)?;
//! while search.finished().is_empty() {
//!     let leaves = search.gather(1, MAX_SETTLED_NODES);
//!     if !leaves.is_empty() {
//!         let logits = vec![0.0; leaves.legal_actions().len()];
//!         search.apply(leaves.ticket(), &Evaluations::new(&logits, &[0.0]))?;
//!     }
//! }
//! assert_eq!(search.root(0).visits.iter().sum::<u32>(), 100);
//! # Ok::<(), zerosum_core::UsageError>(())
//! ```

pub mod alpha_beta;
pub mod deepening;
mod encoding;
pub mod erased;
pub mod error;
pub mod evaluation;
pub mod game;
pub mod games;
mod hidden_move;
mod interrupt;
pub mod leaves;
mod line_evaluation;
pub mod men;
pub mod perft;
pub mod picture;
pub mod player;
mod pool;
pub mod proof;
pub mod random;
pub mod retrograde;
pub mod search;
pub mod selfplay;
pub mod syzygy;
pub mod tables;
pub mod tree_errors;
pub mod updatable;

pub use error::UsageError;
pub use game::{Action, Description, Game, GameSpec, Outcome, Planes, Position};
pub use leaves::Leaves;
pub use player::{Player, ValueForFirst, ValueForMover};
pub use search::{Search, SearchConfig};
