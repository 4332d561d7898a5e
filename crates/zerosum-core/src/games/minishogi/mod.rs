//! Minishogi: shogi on 5×5 squares, six pieces a side.

mod board;
mod notation;

use self::board::{Board, NUM_ACTION_PLANES, NUM_HAND_KINDS, NUM_KINDS};
use self::notation::SFEN;
use super::mini::{self, MiniGame, Setup, Variant};
use crate::game::{Description, Outcome};
use crate::picture::Picture;
use crate::player::Player;

/// The rules.
pub type Minishogi = MiniGame<NUM_KINDS, NUM_HAND_KINDS, true>;

/// A position with its history.
pub type State = mini::State<NUM_KINDS, NUM_HAND_KINDS, true>;

impl Variant<NUM_KINDS, NUM_HAND_KINDS, true> for Board {
    const NAME: &'static str = "minishogi";
    const START: &'static str = SFEN.start;
    const SECOND_PLAYER: &'static str = "White";
    const KIND_NAMES: [&'static str; NUM_KINDS] = [
        "king",
        "golds",
        "silvers",
        "bishops",
        "rooks",
        "pawns",
        "promoted silvers",
        "promoted bishops",
        "promoted rooks",
        "promoted pawns",
    ];
    const PIECE_VALUES: [f32; NUM_KINDS] = [0.0, 6.0, 5.0, 8.0, 10.0, 1.0, 6.0, 10.0, 12.0, 7.0];
    const NUM_ACTION_PLANES: usize = NUM_ACTION_PLANES;
    const MAX_REPETITIONS: u8 = 3;
    const NO_PROGRESS_SCALE: Option<f32> = None;

    #[inline]
    fn outcome(state: &State) -> Option<Outcome> {
        if !state.has_move() {
            let ending = if state.masks.is_check { "checkmate" } else { "no legal move" };
            return Some(Outcome::win(state.player.opponent(), ending));
        }
        if state.history.repetitions() < Self::MAX_REPETITIONS {
            return None;
        }
        let checks_perpetually = |player| state.checks.is_perpetual(player, state.history.cycle());
        let loser = if checks_perpetually(Player::Second) { Player::Second } else { Player::First };
        let ending = if checks_perpetually(loser) { "perpetual check" } else { "fourfold repetition" };
        Some(Outcome::win(loser.opponent(), ending).softly())
    }

    fn action_text(state: &State, action: usize) -> String {
        notation::usi(state.player, action)
    }

    fn position_text(state: &State) -> String {
        SFEN.write(&notation::setup(state))
    }

    fn parse_position(text: &str) -> Result<Setup<Self>, String> {
        notation::parse_position(text)
    }

    fn picture(state: &State, last_move: Vec<usize>) -> Picture {
        let glyphs = ["玉", "金", "銀", "角", "飛", "歩", "全", "馬", "龍", "と"];
        SFEN.picture(&notation::setup(state), &glyphs, last_move)
    }

    fn description() -> Description {
        Description {
            board: "5 columns and 5 rows, Black (the first player) below: `rbsgk/4p/5/P4/KGSBR b - 1`. Each side has a \
                    king, a gold and a silver general, a bishop, a rook and a pawn."
                .into(),
            rules: "Shogi's: captured pieces change sides and are dropped; no two own pawns on a file, no pawn \
                    dropped on the last rank or to mate. The last rank is the promotion zone: a silver, a bishop, a \
                    rook or a pawn may promote on moving into it or out of it, a pawn on it must. A player without \
                    a legal move loses. The fourth occurrence of a position (the same board, hands and side to \
                    move) ends the game, softly: White loses if it gave check with each move since the first \
                    occurrence, and otherwise Black loses. There is no declaration by an entering king. The ply \
                    cap, 300 unless `max_plies` is given, is a draw."
                .into(),
            planes: "Those of the AlphaZero paper's shogi for this board: 8 positions of 33 planes, and 2; \
                     `history` changes the number of positions. The board is turned by 180 degrees for White, so \
                     the player to move goes up. The newest position comes first. Positions before the game began \
                     are zero; positions before one that was set up repeat it, or are zero with \
                     `history_fill=zero`. A repetition plane is 1 if its position had occurred that often before \
                     when it was reached, and 0 for positions that were set up. Counts are divided by fixed \
                     numbers: pieces in hand by 2, the number of each kind, and plies since the game began (from \
                     SFEN's move number) by 300, the ply cap."
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
}
