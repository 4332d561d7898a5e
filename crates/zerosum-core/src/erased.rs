//! Games and searches with the game's type hidden, for callers that learn it at run time (the Python binding).

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::game::{Action, Game, GameSpec, Outcome, PlaneKind, Player, Position};
use crate::leaves::Leaves;
use crate::search::{Evaluations, Noise, Root, Search, SearchConfig, SearchError};

/// A position of some game; only that game can read it.
#[derive(Clone)]
pub struct AnyState {
    inner: Arc<dyn Any + Send + Sync>,
    plies: u32,
}

impl AnyState {
    fn new<S: Send + Sync + 'static>(position: Position<S>) -> Self {
        Self { plies: position.plies, inner: Arc::new(position) }
    }

    /// Moves since the initial state.
    pub fn plies(&self) -> u32 {
        self.plies
    }

    /// The position, if it is of this game's type.
    fn of<G: Game>(&self, game: &G) -> Result<&Position<G::State>, SearchError> {
        self.inner.downcast_ref().ok_or_else(|| {
            SearchError(format!("this state is of another game, expected a state made by {}", game.spec().name()))
        })
    }
}

impl fmt::Debug for AnyState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "AnyState {{ plies: {} }}", self.plies)
    }
}

/// [`Leaves`] with the game's type hidden.
pub trait AnyLeaves: Send + Sync {
    /// See [`Leaves::ticket`].
    fn ticket(&self) -> u64;
    /// See [`Leaves::trees`].
    fn trees(&self) -> &[u32];
    /// See [`Leaves::players`].
    fn players(&self) -> &[Player];
    /// See [`Leaves::packed_planes`].
    fn packed_planes(&self) -> &[u8];
    /// See [`Leaves::constant_planes`].
    fn constant_planes(&self) -> &[f32];
    /// See [`Leaves::legal_actions`].
    fn legal_actions(&self) -> &[Action];
    /// See [`Leaves::legal_offsets`].
    fn legal_offsets(&self) -> &[i64];
    /// The game's description.
    fn spec(&self) -> &GameSpec;
    /// See [`Leaves::write_planes`].
    fn write_planes(&self, out: &mut [f32]);
    /// See [`Leaves::rollout_values`].
    fn rollout_values(&self, num_rollouts: u32, seed: u64) -> Vec<f32>;
}

struct ErasedLeaves<G: Game> {
    game: Arc<G>,
    leaves: Arc<Leaves<G>>,
}

impl<G: Game> AnyLeaves for ErasedLeaves<G> {
    fn ticket(&self) -> u64 {
        self.leaves.ticket()
    }
    fn trees(&self) -> &[u32] {
        self.leaves.trees()
    }
    fn players(&self) -> &[Player] {
        self.leaves.players()
    }
    fn packed_planes(&self) -> &[u8] {
        self.leaves.packed_planes()
    }
    fn constant_planes(&self) -> &[f32] {
        self.leaves.constant_planes()
    }
    fn legal_actions(&self) -> &[Action] {
        self.leaves.legal_actions()
    }
    fn legal_offsets(&self) -> &[i64] {
        self.leaves.legal_offsets()
    }
    fn spec(&self) -> &GameSpec {
        self.game.spec()
    }
    fn write_planes(&self, out: &mut [f32]) {
        self.leaves.write_planes(self.game.spec(), out);
    }
    fn rollout_values(&self, num_rollouts: u32, seed: u64) -> Vec<f32> {
        self.leaves.rollout_values(&self.game, num_rollouts, seed)
    }
}

