//! Planes of minichess, in the style of the AlphaZero paper's chess (arXiv 1712.01815, table S1).

use super::board::{Board, NUM_KINDS};
use crate::game::{PlaneSpec, Planes, Player};
use crate::games::past::{self, Past};

const KINDS: [&str; NUM_KINDS] = ["pawns", "knights", "bishops", "rooks", "queens", "king"];
/// What the planes of counts are divided by: the default ply cap, and the fifty-move rule's plies.
const PLIES_SCALE: f32 = 300.0;
const NO_PROGRESS_SCALE: f32 = 100.0;
/// Earlier occurrences that planes tell of: the third occurrence ends the game.
pub const MAX_REPETITIONS: u8 = 2;

/// What the planes mean, in channel order.
pub fn planes(history: usize) -> Vec<PlaneSpec> {
    let mut planes = past::planes(history, &KINDS, MAX_REPETITIONS, &[]);
    planes.push(PlaneSpec::constant("1 if Black is to move"));
    planes.push(PlaneSpec::constant(format!("plies since the game began / {PLIES_SCALE}")));
    planes.push(PlaneSpec::constant(format!("plies since a capture or a pawn's move / {NO_PROGRESS_SCALE}")));
    planes
}

/// Writes the planes. `plies` are those since the game began, `halfmoves` those since a capture or a pawn's move.
#[inline]
pub fn encode(
    past: &Past<Board>,
    player: Player,
    [plies, halfmoves]: [u32; 2],
    history: usize,
    planes: &mut Planes<'_>,
) {
    for age in 0..history {
        let frame = past.frames.get(age);
        // A frame is seen by who was to move then.
        let board = if age % 2 == 0 { frame.board } else { frame.board.opposite() };
        board.encode(planes);
        past::encode_repetitions(frame.repetitions, MAX_REPETITIONS, planes);
    }
    planes.constant(player.index() as f32);
    planes.constant(plies as f32 / PLIES_SCALE);
    planes.constant(halfmoves as f32 / NO_PROGRESS_SCALE);
}
