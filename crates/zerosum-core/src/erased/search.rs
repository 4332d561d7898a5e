//! Searches and their leaves.

use std::sync::Arc;

use super::position::AnyState;
use crate::error::UsageError;
use crate::game::{Action, Game, GameSpec, Outcome};
use crate::leaves::{LeafArrays, Leaves};
use crate::proof::Forced;
use crate::search::{Evaluations, Noise, Root, Search, VisitedNode};
use crate::tables::Tables;
use crate::updatable::Network;

/// [`Leaves`] with the game's type hidden.
pub trait AnyLeaves: Send + Sync {
    /// The game's description.
    fn spec(&self) -> &GameSpec;

    /// All but the positions.
    fn arrays(&self) -> &LeafArrays;

    /// See [`Leaves::rollout_values`].
    fn rollout_values(&self, num_rollouts: u32, seed: u64, check_interrupt: &dyn Fn()) -> Vec<f32>;

    /// See [`Leaves::material`].
    fn material(&self) -> Vec<f32>;

    /// See [`Leaves::disturbances`].
    fn disturbances(&self, seed: u64) -> Vec<f32>;

    /// See [`Leaves::evaluations`].
    ///
    /// # Errors
    /// If the network is of another game.
    fn evaluations(&self, network: &Arc<Network>) -> Result<Vec<i32>, UsageError>;

    /// See [`Leaves::owners_after`].
    ///
    /// # Errors
    /// If the offsets do not fit the leaves and actions, or a move is illegal.
    fn owners_after(&self, actions: &[Action], offsets: &[i64]) -> Result<Option<Vec<i8>>, String>;
}

/// The [`AnyLeaves`] of a game of known type.
pub(super) struct ErasedLeaves<G: Game> {
    pub game: Arc<G>,
    pub leaves: Arc<Leaves<G>>,
}

/// Leaves with the game's type hidden.
pub(crate) fn leaves_of<G: Game>(game: &Arc<G>, leaves: Leaves<G>) -> Arc<dyn AnyLeaves> {
    Arc::new(ErasedLeaves { game: Arc::clone(game), leaves: Arc::new(leaves) })
}

impl<G: Game> AnyLeaves for ErasedLeaves<G> {
    fn spec(&self) -> &GameSpec {
        self.game.spec()
    }

    fn arrays(&self) -> &LeafArrays {
        &self.leaves
    }

    fn rollout_values(&self, num_rollouts: u32, seed: u64, check_interrupt: &dyn Fn()) -> Vec<f32> {
        self.leaves.rollout_values(&self.game, num_rollouts, seed, check_interrupt)
    }

    fn material(&self) -> Vec<f32> {
        self.leaves.material(&self.game)
    }

    fn disturbances(&self, seed: u64) -> Vec<f32> {
        self.leaves.disturbances(&self.game, seed)
    }

    fn evaluations(&self, network: &Arc<Network>) -> Result<Vec<i32>, UsageError> {
        network.require_game(self.game.spec())?;
        Ok(self.leaves.evaluations(&self.game, network))
    }

    fn owners_after(&self, actions: &[Action], offsets: &[i64]) -> Result<Option<Vec<i8>>, String> {
        self.leaves.owners_after(&self.game, actions, offsets)
    }
}

