//! Shogi. Moves come from the crate `shunsai`, behind `board`; repetition, declaration, SFEN, planes, actions and
//! notations are here.

mod board;
mod declaration;
mod description;
mod encoding;
mod exchange;
mod notation;
mod sfen;

use self::board::{Board, Move, PIECE_VALUES, PlayedMove, SIDE};
use self::declaration::Declaration;
use self::encoding::{NUM_ACTIONS, NUM_FLAT_ACTIONS};
use self::sfen::SFEN;
use super::CoreGame;
use super::history::{CheckCounts, History, MAX_HISTORY};
use super::options::Options;
use super::policy::Policy;
use crate::game::{
    Action, Description, Game, GameSpec, Notation, Outcome, Planes, PositionKey, PositionKeys, TacticalMove, Tactics,
    Valuation,
};
use crate::picture::Picture;
use crate::player::Player;

/// The rules.
#[derive(Debug)]
pub struct Shogi {
    spec: GameSpec,
    policy: Policy,
    history: usize,
    repeats_history: bool,
    declaration: Declaration,
    start: State,
}

/// Earlier occurrences of a position with which the fourth occurrence ends the game.
const MAX_REPETITIONS: u8 = 3;

/// A position with its history.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    board: Board,
    /// The move that led to each position, `None` for positions that were set up or before that.
    history: History<Option<PlayedMove>>,
    /// True if planes repeat the position that was set up as all earlier ones.
    repeats_history: bool,
    checks: CheckCounts,
    /// Plies since the game began, as SFEN's move number counts them.
    plies: u32,
}

impl Shogi {
    /// True if a handicap game may begin with this board: it is the start without some of White's pieces, and White is
    /// to move.
    fn is_handicap(&self, board: &Board) -> bool {
        let (usual, here) = (self.start.board.setup(0), board.setup(0));
        let is_given = |square: usize| {
            here.pieces[square].is_none() && usual.pieces[square].is_some_and(|piece| piece.owner == Player::Second)
        };
        here.player == Player::Second
            && here.hands == usual.hands
            && here.pieces != usual.pieces
            && (0..here.pieces.len()).all(|square| here.pieces[square] == usual.pieces[square] || is_given(square))
    }

    #[inline]
    fn move_of(&self, state: &State, action: Action) -> Move {
        encoding::move_of(state.board.player(), self.policy, action)
    }
}

impl State {
    /// A position without its moves. The planes of earlier positions repeat it or are empty.
    fn set_up(board: Board, plies: u32, repeats_history: bool) -> Self {
        let history = History::new(None, board.key(), |_| None);
        Self { board, history, repeats_history, checks: CheckCounts::default(), plies }
    }

    /// The last move.
    fn last_move(&self) -> Option<&PlayedMove> {
        self.history.newest().as_ref()
    }

    /// The player who gave check by each move since the first of the occurrences that were counted.
    fn perpetual_checker(&self) -> Option<Player> {
        let cycle = self.history.cycle();
        match [Player::First, Player::Second].map(|player| self.checks.is_perpetual(player, cycle)) {
            [true, false] => Some(Player::First),
            [false, true] => Some(Player::Second),
            _ => None,
        }
    }
}

impl CoreGame for Shogi {
    fn from_options(mut options: Options) -> Result<Self, String> {
        let declaration = match options.choice("entering_king", &["csa27", "csa24", "csa24-wins", "none"])? {
            "csa27" => Declaration::Csa27,
            "csa24" => Declaration::Csa24,
            "csa24-wins" => Declaration::Csa24Wins,
            _ => Declaration::None,
        };
        let policy = Policy::from_options(&mut options)?;
        let (history, repeats_history) = options.history(MAX_HISTORY)?;
        let max_plies = options.max_plies(512)?;
        let sizes = [NUM_ACTIONS, NUM_FLAT_ACTIONS];
        let spec = policy.spec("shogi", sizes, SIDE, encoding::planes(history), max_plies)?;
        let (board, plies) = sfen::parse(SFEN.start)?;
        let start = State::set_up(board, plies, false);
        Ok(Self { spec: spec.with_options(options.canonical()?), policy, history, repeats_history, declaration, start })
    }
}

impl Game for Shogi {
    type State = State;

    fn spec(&self) -> &GameSpec {
        &self.spec
    }

    fn initial_state(&self) -> State {
        self.start.clone()
    }

    #[inline]
    fn player(&self, state: &State) -> Player {
        state.board.player()
    }

    #[inline]
    fn legal_actions(&self, state: &State, actions: &mut Vec<Action>) {
        encoding::legal_actions(&state.board, self.policy, actions);
    }

    #[inline]
    fn is_legal(&self, state: &State, action: Action) -> bool {
        encoding::is_action(self.policy, action) && state.board.is_legal(self.move_of(state, action))
    }

