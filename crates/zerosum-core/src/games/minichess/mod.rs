//! Minichess: Gardner's chess on 5×5 squares (1969).

mod board;
mod encoding;
mod notation;

use self::board::{Board, Moves, NUM_ACTION_PLANES, PIECE_VALUES};
use self::encoding::MAX_REPETITIONS;
use self::notation::Fen;
use super::board5::{Limits, NUM_SQUARES, SIDE, squares};
use super::fen;
use super::options::Options;
use super::past::Past;
use crate::game::{Action, Description, Game, GameSpec, Outcome, Planes, Player, find_action};
use crate::picture::Picture;

const START: &str = "rnbqk/ppppp/5/PPPPP/RNBQK w - - 0 1";
/// The fifty-move rule's plies.
const MAX_HALFMOVES: u32 = 100;

/// The rules.
#[derive(Debug)]
pub struct Minichess {
    spec: GameSpec,
    history: usize,
    repeats_history: bool,
    start: State,
}

/// A position with what may come again and what the planes show.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Boards as who was to move saw them.
    past: Past<Board>,
    limits: Limits,
    player: Player,
    /// Since a capture or a pawn's move.
    halfmoves: u32,
    /// Since the game began, as FEN's move number counts them.
    plies: u32,
}

impl Minichess {
    /// The rules with these options.
    ///
    /// # Errors
    /// A sentence, if an option is unknown or out of range.
    pub fn from_options(mut options: Options) -> Result<Self, String> {
        let (history, repeats_history) = options.history()?;
        let max_plies = options.max_plies(300)?;
        let (num_actions, planes) = (NUM_ACTION_PLANES * NUM_SQUARES, encoding::planes(history));
        let spec = GameSpec::new("minichess", 1, num_actions, (SIDE, SIDE), planes, max_plies)?
            .with_options(options.canonical()?)
            .with_action_planes();
        let start = State::set_up(notation::parse(START)?, false);
        Ok(Self { spec, history, repeats_history, start })
    }
}

impl Default for Minichess {
    fn default() -> Self {
        Self::from_options(Options::default()).expect("no option is given")
    }
}

impl State {
    /// A position whose moves are not known; in the planes, what was before it is the same again or nothing.
    fn set_up(Fen { board, player, halfmoves, plies }: Fen, repeats: bool) -> Self {
        let past = Past::new(board, board.key(player), board.before(repeats));
        Self { past, limits: board.limits(), player, halfmoves, plies }
    }

    fn board(&self) -> &Board {
        self.past.board()
    }

    fn moves(&self) -> Moves<'_> {
        Moves { board: self.board(), limits: &self.limits }
    }

    fn fen(&self) -> Fen {
        Fen { board: *self.board(), player: self.player, halfmoves: self.halfmoves, plies: self.plies }
    }
}

impl Game for Minichess {
    type State = State;

    fn spec(&self) -> &GameSpec {
        &self.spec
    }

    fn initial_state(&self) -> State {
        self.start.clone()
    }

    #[inline]
    fn player(&self, state: &State) -> Player {
        state.player
    }

    #[inline]
    fn legal_actions(&self, state: &State, actions: &mut Vec<Action>) {
        state.moves().for_each_plane(|plane, set| {
            actions.extend(squares(set).map(|square| (plane * NUM_SQUARES + square) as Action));
        });
    }

    #[inline]
    fn play(&self, state: &mut State, action: Action) {
        let action = usize::from(action);
        if state.board().is_progress(action) {
            state.halfmoves = 0;
            state.past.forget_keys();
        } else {
            state.halfmoves += 1;
        }
        let board = state.board().after(action).opposite();
        state.limits = board.limits();
        state.player = state.player.opponent();
        state.plies += 1;
        state.past.push(board, board.key(state.player), MAX_REPETITIONS);
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        if !state.moves().any() {
            return Some(if state.limits.is_check {
                Outcome::win(state.player.opponent(), "checkmate")
            } else {
                Outcome::draw("stalemate")
            });
        }
        let ending = if state.board().is_insufficient_material() {
            "insufficient material"
        } else if state.past.repetitions() >= MAX_REPETITIONS {
            "threefold repetition"
        } else if state.halfmoves >= MAX_HALFMOVES {
            "fifty-move rule"
        } else {
            return None;
        };
        Some(Outcome::draw(ending).softly())
    }

