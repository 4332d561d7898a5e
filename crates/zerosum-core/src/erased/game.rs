//! Games.

use std::sync::Arc;

use super::deepening::AnyDeepening;
use super::position::{AnyPosition, AnyState, ErasedPosition, require_legal};
use super::search::{AnyLeaves, AnySearch, leaves_of};
use crate::deepening::{Deepening, Settings};
use crate::error::UsageError;
use crate::game::{Action, Description, Game, GameSpec, Notation, Position, Starts};
use crate::leaves::Leaves;
use crate::perft;
use crate::retrograde::{self, ResultTable};
use crate::search::{Search, SearchConfig};

/// [`Game`] with its type hidden.
pub trait AnyGame: Send + Sync {
    /// See [`Game::spec`].
    fn spec(&self) -> &GameSpec;

    /// See [`Game::description`].
    fn description(&self) -> Description;

    /// See [`Notation::notations`](crate::game::Notation::notations).
    fn notations(&self) -> &'static [&'static str];

    /// See [`Notation::position_notations`](crate::game::Notation::position_notations).
    fn position_notations(&self) -> &'static [&'static str];

    /// The position before the first move.
    fn initial_state(&self) -> AnyState;

    /// Number of positions that a game may begin with; see [`Starts`](crate::game::Starts).
    fn num_starts(&self) -> u32;

    /// The start with this number.
    ///
    /// # Errors
    /// If there is no start with this number.
    fn start(&self, number: i64) -> Result<AnyState, UsageError>;

    /// See [`Notation::parse_position`](crate::game::Notation::parse_position).
    ///
    /// # Errors
    /// If the text is not a position of the game.
    fn parse_position(&self, text: &str) -> Result<AnyState, UsageError>;

    /// The state as this game reads it.
    ///
    /// # Errors
    /// If the state is of another game.
    fn position<'a>(&'a self, state: &'a AnyState) -> Result<Box<dyn AnyPosition + 'a>, UsageError>;

    /// See [`perft::random_plies`].
    fn random_plies(&self, num_plies: u64, seed: u64, check_interrupt: &dyn Fn()) -> u64;

    /// See [`perft::encode_again`].
    ///
    /// # Errors
    /// If a state is of another game.
    fn encode_again(&self, states: &[AnyState], times: u32, check_interrupt: &dyn Fn()) -> Result<(), UsageError>;

    /// Positions as an evaluator takes them, outside any search.
    ///
    /// # Errors
    /// If a state is of another game.
    fn encode(&self, states: &[AnyState]) -> Result<Arc<dyn AnyLeaves>, UsageError>;

    /// Positions of recorded games: the i-th is after `plies[i]` moves of game `games[i]`. The moves of game g are
    /// `actions[offsets[g]..offsets[g + 1]]`, from `starts[g]` or, if that is missing, from the initial state.
    ///
    /// # Errors
    /// If `games` and `plies` differ in length, an index is out of range or a recorded move is illegal.
    fn encode_plies(
        &self,
        starts: &[Option<AnyState>],
        actions: &[Action],
        offsets: &[i64],
        games: &[i64],
        plies: &[i64],
    ) -> Result<Arc<dyn AnyLeaves>, UsageError>;

    /// See [`retrograde::solve_game`] and, with names of endings, [`retrograde::solve_endings`].
    ///
    /// # Errors
    /// If the game, or an ending, cannot be solved in so much memory.
    fn solve(&self, endings: &[String], max_bytes: u64, check_interrupt: &dyn Fn()) -> Result<ResultTable, UsageError>;

    /// See [`Search::new`].
    ///
    /// # Errors
    /// If a setting is not allowed.
    fn search(&self, config: SearchConfig, num_trees: usize) -> Result<Box<dyn AnySearch>, UsageError>;

    /// See [`Deepening::new`].
    ///
    /// # Errors
    /// If the evaluation is of another game.
    fn deepening(&self, settings: Settings) -> Result<Box<dyn AnyDeepening>, UsageError>;
}

/// The [`AnyGame`] of a game of known type.
pub struct Erased<G: Game> {
    game: Arc<G>,
}

impl<G: Game> Erased<G> {
    /// Hides the game's type.
    pub fn new(game: G) -> Self {
        Self { game: Arc::new(game) }
    }

    fn state(&self, state: G::State) -> AnyState {
        AnyState::new(&self.game, Position { state, plies: 0 })
    }

    fn erase(&self, leaves: Leaves<G>) -> Arc<dyn AnyLeaves> {
        leaves_of(&self.game, leaves)
    }
}

/// The ply and the error of the first illegal one of some moves, which there must be.
fn first_illegal<G: Game>(game: &G, start: &Position<G::State>, moves: &[Action]) -> String {
    let mut position = start.clone();
    for action in moves {
        if let Err(error) = require_legal(game, &position, *action) {
            return format!("ply {}: {error}", position.plies);
        }
        position.play(game, *action);
    }
    unreachable!("a move is illegal");
}

