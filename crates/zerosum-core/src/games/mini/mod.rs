//! Games on 5×5 squares: what minichess and minishogi share. [`board`] has the board and how pieces move on it.

pub mod board;

use self::board::{Board, MoveMasks, NUM_SQUARES, SIDE, squares};
use super::CoreGame;
use super::history::{self, CheckCounts, History, MAX_HISTORY};
use super::options::Options;
use crate::game::{
    Action, Description, Endings, Game, GameSpec, Notation, Outcome, PlaneSpec, Planes, PositionKey, PositionKeys,
    TacticalMove, Tactics, Valuation, find_action,
};
use crate::men::{MAX_MEN, Men};
use crate::picture::Picture;
use crate::player::Player;

/// Divisor of the plane of plies: the default ply cap.
const PLIES_SCALE: f32 = 300.0;
/// Divisor of the planes of pieces in hand: the largest number of a kind.
const HAND_SCALE: u8 = 2;

/// How the pieces of a game move. Boards are seen by the player to move.
pub trait PieceRules: Copy {
    /// The masks that checks and pins put on the moves.
    fn masks(&self) -> MoveMasks;

    /// True if there is a legal move; `masks` are those of this board.
    fn has_move(&self, masks: &MoveMasks) -> bool;

    /// Calls for each plane of actions, ascending, with the squares of its legal actions.
    fn for_each_plane(&self, masks: &MoveMasks, take: impl FnMut(usize, u32));

    /// The board after a legal action, seen by the same side.
    fn after(&self, action: usize) -> Self;

    /// The squares that a legal action leaves and reaches, and whether the piece becomes another; `None` for a drop.
    fn step_of(&self, action: usize) -> Option<(usize, usize, bool)>;

    /// True if no position before a legal action can occur after it.
    fn is_irreversible(&self, _action: usize) -> bool {
        false
    }
}

/// A game on 5×5 squares.
pub trait Variant<const KINDS: usize, const IN_HAND: usize, const TURNS: bool>: PieceRules {
    /// The name of the game.
    const NAME: &'static str;
    /// The start as text.
    const START: &'static str;
    /// The name of the second player.
    const SECOND_PLAYER: &'static str;
    /// Names of the kinds of pieces in plural; those in hand follow the first.
    const KIND_NAMES: [&'static str; KINDS];
    /// Material by kind; 0 for a king.
    const PIECE_VALUES: [f32; KINDS];
    /// Number of planes of actions.
    const NUM_ACTION_PLANES: usize;
    /// Earlier occurrences of a position with which a repetition ends the game.
    const MAX_REPETITIONS: u8;
    /// Divisor of the plane of plies since an irreversible move, if the game has one.
    const NO_PROGRESS_SCALE: Option<f32>;
    /// Notations of actions besides the game's own.
    const NOTATIONS: &'static [&'static str] = &[];

    /// The outcome by the rules.
    fn outcome(state: &State<KINDS, IN_HAND, TURNS>) -> Option<Outcome>;

    /// A legal action in the game's own notation.
    fn action_text(state: &State<KINDS, IN_HAND, TURNS>, action: usize) -> String;

    /// A legal action in the one of [`Self::NOTATIONS`].
    fn action_text_in(state: &State<KINDS, IN_HAND, TURNS>, action: usize) -> String {
        Self::action_text(state, action)
    }

    /// The legal action that a text means.
    fn parse_action(state: &State<KINDS, IN_HAND, TURNS>, legal: &[Action], text: &str) -> Option<Action> {
        find_action(legal, text, |action| Self::action_text(state, action.into()))
    }

    /// The position as text.
    fn position_text(state: &State<KINDS, IN_HAND, TURNS>) -> String;

    /// The position of a text.
    ///
    /// # Errors
    /// A sentence: which field is wrong, and what was expected.
    fn parse_position(text: &str) -> Result<Setup<Self>, String>;

    /// The board for a drawing program.
    fn picture(state: &State<KINDS, IN_HAND, TURNS>, last_move: Vec<usize>) -> Picture;

    /// The documentation.
    fn description() -> Description;
}

/// A position as text has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setup<B> {
    /// Seen by the player to move.
    pub board: B,
    /// The player to move.
    pub player: Player,
    /// Plies since an irreversible move.
    pub halfmoves: u32,
    /// Plies since the game began.
    pub plies: u32,
}

