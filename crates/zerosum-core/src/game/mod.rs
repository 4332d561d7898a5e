//! The interface of a game: the [`Game`] trait, and the values in its methods. What only some games have is in
//! [`abilities`].

pub mod abilities;
mod planes;
mod spec;

use std::borrow::Cow;

pub use abilities::{Endings, Notation, Points, PositionKey, PositionKeys, Starts, TacticalMove, Tactics, Valuation};
pub use planes::Planes;
pub use spec::{GameSpec, PlaneKind, PlaneSpec};

use crate::picture::Picture;
use crate::player::{Player, ValueForFirst};
use abilities::Absent;

/// An action's index in `0..num_actions`; the same number is the network's policy output.
pub type Action = u16;

/// The end of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The result in [−1, 1].
    pub result: ValueForFirst,
    /// The ending in the words of the game's federation, such as "four in a row".
    pub ending: Cow<'static, str>,
    /// False if no legal move is left (mate, a full board). True if the rules stop a game that could go on (repetition,
    /// fifty moves, two passes, the ply cap). People's records go on past such an end, so moves past it are legal.
    pub is_soft: bool,
}

impl Outcome {
    /// A win of `winner` by `ending`, without a legal move.
    pub fn win(winner: Player, ending: &'static str) -> Self {
        Self { result: ValueForFirst(winner.sign()), ending: ending.into(), is_soft: false }
    }

    /// A draw by `ending`, without a legal move.
    pub fn draw(ending: &'static str) -> Self {
        Self { result: ValueForFirst(0.0), ending: ending.into(), is_soft: false }
    }

    /// The same outcome of a game that could go on.
    pub fn softly(self) -> Self {
        Self { is_soft: true, ..self }
    }
}

/// The documentation of a game, a paragraph in each field: all domain knowledge of the program besides the planes, the
/// typical number of legal moves and the ply cap. Material is for opponents that learn nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The board and the pieces.
    pub board: String,
    /// The rules and their source, with every choice in which federations differ.
    pub rules: String,
    /// The planes: orientation, history, scale of the counts.
    pub planes: String,
    /// The numbering of actions and how people write them.
    pub actions: String,
    /// The count behind [`Valuation::material`]; empty without one.
    pub material: String,
}

/// The rules of one game with its options. States are values: a copy of a state can be played on.
///
/// A game writes the methods without a default, overrides others where it knows better, and gives those
/// [abilities](abilities) that it has.
///
/// The contract, for every reachable state `s` (tested by `tests/games.rs` and `zerosum check-game`):
/// - `legal_actions(s)` is ascending and below `num_actions`;
/// - `legal_actions(s)` is empty if and only if `outcome(s)` is an outcome that is not soft;
/// - `outcome(s).result` is in [−1, 1];
/// - `encode(s)` writes every plane of the spec once, seen from `player(s)`;
/// - `action_text(s, ·)` is different for different legal actions, and `parse_action` reads it back;
/// - `parse_position(position_text(s))` is `s` without its moves, if the game has a [`Notation`];
/// - equal sequences of actions lead to equal states.
pub trait Game: Send + Sync + 'static {
    /// A position with the history that rules and planes need.
    type State: Clone + PartialEq + Send + Sync + 'static;

    /// The game's name, options and sizes.
    fn spec(&self) -> &GameSpec;

    /// The documentation.
    fn description(&self) -> Description;

    /// The position before the first move.
    fn initial_state(&self) -> Self::State;

    /// The player to move; unspecified once the game is over.
    fn player(&self, state: &Self::State) -> Player;

    /// Appends the legal actions, ascending. Not called if the game is over without a legal move.
    fn legal_actions(&self, state: &Self::State, actions: &mut Vec<Action>);

    /// Makes a legal action.
    fn play(&self, state: &mut Self::State, action: Action);

    /// The outcome by the rules, or `None` while the game goes on.
    fn outcome(&self, state: &Self::State) -> Option<Outcome>;

    /// Writes the planes, seen from the player to move.
    fn encode(&self, state: &Self::State, planes: &mut Planes<'_>);

    /// A legal action as people write it.
    fn action_text(&self, state: &Self::State, action: Action) -> String;

    /// The legal action that a text means in any of the game's notations; `None` if no action or more than one is
    /// written so.
    fn parse_action(&self, state: &Self::State, legal: &[Action], text: &str) -> Option<Action> {
        find_action(legal, text, |action| self.action_text(state, action))
    }

    /// The board for a drawing program; `None` if there is only [`Self::board_text`]. Each game overrides one of the
    /// two.
    fn picture(&self, _state: &Self::State) -> Option<Picture> {
        None
    }

    /// The board as text, several lines.
    fn board_text(&self, state: &Self::State) -> String {
        self.picture(state).map_or_else(String::new, |picture| picture.to_string())
    }

    /// The outcome at the ply cap: a draw, unless the game scores its last position.
    fn outcome_at_cap(&self, _state: &Self::State) -> Outcome {
        Outcome::draw("ply cap")
    }

    /// True if an action of any number is legal, also past a soft ending. A game overrides this if it can tell without
    /// generating all legal actions.
    fn is_legal(&self, state: &Self::State, action: Action) -> bool {
        if self.outcome(state).is_some_and(|outcome| !outcome.is_soft) {
            return false;
        }
        let mut actions = Vec::new();
        self.legal_actions(state, &mut actions);
        actions.contains(&action)
    }

    /// Makes an action of any number if it is legal, also past a soft ending, and returns whether it was; the state is of no
    /// use after an illegal one. A game overrides this if a move is quicker made than checked: the moves of recorded games
    /// are checked as they are replayed.
    fn play_if_legal(&self, state: &mut Self::State, action: Action) -> bool {
        let is_legal = self.is_legal(state, action);
        if is_legal {
            self.play(state, action);
        }
        is_legal
    }

    /// The position if the player to move could pass, for the null moves of [`deepening`](crate::deepening); `None` where a
    /// pass is impossible, as in check, or may be better than any move.
    #[inline]
    fn passed(&self, _state: &Self::State) -> Option<Self::State> {
        None
    }

    /// Writes the place of each legal action's logit in a network's output, for encodings in which it is not the action's
    /// own number. The default writes nothing: the places are the numbers.
    fn logit_actions(&self, _state: &Self::State, _legal: &[Action], _places: &mut Vec<Action>) {}

    /// The same position for random games, which are not searched again. A game that caches its answers need not cache
    /// them here.
    fn scratch(&self, state: &Self::State) -> Self::State {
        state.clone()
    }

    /// Positions as text, and further notations of moves.
    fn notation(&self) -> Option<&impl Notation<Self::State>> {
        None::<&Absent>
    }

    /// The positions that a game may begin with, if there are several.
    fn starts(&self) -> Option<&impl Starts<Self::State>> {
        None::<&Absent>
    }

    /// Points, and the owners of squares.
    fn points(&self) -> Option<&impl Points<Self::State>> {
        None::<&Absent>
    }

    /// What the pieces are worth, for opponents that learn nothing.
    fn valuation(&self) -> Option<&impl Valuation<Self::State>> {
        None::<&Absent>
    }

    /// Keys of positions, for tables of searches.
    fn keys(&self) -> Option<&impl PositionKeys<Self::State>> {
        None::<&Absent>
    }

    /// Captures, promotions and checks.
    fn tactics(&self) -> Option<&impl Tactics<Self::State>> {
        None::<&Absent>
    }

    /// What tables of endings need.
    fn endings(&self) -> Option<&impl Endings<Self::State>> {
        None::<&Absent>
    }
}

