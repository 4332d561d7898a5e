//! Gathering: simulations until a batch of leaves waits for evaluations.

use std::sync::Arc;

use super::Search;
use super::batch::{Batch, Paths};
use super::cache::{Key, key_of};
use super::hidden::Question;
use super::tree::Descent;
use crate::game::Game;
use crate::hidden_move::NO_SLOT;
use crate::leaves::Leaves;

impl<G: Game> Search<G> {
    /// Runs simulations until `max_leaves` positions wait for an evaluation or no tree finds another one.
    ///
    /// Fewer (or no) leaves do not mean that the searches are over: [`Self::finished`] lists those that are. Once no tree
    /// finds another leaf, leaves that the cache knows are settled with its evaluations, and the search looks for others
    /// in their places. Each of these simulations counts.
    ///
    /// Millions of simulations may need no evaluation, and a caller with a clock must be able to stop between them. So a
    /// tree is left once such simulations have walked through `max_settled` of its nodes in this call;
    /// [`budget_spent`](crate::leaves::LeafArrays::budget_spent) says that it can go on at once.
    pub fn gather(&mut self, max_leaves: usize, max_settled: u32) -> Arc<Leaves<G>> {
        let Batch { leaves: mut shared, mut paths, mut keys } = self.empty_batch();
        let leaves = Arc::get_mut(&mut shared).expect("an empty batch has one owner");
        self.settled_nodes.fill(0);
        loop {
            let first = leaves.len();
            self.collect(leaves, &mut paths, max_leaves, max_settled);
            match &self.pool {
                _ if self.config.learns_rules() => {}
                Some(pool) => leaves.complete_by(pool, &self.game),
                None => leaves.complete(&self.game),
            }
            if !self.settle_cached(leaves, &mut paths, &mut keys, first) {
                break;
            }
        }
        self.num_leaves += shared.len() as u64;
        let batch = Batch { leaves: Arc::clone(&shared), paths, keys };
        if shared.is_empty() {
            self.keep_buffers(batch);
        } else {
            self.in_flight.insert(self.next_ticket, batch);
            self.next_ticket += 1;
        }
        shared
    }

    /// Keeps the memory of a batch for a later one.
    pub(super) fn keep_buffers(&mut self, batch: Batch<G>) {
        self.spare_batches.truncate(1);
        self.spare_batches.push(batch);
    }

    /// Runs simulations, tree by tree, until there are `max_leaves` leaves or no tree finds another.
    ///
    /// A simulation that meets a leaf in flight is a collision. It stays on its path as a virtual visit until its tree is
    /// left, so the next simulations go where the search would have gone on with the leaf evaluated.
    fn collect(&mut self, leaves: &mut Leaves<G>, paths: &mut Paths, max_leaves: usize, max_settled: u32) {
        let Self { game, config, exploration, tables, trees, slots, collisions, settled_nodes, .. } = self;
        let has_logit_places = self.has_logit_places;
        for offset in 0..trees.len() {
            let index = (self.next_tree + offset) % trees.len();
            let (tree, settled_nodes) = (&mut trees[index], &mut settled_nodes[index]);
            let room: usize =
                (max_leaves - leaves.len()).min(config.leaves_in_flight.saturating_sub(tree.in_flight()).into());
            let max_collisions = (4 * room).min((config.collision_share * tree.num_visits() as f32) as usize);
            while leaves.len() < max_leaves && tree.in_flight() < config.leaves_in_flight {
                if *settled_nodes > 0 && *settled_nodes >= max_settled {
                    leaves.spend_budget();
                    break;
                }
                paths.discard_current();
                let positions = leaves.positions_mut();
                let num_positions = positions.len();
                let descent = tree.descend(game, config, exploration, tables, slots, &mut paths.indices, positions);
                if !matches!(descent, Descent::Leaf(Question::Position(_))) {
                    positions.truncate(num_positions);
                }
                match descent {
                    Descent::Leaf(question) => {
                        paths.finish_current();
                        match question {
                            Question::Position(NO_SLOT) => leaves.note_last(game, index as u32),
                            Question::Position(slot) => leaves.note_root(game, index as u32, slot),
                            Question::Move(hidden, player) => {
                                leaves.push_move(game.spec(), index as u32, hidden, player, has_logit_places);
                            }
                        }
                    }
                    Descent::Settled => *settled_nodes += paths.current().len() as u32 + 1,
                    Descent::Collision => {
                        self.num_collisions += 1;
                        collisions.push(paths.current());
                        if collisions.len() > max_collisions {
                            break;
                        }
                    }
                    Descent::NotMade => break,
                }
            }
            for collision in 0..collisions.len() {
                tree.forget_collision(collisions.get(collision));
            }
            collisions.clear();
            if leaves.len() >= max_leaves {
                self.next_tree = (index + 1) % trees.len();
                break;
            }
        }
    }

