//! What only some games have besides their rules: a trait each, which a game implements and gives by the method of
//! [`Game`](super::Game) that is named like it:
//!
//! ```ignore
//! fn notation(&self) -> Option<&impl Notation<State>> {
//!     Some(self)
//! }
//! ```

use super::Action;
use crate::men::Men;
use crate::player::Player;
use crate::random::RandomStream;

/// Positions as text, and notations of moves besides [`Game::action_text`](super::Game::action_text).
pub trait Notation<S> {
    /// A position as text (FEN, SFEN, rows of stones).
    fn position_text(&self, state: &S) -> String;

    /// The position of a text. Its earlier moves are unknown; the game defines the planes of earlier positions.
    ///
    /// # Errors
    /// A sentence: which token is wrong, and what was expected.
    fn parse_position(&self, text: &str) -> Result<S, String>;

    /// Names of notations for [`Self::position_text_in`], besides that of [`Self::position_text`].
    fn position_notations(&self) -> &'static [&'static str] {
        &[]
    }

    /// A position in one of [`Self::position_notations`].
    fn position_text_in(&self, state: &S, _notation: &str) -> String {
        self.position_text(state)
    }

    /// Names of notations for [`Self::action_text_in`].
    fn notations(&self) -> &'static [&'static str] {
        &[]
    }

    /// A legal action in one of [`Self::notations`]; `None` in others.
    fn action_text_in(&self, _state: &S, _action: Action, _notation: &str) -> Option<String> {
        None
    }
}

/// The positions that a game may begin with (960 in Chess960).
pub trait Starts<S> {
    /// Number of starts, at least one.
    fn num_starts(&self) -> u32;

    /// The start with this number, which is below [`Self::num_starts`]. One of them is
    /// [`Game::initial_state`](super::Game::initial_state).
    fn start(&self, number: u32) -> S;
}

/// Points and the owners of squares.
pub trait Points<S> {
    /// The first player's margin in points if the game ended here.
    fn score(&self, state: &S) -> f32;

    /// For each square, in [−1, 1], the share of random games from here in which the first player owns it at the end,
    /// less the second player's share. Random games keep what is safe by the rules (eyes).
    fn ownership(&self, state: &S, num_games: u32, random: &mut RandomStream) -> Vec<f32>;

    /// For each square, in the order of [`Game::encode`](super::Game::encode) for a position with `seen_by` to move: 1 if
    /// that side owns it when the game ends here, −1 if the other side does, 0 if neither.
    fn owners(&self, state: &S, seen_by: Player) -> Vec<i8>;
}

/// What the pieces are worth. It is for alpha-beta players; no training uses it.
pub trait Valuation<S> {
    /// The material (pieces by customary values, discs, area) of the first player less the second player's.
    fn material(&self, state: &S) -> f32;

    /// The value of each kind of piece behind [`Self::material`], in the order of the planes; empty without kinds.
    fn piece_values(&self) -> &[f32] {
        &[]
    }
}

/// Keys of positions.
pub trait PositionKeys<S> {
    /// The identity of a position for the table of [`deepening`](crate::deepening), which does not use it after a
    /// repetition.
    fn table_key(&self, state: &S) -> PositionKey;

    /// The identity of a position for [`proof`](crate::proof): what its future depends on, without the history. `None`, for
    /// all positions, if the game's endings depend on more than the position, repetition and a counter of plies, as where
    /// a repetition may lose.
    fn position_key(&self, _state: &S) -> Option<PositionKey> {
        None
    }

    /// Number of earlier occurrences of the position in its game, counted as far as the rules need it; 0 if the rules
    /// do not count.
    fn num_repetitions(&self, _state: &S) -> u32 {
        0
    }
}

/// Captures, promotions and checks.
pub trait Tactics<S> {
    /// What a legal action takes, if it takes or promotes a piece: such moves are searched on where a position would
    /// otherwise be evaluated in the middle of an exchange. `None` for all other moves, which are quiet.
    fn tactical_move(&self, state: &S, action: Action) -> Option<TacticalMove>;

    /// True if the player to move must answer a threat to end the game at once (a check).
    #[inline]
    fn is_check(&self, _state: &S) -> bool {
        false
    }

    /// What an action wins for its player by captures on its target square, each side taking with its least valuable piece and
    /// stopping when that is better (static exchange evaluation); `values` by kind as in [`TacticalMove`]. `None` if the
    /// game does not tell.
    #[inline]
    fn exchange(&self, _state: &S, _action: Action, _values: &[i32]) -> Option<i32> {
        None
    }
}

/// What tables of endings need.
pub trait Endings<S> {
    /// The men of a position with at most [`MAX_MEN`](crate::retrograde::MAX_MEN) of them, in games like chess: FENs, one
    /// king each, the same rules for both colours and for mirror images. `None` in other games, and where more counts than
    /// men, side to move and en passant, as castling rights do.
    fn men(&self, state: &S) -> Option<Men>;

    /// True if [`Self::syzygy_board`] may be anything but `None`.
    fn has_syzygy(&self) -> bool {
        false
    }

    /// The board for tables of chess endings, and the plies since a capture or a pawn's move; `None` in games with other rules.
    #[inline]
    fn syzygy_board<'a>(&self, _state: &'a S) -> Option<(&'a cozy_chess::Board, u32)> {
        None
    }
}

/// What a tactical move does. Kinds of pieces are numbered in the order of their planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TacticalMove {
    /// The kind that moves.
    pub moved: u8,
    /// The kind that is taken.
    pub taken: Option<u8>,
    /// True if the piece becomes another.
    pub promotes: bool,
}

/// The identity of a position, without its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PositionKey {
    /// A hash that is equal for positions with the same future, apart from repetition and counters.
    pub key: u64,
    /// Plies until a counter ends the game, at least, if no move resets it; an end of another kind on the last of them counts.
    pub plies_left: u32,
}

impl PositionKey {
    /// The identity of a position whose game no counter ends.
    pub const fn of(key: u64) -> Self {
        Self { key, plies_left: u32::MAX }
    }
}

/// The type of an ability that a game does not have; there is no value of it.
pub enum Absent {}

impl<S> Notation<S> for Absent {
    fn position_text(&self, _state: &S) -> String {
        match *self {}
    }

    fn parse_position(&self, _text: &str) -> Result<S, String> {
        match *self {}
    }
}

impl<S> Starts<S> for Absent {
    fn num_starts(&self) -> u32 {
        match *self {}
    }

    fn start(&self, _number: u32) -> S {
        match *self {}
    }
}

impl<S> Points<S> for Absent {
    fn score(&self, _state: &S) -> f32 {
        match *self {}
    }

    fn ownership(&self, _state: &S, _num_games: u32, _random: &mut RandomStream) -> Vec<f32> {
        match *self {}
    }

    fn owners(&self, _state: &S, _seen_by: Player) -> Vec<i8> {
        match *self {}
    }
}

impl<S> Valuation<S> for Absent {
    fn material(&self, _state: &S) -> f32 {
        match *self {}
    }
}

impl<S> PositionKeys<S> for Absent {
    fn table_key(&self, _state: &S) -> PositionKey {
        match *self {}
    }
}

impl<S> Tactics<S> for Absent {
    fn tactical_move(&self, _state: &S, _action: Action) -> Option<TacticalMove> {
        match *self {}
    }
}

impl<S> Endings<S> for Absent {
    fn men(&self, _state: &S) -> Option<Men> {
        match *self {}
    }
}
