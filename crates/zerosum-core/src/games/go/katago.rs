//! The planes of KataGo's networks (its inputs of version 7): 22 of points and 19 of one number each.
//!
//! A territory game has phases after its end in KataGo (its encore), in which stones are played out; here it has none, so
//! the planes of these phases are 0. So are those of the button, of taxes on groups and of unequal numbers of playouts.

use super::board::Board;
use super::ladder::Ladders;
use super::state::State;
use super::{Go, Scoring, Superko};
use crate::game::{PlaneSpec, Planes};
use crate::games::history::MAX_HISTORY;
use crate::games::squares::SquareSet;
use crate::player::Player;

/// The longest side of a board that these networks know.
const MAX_SIZE: usize = 19;
/// Komi is divided by this number.
pub const KOMI_SCALE: f32 = 20.0;
/// Komi counts up to the number of points and so many more.
const MOST_KOMI_BEYOND: f32 = 20.0;

/// Checks the options that the planes leave no choice of.
///
/// # Errors
/// A sentence: the option, and what to do.
pub fn require_fitting(size: usize, history: usize, repeats_history: bool, liberties: usize) -> Result<(), String> {
    if size > MAX_SIZE {
        return Err(format!("go: size is {size}, but planes=katago is for boards up to {MAX_SIZE}×{MAX_SIZE}"));
    }
    if history != MAX_HISTORY || !repeats_history || liberties != 0 {
        return Err("go: planes=katago has its own history and liberties: leave out history, history_fill and \
                    liberties, or planes=katago"
            .into());
    }
    Ok(())
}

/// The planes in channel order.
pub fn planes() -> Vec<PlaneSpec> {
    let mut planes = vec![PlaneSpec::constant("1")];
    let mut bits = |name: String| planes.push(PlaneSpec::bits(name));
    bits("own stones".into());
    bits("opponent stones".into());
    for text in ["1 liberty", "2 liberties", "3 liberties"] {
        bits(format!("stones of chains with {text}"));
    }
    bits("points that ko forbids".into());
    planes.extend([PlaneSpec::constant("0"), PlaneSpec::constant("0")]);
    for age in 1..=5 {
        planes.push(PlaneSpec::bits(format!("point of the move {age} plies ago")));
    }
    for age in ["", ", 1 ply ago", ", 2 plies ago"] {
        planes.push(PlaneSpec::bits(format!("stones in ladders{age}")));
    }
    planes.push(PlaneSpec::bits("moves that begin to take in a ladder"));
    planes.extend(["own area", "opponent area"].map(PlaneSpec::bits));
    planes.extend([PlaneSpec::constant("0"), PlaneSpec::constant("0")]);
    for age in 1..=5 {
        planes.push(PlaneSpec::constant(format!("1 if the move {age} plies ago was a pass")));
    }
    planes.extend(
        [
            "own komi / 20",
            "1 with superko",
            "0.5 with positional superko, -0.5 with situational superko",
            "1 if suicide is allowed",
            "1 with territory scoring",
            "1 if points in seki do not count",
            "0",
            "0",
            "0",
            "1 if a pass ends the game",
            "0",
            "0",
            "0",
            "how far own komi is from a draw, as a wave",
        ]
        .map(PlaneSpec::constant),
    );
    planes
}