/// A position with its history.
#[derive(Clone, Debug, PartialEq)]
pub struct State<const KINDS: usize, const IN_HAND: usize, const TURNS: bool> {
    /// Each board is seen by the player who was to move.
    pub history: History<Board<KINDS, IN_HAND, TURNS>>,
    /// The masks of the present board.
    pub masks: MoveMasks,
    /// The player to move.
    pub player: Player,
    /// Plies since an irreversible move.
    pub halfmoves: u32,
    /// Plies since the game began, as the move number of a position text counts them.
    pub plies: u32,
    /// Checks in a row.
    pub checks: CheckCounts,
}

/// The rules of a game on 5×5 squares.
#[derive(Debug)]
pub struct MiniGame<const KINDS: usize, const IN_HAND: usize, const TURNS: bool> {
    spec: GameSpec,
    history: usize,
    repeats_history: bool,
    start: Setup<Board<KINDS, IN_HAND, TURNS>>,
}

impl<const KINDS: usize, const IN_HAND: usize, const TURNS: bool> State<KINDS, IN_HAND, TURNS>
where
    Board<KINDS, IN_HAND, TURNS>: Variant<KINDS, IN_HAND, TURNS>,
{
    /// A position without its moves. The planes of earlier positions repeat it or are empty.
    fn set_up(setup: Setup<Board<KINDS, IN_HAND, TURNS>>, repeats: bool) -> Self {
        let Setup { board, player, halfmoves, plies } = setup;
        let opposite = board.opposite();
        let older = |age: usize| match (repeats, age % 2) {
            (false, _) => Board::default(),
            (true, 0) => board,
            (true, _) => opposite,
        };
        let history = History::new(board, board.key(player), older);
        Self { history, masks: board.masks(), player, halfmoves, plies, checks: CheckCounts::default() }
    }

    /// The present board, seen by the player to move.
    #[inline]
    pub fn board(&self) -> &Board<KINDS, IN_HAND, TURNS> {
        self.history.newest()
    }

    /// True if the player to move has a legal move.
    #[inline]
    pub fn has_move(&self) -> bool {
        self.board().has_move(&self.masks)
    }

    /// The position without its history.
    pub fn setup(&self) -> Setup<Board<KINDS, IN_HAND, TURNS>> {
        Setup { board: *self.board(), player: self.player, halfmoves: self.halfmoves, plies: self.plies }
    }
}

impl<const KINDS: usize, const IN_HAND: usize, const TURNS: bool> MiniGame<KINDS, IN_HAND, TURNS>
where
    Board<KINDS, IN_HAND, TURNS>: Variant<KINDS, IN_HAND, TURNS>,
{
    /// The planes in channel order, in the style of the AlphaZero paper (arXiv 1712.01815, table S1).
    fn planes(history: usize) -> Vec<PlaneSpec> {
        let kinds = Board::KIND_NAMES;
        let hand: Vec<_> = kinds[1..=IN_HAND].iter().map(|kind| (*kind, HAND_SCALE)).collect();
        let mut planes = history::planes(history, &kinds, Board::MAX_REPETITIONS, &hand);
        planes.push(PlaneSpec::constant(format!("1 if {} is to move", Board::SECOND_PLAYER)));
        planes.push(PlaneSpec::constant(format!("plies since the game began / {PLIES_SCALE}")));
        let no_progress = |scale| PlaneSpec::constant(format!("plies since a capture or a pawn's move / {scale}"));
        planes.extend(Board::NO_PROGRESS_SCALE.map(no_progress));
        planes
    }
}

impl<const KINDS: usize, const IN_HAND: usize, const TURNS: bool> CoreGame for MiniGame<KINDS, IN_HAND, TURNS>
where
    Board<KINDS, IN_HAND, TURNS>: Variant<KINDS, IN_HAND, TURNS>,
{
    fn from_options(mut options: Options) -> Result<Self, String> {
        let (history, repeats_history) = options.history(MAX_HISTORY)?;
        let max_plies = options.max_plies(PLIES_SCALE as u32)?;
        let (num_actions, planes) = (Board::NUM_ACTION_PLANES * NUM_SQUARES, Self::planes(history));
        let spec = GameSpec::new(Board::NAME, 1, num_actions, (SIDE, SIDE), planes, max_plies)?
            .with_options(options.canonical()?)
            .with_action_planes();
        Ok(Self { spec, history, repeats_history, start: Board::parse_position(Board::START)? })
    }
}

