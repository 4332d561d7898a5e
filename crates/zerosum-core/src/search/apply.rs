//! Evaluations on their way into the trees.

use super::Search;
use super::batch::Batch;
use super::evaluations::{Evaluations, shared_softmax};
use super::prior::softmax;
use crate::error::UsageError;
use crate::game::Game;
use crate::pool::LEAVES_PER_PART;

impl<G: Game> Search<G> {
    /// Backs up the evaluations of the leaves with this ticket, leaf by leaf in their order.
    ///
    /// # Errors
    /// If the ticket is not in flight, a length is wrong, or a number is not finite or out of range. Nothing has changed
    /// then.
    pub fn apply(&mut self, ticket: u64, evaluations: &Evaluations<'_>) -> Result<(), UsageError> {
        let Some(Batch { leaves, .. }) = self.in_flight.get(&ticket) else { return Err(not_in_flight(ticket)) };
        evaluations.check(leaves)?;
        let batch = self.in_flight.remove(&ticket).ok_or_else(|| not_in_flight(ticket))?;
        let Batch { leaves, paths, keys } = &batch;
        let pool = self.pool.as_ref().filter(|_| leaves.len() > LEAVES_PER_PART);
        let sharpness = 1.0 / f64::from(self.config.prior_temperature);
        if let Some(pool) = pool {
            shared_softmax(pool, leaves, evaluations.logits, sharpness, &mut self.priors);
        }
        for leaf in 0..leaves.len() {
            let legal = leaves.legal_range(leaf);
            let tree = &mut self.trees[leaves.trees()[leaf] as usize];
            let actions = &leaves.legal_actions()[legal.clone()];
            let estimate = evaluations.estimate(leaf);
            if self.config.learns_rules() && paths.get(leaf).is_empty() {
                tree.note_root_places(&leaves.logit_actions()[legal.clone()]);
            }
            let priors = if pool.is_some() {
                &self.priors[legal]
            } else {
                self.priors.resize(legal.len(), 0.0);
                softmax(&evaluations.logits[legal], sharpness, &mut self.weights, &mut self.priors);
                &self.priors
            };
            tree.apply(&self.config, paths.get(leaf), actions, priors, estimate);
            if let (Some(cache), Some(key)) = (&mut self.cache, keys.get(leaf)) {
                cache.insert(*key, priors, estimate);
            }
        }
        self.keep_buffers(batch);
        Ok(())
    }
}

fn not_in_flight(ticket: u64) -> UsageError {
    UsageError(format!("ticket {ticket} is not in flight: each is applied once"))
}
