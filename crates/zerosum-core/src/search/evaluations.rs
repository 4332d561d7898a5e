//! Evaluations: what an evaluator answers about a batch of leaves, checked and turned into priors.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::node::Estimate;
use super::prior::softmax;
use crate::error::UsageError;
use crate::game::Game;
use crate::leaves::Leaves;
use crate::player::ValueForMover;
use crate::pool::{LEAVES_PER_PART, Pool, Work};

/// An evaluator's answer about [`Leaves`].
#[derive(Clone, Copy, Debug)]
pub struct Evaluations<'a> {
    /// A logit for each legal action, in the order of [`Leaves::legal_actions`](crate::leaves::LeafArrays::legal_actions).
    pub logits: &'a [f32],
    /// The value of each leaf in [−1, 1], for its player to move.
    pub values: &'a [f32],
    /// The probability of a draw for each leaf, in [0, 1], if the evaluator has it.
    pub draw_shares: Option<&'a [f32]>,
}

impl<'a> Evaluations<'a> {
    /// Logits and values alone.
    pub fn new(logits: &'a [f32], values: &'a [f32]) -> Self {
        Self { logits, values, draw_shares: None }
    }

    /// The answer about one leaf, without its logits; the share of draws is 0 if the evaluator does not have it.
    pub(super) fn estimate(&self, leaf: usize) -> Estimate<ValueForMover> {
        let draw_share = self.draw_shares.map_or(0.0, |draw_shares| draw_shares[leaf]);
        Estimate { value: ValueForMover(self.values[leaf]), draw_share }
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
        check_numbers("share of draws", self.draw_shares, leaves.len(), 0.0..=1.0)?;
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
pub(super) fn shared_softmax<G: Game>(
    pool: &Pool,
    leaves: &Arc<Leaves<G>>,
    logits: &[f32],
    sharpness: f64,
    priors: &mut Vec<f32>,
) {
    let work = Softmax { leaves: Arc::clone(leaves), logits: logits.to_vec(), sharpness };
    let (_, parts) = pool.share(work, leaves.len().div_ceil(LEAVES_PER_PART));
    priors.clear();
    for part in &parts {
        priors.extend_from_slice(part);
    }
}

struct Softmax<G: Game> {
    leaves: Arc<Leaves<G>>,
    logits: Vec<f32>,
    sharpness: f64,
}

impl<G: Game> Work for Softmax<G> {
    /// The priors of the part's leaves, one leaf after the other.
    type Part = Vec<f32>;

    fn part(&self, index: usize) -> Vec<f32> {
        let first = index * LEAVES_PER_PART;
        let end = (first + LEAVES_PER_PART).min(self.leaves.len());
        let offsets: Vec<usize> =
            self.leaves.legal_offsets()[first..=end].iter().map(|offset| *offset as usize).collect();
        let (mut priors, mut weights) = (vec![0.0; offsets[end - first] - offsets[0]], Vec::new());
        for ends in offsets.windows(2) {
            let here = &mut priors[ends[0] - offsets[0]..ends[1] - offsets[0]];
            softmax(&self.logits[ends[0]..ends[1]], self.sharpness, &mut weights, here);
        }
        priors
    }
}
