//! States and positions: an [`AnyState`] is a value, an [`AnyPosition`] is a state that a game reads.

use std::any::Any;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::alpha_beta::{AlphaBeta, alpha_beta, alpha_beta_seen};
use crate::encoding::encoded;
use crate::error::UsageError;
use crate::evaluation::{Evaluation, LinearEvaluation, Material};
use crate::game::{Action, Endings, Game, GameSpec, Notation, Outcome, Points, Position, PositionKeys};
use crate::perft::perft;
use crate::picture::Picture;
use crate::player::Player;
use crate::random::RandomStream;
use crate::retrograde::ResultTable;
use crate::syzygy::{Syzygy, Wdl};
use crate::tree_errors::{TreeErrors, Watch};

/// A position with the game that made it. A game that [shares its states](GameSpec::shares_states_with) can read it, too.
#[derive(Clone)]
pub struct AnyState {
    stored: Arc<dyn Stored>,
}

/// [`StoredPosition`] with the game's type hidden.
trait Stored: Any + Send + Sync {
    fn plies(&self) -> u32;
    fn spec(&self) -> &GameSpec;
    fn equals(&self, other: &dyn Stored) -> bool;
    fn hash_planes(&self) -> u64;
}

struct StoredPosition<G: Game> {
    game: Arc<G>,
    position: Position<G::State>,
}

impl<G: Game> Stored for StoredPosition<G> {
    fn plies(&self) -> u32 {
        self.position.plies
    }

    fn spec(&self) -> &GameSpec {
        self.game.spec()
    }

    fn equals(&self, other: &dyn Stored) -> bool {
        let other = (other as &dyn Any).downcast_ref::<Self>();
        other.is_some_and(|other| other.position == self.position)
    }

    fn hash_planes(&self) -> u64 {
        let (bits, constants) = encoded(&*self.game, &self.position.state);
        let mut hasher = DefaultHasher::new();
        hasher.write(&bits);
        for number in constants {
            hasher.write_u32(number.to_bits());
        }
        hasher.finish()
    }
}

/// States are equal if their games have the same name, options and encoding, and their positions and histories are equal as
/// far as rules and planes distinguish them.
impl PartialEq for AnyState {
    fn eq(&self, other: &Self) -> bool {
        let (spec, other_spec) = (self.stored.spec(), other.stored.spec());
        let is_same_game =
            || spec.full_name() == other_spec.full_name() && spec.encoder_id() == other_spec.encoder_id();
        Arc::ptr_eq(&self.stored, &other.stored) || (is_same_game() && self.stored.equals(&*other.stored))
    }
}

impl Hash for AnyState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.stored.spec().full_name(), self.plies(), self.stored.hash_planes()).hash(hasher);
    }
}

impl fmt::Debug for AnyState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "AnyState {{ game: {}, plies: {} }}", self.stored.spec().full_name(), self.plies())
    }
}

impl AnyState {
    pub(super) fn new<G: Game>(game: &Arc<G>, position: Position<G::State>) -> Self {
        Self { stored: Arc::new(StoredPosition { game: Arc::clone(game), position }) }
    }

    /// Moves since the initial state.
    pub fn plies(&self) -> u32 {
        self.stored.plies()
    }

    /// The position.
    ///
    /// # Errors
    /// If the game cannot read it.
    pub(super) fn read<G: Game>(&self, game: &Arc<G>) -> Result<&Position<G::State>, UsageError> {
        (&*self.stored as &dyn Any)
            .downcast_ref::<StoredPosition<G>>()
            .filter(|stored| Arc::ptr_eq(&stored.game, game) || stored.game.spec().shares_states_with(game.spec()))
            .map(|stored| &stored.position)
            .ok_or_else(|| foreign(self.stored.spec(), game.spec()))
    }
}

fn foreign(found: &GameSpec, expected: &GameSpec) -> UsageError {
    let (found_name, expected_name) = (found.full_name(), expected.full_name());
    if found_name != expected_name {
        return UsageError(format!("this state is of {found_name}, expected a state of {expected_name}"));
    }
    let size = |spec: &GameSpec| {
        let (height, width) = spec.board_shape();
        format!("version {}, {height}x{width} squares, {} actions", spec.version(), spec.num_actions())
    };
    let (found, expected) = (size(found), size(expected));
    UsageError(format!("this state is of another {expected_name} ({found}), expected a state of this one ({expected})"))
}

