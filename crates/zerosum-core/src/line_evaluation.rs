//! Evaluations that follow a line of positions, in centipawns: what alpha-beta searches and leaves evaluate by.

use std::sync::Arc;

use crate::encoding::encoded;
use crate::evaluation::{Evaluation, LinearEvaluation, Material};
use crate::game::{Game, PositionKeys};
use crate::random::{RandomStream, mix};

/// Largest distance from the root, with extensions and quiescence.
pub const MAX_HEIGHT: usize = 160;
/// Evaluations lie between minus this and this.
pub const MAX_EVALUATION: i32 = 100_000;
/// Centipawns for one of the logit of an expected result (1 + value) / 2, as in engines with such networks.
pub const CENTIPAWNS_PER_LOGIT: i32 = 400;
/// Centipawns for one of a game's material.
const CENTIPAWNS_PER_PAWN: f32 = 100.0;
/// Bound of an expected result that becomes an evaluation.
const MAX_EXPECTED: f32 = 0.999;

/// An evaluation that follows a line of positions: what it has computed for one position may serve the next.
pub trait LineEvaluation<G: Game>: Send {
    /// Another root: nothing is known of any position.
    fn begin(&mut self) {}

    /// A move led to another position at this height.
    fn enter(&mut self, _height: usize) {}

    /// The evaluation of the position at `height`, for the player to move, in centipawns.
    fn evaluate(&mut self, game: &G, state: &G::State, height: usize) -> i32;
}

impl<G: Game> LineEvaluation<G> for Material {
    #[inline]
    fn evaluate(&mut self, game: &G, state: &G::State, _height: usize) -> i32 {
        of_material(Evaluation::evaluate(&Material, game, state) * game.player(state).sign())
    }
}

impl<G: Game> LineEvaluation<G> for Arc<LinearEvaluation> {
    #[inline]
    fn evaluate(&mut self, game: &G, state: &G::State, _height: usize) -> i32 {
        centipawns(self.for_mover(game, state) * CENTIPAWNS_PER_LOGIT as f32)
    }
}

/// An evaluation that is off by a fixed amount at each position, a function of the position alone: both sides of an experiment
/// see the same wrong values. The amount is normally distributed, in units of the expected result.
struct Disturbed<E> {
    inner: E,
    deviation: f32,
    seed: u64,
}

impl<G: Game, E: LineEvaluation<G>> LineEvaluation<G> for Disturbed<E> {
    fn begin(&mut self) {
        self.inner.begin();
    }

    fn enter(&mut self, height: usize) {
        self.inner.enter(height);
    }

    fn evaluate(&mut self, game: &G, state: &G::State, height: usize) -> i32 {
        let scale = 2.0 * CENTIPAWNS_PER_LOGIT as f32;
        let value = libm::tanhf(self.inner.evaluate(game, state, height) as f32 / scale);
        from_expected(value + self.deviation * disturbance(game, state, self.seed))
    }
}

/// An expected result in [−1, 1] in centipawns.
pub fn from_expected(result: f32) -> i32 {
    let bounded = result.clamp(-MAX_EXPECTED, MAX_EXPECTED);
    (libm::atanhf(bounded) * 2.0 * CENTIPAWNS_PER_LOGIT as f32).round() as i32
}

/// A standard normal number that is a function of position and seed. Positions without a key are told apart by their planes.
pub fn disturbance<G: Game>(game: &G, state: &G::State, seed: u64) -> f32 {
    let key = game.keys().map_or_else(
        || {
            let (bits, _) = encoded(game, state);
            bits.chunks(8).fold(game.player(state) as u64, |hash, chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                mix(hash ^ u64::from_le_bytes(word))
            })
        },
        |keys| keys.table_key(state).key,
    );
    RandomStream::new(seed, key, 0, "disturbed evaluation").normal() as f32
}

/// A game's material in centipawns.
#[inline]
pub fn of_material(material: f32) -> i32 {
    centipawns(material * CENTIPAWNS_PER_PAWN)
}

/// An evaluation as a whole number, within its bounds.
#[inline]
fn centipawns(evaluation: f32) -> i32 {
    (evaluation.round() as i32).clamp(-MAX_EVALUATION, MAX_EVALUATION)
}

/// An evaluation that is off by `deviation`, if that is above 0.
pub fn disturbed<G: Game, E: LineEvaluation<G> + 'static>(
    inner: E,
    deviation: f32,
    seed: u64,
) -> Box<dyn LineEvaluation<G>> {
    if deviation > 0.0 { Box::new(Disturbed { inner, deviation, seed }) } else { Box::new(inner) }
}