/// [`Search`] with the game's type hidden. Methods and errors are those of [`Search`]; in addition [`Self::reset`] refuses
/// states of other games.
#[allow(missing_docs, clippy::missing_errors_doc)]
pub trait AnySearch: Send {
    fn num_trees(&self) -> usize;
    fn use_tables(&mut self, tables: Tables) -> Result<(), UsageError>;
    fn num_table_hits(&self) -> u64;
    fn reset(&mut self, tree: usize, state: &AnyState) -> Result<(), UsageError>;
    fn advance(&mut self, tree: usize, action: Action, keep: bool) -> Result<(), UsageError>;
    fn begin(&mut self, tree: usize, num_simulations: u32, noise: Noise) -> Result<(), UsageError>;
    fn restrict(&mut self, tree: usize, allowed: &[Action]) -> Result<(), UsageError>;
    fn favour(&mut self, tree: usize, favoured: &[Action]) -> Result<(), UsageError>;
    fn prove(&mut self, tree: usize, max_nodes: u64, max_edges: u64) -> Result<u64, UsageError>;
    fn builds_table(&self, tree: usize) -> bool;
    fn forced(&self, tree: usize) -> Option<Forced>;
    fn gather(&mut self, max_leaves: usize, max_settled: u32) -> Arc<dyn AnyLeaves>;
    fn apply(&mut self, ticket: u64, evaluations: &Evaluations<'_>) -> Result<(), UsageError>;
    fn finished(&self) -> Vec<u32>;
    fn root(&self, tree: usize) -> Root;
    fn best_line(&self, tree: usize, first: Option<Action>) -> Vec<Action>;
    fn most_visited(&self, tree: usize, count: usize) -> Result<Vec<VisitedNode>, UsageError>;
    fn state(&self, tree: usize) -> AnyState;
    fn require_tree(&self, tree: usize) -> Result<(), UsageError>;
    /// Moves since the initial state, at a tree's root.
    fn plies(&self, tree: usize) -> u32;
    /// The outcome at a tree's root by the rules; `None` while the game goes on.
    fn outcome(&self, tree: usize) -> Option<Outcome>;
    /// Forgets a tree's contents, but not its position.
    fn clear(&mut self, tree: usize) -> Result<(), UsageError>;
    fn clear_cache(&mut self);
    fn num_leaves(&self) -> u64;
    fn num_collisions(&self) -> u64;
    fn num_bytes(&self) -> usize;
}

/// Methods that call the inherent methods of the same name.
macro_rules! forward {
    ($($name:ident(&self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;)*) => {
        $(fn $name(&self $(, $argument: $type)*) $(-> $result)? { Search::$name(self $(, $argument)*) })*
    };
}
macro_rules! forward_mut {
    ($($name:ident(&mut self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;)*) => {
        $(fn $name(&mut self $(, $argument: $type)*) $(-> $result)? { Search::$name(self $(, $argument)*) })*
    };
}

impl<G: Game> AnySearch for Search<G> {
    forward! {
        num_trees(&self) -> usize;
        num_table_hits(&self) -> u64;
        builds_table(&self, tree: usize) -> bool;
        forced(&self, tree: usize) -> Option<Forced>;
        finished(&self) -> Vec<u32>;
        root(&self, tree: usize) -> Root;
        require_tree(&self, tree: usize) -> Result<(), UsageError>;
        best_line(&self, tree: usize, first: Option<Action>) -> Vec<Action>;
        most_visited(&self, tree: usize, count: usize) -> Result<Vec<VisitedNode>, UsageError>;
        num_leaves(&self) -> u64;
        num_collisions(&self) -> u64;
        num_bytes(&self) -> usize;
    }

    forward_mut! {
        use_tables(&mut self, tables: Tables) -> Result<(), UsageError>;
        advance(&mut self, tree: usize, action: Action, keep: bool) -> Result<(), UsageError>;
        begin(&mut self, tree: usize, num_simulations: u32, noise: Noise) -> Result<(), UsageError>;
        restrict(&mut self, tree: usize, allowed: &[Action]) -> Result<(), UsageError>;
        favour(&mut self, tree: usize, favoured: &[Action]) -> Result<(), UsageError>;
        prove(&mut self, tree: usize, max_nodes: u64, max_edges: u64) -> Result<u64, UsageError>;
        apply(&mut self, ticket: u64, evaluations: &Evaluations<'_>) -> Result<(), UsageError>;
        clear_cache(&mut self);
    }

    fn reset(&mut self, tree: usize, state: &AnyState) -> Result<(), UsageError> {
        let position = state.read(self.game())?.clone();
        Self::reset(self, tree, position)
    }

    fn gather(&mut self, max_leaves: usize, max_settled: u32) -> Arc<dyn AnyLeaves> {
        let leaves = Self::gather(self, max_leaves, max_settled);
        Arc::new(ErasedLeaves { leaves, game: Arc::clone(self.game()) })
    }

    fn state(&self, tree: usize) -> AnyState {
        AnyState::new(self.game(), self.position(tree).clone())
    }

    fn plies(&self, tree: usize) -> u32 {
        self.position(tree).plies
    }

    fn outcome(&self, tree: usize) -> Option<Outcome> {
        self.position(tree).outcome(&**self.game())
    }

    fn clear(&mut self, tree: usize) -> Result<(), UsageError> {
        let position = self.position(tree).clone();
        Self::reset(self, tree, position)
    }
}
