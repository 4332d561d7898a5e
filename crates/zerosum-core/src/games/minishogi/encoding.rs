//! Planes of minishogi, in the style of the AlphaZero paper's shogi (arXiv 1712.01815, table S1).

use super::board::{Board, NUM_HAND_KINDS, NUM_KINDS};
use crate::game::{PlaneSpec, Planes, Player};
use crate::games::past::{self, Past};

const KINDS: [&str; NUM_KINDS] = [
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
/// What the planes of counts are divided by: the most of a kind that one side can hold, and the default ply cap.
const IN_HAND_SCALE: u8 = 2;
const PLIES_SCALE: f32 = 300.0;
/// Earlier occurrences that planes tell of: the fourth ends the game.
pub const MAX_REPETITIONS: u8 = 3;

/// What the planes mean, in channel order.
pub fn planes(history: usize) -> Vec<PlaneSpec> {
    let hand: Vec<_> = KINDS[1..=NUM_HAND_KINDS].iter().map(|kind| (*kind, IN_HAND_SCALE)).collect();
    let mut planes = past::planes(history, &KINDS, MAX_REPETITIONS, &hand);
    planes.push(PlaneSpec::constant("1 if White is to move"));
    planes.push(PlaneSpec::constant(format!("plies since the game began / {PLIES_SCALE}")));
    planes
}

/// Writes the planes.
#[inline]
pub fn encode(past: &Past<Board>, player: Player, plies: u32, history: usize, planes: &mut Planes<'_>) {
    for age in 0..history {
        let frame = past.frames.get(age);
        // A frame is seen by who was to move then.
        let board = if age % 2 == 0 { frame.board } else { frame.board.opposite() };
        board.encode(planes);
        past::encode_repetitions(frame.repetitions, MAX_REPETITIONS, planes);
        for count in board.hands.as_flattened() {
            planes.constant(f32::from(*count) / f32::from(IN_HAND_SCALE));
        }
    }
    planes.constant(player.index() as f32);
    planes.constant(plies as f32 / PLIES_SCALE);
}