/// Writes the planes.
#[inline(never)] // the other planes are encoded faster without it in their function
pub fn encode<const W: usize, const P: usize>(go: &Go<W, P>, state: &State<W, P>, planes: &mut Planes<'_>) {
    let (variant, geometry, own) = (&go.variant, &go.geometry, state.player.index());
    let pass = variant.pass();
    planes.constant(1.0);
    planes.words(&state.board.stones[own].0);
    planes.words(&state.board.stones[1 - own].0);
    state.board.stones_by_liberties(geometry, 3)[..3].iter().for_each(|stones| planes.words(&stones.0));
    planes.words(&state.moves(go).banned.0);
    planes.constant(0.0);
    planes.constant(0.0);
    for action in state.latest {
        planes.squares(action.map(usize::from).filter(|point| *point < pass));
    }

    let now = Ladders::of(&state.board, geometry, state.ko);
    planes.words(&now.stones.0);
    // Before the game began, the position is taken for its own past.
    let mut ladders = now;
    for age in [1, 2] {
        if state.latest[age - 1].is_some() {
            let board = board_of(go, state.boards.get(age));
            ladders = Ladders::of(&board, geometry, state.earlier_kos[age - 1]);
        }
        planes.words(&ladders.stones.0);
    }
    planes.words(&now.first_moves[own].0);

    let areas = match variant.scoring {
        Scoring::Area => state.board.areas_with_life(geometry, variant.suicide),
        Scoring::Territory => [SquareSet::EMPTY; 2],
    };
    planes.words(&areas[own].0);
    planes.words(&areas[1 - own].0);
    planes.constant(0.0);
    planes.constant(0.0);

    let number = |holds: bool| if holds { 1.0 } else { 0.0 };
    state.latest.iter().for_each(|action| planes.constant(number(action.map(usize::from) == Some(pass))));
    let komi = limited_komi(go, state);
    planes.constant(komi / KOMI_SCALE);
    planes.constant(number(variant.superko.is_of_all_positions()));
    planes.constant(match variant.superko {
        Superko::Positional => 0.5,
        Superko::Situational => -0.5,
        Superko::Simple | Superko::None => 0.0,
    });
    planes.constant(number(variant.suicide));
    let is_territory = variant.scoring == Scoring::Territory;
    planes.constant(number(is_territory));
    planes.constant(number(is_territory));
    (0..3).for_each(|_| planes.constant(0.0));
    planes.constant(number(state.passes > 0));
    (0..3).for_each(|_| planes.constant(0.0));
    planes.constant(if is_territory { 0.0 } else { komi_wave(komi, pass) });
}

/// A board with these stones.
fn board_of<const W: usize, const P: usize>(go: &Go<W, P>, stones: &[SquareSet<W>; 2]) -> Board<W, P> {
    let mut board = Board::new(&go.geometry);
    for (side, stones) in stones.iter().enumerate() {
        stones.for_each(|point| {
            board.place(&go.geometry, point, side);
        });
    }
    board
}

/// The komi of the player to move, as far as the planes count it.
pub fn limited_komi<const W: usize, const P: usize>(go: &Go<W, P>, state: &State<W, P>) -> f32 {
    let most = go.variant.pass() as f32 + MOST_KOMI_BEYOND;
    own_komi(go, state).clamp(-most, most)
}

/// The points that the player to move has besides its area. With territory scoring, those of its area are counted as if
/// each move cost a point.
fn own_komi<const W: usize, const P: usize>(go: &Go<W, P>, state: &State<W, P>) -> f32 {
    let mut komi = go.variant.komi;
    if go.variant.scoring == Scoring::Territory {
        // A side's moves are its stones on the board and those that the other side has taken.
        let moves = |side: usize| (state.board.stones[side].len() + usize::from(state.prisoners[1 - side])) as f32;
        komi += moves(0) - moves(1);
    }
    if state.player == Player::Second { komi } else { -komi }
}

/// How far komi is from one with which the game can be drawn, from −0.5 to 0.5: draws need komi of the parity of the number
/// of points, at least without an odd seki.
pub fn komi_wave(komi: f32, num_points: usize) -> f32 {
    let parity = (num_points % 2) as f32;
    let beyond = (komi - parity).rem_euclid(2.0);
    if beyond < 0.5 {
        beyond
    } else if beyond < 1.5 {
        1.0 - beyond
    } else {
        beyond - 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::komi_wave;

    #[test]
    fn the_wave_rises_where_draws_are() {
        assert_eq!([7.0, 7.5, 6.5, 8.0, 6.0].map(|komi| komi_wave(komi, 81)), [0.0, 0.5, -0.5, 0.0, 0.0]);
        assert_eq!([6.0, 6.5, 5.5, 7.0, -6.5].map(|komi| komi_wave(komi, 36)), [0.0, 0.5, -0.5, 0.0, -0.5]);
    }
}