impl<G: Game> AnyGame for Erased<G> {
    fn spec(&self) -> &GameSpec {
        self.game.spec()
    }

    fn description(&self) -> Description {
        self.game.description()
    }

    fn notations(&self) -> &'static [&'static str] {
        self.game.notation().map_or(&[], |notation| notation.notations())
    }

    fn position_notations(&self) -> &'static [&'static str] {
        self.game.notation().map_or(&[], |notation| notation.position_notations())
    }

    fn initial_state(&self) -> AnyState {
        self.state(self.game.initial_state())
    }

    fn num_starts(&self) -> u32 {
        self.game.starts().map_or(1, Starts::num_starts)
    }

    fn start(&self, number: i64) -> Result<AnyState, UsageError> {
        let last = self.num_starts() - 1;
        let number = u32::try_from(number).ok().filter(|number| *number <= last).ok_or_else(|| {
            UsageError(format!("{} has no start {number}: they are 0 to {last}", self.game.spec().name()))
        })?;
        Ok(self.state(self.game.starts().map_or_else(|| self.game.initial_state(), |starts| starts.start(number))))
    }

    fn parse_position(&self, text: &str) -> Result<AnyState, UsageError> {
        let Some(notation) = self.game.notation() else {
            let name = self.spec().name();
            return Err(UsageError(format!("{name} has no notation for positions: give the moves from the start")));
        };
        Ok(self.state(notation.parse_position(text).map_err(UsageError)?))
    }

    fn position<'a>(&'a self, state: &'a AnyState) -> Result<Box<dyn AnyPosition + 'a>, UsageError> {
        Ok(Box::new(ErasedPosition { game: &self.game, position: state.read(&self.game)? }))
    }

    fn random_plies(&self, num_plies: u64, seed: u64, check_interrupt: &dyn Fn()) -> u64 {
        perft::random_plies(&*self.game, num_plies, seed, check_interrupt)
    }

    fn encode_again(&self, states: &[AnyState], times: u32, check_interrupt: &dyn Fn()) -> Result<(), UsageError> {
        let states: Result<Vec<_>, _> = states.iter().map(|state| Ok(&state.read(&self.game)?.state)).collect();
        perft::encode_again(&*self.game, &states?, times, check_interrupt);
        Ok(())
    }

    fn encode(&self, states: &[AnyState]) -> Result<Arc<dyn AnyLeaves>, UsageError> {
        let mut leaves = Leaves::<G>::new(self.game.spec(), 0);
        for (index, state) in states.iter().enumerate() {
            leaves.push(&self.game, index as u32, state.read(&self.game)?.clone());
        }
        Ok(self.erase(leaves))
    }

    fn encode_plies(
        &self,
        starts: &[Option<AnyState>],
        actions: &[Action],
        offsets: &[i64],
        games: &[i64],
        plies: &[i64],
    ) -> Result<Arc<dyn AnyLeaves>, UsageError> {
        if games.len() != plies.len() {
            let (games, plies) = (games.len(), plies.len());
            return Err(UsageError(format!("there are {games} games and {plies} plies, expected one each a sample")));
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
                .ok_or_else(|| UsageError(format!("sample {sample}: game {game} has no ply {ply}")))?;
            let start = starts.get(*game as usize).and_then(Option::as_ref);
            let start = start.map_or(Ok(&initial), |start| start.read(&self.game))?;
            let mut position = start.clone();
            if !moves.iter().all(|action| position.play_if_legal(&*self.game, *action)) {
                let error = first_illegal(&*self.game, start, moves);
                return Err(UsageError(format!("sample {sample}, {error}")));
            }
            leaves.push(&self.game, sample as u32, position);
        }
        Ok(self.erase(leaves))
    }

    fn solve(&self, endings: &[String], max_bytes: u64, check_interrupt: &dyn Fn()) -> Result<ResultTable, UsageError> {
        let solved = match endings {
            [] => retrograde::solve_game(&*self.game, max_bytes, check_interrupt)
                .map_err(|error| format!("{} {error}", self.spec().full_name())),
            _ => retrograde::solve_endings(&*self.game, endings, max_bytes, check_interrupt),
        };
        solved.map_err(UsageError)
    }

    fn search(&self, config: SearchConfig, num_trees: usize) -> Result<Box<dyn AnySearch>, UsageError> {
        Ok(Box::new(Search::new(Arc::clone(&self.game), config, num_trees)?))
    }

    fn deepening(&self, settings: Settings) -> Result<Box<dyn AnyDeepening>, UsageError> {
        Ok(Box::new(Deepening::new(Arc::clone(&self.game), settings)?))
    }
}