/// The action of a text or, if there is none, the only action of the text in other upper and lower case.
pub fn find_action(actions: &[Action], text: &str, write: impl Fn(Action) -> String) -> Option<Action> {
    let text = text.trim();
    actions.iter().copied().find(|action| write(*action) == text).or_else(|| {
        let mut near = actions.iter().copied().filter(|action| write(*action).to_lowercase() == text.to_lowercase());
        near.next().filter(|_| near.next().is_none())
    })
}

/// A state and its number of plies, for the ply cap.
#[derive(Clone, Debug, PartialEq)]
pub struct Position<S> {
    /// The game's own state.
    pub state: S,
    /// Moves since the initial state.
    pub plies: u32,
}

impl<S> Position<S> {
    /// The initial position of a game.
    pub fn initial<G: Game<State = S>>(game: &G) -> Self {
        Self { state: game.initial_state(), plies: 0 }
    }

    /// Makes a legal action.
    #[inline]
    pub fn play<G: Game<State = S>>(&mut self, game: &G, action: Action) {
        game.play(&mut self.state, action);
        self.plies += 1;
    }

    /// Makes an action if it is legal, and returns whether it was: see [`Game::play_if_legal`].
    #[inline]
    pub fn play_if_legal<G: Game<State = S>>(&mut self, game: &G, action: Action) -> bool {
        self.plies += 1;
        game.play_if_legal(&mut self.state, action)
    }

    /// The outcome by the rules or, if there is none, by the ply cap.
    #[inline]
    pub fn outcome<G: Game<State = S>>(&self, game: &G) -> Option<Outcome> {
        game.outcome(&self.state)
            .or_else(|| (self.plies >= game.spec().max_plies()).then(|| game.outcome_at_cap(&self.state).softly()))
    }

    /// The legal actions, ascending; empty if the game is over. `past_soft_endings` adds the actions at the end of a
    /// game that could go on.
    pub fn legal_actions<G: Game<State = S>>(&self, game: &G, past_soft_endings: bool) -> Vec<Action> {
        let mut actions = Vec::new();
        let goes_on = if past_soft_endings { self.has_move(game) } else { self.outcome(game).is_none() };
        if goes_on {
            game.legal_actions(&self.state, &mut actions);
        }
        actions
    }

    /// True if there is a legal move, also past a soft ending.
    pub fn has_move<G: Game<State = S>>(&self, game: &G) -> bool {
        game.outcome(&self.state).is_none_or(|outcome| outcome.is_soft)
    }
}
