//! Planes of minishogi, in the style of the AlphaZero paper's shogi (arXiv 1712.01815, table S1).

use super::board::{Board, NUM_HAND_KINDS, NUM_KINDS};
use crate::game::{PlaneKind, PlaneSpec, Planes, Player};
use crate::games::past::Past;

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
const IN_HAND_SCALE: f32 = 2.0;
const PLIES_SCALE: f32 = 300.0;
/// Earlier occurrences that planes tell of: the fourth ends the game.
pub const MAX_REPETITIONS: u8 = 3;

/// What the planes mean, in channel order.
pub fn planes(history: usize) -> Vec<PlaneSpec> {
    let bits = |name: String| PlaneSpec { name, kind: PlaneKind::Bits };
    let constant = |name: String| PlaneSpec { name, kind: PlaneKind::Constant };
    let mut planes = Vec::new();
    for age in 0..history {
        let when = match age {
            0 => String::new(),
            1 => ", 1 ply ago".into(),
            _ => format!(", {age} plies ago"),
        };
        for side in ["own", "opponent's"] {
            planes.extend(KINDS.iter().map(|kind| bits(format!("{side} {kind}{when}"))));
        }
        for times in ["once", "twice", "three times"] {
            planes.push(constant(format!("1 if the position had occurred at least {times} before{when}")));
        }
        for side in ["own", "opponent's"] {
            let in_hand = &KINDS[1..=NUM_HAND_KINDS];
            planes
                .extend(in_hand.iter().map(|kind| constant(format!("{side} {kind} in hand / {IN_HAND_SCALE}{when}"))));
        }
    }
    planes.push(constant("1 if White is to move".into()));
    planes.push(constant(format!("plies since the game began / {PLIES_SCALE}")));
    planes
}

/// Writes the planes.
#[inline]
pub fn encode(past: &Past<Board>, player: Player, plies: u32, history: usize, planes: &mut Planes<'_>) {
    for age in 0..history {
        let frame = past.frame(age);
        // A frame is seen by who was to move then.
        let board = if age % 2 == 0 { frame.board } else { frame.board.turned() };
        for side in [board.own, board.opponent] {
            for squares in board.kinds {
                planes.mask(u64::from(squares & side));
            }
        }
        for times in 1..=MAX_REPETITIONS {
            planes.constant(if frame.repetitions >= times { 1.0 } else { 0.0 });
        }
        for count in board.hands.as_flattened() {
            planes.constant(f32::from(*count) / IN_HAND_SCALE);
        }
    }
    planes.constant(player.index() as f32);
    planes.constant(plies as f32 / PLIES_SCALE);
}