impl<const KINDS: usize, const IN_HAND: usize, const TURNS: bool> Game for MiniGame<KINDS, IN_HAND, TURNS>
where
    Board<KINDS, IN_HAND, TURNS>: Variant<KINDS, IN_HAND, TURNS>,
{
    type State = State<KINDS, IN_HAND, TURNS>;

    fn spec(&self) -> &GameSpec {
        &self.spec
    }

    fn initial_state(&self) -> Self::State {
        State::set_up(self.start, false)
    }

    #[inline]
    fn player(&self, state: &Self::State) -> Player {
        state.player
    }

    #[inline]
    fn legal_actions(&self, state: &Self::State, actions: &mut Vec<Action>) {
        state.board().for_each_plane(&state.masks, |plane, set| {
            for square in squares(set) {
                actions.push((plane * NUM_SQUARES + square) as Action);
            }
        });
    }

    #[inline]
    fn play(&self, state: &mut Self::State, action: Action) {
        let action = usize::from(action);
        state.halfmoves += 1;
        if state.board().is_irreversible(action) {
            state.halfmoves = 0;
            state.history.forget_keys();
        }
        let board = state.board().after(action).opposite();
        state.masks = board.masks();
        state.checks.push(state.player, state.masks.is_check);
        state.player = state.player.opponent();
        state.plies += 1;
        state.history.push(board, board.key(state.player), Board::MAX_REPETITIONS);
    }

    #[inline]
    fn outcome(&self, state: &Self::State) -> Option<Outcome> {
        Board::outcome(state)
    }

    #[inline]
    fn encode(&self, state: &Self::State, planes: &mut Planes<'_>) {
        for age in 0..self.history {
            let entry = state.history.get(age);
            // Entries are seen by the player who was to move, planes by the player who is.
            let board = if age % 2 == 0 { entry.item } else { entry.item.opposite() };
            board.encode(planes);
            history::encode_repetitions(entry.repetitions, Board::MAX_REPETITIONS, planes);
            for count in board.hands.as_flattened() {
                planes.constant(f32::from(*count) / f32::from(HAND_SCALE));
            }
        }
        planes.constant(state.player.index() as f32);
        planes.constant(state.plies as f32 / PLIES_SCALE);
        if let Some(scale) = Board::NO_PROGRESS_SCALE {
            planes.constant(state.halfmoves as f32 / scale);
        }
    }

    fn action_text(&self, state: &Self::State, action: Action) -> String {
        Board::action_text(state, action.into())
    }

    fn parse_action(&self, state: &Self::State, legal: &[Action], text: &str) -> Option<Action> {
        Board::parse_action(state, legal, text)
    }

    fn picture(&self, state: &Self::State) -> Option<Picture> {
        let last_move = state.board().last_move(&state.history.get(1).item, state.player);
        Some(Board::picture(state, last_move))
    }

    fn description(&self) -> Description {
        Board::description()
    }

    /// The position after a pass, in games with drops, where some move is always useful; else `None`.
    fn passed(&self, state: &Self::State) -> Option<Self::State> {
        if !TURNS || state.masks.is_check {
            return None;
        }
        let (board, player) = (state.board().opposite(), state.player.opponent());
        let mut passed = State { player, masks: board.masks(), plies: state.plies + 1, ..state.clone() };
        passed.halfmoves += 1;
        passed.checks.push(state.player, false);
        passed.history.push(board, board.key(player), Board::MAX_REPETITIONS);
        Some(passed)
    }

    fn notation(&self) -> Option<&impl Notation<Self::State>> {
        Some(self)
    }

    fn valuation(&self) -> Option<&impl Valuation<Self::State>> {
        Some(self)
    }

    fn keys(&self) -> Option<&impl PositionKeys<Self::State>> {
        Some(self)
    }

    fn tactics(&self) -> Option<&impl Tactics<Self::State>> {
        Some(self)
    }

    fn endings(&self) -> Option<&impl Endings<Self::State>> {
        Some(self)
    }
}

impl<const KINDS: usize, const IN_HAND: usize, const TURNS: bool> Notation<State<KINDS, IN_HAND, TURNS>>
    for MiniGame<KINDS, IN_HAND, TURNS>
