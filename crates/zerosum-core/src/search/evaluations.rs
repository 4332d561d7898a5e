//! Evaluations: what an evaluator answers about a batch of leaves, checked and turned into priors.

use std::ops::RangeInclusive;

use super::node::Estimate;
use super::prior::softmax;
use crate::error::UsageError;
use crate::game::{Game, ValueForMover};
use crate::leaves::Leaves;
use crate::pool::{LEAVES_PER_PART, Pool};

/// An evaluator's answer about [`Leaves`].
#[derive(Clone, Copy, Debug)]
pub struct Evaluations<'a> {
    /// A logit for each legal action, in the order of [`Leaves::legal_actions`](crate::leaves::LeafArrays::legal_actions).
    pub logits: &'a [f32],
    /// The value of each leaf in [−1, 1], for its player to move.
    pub values: &'a [f32],
    /// The probability of a draw for each leaf, in [0, 1], if the evaluator has it.
    pub draws: Option<&'a [f32]>,
    /// The expected number of plies until the game ends for each leaf, at least 0, if the evaluator has it.
    pub moves_left: Option<&'a [f32]>,
}

impl<'a> Evaluations<'a> {
    /// Logits and values alone.
    pub fn new(logits: &'a [f32], values: &'a [f32]) -> Self {
        Self { logits, values, draws: None, moves_left: None }
    }

    /// The answer about one leaf, without its logits; a number that the evaluator does not have is 0.
    pub(super) fn estimate(&self, leaf: usize) -> Estimate<ValueForMover> {
        let of_leaf = |numbers: Option<&[f32]>| numbers.map_or(0.0, |numbers| numbers[leaf]);
        let value = ValueForMover(self.values[leaf]);
        Estimate { value, draw: of_leaf(self.draws), plies_left: of_leaf(self.moves_left) }
    }

    /// Checks lengths and ranges.
    ///
    /// # Errors
    /// If a length differs from that of the leaves, or a number is not finite or out of range.
    pub(super) fn check<G: Game>(&self, leaves: &Leaves<G>) -> Result<(), UsageError> {
        let expected = (leaves.legal_actions().len(), leaves.len());
        let found = (self.logits.len(), self.values.len());
        if found != expected {
            return Err(UsageError(format!(
                "the evaluations hold {} logits and {} values, expected {} (one a legal action) and {} (one a leaf)",
                found.0, found.1, expected.0, expected.1
            )));
        }
        check_numbers("value", Some(self.values), leaves.len(), -1.0..=1.0)?;
        check_numbers("share of draws", self.draws, leaves.len(), 0.0..=1.0)?;
        check_numbers("number of moves left", self.moves_left, leaves.len(), 0.0..=f32::MAX)?;
        // A fold without a branch compiles to vector instructions.
        if self.logits.iter().fold(true, |are_finite, logit| are_finite & logit.is_finite()) {
            return Ok(());
        }
        for leaf in 0..leaves.len() {
            if let Some(logit) = self.logits[leaves.legal_range(leaf)].iter().find(|logit| !logit.is_finite()) {
                return Err(UsageError(format!(
                    "the evaluator's logits of leaf {leaf} hold {logit}, which is not finite"
                )));
            }
        }
        Ok(())
    }
}

fn check_numbers(
    name: &str,
    numbers: Option<&[f32]>,
    expected: usize,
    range: RangeInclusive<f32>,
) -> Result<(), UsageError> {
    let Some(numbers) = numbers else { return Ok(()) };
    if numbers.len() != expected {
        return Err(UsageError(format!("the evaluations hold {} of a {name}, expected {expected}", numbers.len())));
    }
    match numbers.iter().position(|number| !range.contains(number)) {
        None => Ok(()),
        Some(leaf) => Err(UsageError(format!(
            "the evaluator's {name} of leaf {leaf} is {}, not in [{}, {}]",
            numbers[leaf],
            range.start(),
            range.end()
        ))),
    }
}

/// Computes the priors of all leaves of a batch on the pool's threads, in the order of the legal actions.
pub(super) fn shared_softmax<G: Game>(pool: &Pool, leaves: &Leaves<G>, logits: &[f32], priors: &mut [f32]) {
    let offsets = leaves.legal_offsets();
    let mut left = priors;
    let parts: Vec<(&[i64], &mut [f32])> = (0..leaves.len())
        .step_by(LEAVES_PER_PART)
        .map(|first| {
            let ends = &offsets[first..=(first + LEAVES_PER_PART).min(leaves.len())];
            let here = left.split_off_mut(..(ends[ends.len() - 1] - ends[0]) as usize);
            (ends, here.expect("a prior for each legal action"))
        })
        .collect();
    pool.share(parts.into_iter(), |(ends, mut priors)| {
        let mut weights = Vec::new();
        for ends in ends.windows(2) {
            let logits = &logits[ends[0] as usize..ends[1] as usize];
            let here = priors.split_off_mut(..logits.len()).expect("a prior for each legal action");
            softmax(logits, &mut weights, here);
        }
    });
}