    #[inline]
    fn encode(&self, state: &State, planes: &mut Planes<'_>) {
        encoding::encode(&state.past, state.player, [state.plies, state.halfmoves], self.history, planes);
    }

    fn action_text(&self, state: &State, action: Action) -> String {
        notation::uci(state.board(), state.player, usize::from(action))
    }

    fn notations(&self) -> &'static [&'static str] {
        &["san"]
    }

    fn action_text_in(&self, state: &State, action: Action, _notation: &str) -> String {
        notation::san(state.board(), state.player, usize::from(action))
    }

    fn parse_action(&self, state: &State, legal: &[Action], text: &str) -> Option<Action> {
        // `B5a3` is a bishop's move before it is `b5a3` in capitals.
        let bare = notation::bare_san(text);
        let is_uci = |action: &Action| self.action_text(state, *action) == text.trim();
        let is_san = |action: &Action| notation::bare_san(&self.action_text_in(state, *action, "san")) == bare;
        legal
            .iter()
            .copied()
            .find(is_uci)
            .or_else(|| legal.iter().copied().find(is_san))
            .or_else(|| find_action(legal, text, |action| self.action_text(state, action)))
    }

    fn picture(&self, state: &State) -> Option<Picture> {
        let board = state.board();
        let last_move = board.last_move(&state.past.frames.get(1).board, state.player);
        Some(fen::picture(SIDE, |square| board.piece_on(square, state.player), state.player, last_move))
    }

    fn description(&self) -> Description {
        Description {
            board: "5 columns and 5 rows, White (the first player) below: `rnbqk/ppppp/5/PPPPP/RNBQK w - - 0 1`.".into(),
            rules: "Gardner's minichess: the FIDE Laws of Chess without double steps, en passant and castling. A pawn \
                    promotes to queen, rook, bishop or knight. Checkmate wins and stalemate draws. Drawn without a claim, \
                    softly: a position that occurs for the third time (the same pieces and side to move), fifty moves of \
                    each side without a capture or a pawn's move (a checkmate on the last of them wins), and insufficient \
                    material: kings with at most one knight, or with bishops that all stand on squares of one shade. The \
                    ply cap, 300 unless `max_plies` is given, is a draw."
                .into(),
            planes: "Those of the AlphaZero paper's chess for this board: 8 positions of 14 planes, and 3; with `history` \
                     other than 8, so many times 14 and 3. The board is flipped top to bottom for Black, so the player to \
                     move goes up; files keep their side. Positions come newest first, zero before the game began; where \
                     one was set up, the older ones repeat it, or are zero with `history_fill=zero`. A repetition plane is \
                     1 if its position had occurred so often before when it was reached; it is 0 for what was set up. \
                     Counts are divided by fixed numbers: plies since the game began, as FEN's move number has them, by \
                     300, the ply cap, and plies since a capture or a pawn's move by 100, the fifty-move rule's."
                .into(),
            actions: "5×5×49: action = 25 · plane + square that the piece leaves, squares row by row from the top of the \
                      oriented board. Planes 0 to 31 are queen moves, 4 · direction + distance − 1, directions clockwise \
                      from straight ahead; 32 to 39 knight moves, clockwise from two ahead and one to the right; 40 to 48 \
                      underpromotions, 40 + 3 · direction (to the left, straight, to the right) + piece (knight, bishop, \
                      rook). A promotion to a queen is the queen move. Written in UCI (`a2a3`, `b4b5q`); the notation \
                      `san` is standard algebraic. Positions are FEN with - for castling and en passant."
                .into(),
            material: "A pawn 1, a knight and a bishop 3, a rook 5, a queen 9.".into(),
        }
    }

    #[inline]
    fn material(&self, state: &State) -> f32 {
        state.board().material(&PIECE_VALUES, &[]) * state.player.sign()
    }

    fn num_repetitions(&self, state: &State) -> u32 {
        state.past.repetitions().into()
    }

    fn position_text(&self, state: &State) -> Option<String> {
        Some(notation::write(&state.fen()))
    }

    fn parse_position(&self, text: &str) -> Result<State, String> {
        let fen = notation::parse(text)?;
        let is_start = fen.plies == 0 && fen.halfmoves == 0 && fen.player == Player::First;
        let is_start = is_start && fen.board == *self.start.board();
        Ok(State::set_up(fen, self.repeats_history && !is_start))
    }
}