    /// Settles the leaves from `first` on that the cache knows and removes them from the batch; adds the keys of the others.
    ///
    /// Returns whether the cache knew any.
    fn settle_cached(&mut self, leaves: &mut Leaves<G>, paths: &mut Paths, keys: &mut Vec<Key>, first: usize) -> bool {
        let Some(cache) = &mut self.cache else { return false };
        keys.resize(leaves.len(), Key::default());
        for (leaf, key) in keys.iter_mut().enumerate().skip(first) {
            *key = key_of(leaves.words(leaf));
        }
        let mut is_known = Vec::new();
        for (leaf, key) in keys.iter().enumerate().skip(first) {
            let known = cache.get(*key);
            is_known.push(known.is_some());
            if let Some((priors, estimate)) = known {
                let actions = &leaves.legal_actions()[leaves.legal_range(leaf)];
                let (tree, path) = (leaves.trees()[leaf] as usize, paths.get(leaf));
                self.trees[tree].apply(&self.config, path, actions, priors, estimate);
                self.settled_nodes[tree] += path.len() as u32 + 1;
            }
        }
        if !is_known.contains(&true) {
            return false;
        }
        leaves.remove(first, &is_known);
        paths.remove(first, &is_known);
        let mut leaf = 0;
        keys.retain(|_| {
            leaf += 1;
            leaf <= first || !is_known[leaf - 1 - first]
        });
        true
    }

    /// An empty batch, in the memory of an applied one that has no other owner, if there is one.
    fn empty_batch(&mut self) -> Batch<G> {
        let unused = self.spare_batches.iter_mut().position(|batch| Arc::get_mut(&mut batch.leaves).is_some());
        let Some(Batch { mut leaves, mut paths, mut keys }) = unused.map(|index| self.spare_batches.swap_remove(index))
        else {
            let leaves = Arc::new(Leaves::new(self.game.spec(), self.next_ticket));
            return Batch { leaves, paths: Paths::default(), keys: Vec::new() };
        };
        Arc::get_mut(&mut leaves).expect("the batch has one owner").clear(self.next_ticket);
        paths.clear();
        keys.clear();
        Batch { leaves, paths, keys }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::{CoreGame, tictactoe::TicTacToe};
    use crate::search::{Evaluations, MAX_SETTLED_NODES, Noise, SearchConfig};

    #[test]
    fn a_gather_without_leaves_keeps_its_buffers() {
        let mut search = Search::new(TicTacToe::standard().into(), SearchConfig::default(), 1).unwrap();
        search.begin(0, 100, Noise::None).unwrap();
        let leaves = search.gather(1, MAX_SETTLED_NODES);
        search.apply(leaves.ticket(), &Evaluations::new(&[0.0; 9], &[0.0])).unwrap();
        let buffer = leaves.packed_planes().as_ptr();
        drop(leaves);
        for _ in 0..3 {
            let none = search.gather(0, MAX_SETTLED_NODES);
            assert!(none.is_empty() && !none.budget_spent());
        }
        assert_eq!(search.gather(1, MAX_SETTLED_NODES).packed_planes().as_ptr(), buffer);
    }
}