/// A state that a game reads. Its methods are those of [`Game`] and [`Position`].
#[allow(missing_docs)]
pub trait AnyPosition {
    fn player(&self) -> Player;
    fn legal_actions(&self, past_soft_endings: bool) -> Vec<Action>;
    fn outcome(&self) -> Option<Outcome>;
    fn score(&self) -> Option<f32>;
    fn ownership(&self, num_games: u32, seed: u64) -> Option<Vec<f32>>;
    fn material(&self) -> f32;
    /// See [`ResultTable::get`].
    fn plies_to_end(&self, table: &ResultTable) -> Option<i16>;
    /// See [`Syzygy::wdl`]; `None` also in games without Syzygy tables.
    fn syzygy_wdl(&self, tables: &Syzygy) -> Option<Wdl>;
    /// See [`Syzygy::dtz`]; `None` also in games without Syzygy tables.
    fn syzygy_dtz(&self, tables: &Syzygy) -> Option<i32>;
    fn num_repetitions(&self) -> u32;
    fn board_text(&self) -> String;
    fn picture(&self) -> Option<Picture>;
    fn perft(&self, depth: u32, check_interrupt: &dyn Fn()) -> u64;

    /// The state after an action, which may lead past a soft ending.
    ///
    /// # Errors
    /// If the action is illegal.
    fn play(&self, action: Action) -> Result<AnyState, UsageError>;

    /// The state after up to so many random moves of a game that begins here, and the moves with their players.
    ///
    /// Each move is drawn uniformly among those that do not end the game; there are fewer if all would.
    fn draw_opening(&self, seed: u64, game_id: u64, num_plies: u32) -> (AnyState, Vec<(Action, Player)>);

    /// See [`alpha_beta`]; without an evaluation it counts [`Material`].
    ///
    /// # Errors
    /// If the depth is out of range, the game is over or the evaluation is of another game.
    fn alpha_beta(
        &self,
        evaluation: Option<&LinearEvaluation>,
        depth: u32,
        noise: f32,
        random: RandomStream,
        check_interrupt: &dyn Fn(),
    ) -> Result<AlphaBeta, UsageError>;

    /// A search as [`Self::alpha_beta`] without noise, and what its inner nodes say of its evaluation.
    ///
    /// # Errors
    /// As [`Self::alpha_beta`].
    fn tree_errors(
        &self,
        evaluation: &LinearEvaluation,
        depth: u32,
        random: RandomStream,
        check_interrupt: &dyn Fn(),
    ) -> Result<(AlphaBeta, TreeErrors), UsageError>;

    /// A legal action as text, in the game's own notation or one of [`Notation::notations`](crate::game::Notation::notations).
    ///
    /// # Errors
    /// If the action is illegal or the notation unknown.
    fn action_text(&self, action: Action, notation: Option<&str>) -> Result<String, UsageError>;

    /// The legal action, also past a soft ending, that a text means in any of the game's notations; `None` if no action or
    /// more than one is written so.
    fn parse_action(&self, text: &str) -> Option<Action>;

    /// The position as text, in the game's own notation or one of [`Notation::position_notations`](crate::game::Notation::position_notations).
    ///
    /// # Errors
    /// If the notation is unknown.
    fn position_text(&self, notation: Option<&str>) -> Result<Option<String>, UsageError>;
}

/// The [`AnyPosition`] of a game of known type.
pub(super) struct ErasedPosition<'a, G: Game> {
    pub game: &'a Arc<G>,
    pub position: &'a Position<G::State>,
}

