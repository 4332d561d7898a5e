//! Random games that estimate the owner of each point: dead stones are mostly captured at the end.
//!
//! Moves are uniform among those that do not fill an eye, are not suicide and do not put a large own chain in atari; a
//! side without such a move passes. Simple ko is enough, because games end after three moves per point.

use super::Go;
use super::board::{Board, Effect};
use super::geometry::Geometry;
use super::state::State;
use crate::random::RandomStream;

/// Minimum size of a chain that its own side does not put in atari. Smaller chains may be sacrificed inside an eye;
/// larger ones would die in a seki.
const LARGE: usize = 6;

/// For each point, in [−1, 1], the share of random games in which Black owns it at the end, less White's share.
pub fn ownership<const W: usize, const P: usize>(
    go: &Go<W, P>,
    state: &State<W, P>,
    num_games: u32,
    random: &mut RandomStream,
) -> Vec<f32> {
    let geometry = &go.geometry;
    let mut balance = vec![0_i32; go.variant.pass()];
    let mut points = Vec::with_capacity(go.variant.pass());
    for _ in 0..num_games {
        let board = play_out(geometry, state, random, &mut points);
        let [black, white] = board.areas_owned(geometry);
        black.iter().for_each(|point| balance[point] += 1);
        white.iter().for_each(|point| balance[point] -= 1);
    }
    balance.into_iter().map(|sum| sum as f32 / num_games.max(1) as f32).collect()
}

fn play_out<const W: usize, const P: usize>(
    geometry: &Geometry<W>,
    state: &State<W, P>,
    random: &mut RandomStream,
    points: &mut Vec<u16>,
) -> Board<W, P> {
    let mut board = state.board.clone();
    let (mut side, mut ko, mut passes) = (state.player.index(), state.ko, 0);
    for _ in 0..3 * geometry.size * geometry.size {
        points.clear();
        points.extend(board.empty(geometry).iter().map(|point| point as u16));
        let mut is_pass = true;
        while !points.is_empty() {
            let point = points.swap_remove(random.below(points.len()));
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
    /// False for moves into an eye, suicide, and self-atari of a large chain without a capture.
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
        own.insert(point);
        let chain = geometry.connected(point, own);
        if chain.len() < LARGE {
            return false;
        }
        let mut liberties = geometry.adjacent(chain) & self.empty(geometry);
        liberties.remove(point);
        liberties.len() < 2
    }

    /// True if all neighbours are stones of this side, and the opponent has at most one stone on the diagonals, at the
    /// edge none.
    fn is_eye(&self, geometry: &Geometry<W>, point: usize, side: usize) -> bool {
        let width = geometry.size;
        let outside = width * width;
        let around = geometry.neighbours[point].map(usize::from);
        if around.iter().any(|neighbour| *neighbour != outside && !self.stones[side].contains(*neighbour)) {
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
        let hostile = diagonals
            .iter()
            .filter(|(is_on_board, diagonal)| *is_on_board && self.stones[1 - side].contains(*diagonal));
        hostile.count() + usize::from(is_at_edge) < 2
    }
}
