//! Deepening searches.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::position::AnyState;
use crate::deepening::{Deepening, Iteration, Limit};
use crate::error::UsageError;
use crate::game::{Action, Game};

/// [`Deepening`] with the game's type hidden. Methods and errors are those of [`Deepening`]; in addition [`Self::begin`] refuses
/// states of other games.
#[allow(missing_docs, clippy::missing_errors_doc)]
pub trait AnyDeepening: Send {
    fn begin(&mut self, state: &AnyState, allowed: Option<&[Action]>) -> Result<(), UsageError>;
    fn deepen(&mut self, limit: Limit, check_interrupt: &dyn Fn()) -> Result<Option<Iteration>, UsageError>;
    fn think(&mut self, limit: Limit, depth: u32, check: &dyn Fn()) -> Result<Option<Iteration>, UsageError>;
    fn clear(&mut self);
    fn stop_flag(&self) -> Arc<AtomicBool>;
    fn num_table_hits(&self) -> u64;
}

impl<G: Game> AnyDeepening for Deepening<G> {
    fn begin(&mut self, state: &AnyState, allowed: Option<&[Action]>) -> Result<(), UsageError> {
        let position = state.read(self.game())?.clone();
        Self::begin(self, position, allowed)
    }

    fn deepen(&mut self, limit: Limit, check_interrupt: &dyn Fn()) -> Result<Option<Iteration>, UsageError> {
        Self::deepen(self, limit, check_interrupt)
    }

    fn think(&mut self, limit: Limit, depth: u32, check: &dyn Fn()) -> Result<Option<Iteration>, UsageError> {
        Self::think(self, limit, depth, check)
    }

    fn clear(&mut self) {
        Self::clear(self);
    }

    fn stop_flag(&self) -> Arc<AtomicBool> {
        Self::stop_flag(self)
    }

    fn num_table_hits(&self) -> u64 {
        Self::num_table_hits(self)
    }
}