where
    Board<KINDS, IN_HAND, TURNS>: Variant<KINDS, IN_HAND, TURNS>,
{
    fn position_text(&self, state: &State<KINDS, IN_HAND, TURNS>) -> String {
        Board::position_text(state)
    }

    fn parse_position(&self, text: &str) -> Result<State<KINDS, IN_HAND, TURNS>, String> {
        let setup = Board::parse_position(text)?;
        Ok(State::set_up(setup, self.repeats_history && setup != self.start))
    }

    fn notations(&self) -> &'static [&'static str] {
        Board::NOTATIONS
    }

    fn action_text_in(&self, state: &State<KINDS, IN_HAND, TURNS>, action: Action, _notation: &str) -> Option<String> {
        Some(Board::action_text_in(state, action.into()))
    }
}

impl<const KINDS: usize, const IN_HAND: usize, const TURNS: bool> Valuation<State<KINDS, IN_HAND, TURNS>>
    for MiniGame<KINDS, IN_HAND, TURNS>
where
    Board<KINDS, IN_HAND, TURNS>: Variant<KINDS, IN_HAND, TURNS>,
{
    #[inline]
    fn material(&self, state: &State<KINDS, IN_HAND, TURNS>) -> f32 {
        state.board().material(&Board::PIECE_VALUES) * state.player.sign()
    }

    fn piece_values(&self) -> &[f32] {
        &Board::PIECE_VALUES
    }
}

impl<const KINDS: usize, const IN_HAND: usize, const TURNS: bool> PositionKeys<State<KINDS, IN_HAND, TURNS>>
    for MiniGame<KINDS, IN_HAND, TURNS>
where
    Board<KINDS, IN_HAND, TURNS>: Variant<KINDS, IN_HAND, TURNS>,
{
    #[inline]
    fn table_key(&self, state: &State<KINDS, IN_HAND, TURNS>) -> PositionKey {
        self.position_key(state).unwrap_or_else(|| PositionKey::of(state.board().key(state.player)))
    }

    fn position_key(&self, state: &State<KINDS, IN_HAND, TURNS>) -> Option<PositionKey> {
        // Where repetition may lose, the future depends on more than the position.
        let limit = Board::NO_PROGRESS_SCALE? as u32;
        Some(PositionKey { key: state.board().key(state.player), plies_left: limit.saturating_sub(state.halfmoves) })
    }

    fn num_repetitions(&self, state: &State<KINDS, IN_HAND, TURNS>) -> u32 {
        state.history.repetitions().into()
    }
}

impl<const KINDS: usize, const IN_HAND: usize, const TURNS: bool> Tactics<State<KINDS, IN_HAND, TURNS>>
    for MiniGame<KINDS, IN_HAND, TURNS>
where
    Board<KINDS, IN_HAND, TURNS>: Variant<KINDS, IN_HAND, TURNS>,
{
    #[inline]
    fn tactical_move(&self, state: &State<KINDS, IN_HAND, TURNS>, action: Action) -> Option<TacticalMove> {
        let board = state.board();
        let (from, to, promotes) = board.step_of(action.into())?;
        let is_capture = board.opponent >> to & 1 == 1;
        (is_capture || promotes).then(|| TacticalMove {
            moved: board.kind_on(from) as u8,
            taken: is_capture.then(|| board.kind_on(to) as u8),
            promotes,
        })
    }

    #[inline]
    fn is_check(&self, state: &State<KINDS, IN_HAND, TURNS>) -> bool {
        state.masks.is_check
    }
}

impl<const KINDS: usize, const IN_HAND: usize, const TURNS: bool> Endings<State<KINDS, IN_HAND, TURNS>>
    for MiniGame<KINDS, IN_HAND, TURNS>
where
    Board<KINDS, IN_HAND, TURNS>: Variant<KINDS, IN_HAND, TURNS>,
{
    #[inline]
    fn men(&self, state: &State<KINDS, IN_HAND, TURNS>) -> Option<Men> {
        let board = state.board();
        let occupied = board.own | board.opponent;
        // Only chess has no pieces in hand, and flips the board.
        let is_chess = IN_HAND == 0 && !TURNS;
        if !is_chess || occupied.count_ones() as usize > MAX_MEN {
            return None;
        }
        let man = |square| (board.kind_on(square), board.opponent >> square & 1 == 1, square);
        Men::of(squares(occupied).map(man), None)
    }
}