/// [`Search`] with the game's type hidden.
pub trait AnySearch: Send {
    /// See [`Search::num_trees`].
    fn num_trees(&self) -> usize;
    /// See [`Search::reset`].
    ///
    /// # Errors
    /// Also if the state is of another game.
    fn reset(&mut self, tree: usize, state: &AnyState) -> Result<(), SearchError>;
    /// See [`Search::advance`].
    ///
    /// # Errors
    /// As there.
    fn advance(&mut self, tree: usize, action: Action, keep: bool) -> Result<(), SearchError>;
    /// See [`Search::begin`].
    ///
    /// # Errors
    /// As there.
    fn begin(&mut self, tree: usize, num_simulations: u32, noise: Noise) -> Result<(), SearchError>;
    /// See [`Search::gather`].
    fn gather(&mut self, max_leaves: usize) -> Arc<dyn AnyLeaves>;
    /// See [`Search::apply`].
    ///
    /// # Errors
    /// As there.
    fn apply(&mut self, ticket: u64, evaluations: &Evaluations<'_>) -> Result<(), SearchError>;
    /// See [`Search::cancel`].
    ///
    /// # Errors
    /// As there.
    fn cancel(&mut self, ticket: u64) -> Result<(), SearchError>;
    /// See [`Search::finished`].
    fn finished(&self) -> Vec<u32>;
    /// See [`Search::root`].
    fn root(&self, tree: usize) -> Root;
    /// See [`Search::best_line`].
    fn best_line(&self, tree: usize) -> Vec<Action>;
    /// The position at a tree's root.
    fn state(&self, tree: usize) -> AnyState;
    /// See [`Search::clear_cache`].
    fn clear_cache(&mut self);
    /// See [`Search::num_cached`].
    fn num_cached(&self) -> u64;
    /// See [`Search::num_bytes`].
    fn num_bytes(&self) -> usize;
}

impl<G: Game> AnySearch for Search<G> {
    fn num_trees(&self) -> usize {
        self.num_trees()
    }
    fn reset(&mut self, tree: usize, state: &AnyState) -> Result<(), SearchError> {
        let position = state.of(&**self.game())?.clone();
        self.reset(tree, position)
    }
    fn advance(&mut self, tree: usize, action: Action, keep: bool) -> Result<(), SearchError> {
        self.advance(tree, action, keep)
    }
    fn begin(&mut self, tree: usize, num_simulations: u32, noise: Noise) -> Result<(), SearchError> {
        self.begin(tree, num_simulations, noise)
    }
    fn gather(&mut self, max_leaves: usize) -> Arc<dyn AnyLeaves> {
        Arc::new(ErasedLeaves { leaves: self.gather(max_leaves), game: Arc::clone(self.game()) })
    }
    fn apply(&mut self, ticket: u64, evaluations: &Evaluations<'_>) -> Result<(), SearchError> {
        self.apply(ticket, evaluations)
    }
    fn cancel(&mut self, ticket: u64) -> Result<(), SearchError> {
        self.cancel(ticket)
    }
    fn finished(&self) -> Vec<u32> {
        self.finished()
    }
    fn root(&self, tree: usize) -> Root {
        self.root(tree)
    }
    fn best_line(&self, tree: usize) -> Vec<Action> {
        self.best_line(tree)
    }
    fn state(&self, tree: usize) -> AnyState {
        AnyState::new(self.position(tree).clone())
    }
    fn clear_cache(&mut self) {
        self.clear_cache();
    }
    fn num_cached(&self) -> u64 {
        self.num_cached()
    }
    fn num_bytes(&self) -> usize {
        self.num_bytes()
    }
}

/// [`Game`] with its type hidden.
pub trait AnyGame: Send + Sync {
    /// The game's description.
    fn spec(&self) -> &GameSpec;
    /// The position before the first move.
    fn initial_state(&self) -> AnyState;
    /// Who is to move.
    ///
    /// # Errors
    /// If the state is of another game, as for all methods here.
    fn player(&self, state: &AnyState) -> Result<Player, SearchError>;
    /// The legal actions, ascending; empty if the game is over.
    ///
    /// # Errors
    /// If the state is of another game.
    fn legal_actions(&self, state: &AnyState) -> Result<Vec<Action>, SearchError>;
    /// The position after an action.
    ///
    /// # Errors
    /// If the state is of another game, or the action is illegal.
    fn play(&self, state: &AnyState, action: Action) -> Result<AnyState, SearchError>;
    /// The outcome by the rules or the ply cap.
    ///
    /// # Errors
    /// If the state is of another game.
    fn outcome(&self, state: &AnyState) -> Result<Option<Outcome>, SearchError>;
    /// An action as people write it.
    ///
    /// # Errors
    /// If the state is of another game, or the action is illegal.
    fn action_text(&self, state: &AnyState, action: Action) -> Result<String, SearchError>;
    /// The board as text.
    ///
    /// # Errors
    /// If the state is of another game.
    fn draw(&self, state: &AnyState) -> Result<String, SearchError>;
    /// Positions as an evaluator takes them, outside any search.
    ///
    /// # Errors
    /// If a state is of another game.
    fn encode(&self, states: &[AnyState]) -> Result<Arc<dyn AnyLeaves>, SearchError>;
    /// Positions of recorded games: the i-th after `plies[i]` moves of game `games[i]`, whose moves are
    /// `actions[offsets[g]..offsets[g + 1]]` from the initial state.
    ///
    /// # Errors
    /// If there are not as many games as plies, an index is out of range or a recorded move is illegal.
    fn encode_plies(
        &self,
        actions: &[Action],
        offsets: &[i64],
        games: &[i64],
        plies: &[i64],
    ) -> Result<Arc<dyn AnyLeaves>, SearchError>;
    /// A search of this game.
    ///
    /// # Errors
    /// If a setting makes no sense.
    fn search(&self, config: SearchConfig, num_trees: usize) -> Result<Box<dyn AnySearch>, SearchError>;
}

/// A game behind [`AnyGame`].
pub struct Erased<G: Game> {
    game: Arc<G>,
}

impl<G: Game> Erased<G> {
    /// Hides the game's type.
    pub fn new(game: G) -> Self {
        Self { game: Arc::new(game) }
    }

