//! Planes for networks that play on boards of any size, with any komi: those of the papers, with what differs from game to
//! game as planes of its own (after KataGo, arXiv 1902.10565, appendix A).

use super::katago::{KOMI_SCALE, komi_wave, limited_komi};
use super::state::State;
use super::{Go, stone_planes};
use crate::game::{PlaneSpec, Planes};
use crate::games::squares::SquareSet;

/// The name of the plane of the points that belong to the board. Where boards of several sizes share a frame, networks
/// find it by this name.
pub const BOARD_PLANE: &str = "points of the board";
/// The side of a board is divided by this number.
const SIDE_SCALE: f32 = 19.0;

/// The planes in channel order. `is_framed` is true if the board may be smaller than the planes.
pub fn planes(history: usize, liberties: usize, is_framed: bool) -> Vec<PlaneSpec> {
    let board = if is_framed { PlaneSpec::bits(BOARD_PLANE) } else { PlaneSpec::constant(BOARD_PLANE) };
    let numbers = ["1 if the last move was a pass", "own komi / 20", "how far own komi is from a draw, as a wave"];
    let numbers = numbers.into_iter().chain(["side of the board / 19"]).map(PlaneSpec::constant);
    [board].into_iter().chain(stone_planes(history, liberties)).chain(numbers).collect()
}

/// Writes the planes. `words` are those of points where the planes have them; the plane of the board is written if there is
/// a set of its points, and else it is the number 1.
pub fn encode<const W: usize, const P: usize>(
    go: &Go<W, P>,
    state: &State<W, P>,
    planes: &mut Planes<'_>,
    is_framed: bool,
    words: impl Fn(SquareSet<W>) -> [u64; W],
) {
    let (variant, own) = (&go.variant, state.player.index());
    if is_framed {
        planes.words(&words(go.geometry.all));
    } else {
        planes.constant(1.0);
    }
    for age in 0..variant.history {
        let stones = state.boards.get(age);
        planes.words(&words(stones[own]));
        planes.words(&words(stones[1 - own]));
    }
    if variant.liberties > 0 {
        let counted = state.board.stones_by_liberties(&go.geometry, variant.liberties);
        counted[..variant.liberties].iter().for_each(|stones| planes.words(&words(*stones)));
    }
    planes.constant(if state.passes > 0 { 1.0 } else { 0.0 });
    let komi = limited_komi(go, state);
    planes.constant(komi / KOMI_SCALE);
    planes.constant(komi_wave(komi, variant.pass()));
    planes.constant(variant.size as f32 / SIDE_SCALE);
}
