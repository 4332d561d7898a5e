//! Minishogi: shogi on 5×5 squares, six pieces a side.

mod board;
mod encoding;
mod notation;

use self::board::{Board, GOLD, Moves, NUM_ACTION_PLANES, PIECE_VALUES};
use self::encoding::MAX_REPETITIONS;
use self::notation::SFEN;
use super::board5::{Limits, NUM_SQUARES, SIDE, squares};
use super::options::Options;
use super::past::{Checks, Past};
use super::sfen::Setup;
use crate::game::{Action, Description, Game, GameSpec, Outcome, Planes, Player};
use crate::picture::Picture;

/// The rules.
#[derive(Debug)]
pub struct Minishogi {
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
    /// Since the game began, as SFEN's move number counts them.
    plies: u32,
    checks: Checks,
}

impl Minishogi {
    /// The rules with these options.
    ///
    /// # Errors
    /// A sentence, if an option is unknown or out of range.
    pub fn from_options(mut options: Options) -> Result<Self, String> {
        let (history, repeats_history) = options.history()?;
        let max_plies = options.max_plies(300)?;
        let (num_actions, planes) = (NUM_ACTION_PLANES * NUM_SQUARES, encoding::planes(history));
        let spec = GameSpec::new("minishogi", 1, num_actions, (SIDE, SIDE), planes, max_plies)?
            .with_options(options.canonical()?)
            .with_action_planes();
        let (board, player, plies) = notation::parse(SFEN.start)?;
        let start = State::set_up(board, player, plies, false);
        Ok(Self { spec, history, repeats_history, start })
    }
}

impl Default for Minishogi {
    fn default() -> Self {
        Self::from_options(Options::default()).expect("no option is given")
    }
}

impl State {
    /// A position whose moves are not known; in the planes, what was before it is the same again or nothing.
    fn set_up(board: Board, player: Player, plies: u32, repeats: bool) -> Self {
        let past = Past::new(board, board.key(player), board.before(repeats));
        Self { past, limits: board.limits(), player, plies, checks: Checks::default() }
    }

    fn board(&self) -> &Board {
        self.past.board()
    }

    fn setup(&self) -> Setup {
        notation::setup(self.board(), self.player, self.plies)
    }

    fn moves(&self) -> Moves<'_> {
        Moves { board: self.board(), limits: &self.limits }
    }

    /// Whether a player gave check by each of its moves since the first of the four occurrences.
    fn checks_perpetually(&self, player: Player) -> bool {
        self.checks.are_perpetual(player, self.past.cycle())
    }
}

impl Game for Minishogi {
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
        let board = state.board().after(usize::from(action)).opposite();
        state.limits = board.limits();
        state.checks.push(state.player, state.limits.is_check);
        state.player = state.player.opponent();
        state.plies += 1;
        state.past.push(board, board.key(state.player), MAX_REPETITIONS);
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        if !state.moves().any() {
            let ending = if state.limits.is_check { "checkmate" } else { "no legal move" };
            return Some(Outcome::win(state.player.opponent(), ending));
        }
        if state.past.repetitions() < MAX_REPETITIONS {
            return None;
        }
        let loser = if state.checks_perpetually(Player::Second) { Player::Second } else { Player::First };
        let ending = if state.checks_perpetually(loser) { "perpetual check" } else { "fourfold repetition" };
        Some(Outcome::win(loser.opponent(), ending).softly())
    }

    #[inline]
    fn encode(&self, state: &State, planes: &mut Planes<'_>) {
        encoding::encode(&state.past, state.player, state.plies, self.history, planes);
    }

    fn action_text(&self, state: &State, action: Action) -> String {
        notation::usi(state.player, usize::from(action))
    }

    fn picture(&self, state: &State) -> Option<Picture> {
        let glyphs = ["玉", "金", "銀", "角", "飛", "歩", "全", "馬", "龍", "と"];
        let last_move = state.board().last_move(&state.past.frames.get(1).board, state.player);
        Some(SFEN.picture(&state.setup(), &glyphs, last_move))
    }

    fn description(&self) -> Description {
        Description {
            board: "5 columns and 5 rows, Black (the first player) below: `rbsgk/4p/5/P4/KGSBR b - 1`. Each side has a \
                    king, a gold and a silver general, a bishop, a rook and a pawn."
                .into(),
            rules: "Shogi's: captured pieces change sides and are dropped; no two own pawns on a file, no pawn dropped on \
                    the last rank or to mate. The last rank is the promotion zone: a silver, a bishop, a rook or a pawn \
                    may promote on moving into it or out of it, a pawn on it must. Who has no legal move loses. The fourth \
                    occurrence of a position (the same board, hands and side to move) ends the game, softly: White loses \
                    if it gave check by each of its moves since the first of the four, and Black loses in every other \
                    case. There is no declaration by an entering king. The ply cap, 300 unless `max_plies` is given, is \
                    a draw."
                .into(),
            planes: "Those of the AlphaZero paper's shogi for this board: 8 positions of 33 planes, and 2; with `history` \
                     other than 8, so many times 33 and 2. The board is turned by 180 degrees for White, so the player to \
                     move goes up. Positions come newest first, zero before the game began; where one was set up, the \
                     older ones repeat it, or are zero with `history_fill=zero`. A repetition plane is 1 if its position \
                     had occurred so often before when it was reached; it is 0 for what was set up. Counts are divided by \
                     fixed numbers: pieces in hand by 2, which is as many as there are, and plies since the game began, \
                     as SFEN's move number has them, by 300, the ply cap."
                .into(),
            actions: "5×5×69: action = 25 · plane + square, squares row by row from the top of the oriented board. Planes 0 \
                      to 31 are moves without promotion, 4 · direction + distance − 1, directions clockwise from straight \
                      ahead, by the square that the piece leaves; 32 to 63 the same with promotion; 64 to 68 drops of a \
                      gold, a silver, a bishop, a rook, a pawn, by the square that it comes to. Written in USI with files \
                      5 to 1 from the left and ranks a to e from the top: `3e3d`, `1b1a+`, `P*3c`. Positions are SFEN, or `startpos`."
                .into(),
            material: "A pawn 1, a silver 5, a gold 6, a bishop 8, a rook 10, in hand as on the board; promoted, a pawn 7, a \
                       silver 6, a bishop 10, a rook 12."
                .into(),
        }
    }

    #[inline]
    fn material(&self, state: &State) -> f32 {
        // What is in hand counts as the same kind on the board.
        state.board().material(&PIECE_VALUES, &PIECE_VALUES[GOLD..]) * state.player.sign()
    }

    fn num_repetitions(&self, state: &State) -> u32 {
        state.past.repetitions().into()
    }

    fn position_text(&self, state: &State) -> Option<String> {
        Some(SFEN.write(&state.setup()))
    }

    fn parse_position(&self, text: &str) -> Result<State, String> {
        let (board, player, plies) = notation::parse(text)?;
        let is_start = plies == 0 && player == Player::First && board == *self.start.board();
        Ok(State::set_up(board, player, plies, self.repeats_history && !is_start))
    }
}