    #[inline]
    fn play(&self, state: &mut State, action: Action) {
        let mover = state.board.player();
        let played = state.board.play(encoding::move_of(mover, self.policy, action));
        state.checks.push(mover, state.board.is_in_check());
        state.history.push(Some(played), state.board.key(), MAX_REPETITIONS);
        state.plies += 1;
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        let board = &state.board;
        if !board.has_move() {
            let ending = if board.is_in_check() { "checkmate" } else { "no legal move" };
            return Some(Outcome::win(board.player().opponent(), ending));
        }
        if state.history.repetitions() < MAX_REPETITIONS {
            return self.declaration.outcome(board);
        }
        let outcome = match state.perpetual_checker() {
            Some(loser) => Outcome::win(loser.opponent(), "perpetual check"),
            None => Outcome::draw("fourfold repetition"),
        };
        Some(outcome.softly())
    }

    #[inline]
    fn encode(&self, state: &State, planes: &mut Planes<'_>) {
        encoding::encode(state, self.history, planes);
    }

    fn action_text(&self, state: &State, action: Action) -> String {
        notation::usi(self.move_of(state, action))
    }

    fn parse_action(&self, state: &State, legal: &[Action], text: &str) -> Option<Action> {
        let moves: Vec<Move> = legal.iter().map(|action| self.move_of(state, *action)).collect();
        let latest = state.last_move().map(PlayedMove::to);
        notation::parse(&state.board, &moves, latest, text).map(|index| legal[index])
    }

    fn picture(&self, state: &State) -> Option<Picture> {
        let glyphs = ["歩", "香", "桂", "銀", "金", "角", "飛", "玉", "と", "杏", "圭", "全", "馬", "龍"];
        let squares = |played: &PlayedMove| played.from().into_iter().chain([played.to()]).collect();
        let last_move = state.last_move().map_or_else(Vec::new, squares);
        Some(SFEN.picture(&state.board.setup(state.plies), &glyphs, last_move))
    }

    fn description(&self) -> Description {
        description::paragraphs()
    }

    fn passed(&self, state: &State) -> Option<State> {
        let board = state.board.passed()?;
        let mut passed = state.clone();
        passed.checks.push(state.board.player(), false);
        passed.history.push(None, board.key(), MAX_REPETITIONS);
        passed.plies += 1;
        passed.board = board;
        Some(passed)
    }

    fn notation(&self) -> Option<&impl Notation<State>> {
        Some(self)
    }

    fn valuation(&self) -> Option<&impl Valuation<State>> {
        Some(self)
    }

    fn keys(&self) -> Option<&impl PositionKeys<State>> {
        Some(self)
    }

    fn tactics(&self) -> Option<&impl Tactics<State>> {
        Some(self)
    }
}

impl Notation<State> for Shogi {
    fn position_text(&self, state: &State) -> String {
        SFEN.write(&state.board.setup(state.plies))
    }

    fn parse_position(&self, text: &str) -> Result<State, String> {
        let (board, plies) = sfen::parse(text)?;
        let is_start = plies == 0 && (board == self.start.board || self.is_handicap(&board));
        Ok(State::set_up(board, plies, self.repeats_history && !is_start))
    }

    fn notations(&self) -> &'static [&'static str] {
        &["kif", "csa"]
    }

    fn action_text_in(&self, state: &State, action: Action, notation: &str) -> Option<String> {
        let chosen = self.move_of(state, action);
        Some(match notation {
            "csa" => notation::csa(&state.board, chosen),
            _ => notation::kif(&state.board, chosen, state.last_move().map(PlayedMove::to)),
        })
    }
}

impl Valuation<State> for Shogi {
    #[inline]
    fn material(&self, state: &State) -> f32 {
        let mut more = 0.0;
        state.board.for_each_piece(|_, piece| more += PIECE_VALUES[piece.kind] * piece.owner.sign());
        let in_hand = |player| {
            state
                .board
                .hand(player)
                .iter()
                .zip(PIECE_VALUES)
                .map(|(count, value)| f32::from(*count) * value)
                .sum::<f32>()
        };
        more + in_hand(Player::First) - in_hand(Player::Second)
    }

    fn piece_values(&self) -> &[f32] {
        &PIECE_VALUES
    }
}

impl PositionKeys<State> for Shogi {
    #[inline]
    fn table_key(&self, state: &State) -> PositionKey {
        PositionKey::of(state.board.key())
    }

    fn num_repetitions(&self, state: &State) -> u32 {
        state.history.repetitions().into()
    }
}

impl Tactics<State> for Shogi {
    #[inline]
    fn tactical_move(&self, state: &State, action: Action) -> Option<TacticalMove> {
        let Move::Normal { from, to, promotes } = self.move_of(state, action) else { return None };
        let taken = state.board.piece_on(to);
        (promotes || taken.is_some()).then(|| TacticalMove {
            moved: state.board.piece_on(from).expect("a legal move has a piece").kind as u8,
            taken: taken.map(|piece| piece.kind as u8),
            promotes,
        })
    }

    #[inline]
    fn is_check(&self, state: &State) -> bool {
        state.board.is_in_check()
    }

    #[inline]
    fn exchange(&self, state: &State, action: Action, values: &[i32]) -> Option<i32> {
        Some(exchange::static_exchange(&state.board, self.move_of(state, action), values))
    }
}
