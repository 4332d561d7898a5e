//! Minichess: Gardner's chess on 5×5 squares (1969).

mod board;
mod notation;

use self::board::{Board, CORNER_SHADE, NUM_ACTION_PLANES, NUM_KINDS};
use super::fen;
use super::fide::{self, KIND_NAMES, MAX_HALFMOVES, MAX_REPETITIONS, PIECE_VALUES};
use super::mini::board::SIDE;
use super::mini::{self, MiniGame, Setup, Variant};
use crate::game::{Action, Description, Outcome};
use crate::picture::Picture;

/// The rules.
pub type Minichess = MiniGame<NUM_KINDS, 0, false>;

/// A position with its history.
pub type State = mini::State<NUM_KINDS, 0, false>;

impl Variant<NUM_KINDS, 0, false> for Board {
    const NAME: &'static str = "minichess";
    const START: &'static str = "rnbqk/ppppp/5/PPPPP/RNBQK w - - 0 1";
    const SECOND_PLAYER: &'static str = "Black";
    const KIND_NAMES: [&'static str; NUM_KINDS] = KIND_NAMES;
    const PIECE_VALUES: [f32; NUM_KINDS] = PIECE_VALUES;
    const NUM_ACTION_PLANES: usize = NUM_ACTION_PLANES;
    const MAX_REPETITIONS: u8 = MAX_REPETITIONS;
    const NO_PROGRESS_SCALE: Option<f32> = Some(MAX_HALFMOVES as f32);
    const NOTATIONS: &'static [&'static str] = &["san"];

    #[inline]
    fn outcome(state: &State) -> Option<Outcome> {
        if !state.has_move() {
            return Some(fide::outcome_without_move(state.player, state.masks.is_check));
        }
        let is_insufficient = fide::is_insufficient_material(state.board().kinds.map(u64::from), CORNER_SHADE.into());
        fide::soft_draw(is_insufficient, state.history.repetitions(), state.halfmoves)
    }

    fn action_text(state: &State, action: usize) -> String {
        notation::uci(state.board(), state.player, action)
    }

    fn action_text_in(state: &State, action: usize) -> String {
        notation::san(state.board(), state.player, action)
    }

    fn parse_action(state: &State, legal: &[Action], text: &str) -> Option<Action> {
        notation::parse(state.board(), state.player, legal, text)
    }

    fn position_text(state: &State) -> String {
        notation::write(&state.setup())
    }

    fn parse_position(text: &str) -> Result<Setup<Self>, String> {
        notation::parse_position(text)
    }

    fn picture(state: &State, last_move: Vec<usize>) -> Picture {
        fen::picture(SIDE, |square| state.board().piece_on(square, state.player), state.player, last_move)
    }

    fn description() -> Description {
        Description {
            board: "5 columns and 5 rows, White (the first player) below: `rnbqk/ppppp/5/PPPPP/RNBQK w - - 0 1`.".into(),
            rules: "Gardner's minichess: the FIDE Laws of Chess without double steps, en passant and castling. A \
                    pawn promotes to queen, rook, bishop or knight. Checkmate wins and stalemate draws. The game is \
                    drawn without a claim, softly, by a position that occurs for the third time (the same pieces \
                    and side to move), by fifty moves of each side without a capture or a pawn's move (a checkmate \
                    on the last of them wins), and by insufficient material: kings with at most one knight, or with \
                    bishops that all stand on squares of one shade. The ply cap, 300 unless `max_plies` is given, \
                    is a draw."
                .into(),
            planes: "Those of the AlphaZero paper's chess for this board: 8 positions of 14 planes, and 3; \
                     `history` changes the number of positions. The board is flipped top to bottom for Black, so \
                     the player to move goes up; files keep their side. The newest position comes first. Positions \
                     before the game began are zero; positions before one that was set up repeat it, or are zero \
                     with `history_fill=zero`. A repetition plane is 1 if its position had occurred that often \
                     before when it was reached, and 0 for positions that were set up. Counts are divided by fixed \
                     numbers: plies since the game began (from FEN's move number) by 300, the ply cap, and plies \
                     since a capture or a pawn's move by 100, as in the fifty-move rule."
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
}
