//! Games and searches with the game's type hidden, for callers that learn it at run time (the Python binding).

use std::any::Any;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::alpha_beta::{AlphaBeta, alpha_beta};
use crate::game::{Action, Description, Game, GameSpec, Outcome, PlaneKind, Planes, Player, Position};
use crate::leaves::Leaves;
use crate::lines;
use crate::picture::Picture;
use crate::random::Draws;
use crate::search::{Evaluations, Noise, Root, Search, SearchConfig, SearchError};

/// A position of some game, with the game that made it; a game that [shares its states](GameSpec::shares_states_with) can
/// read it too.
#[derive(Clone)]
pub struct AnyState {
    inner: Arc<dyn AnyPosition>,
}

/// [`Made`] with the game's type hidden.
trait AnyPosition: Any + Send + Sync {
    fn plies(&self) -> u32;
    fn spec(&self) -> &GameSpec;
    fn equals(&self, other: &dyn AnyPosition) -> bool;
    fn hash_planes(&self, hasher: &mut DefaultHasher);
}

struct Made<G: Game> {
    game: Arc<G>,
    position: Position<G::State>,
}

impl<G: Game> AnyPosition for Made<G> {
    fn plies(&self) -> u32 {
        self.position.plies
    }
    fn spec(&self) -> &GameSpec {
        self.game.spec()
    }
    fn equals(&self, other: &dyn AnyPosition) -> bool {
        let other = (other as &dyn Any).downcast_ref::<Self>();
        other.is_some_and(|other| other.position == self.position)
    }
    fn hash_planes(&self, hasher: &mut DefaultHasher) {
        let spec = self.game.spec();
        let mut bits = vec![0; spec.num_planes(PlaneKind::Bits) * spec.bytes_per_plane()];
        let mut constants = vec![0.0; spec.num_planes(PlaneKind::Constant)];
        self.game.encode(&self.position.state, &mut Planes::new(&mut bits, &mut constants, spec.bytes_per_plane()));
        hasher.write(&bits);
        for number in constants {
            hasher.write_u32(number.to_bits());
        }
    }
}

/// States are equal if their games have the same name, options and encoding, and their positions and histories are equal as
/// far as rules and planes tell them apart.
impl PartialEq for AnyState {
    fn eq(&self, other: &Self) -> bool {
        let (spec, other_spec) = (self.inner.spec(), other.inner.spec());
        let is_same_game =
            || spec.full_name() == other_spec.full_name() && spec.encoder_id() == other_spec.encoder_id();
        Arc::ptr_eq(&self.inner, &other.inner) || (is_same_game() && self.inner.equals(&*other.inner))
    }
}

impl Hash for AnyState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let mut planes = DefaultHasher::new();
        self.inner.hash_planes(&mut planes);
        (self.inner.spec().full_name(), self.plies(), planes.finish()).hash(hasher);
    }
}

impl AnyState {
    fn new<G: Game>(game: &Arc<G>, position: Position<G::State>) -> Self {
        Self { inner: Arc::new(Made { game: Arc::clone(game), position }) }
    }

    /// Moves since the initial state.
    pub fn plies(&self) -> u32 {
        self.inner.plies()
    }

    /// The position, if this game can read it.
    fn of<G: Game>(&self, game: &Arc<G>) -> Result<&Position<G::State>, SearchError> {
        (&*self.inner as &dyn Any)
            .downcast_ref::<Made<G>>()
            .filter(|made| Arc::ptr_eq(&made.game, game) || made.game.spec().shares_states_with(game.spec()))
            .map(|made| &made.position)
            .ok_or_else(|| foreign(self.inner.spec(), game.spec()))
    }
}

fn foreign(found: &GameSpec, expected: &GameSpec) -> SearchError {
    let (found_name, expected_name) = (found.full_name(), expected.full_name());
    if found_name != expected_name {
        return SearchError(format!("this state is of {found_name}, expected a state of {expected_name}"));
    }
    let size = |spec: &GameSpec| {
        let (height, width) = spec.board_shape();
        format!("version {}, {height}x{width} squares, {} actions", spec.version(), spec.num_actions())
    };
    let (found, expected) = (size(found), size(expected));
    SearchError(format!(
        "this state is of another {expected_name} ({found}), expected a state of this one ({expected})"
    ))
}

impl fmt::Debug for AnyState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "AnyState {{ game: {}, plies: {} }}", self.inner.spec().full_name(), self.plies())
    }
}

