//! What the inner nodes of an alpha-beta search say of the linear evaluation at its leaves: TreeStrap(αβ) (Veness, Silver, Uther
//! and Blair 2009, "Bootstrapping from Game Tree Search").
//!
//! Each node's evaluation is to move towards the node's own search value. Where the search has only a bound, the evaluation is to
//! move only if it is beyond the bound. The paper's evaluations and values are in pawns and their squared difference is the loss.
//! Here an evaluation is the logit of an expected result, so that a won game has a finite value, and the loss is the cross-entropy:
//! its slope by the evaluation is the difference of the two expected results.

use crate::alpha_beta::{Bound, InnerNodes, MinimaxValue};
use crate::evaluation::LinearEvaluation;
use crate::game::{Game, GameSpec, PlaneKind};

/// Sums over the nodes of a tree of the error times what each weight is multiplied with, in the order of the weights.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeErrors {
    /// One for each square of each bit plane, plane by plane.
    pub squares: Vec<f64>,
    /// One for each constant plane.
    pub numbers: Vec<f64>,
    /// The sum of the errors alone.
    pub bias: f64,
    /// Nodes whose evaluation is to move.
    pub num_wrong: u64,
}

/// Sums the errors while a search runs.
pub struct Watch<'a> {
    evaluation: &'a LinearEvaluation,
    /// The planes of one position.
    bits: Vec<u8>,
    constants: Vec<f32>,
    /// The sums so far, squares by the bits of `bits`.
    squares: Vec<f64>,
    numbers: Vec<f64>,
    bias: f64,
    num_wrong: u64,
}

impl<'a> Watch<'a> {
    /// No node has been seen.
    pub fn new(evaluation: &'a LinearEvaluation) -> Self {
        let (num_bytes, num_numbers) = evaluation.memory();
        Self {
            evaluation,
            bits: vec![0; num_bytes],
            constants: vec![0.0; num_numbers],
            squares: vec![0.0; num_bytes * 8],
            numbers: vec![0.0; num_numbers],
            bias: 0.0,
            num_wrong: 0,
        }
    }

    /// The sums over the nodes seen.
    pub fn errors(&self, spec: &GameSpec) -> TreeErrors {
        let planes = self.squares.chunks(spec.bytes_per_plane() * 8).take(spec.num_planes(PlaneKind::Bits));
        TreeErrors {
            squares: planes.flat_map(|plane| &plane[..spec.num_squares()]).copied().collect(),
            numbers: self.numbers.clone(),
            bias: self.bias,
            num_wrong: self.num_wrong,
        }
    }
}

impl<G: Game> InnerNodes<G> for Watch<'_> {
    fn see(&mut self, game: &G, state: &G::State, value: MinimaxValue, bound: Bound) {
        self.bits.fill(0);
        let evaluation = self.evaluation.encode_and_sum(game, state, &mut self.bits, &mut self.constants);
        let error = expected_result(value) - of_logit(evaluation);
        let is_wrong = match bound {
            Bound::Exact => error != 0.0,
            Bound::Lower => error > 0.0,
            Bound::Upper => error < 0.0,
        };
        if !is_wrong {
            return;
        }
        for (bytes, sums) in self.bits.chunks_exact(8).zip(self.squares.chunks_exact_mut(64)) {
            let mut word = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            while word != 0 {
                sums[word.trailing_zeros() as usize & 63] += error;
                word &= word - 1;
            }
        }
        for (sum, number) in self.numbers.iter_mut().zip(&self.constants) {
            *sum += error * f64::from(*number);
        }
        self.bias += error;
        self.num_wrong += 1;
    }
}

/// (1 + result) / 2 as the search expects it for the player to move.
fn expected_result(value: MinimaxValue) -> f64 {
    if value.result == 0.0 { of_logit(value.evaluation) } else { f64::midpoint(1.0, f64::from(value.result)) }
}

fn of_logit(evaluation: f32) -> f64 {
    1.0 / (1.0 + libm::exp(-f64::from(evaluation)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::CoreGame;
    use crate::games::breakthrough::Breakthrough;

    /// The sums after one node, which is level in the evaluation.
    fn after(value: f32, result: f32, bound: Bound) -> TreeErrors {
        let game = Breakthrough::standard();
        let spec = game.spec();
        let weights = vec![0.0; spec.num_planes(PlaneKind::Bits) * spec.num_squares()];
        let evaluation = LinearEvaluation::new(spec, &weights, &[], 0.0).expect("the weights fit");
        let mut watch = Watch::new(&evaluation);
        watch.see(&game, &game.initial_state(), MinimaxValue { result, delay: 0, evaluation: value }, bound);
        watch.errors(spec)
    }

    #[test]
    fn a_bound_that_is_not_violated_changes_nothing() {
        for (value, bound) in [(-1.0, Bound::Lower), (0.0, Bound::Lower), (1.0, Bound::Upper), (0.0, Bound::Exact)] {
            let found = after(value, 0.0, bound);
            assert_eq!((found.bias, found.num_wrong), (0.0, 0));
            assert!(found.squares.iter().all(|sum| *sum == 0.0));
        }
    }

    #[test]
    fn a_violated_bound_is_as_good_as_a_value() {
        for (value, bound) in [(1.0, Bound::Lower), (-1.0, Bound::Upper)] {
            let found = after(value, 0.0, bound);
            assert_eq!(found, after(value, 0.0, Bound::Exact));
            assert_eq!(found.num_wrong, 1);
            // The 32 pieces of both sides stand on their squares.
            assert_eq!(found.squares.iter().filter(|sum| **sum == found.bias).count(), 32);
            assert!((found.bias - f64::from(value).signum() * 0.231_058_578_6).abs() < 1e-9);
        }
    }

    #[test]
    fn a_result_is_worth_itself_whatever_the_evaluation() {
        assert_eq!(after(0.0, 1.0, Bound::Exact).bias, 0.5);
        assert_eq!(after(9.0, -0.5, Bound::Exact).bias, -0.25);
    }
}