    fn legal(&self, position: &Position<G::State>) -> Vec<Action> {
        let mut actions = Vec::new();
        if position.outcome(&*self.game).is_none() {
            self.game.legal_actions(&position.state, &mut actions);
        }
        actions
    }

    fn check_legal(&self, position: &Position<G::State>, action: Action) -> Result<(), SearchError> {
        let legal = self.legal(position);
        if legal.contains(&action) {
            return Ok(());
        }
        let board = self.game.draw(&position.state);
        Err(SearchError(format!("action {action} is illegal here, legal are {legal:?}:\n{board}")))
    }

    fn wrap(&self, leaves: Leaves<G>) -> Arc<dyn AnyLeaves> {
        Arc::new(ErasedLeaves { game: Arc::clone(&self.game), leaves: Arc::new(leaves) })
    }
}

impl<G: Game> AnyGame for Erased<G> {
    fn spec(&self) -> &GameSpec {
        self.game.spec()
    }

    fn initial_state(&self) -> AnyState {
        AnyState::new(Position::initial(&*self.game))
    }

    fn player(&self, state: &AnyState) -> Result<Player, SearchError> {
        Ok(self.game.player(&state.of(&*self.game)?.state))
    }

    fn legal_actions(&self, state: &AnyState) -> Result<Vec<Action>, SearchError> {
        Ok(self.legal(state.of(&*self.game)?))
    }

    fn play(&self, state: &AnyState, action: Action) -> Result<AnyState, SearchError> {
        let mut position = state.of(&*self.game)?.clone();
        self.check_legal(&position, action)?;
        position.play(&*self.game, action);
        Ok(AnyState::new(position))
    }

    fn outcome(&self, state: &AnyState) -> Result<Option<Outcome>, SearchError> {
        Ok(state.of(&*self.game)?.outcome(&*self.game))
    }

    fn action_text(&self, state: &AnyState, action: Action) -> Result<String, SearchError> {
        let position = state.of(&*self.game)?;
        self.check_legal(position, action)?;
        Ok(self.game.action_text(&position.state, action))
    }

    fn draw(&self, state: &AnyState) -> Result<String, SearchError> {
        Ok(self.game.draw(&state.of(&*self.game)?.state))
    }

    fn encode(&self, states: &[AnyState]) -> Result<Arc<dyn AnyLeaves>, SearchError> {
        let mut leaves = Leaves::<G>::new(self.game.spec(), 0);
        for (index, state) in states.iter().enumerate() {
            leaves.push(&self.game, index as u32, state.of(&*self.game)?.clone());
        }
        Ok(self.wrap(leaves))
    }

    fn encode_plies(
        &self,
        actions: &[Action],
        offsets: &[i64],
        games: &[i64],
        plies: &[i64],
    ) -> Result<Arc<dyn AnyLeaves>, SearchError> {
        if games.len() != plies.len() {
            let (games, plies) = (games.len(), plies.len());
            return Err(SearchError(format!("there are {games} games and {plies} plies, expected one each a sample")));
        }
        // One root for all samples: a Python game's states keep what was played from them.
        let root = Position::initial(&*self.game);
        let mut leaves = Leaves::<G>::new(self.game.spec(), 0);
        for (sample, (game, ply)) in games.iter().zip(plies).enumerate() {
            let moves = usize::try_from(*game)
                .ok()
                .and_then(|game| Some((*offsets.get(game)?, *offsets.get(game + 1)?)))
                .and_then(|(start, end)| actions.get(start as usize..end as usize))
                .and_then(|moves| moves.get(..usize::try_from(*ply).ok()?))
                .ok_or_else(|| SearchError(format!("sample {sample}: game {game} has no ply {ply}")))?;
            let mut position = root.clone();
            for action in moves {
                self.check_legal(&position, *action)
                    .map_err(|error| SearchError(format!("sample {sample}, ply {}: {error}", position.plies)))?;
                position.play(&*self.game, *action);
            }
            leaves.push(&self.game, sample as u32, position);
        }
        Ok(self.wrap(leaves))
    }

    fn search(&self, config: SearchConfig, num_trees: usize) -> Result<Box<dyn AnySearch>, SearchError> {
        Ok(Box::new(Search::new(Arc::clone(&self.game), config, num_trees)?))
    }
}

/// How many planes of each kind a game has: (bit planes, constant planes).
pub fn plane_counts(spec: &GameSpec) -> (usize, usize) {
    (spec.num_planes(PlaneKind::Bits), spec.num_planes(PlaneKind::Constant))
}