/// [`Leaves`] with the game's type hidden.
pub trait AnyLeaves: Send + Sync {
    /// See [`Leaves::ticket`].
    fn ticket(&self) -> u64;
    /// See [`Leaves::budget_spent`].
    fn budget_spent(&self) -> bool;
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
    fn rollout_values(&self, num_rollouts: u32, seed: u64, pulse: &dyn Fn()) -> Vec<f32>;
    /// See [`Leaves::owners_after`].
    ///
    /// # Errors
    /// As there.
    fn owners_after(&self, actions: &[Action], offsets: &[i64]) -> Result<Option<Vec<i8>>, String>;
}

struct ErasedLeaves<G: Game> {
    game: Arc<G>,
    leaves: Arc<Leaves<G>>,
}

impl<G: Game> AnyLeaves for ErasedLeaves<G> {
    fn ticket(&self) -> u64 {
        self.leaves.ticket()
    }
    fn budget_spent(&self) -> bool {
        self.leaves.budget_spent()
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
    fn rollout_values(&self, num_rollouts: u32, seed: u64, pulse: &dyn Fn()) -> Vec<f32> {
        self.leaves.rollout_values(&self.game, num_rollouts, seed, pulse)
    }
    fn owners_after(&self, actions: &[Action], offsets: &[i64]) -> Result<Option<Vec<i8>>, String> {
        self.leaves.owners_after(&self.game, actions, offsets)
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
    fn gather(&mut self, max_leaves: usize, max_settled: u32) -> Arc<dyn AnyLeaves>;
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
    fn best_line(&self, tree: usize, first: Option<Action>) -> Vec<Action>;
    /// See [`Search::restrict`].
    ///
    /// # Errors
    /// As there.
    fn restrict(&mut self, tree: usize, allowed: &[Action]) -> Result<(), SearchError>;
    /// See [`Search::favour`].
    ///
    /// # Errors
    /// As there.
    fn favour(&mut self, tree: usize, favoured: &[Action]) -> Result<(), SearchError>;
    /// The position at a tree's root.
    fn state(&self, tree: usize) -> AnyState;
    /// See [`Search::clear_cache`].
    fn clear_cache(&mut self);
    /// See [`Search::num_cached`].
    fn num_cached(&self) -> u64;
    /// See [`Search::config`].
    fn config(&self) -> &SearchConfig;
    /// See [`Search::num_leaves`].
    fn num_leaves(&self) -> u64;
    /// See [`Search::num_collisions`].
    fn num_collisions(&self) -> u64;
    /// See [`Search::num_bytes`].
    fn num_bytes(&self) -> usize;
}

impl<G: Game> AnySearch for Search<G> {
    fn num_trees(&self) -> usize {
        self.num_trees()
    }
    fn reset(&mut self, tree: usize, state: &AnyState) -> Result<(), SearchError> {
        let position = state.of(self.game())?.clone();
        self.reset(tree, position)
    }
    fn advance(&mut self, tree: usize, action: Action, keep: bool) -> Result<(), SearchError> {
        self.advance(tree, action, keep)
    }
    fn begin(&mut self, tree: usize, num_simulations: u32, noise: Noise) -> Result<(), SearchError> {
        self.begin(tree, num_simulations, noise)
    }
    fn gather(&mut self, max_leaves: usize, max_settled: u32) -> Arc<dyn AnyLeaves> {
        Arc::new(ErasedLeaves { leaves: self.gather(max_leaves, max_settled), game: Arc::clone(self.game()) })
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
    fn best_line(&self, tree: usize, first: Option<Action>) -> Vec<Action> {
        self.best_line(tree, first)
    }
    fn restrict(&mut self, tree: usize, allowed: &[Action]) -> Result<(), SearchError> {
        self.restrict(tree, allowed)
    }
    fn favour(&mut self, tree: usize, favoured: &[Action]) -> Result<(), SearchError> {
        self.favour(tree, favoured)
    }
    fn state(&self, tree: usize) -> AnyState {
        AnyState::new(self.game(), self.position(tree).clone())
    }
    fn clear_cache(&mut self) {
        self.clear_cache();
    }
    fn num_cached(&self) -> u64 {
        self.num_cached()
    }
    fn config(&self) -> &SearchConfig {
        self.config()
    }
    fn num_leaves(&self) -> u64 {
        self.num_leaves()
    }
    fn num_collisions(&self) -> u64 {
        self.num_collisions()
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
    /// See [`Position::legal_actions`].
    ///
    /// # Errors
    /// If the state is of another game.
    fn legal_actions(&self, state: &AnyState, past_soft_endings: bool) -> Result<Vec<Action>, SearchError>;
    /// The position after an action, which may lead on past a soft ending.
    ///
    /// # Errors
    /// If the state is of another game, or the action is illegal.
    fn play(&self, state: &AnyState, action: Action) -> Result<AnyState, SearchError>;
    /// The outcome by the rules or the ply cap.
    ///
    /// # Errors
    /// If the state is of another game.
    fn outcome(&self, state: &AnyState) -> Result<Option<Outcome>, SearchError>;
    /// See [`Game::score`].
    ///
    /// # Errors
    /// If the state is of another game.
    fn score(&self, state: &AnyState) -> Result<Option<f32>, SearchError>;
    /// See [`Game::ownership`].
    ///
    /// # Errors
    /// If the state is of another game.
    fn ownership(&self, state: &AnyState, num_games: u32, seed: u64) -> Result<Option<Vec<f32>>, SearchError>;
    /// See [`Game::material`].
    ///
    /// # Errors
    /// If the state is of another game.
    fn material(&self, state: &AnyState) -> Result<f32, SearchError>;
    /// See [`alpha_beta`].
    ///
    /// # Errors
    /// Also if the state is of another game.
    fn alpha_beta(
        &self,
        state: &AnyState,
        depth: u32,
        draws: Draws,
        pulse: &dyn Fn(),
    ) -> Result<AlphaBeta, SearchError>;
    /// An action as people write it.
    ///
    /// # Errors
    /// If the state is of another game, or the action is illegal.
    fn action_text(&self, state: &AnyState, action: Action) -> Result<String, SearchError>;
    /// An action in one of [`Game::notations`].
    ///
    /// # Errors
    /// If the state is of another game, the action is illegal or the notation unknown.
    fn action_text_in(&self, state: &AnyState, action: Action, notation: &str) -> Result<String, SearchError>;
    /// See [`Game::notations`].
    fn notations(&self) -> &'static [&'static str];
    /// The legal action, soft endings or not, that a text means in any of the game's notations; `None` if there is not just
    /// one.
    ///
    /// # Errors
    /// If the state is of another game.
    fn parse_action(&self, state: &AnyState, text: &str) -> Result<Option<Action>, SearchError>;
    /// See [`Game::position_text`].
    ///
    /// # Errors
    /// If the state is of another game.
    fn position_text(&self, state: &AnyState) -> Result<Option<String>, SearchError>;
    /// A position in one of [`Game::position_notations`].
    ///
    /// # Errors
    /// If the state is of another game or the notation unknown.
    fn position_text_in(&self, state: &AnyState, notation: &str) -> Result<Option<String>, SearchError>;
    /// See [`Game::position_notations`].
    fn position_notations(&self) -> &'static [&'static str];
    /// See [`Game::num_repetitions`].
    ///
    /// # Errors
    /// If the state is of another game.
    fn num_repetitions(&self, state: &AnyState) -> Result<u32, SearchError>;
    /// See [`Game::parse_position`].
    ///
    /// # Errors
    /// If the text is none of the game's positions.
    fn parse_position(&self, text: &str) -> Result<AnyState, SearchError>;
    /// See [`Game::num_starts`].
    fn num_starts(&self) -> u32;
    /// See [`Game::start`].
    ///
    /// # Errors
    /// If there is none with this number.
    fn start(&self, number: i64) -> Result<AnyState, SearchError>;
    /// See [`Game::description`].
    fn description(&self) -> Description;
    /// The board as text.
    ///
    /// # Errors
    /// If the state is of another game.
    fn draw(&self, state: &AnyState) -> Result<String, SearchError>;
    /// See [`Game::picture`].
    ///
    /// # Errors
    /// If the state is of another game.
    fn picture(&self, state: &AnyState) -> Result<Option<Picture>, SearchError>;
    /// See [`lines::perft`].
    ///
    /// # Errors
    /// If the state is of another game.
    fn perft(&self, state: &AnyState, depth: u32, pulse: &dyn Fn()) -> Result<u64, SearchError>;
    /// See [`lines::random_plies`].
    fn random_plies(&self, num_plies: u64, seed: u64, pulse: &dyn Fn()) -> u64;
    /// See [`lines::encode_again`].
    ///
    /// # Errors
    /// If a state is of another game.
    fn encode_again(&self, states: &[AnyState], times: u32, pulse: &dyn Fn()) -> Result<(), SearchError>;
    /// Positions as an evaluator takes them, outside any search.
    ///
    /// # Errors
    /// If a state is of another game.
    fn encode(&self, states: &[AnyState]) -> Result<Arc<dyn AnyLeaves>, SearchError>;
    /// Positions of recorded games: the i-th after `plies[i]` moves of game `games[i]`, whose moves are
    /// `actions[offsets[g]..offsets[g + 1]]` from `starts[g]`, or from the initial state where there is none.
    ///
    /// # Errors
    /// If there are not as many games as plies, an index is out of range or a recorded move is illegal.
    fn encode_plies(
        &self,
        starts: &[Option<AnyState>],
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

    fn check_legal(&self, position: &Position<G::State>, action: Action) -> Result<(), SearchError> {
        if self.game.is_legal(&position.state, action) {
            return Ok(());
        }
        let legal = position.legal_actions(&*self.game, true);
        let board = self.game.draw(&position.state);
        Err(SearchError(format!("action {action} is illegal here, legal are {legal:?}:\n{board}")))
    }

    fn require_notation(&self, notation: &str, known: &[&str]) -> Result<(), SearchError> {
        if known.contains(&notation) {
            return Ok(());
        }
        let known =
            if known.is_empty() { "it has only its own".to_owned() } else { format!("known are {}", known.join(", ")) };
        Err(SearchError(format!("{} has no notation {notation:?}, {known}", self.game.spec().name())))
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
        AnyState::new(&self.game, Position::initial(&*self.game))
    }

    fn player(&self, state: &AnyState) -> Result<Player, SearchError> {
        Ok(self.game.player(&state.of(&self.game)?.state))
    }

    fn legal_actions(&self, state: &AnyState, past_soft_endings: bool) -> Result<Vec<Action>, SearchError> {
        Ok(state.of(&self.game)?.legal_actions(&*self.game, past_soft_endings))
    }

    fn play(&self, state: &AnyState, action: Action) -> Result<AnyState, SearchError> {
        let mut position = state.of(&self.game)?.clone();
        self.check_legal(&position, action)?;
        position.play(&*self.game, action);
        Ok(AnyState::new(&self.game, position))
    }

    fn outcome(&self, state: &AnyState) -> Result<Option<Outcome>, SearchError> {
        Ok(state.of(&self.game)?.outcome(&*self.game))
    }

    fn score(&self, state: &AnyState) -> Result<Option<f32>, SearchError> {
        Ok(self.game.score(&state.of(&self.game)?.state))
    }

    fn ownership(&self, state: &AnyState, num_games: u32, seed: u64) -> Result<Option<Vec<f32>>, SearchError> {
        let mut draws = Draws::new(seed, 0, state.plies().into(), "ownership");
        Ok(self.game.ownership(&state.of(&self.game)?.state, num_games, &mut draws))
    }

    fn material(&self, state: &AnyState) -> Result<f32, SearchError> {
        Ok(self.game.material(&state.of(&self.game)?.state))
    }

    fn alpha_beta(
        &self,
        state: &AnyState,
        depth: u32,
        draws: Draws,
        pulse: &dyn Fn(),
    ) -> Result<AlphaBeta, SearchError> {
        alpha_beta(&*self.game, state.of(&self.game)?, depth, draws, pulse)
    }

    fn action_text(&self, state: &AnyState, action: Action) -> Result<String, SearchError> {
        let position = state.of(&self.game)?;
        self.check_legal(position, action)?;
        Ok(self.game.action_text(&position.state, action))
    }

    fn action_text_in(&self, state: &AnyState, action: Action, notation: &str) -> Result<String, SearchError> {
        let position = state.of(&self.game)?;
        self.check_legal(position, action)?;
        self.require_notation(notation, self.game.notations())?;
        Ok(self.game.action_text_in(&position.state, action, notation))
    }

    fn notations(&self) -> &'static [&'static str] {
        self.game.notations()
    }

    fn parse_action(&self, state: &AnyState, text: &str) -> Result<Option<Action>, SearchError> {
        let position = state.of(&self.game)?;
        let legal = position.legal_actions(&*self.game, true);
        Ok(self.game.parse_action(&position.state, &legal, text))
    }

    fn position_text(&self, state: &AnyState) -> Result<Option<String>, SearchError> {
        Ok(self.game.position_text(&state.of(&self.game)?.state))
    }

    fn position_text_in(&self, state: &AnyState, notation: &str) -> Result<Option<String>, SearchError> {
        self.require_notation(notation, self.game.position_notations())?;
        Ok(self.game.position_text_in(&state.of(&self.game)?.state, notation))
    }

    fn position_notations(&self) -> &'static [&'static str] {
        self.game.position_notations()
    }

    fn num_repetitions(&self, state: &AnyState) -> Result<u32, SearchError> {
        Ok(self.game.num_repetitions(&state.of(&self.game)?.state))
    }

    fn parse_position(&self, text: &str) -> Result<AnyState, SearchError> {
        let state = self.game.parse_position(text).map_err(SearchError)?;
        Ok(AnyState::new(&self.game, Position { state, plies: 0 }))
    }

    fn num_starts(&self) -> u32 {
        self.game.num_starts()
    }

    fn start(&self, number: i64) -> Result<AnyState, SearchError> {
        let last = self.num_starts() - 1;
        let number = u32::try_from(number).ok().filter(|number| *number <= last).ok_or_else(|| {
            SearchError(format!("{} has no start {number}: they are 0 to {last}", self.game.spec().name()))
        })?;
        Ok(AnyState::new(&self.game, Position { state: self.game.start(number), plies: 0 }))
    }

    fn description(&self) -> Description {
        self.game.description()
    }

    fn draw(&self, state: &AnyState) -> Result<String, SearchError> {
        Ok(self.game.draw(&state.of(&self.game)?.state))
    }

    fn picture(&self, state: &AnyState) -> Result<Option<Picture>, SearchError> {
        Ok(self.game.picture(&state.of(&self.game)?.state))
    }

    fn perft(&self, state: &AnyState, depth: u32, pulse: &dyn Fn()) -> Result<u64, SearchError> {
        Ok(lines::perft(&*self.game, &state.of(&self.game)?.state, depth, pulse))
    }

    fn random_plies(&self, num_plies: u64, seed: u64, pulse: &dyn Fn()) -> u64 {
        lines::random_plies(&*self.game, num_plies, seed, pulse)
    }

    fn encode_again(&self, states: &[AnyState], times: u32, pulse: &dyn Fn()) -> Result<(), SearchError> {
        let states: Result<Vec<_>, _> = states.iter().map(|state| Ok(&state.of(&self.game)?.state)).collect();
        lines::encode_again(&*self.game, &states?, times, pulse);
        Ok(())
    }

    fn encode(&self, states: &[AnyState]) -> Result<Arc<dyn AnyLeaves>, SearchError> {
        let mut leaves = Leaves::<G>::new(self.game.spec(), 0);
        for (index, state) in states.iter().enumerate() {
            leaves.push(&self.game, index as u32, state.of(&self.game)?.clone());
        }
        Ok(self.wrap(leaves))
    }

    fn encode_plies(
        &self,
        starts: &[Option<AnyState>],
        actions: &[Action],
        offsets: &[i64],
        games: &[i64],
        plies: &[i64],
    ) -> Result<Arc<dyn AnyLeaves>, SearchError> {
        if games.len() != plies.len() {
            let (games, plies) = (games.len(), plies.len());
            return Err(SearchError(format!("there are {games} games and {plies} plies, expected one each a sample")));
        }
        // One initial state for all samples: a Python game's states keep what was played from them.
        let initial = Position::initial(&*self.game);
        let mut leaves = Leaves::<G>::new(self.game.spec(), 0);
        for (sample, (game, ply)) in games.iter().zip(plies).enumerate() {
            let moves = usize::try_from(*game)
                .ok()
                .and_then(|game| Some((*offsets.get(game)?, *offsets.get(game + 1)?)))
                .and_then(|(start, end)| actions.get(start as usize..end as usize))
                .and_then(|moves| moves.get(..usize::try_from(*ply).ok()?))
                .ok_or_else(|| SearchError(format!("sample {sample}: game {game} has no ply {ply}")))?;
            let start = starts.get(*game as usize).and_then(Option::as_ref);
            let mut position = start.map_or(Ok(&initial), |start| start.of(&self.game))?.clone();
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
