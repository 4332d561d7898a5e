//! Random games that tell whose a point will be: dead stones are those that are mostly gone at their ends.
//!
//! Moves are uniform among those that fill no eye, kill no own chain of some size by self-atari, and are no suicide; who has
//! none passes. Simple ko is enough: games are cut after three moves a point.

use super::Go;
use super::bits::Geometry;
use super::board::{Board, Effect};
use super::state::State;
use crate::random::Draws;

/// A chain of so many stones is not put into atari by its own side: no eye is that large that it may be killed from inside,
/// and in seki this is what keeps both alive.
const LARGE: usize = 6;

/// For each point, in [−1, 1], how much more often Black than White owned it at the ends of random games.
pub fn ownership<const W: usize, const P: usize>(
    go: &Go<W, P>,
    state: &State<W, P>,
    num_games: u32,
    draws: &mut Draws,
) -> Vec<f32> {
    let geometry = &go.geometry;
    let mut balance = vec![0_i32; go.variant.pass()];
    let mut points = Vec::with_capacity(go.variant.pass());
    for _ in 0..num_games {
        let board = play_out(geometry, state, draws, &mut points);
        let [black, white] = board.areas_owned(geometry);
        black.points().for_each(|point| balance[point] += 1);
        white.points().for_each(|point| balance[point] -= 1);
    }
    balance.into_iter().map(|sum| sum as f32 / num_games.max(1) as f32).collect()
}

fn play_out<const W: usize, const P: usize>(
    geometry: &Geometry<W>,
    state: &State<W, P>,
    draws: &mut Draws,
    points: &mut Vec<u16>,
) -> Board<W, P> {
    let mut board = state.board.clone();
    let (mut side, mut ko, mut passes) = (state.mover.index(), state.ko, 0);
    for _ in 0..3 * geometry.size * geometry.size {
        points.clear();
        points.extend(board.empty(geometry).points().map(|point| point as u16));
        let mut is_pass = true;
        while !points.is_empty() {
            let point = points.swap_remove(draws.below(points.len()));
            if ko != Some(point) && board.is_sensible(geometry, point.into(), side) {
                ko = board.place(geometry, point.into(), side);
                is_pass = false;
                break;
            }
        }
        if is_pass {
            passes += 1;
            ko = None;
            if passes == 2 {
                break;
            }
        } else {
            passes = 0;
        }
        side = 1 - side;
    }
    board
}

impl<const W: usize, const P: usize> Board<W, P> {
    /// False for moves that no player would make: into an eye, suicide, and self-atari of a large chain that takes nothing.
    fn is_sensible(&self, geometry: &Geometry<W>, point: usize, side: usize) -> bool {
        if self.is_eye(geometry, point, side) {
            return false;
        }
        match self.placement(geometry, point, side).effect {
            Effect::Suicide => false,
            Effect::Capture => true,
            Effect::Quiet => {
                let is_free =
                    geometry.neighbours[point].iter().filter(|neighbour| self.is_empty_at(**neighbour)).count() >= 2;
                is_free || !self.is_large_self_atari(geometry, point, side)
            }
        }
    }

    fn is_large_self_atari(&self, geometry: &Geometry<W>, point: usize, side: usize) -> bool {
        let mut own = self.stones[side];
        own.add(point);
        let chain = geometry.connected(point, own);
        if chain.count() < LARGE {
            return false;
        }
        let mut liberties = geometry.beside(chain) & self.empty(geometry);
        liberties.remove(point);
        liberties.count() < 2
    }

    /// True if all neighbours are stones of this side, and of the opponent's on the diagonals is at most one, none at the edge.
    fn is_eye(&self, geometry: &Geometry<W>, point: usize, side: usize) -> bool {
        let width = geometry.size;
        let outside = width * width;
        let around = geometry.neighbours[point].map(usize::from);
        if around.iter().any(|neighbour| *neighbour != outside && !self.stones[side].has(*neighbour)) {
            return false;
        }
        let [above, left, right, below] = around.map(|neighbour| neighbour != outside);
        let diagonals = [
            (above && left, point.wrapping_sub(width + 1)),
            (above && right, point.wrapping_sub(width - 1)),
            (below && left, point + width - 1),
            (below && right, point + width + 1),
        ];
        let is_at_edge = !(above && left && right && below);
        let hostile =
            diagonals.iter().filter(|(is_on_board, diagonal)| *is_on_board && self.stones[1 - side].has(*diagonal));
        hostile.count() + usize::from(is_at_edge) < 2
    }
}