impl<G: Game> AnyPosition for ErasedPosition<'_, G> {
    fn player(&self) -> Player {
        self.game.player(&self.position.state)
    }

    fn legal_actions(&self, past_soft_endings: bool) -> Vec<Action> {
        self.position.legal_actions(&**self.game, past_soft_endings)
    }

    fn outcome(&self) -> Option<Outcome> {
        self.position.outcome(&**self.game)
    }

    fn score(&self) -> Option<f32> {
        self.game.points().map(|points| points.score(&self.position.state))
    }

    fn ownership(&self, num_games: u32, seed: u64) -> Option<Vec<f32>> {
        let mut random = RandomStream::new(seed, 0, self.position.plies.into(), "ownership");
        self.game.points().map(|points| points.ownership(&self.position.state, num_games, &mut random))
    }

    fn material(&self) -> f32 {
        Material.evaluate(&**self.game, &self.position.state)
    }

    fn plies_to_end(&self, table: &ResultTable) -> Option<i16> {
        table.get(&**self.game, &self.position.state)
    }

    fn syzygy_wdl(&self, tables: &Syzygy) -> Option<Wdl> {
        tables.wdl(self.game.endings()?.syzygy_board(&self.position.state)?.0)
    }

    fn syzygy_dtz(&self, tables: &Syzygy) -> Option<i32> {
        tables.dtz(self.game.endings()?.syzygy_board(&self.position.state)?.0)
    }

    fn num_repetitions(&self) -> u32 {
        self.game.keys().map_or(0, |keys| keys.num_repetitions(&self.position.state))
    }

    fn board_text(&self) -> String {
        self.game.board_text(&self.position.state)
    }

    fn picture(&self) -> Option<Picture> {
        self.game.picture(&self.position.state)
    }

    fn perft(&self, depth: u32, check_interrupt: &dyn Fn()) -> u64 {
        perft(&**self.game, &self.position.state, depth, check_interrupt)
    }

    fn play(&self, action: Action) -> Result<AnyState, UsageError> {
        require_legal(&**self.game, self.position, action)?;
        let mut next = self.position.clone();
        next.play(&**self.game, action);
        Ok(AnyState::new(self.game, next))
    }

    fn draw_opening(&self, seed: u64, game_id: u64, num_plies: u32) -> (AnyState, Vec<(Action, Player)>) {
        let (game, mut position, mut moves) = (&**self.game, self.position.clone(), Vec::new());
        for ply in 0..num_plies {
            let Some((action, after)) = opening_move(game, &position, seed, game_id, ply) else { break };
            moves.push((action, game.player(&position.state)));
            position = after;
        }
        (AnyState::new(self.game, position), moves)
    }

    fn alpha_beta(
        &self,
        evaluation: Option<&LinearEvaluation>,
        depth: u32,
        noise: f32,
        random: RandomStream,
        check_interrupt: &dyn Fn(),
    ) -> Result<AlphaBeta, UsageError> {
        let (game, root) = (&**self.game, self.position);
        let Some(evaluation) = evaluation else {
            return alpha_beta(game, root, &Material, depth, noise, random, check_interrupt);
        };
        evaluation.require_game(game.spec())?;
        alpha_beta(game, root, evaluation, depth, noise, random, check_interrupt)
    }

    fn tree_errors(
        &self,
        evaluation: &LinearEvaluation,
        depth: u32,
        random: RandomStream,
        check_interrupt: &dyn Fn(),
    ) -> Result<(AlphaBeta, TreeErrors), UsageError> {
        let (game, root) = (&**self.game, self.position);
        evaluation.require_game(game.spec())?;
        let mut watch = Watch::new(evaluation);
        let found = alpha_beta_seen(game, root, evaluation, depth, 0.0, random, check_interrupt, &mut watch)?;
        Ok((found, watch.errors(game.spec())))
    }

    fn action_text(&self, action: Action, notation: Option<&str>) -> Result<String, UsageError> {
        require_legal(&**self.game, self.position, action)?;
        let Some(notation) = notation else { return Ok(self.game.action_text(&self.position.state, action)) };
        let (ability, state) = (self.game.notation(), &self.position.state);
        let known = ability.map_or(&[][..], |ability| ability.notations());
        require_notation(self.game.spec(), notation, known)?;
        Ok(ability.and_then(|ability| ability.action_text_in(state, action, notation)).expect("it is a known notation"))
    }

    fn parse_action(&self, text: &str) -> Option<Action> {
        self.game.parse_action(&self.position.state, &self.legal_actions(true), text)
    }

    fn position_text(&self, notation: Option<&str>) -> Result<Option<String>, UsageError> {
        let (ability, state) = (self.game.notation(), &self.position.state);
        let Some(notation) = notation else { return Ok(ability.map(|ability| ability.position_text(state))) };
        let known = ability.map_or(&[][..], |ability| ability.position_notations());
        require_notation(self.game.spec(), notation, known)?;
        Ok(ability.map(|ability| ability.position_text_in(state, notation)))
    }
}

/// A move drawn uniformly among those that do not end the game, and the position after it; `None` if all do.
fn opening_move<G: Game>(
    game: &G,
    position: &Position<G::State>,
    seed: u64,
    game_id: u64,
    ply: u32,
) -> Option<(Action, Position<G::State>)> {
    let mut actions = position.legal_actions(game, false);
    for attempt in 0..actions.len() {
        let purpose = format!("opening {attempt}");
        let num_left = actions.len() - attempt;
        let drawn = (RandomStream::new(seed, game_id, ply.into(), &purpose).uniform() * num_left as f64) as usize;
        let mut after = position.clone();
        after.play(game, actions[drawn]);
        if after.outcome(game).is_none() {
            return Some((actions[drawn], after));
        }
        actions[drawn] = actions[num_left - 1];
    }
    None
}

pub(super) fn require_legal<G: Game>(
    game: &G,
    position: &Position<G::State>,
    action: Action,
) -> Result<(), UsageError> {
    if game.is_legal(&position.state, action) {
        return Ok(());
    }
    let (legal, board) = (position.legal_actions(game, true), game.board_text(&position.state));
    Err(UsageError(format!("action {action} is illegal here, legal are {legal:?}:\n{board}")))
}

fn require_notation(spec: &GameSpec, notation: &str, known: &[&str]) -> Result<(), UsageError> {
    if known.contains(&notation) {
        return Ok(());
    }
    let known =
        if known.is_empty() { ", it has only its own".into() } else { format!("; available: {}", known.join(", ")) };
    Err(UsageError(format!("{} has no notation {notation:?}{known}", spec.name())))
}
