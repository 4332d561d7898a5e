//! Tree search that asks and never calls: [`Search::gather`] hands out leaves, [`Search::apply`] takes evaluations.
//!
//! A [`Search`] holds many trees side by side. With one leaf of a tree in flight at a time each tree runs exactly the
//! sequential algorithm of the paper (Science 2018, supplement, "MCTS"); batches come from the number of trees.

mod arena;
mod cache;
mod config;
mod gumbel;
mod node;
mod prior;
mod root;
mod select;
mod tree;

use std::collections::HashMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::game::{Action, Game, Position, ValueForMover};
use crate::leaves::Leaves;
use crate::pool::{LEAVES_A_PART, Pool};
use cache::{Cache, Key, key_of};
pub use config::{MoveChoice, PolicyTarget, RootSelection, SearchConfig, UnvisitedValue};
use node::Estimate;
pub use prior::{prior_of, round_prior};
pub use root::{Limit, Root};
use select::Exploration;
use tree::Step;
pub use tree::{Noise, Tree};

/// An evaluator's answer about [`Leaves`].
#[derive(Clone, Copy, Debug)]
pub struct Evaluations<'a> {
    /// A logit for each legal action, in the order of [`Leaves::legal_actions`].
    pub logits: &'a [f32],
    /// For each leaf the value in [−1, 1] for its player to move.
    pub values: &'a [f32],
    /// For each leaf how likely a draw is, in [0, 1], if the evaluator says so.
    pub draws: Option<&'a [f32]>,
    /// For each leaf the plies until the game ends, at least 0, if the evaluator says so.
    pub moves_left: Option<&'a [f32]>,
}

impl<'a> Evaluations<'a> {
    /// Logits and values alone.
    pub fn new(logits: &'a [f32], values: &'a [f32]) -> Self {
        Self { logits, values, draws: None, moves_left: None }
    }

    fn estimate(&self, leaf: usize) -> Estimate<ValueForMover> {
        let of_leaf = |numbers: Option<&[f32]>| numbers.map_or(0.0, |numbers| numbers[leaf]);
        let value = ValueForMover(self.values[leaf]);
        Estimate { value, draw: of_leaf(self.draws), plies_left: of_leaf(self.moves_left) }
    }
}

/// What a caller can do wrong, as a sentence.
#[derive(Debug, PartialEq, Eq)]
pub struct SearchError(pub String);

impl fmt::Display for SearchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for SearchError {}

/// Leaves that were handed out, and where in their trees they hang.
struct InFlight<G: Game> {
    leaves: Arc<Leaves<G>>,
    paths: Paths,
    /// What the cache is to know them by, if there is one and it was not cleared since.
    keys: Vec<Key>,
}

/// For each leaf the index of the child taken at each node from the root, one leaf after the other.
#[derive(Default)]
struct Paths {
    indices: Vec<u16>,
    ends: Vec<usize>,
}

impl Paths {
    fn end(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Nodes on the path of the latest simulation, whose leaf may have no end yet.
    fn latest_nodes(&self) -> u32 {
        (self.indices.len() - self.end() + 1) as u32
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn add(&mut self, indices: &[u16]) {
        self.indices.extend_from_slice(indices);
        self.ends.push(self.indices.len());
    }

    fn clear(&mut self) {
        self.indices.clear();
        self.ends.clear();
    }

    /// Takes those from `first` on back that are named.
    fn remove(&mut self, first: usize, is_removed: &[bool]) {
        let (mut kept, mut start) = (first, if first == 0 { 0 } else { self.ends[first - 1] });
        let mut end = start;
        for (leaf, is_removed) in (first..).zip(is_removed) {
            let indices = start..self.ends[leaf];
            start = indices.end;
            if !is_removed {
                self.indices.copy_within(indices.clone(), end);
                end += indices.len();
                self.ends[kept] = end;
                kept += 1;
            }
        }
        self.indices.truncate(end);
        self.ends.truncate(kept);
    }

    fn of(&self, leaf: usize) -> &[u16] {
        let start = if leaf == 0 { 0 } else { self.ends[leaf - 1] };
        &self.indices[start..self.ends[leaf]]
    }
}

/// Of memory for a tree: with less it is none, for the children of a root alone can take as much.
pub const LEAST_TREE_KIB: u64 = 64;

/// The most simulations that a tree counts: what a search begins with that something else ends.
pub const UNLIMITED_SIMULATIONS: u32 = u32::MAX - 1;

/// The budget of a [`Search::gather`] where the rules are fast: about a millisecond.
pub const SETTLED_NODES: u32 = 4096;

/// The search of many positions of one game.
pub struct Search<G: Game> {
    game: Arc<G>,
    config: SearchConfig,
    exploration: Exploration,
    trees: Vec<Tree<G>>,
    in_flight: HashMap<u64, InFlight<G>>,
    next_ticket: u64,
    /// Batches that are done with, for their memory: one more than a caller works on at a time.
    applied: Vec<InFlight<G>>,
    /// Those who help with batches, where the settings ask for more than one thread.
    pool: Option<Pool>,
    cache: Option<Cache>,
    num_cached: u64,
    num_leaves: u64,
    num_collisions: u64,
    /// Collisions of one tree: kept to spare the allocation.
    collisions: Paths,
    /// Nodes of each tree that the simulations of this `gather` which asked nothing have walked through.
    settled_nodes: Vec<u32>,
    /// The priors of one leaf: kept to spare the allocation.
    priors: Vec<f32>,
    /// Kept likewise.
    weights: Vec<f64>,
    /// The tree at which the next batch begins, so that none waits for long.
    next_tree: usize,
}

impl<G: Game> Search<G> {
    /// Trees at the initial position; no search has begun in any.
    ///
    /// # Errors
    /// If there are no trees, or a setting makes no sense.
    pub fn new(game: Arc<G>, config: SearchConfig, num_trees: usize) -> Result<Self, SearchError> {
        if num_trees == 0 || config.leaves_in_flight == 0 {
            return Err(SearchError("a search needs at least one tree and one leaf in flight".into()));
        }
        let most_bytes = (u64::from(config.memory_mib) << 20) / num_trees as u64;
        if most_bytes < LEAST_TREE_KIB << 10 {
            return Err(SearchError(format!(
                "memory_mib is {}, less than {LEAST_TREE_KIB} KiB for each of {num_trees} trees",
                config.memory_mib
            )));
        }
        let root = Position::initial(&*game);
        Ok(Self {
            exploration: Exploration::new(config),
            trees: (0..num_trees).map(|_| Tree::new(root.clone(), most_bytes, config.has_details())).collect(),
            in_flight: HashMap::new(),
            next_ticket: 0,
            applied: Vec::new(),
            pool: Pool::new(config.threads.into()).map_err(SearchError)?,
            cache: (config.cache_positions > 0).then(|| Cache::new(config.cache_positions as usize)),
            num_cached: 0,
            num_leaves: 0,
            num_collisions: 0,
            collisions: Paths::default(),
            settled_nodes: vec![0; num_trees],
            priors: Vec::new(),
            weights: Vec::new(),
            next_tree: 0,
            game,
            config,
        })
    }

    /// The game.
    pub fn game(&self) -> &Arc<G> {
        &self.game
    }

    /// How many trees.
    pub fn num_trees(&self) -> usize {
        self.trees.len()
    }

    fn tree(&mut self, tree: usize) -> Result<&mut Tree<G>, SearchError> {
        let num_trees = self.trees.len();
        let missing = || SearchError(format!("tree {tree} does not exist, there are {num_trees}"));
        self.trees.get_mut(tree).ok_or_else(missing)
    }

    fn idle_tree(&mut self, tree: usize) -> Result<&mut Tree<G>, SearchError> {
        let tree_mut = self.tree(tree)?;
        match tree_mut.in_flight() {
            0 => Ok(tree_mut),
            leaves => {
                Err(SearchError(format!("tree {tree} has {leaves} leaves in flight: apply or cancel them first")))
            }
        }
    }

    /// Puts a position at a tree's root and forgets what the tree knew.
    ///
    /// # Errors
    /// If the tree does not exist or has leaves in flight.
    pub fn reset(&mut self, tree: usize, position: Position<G::State>) -> Result<(), SearchError> {
        self.idle_tree(tree)?.reset(position);
        Ok(())
    }

    /// Makes a move at a tree's root; with `keep` what is known below it stays.
    ///
    /// # Errors
    /// If the tree does not exist or has leaves in flight, or the action is illegal.
    pub fn advance(&mut self, tree: usize, action: Action, keep: bool) -> Result<(), SearchError> {
        let game = Arc::clone(&self.game);
        let tree_mut = self.idle_tree(tree)?;
        let legal = tree_mut.position().legal_actions(&*game, true);
        if !legal.contains(&action) {
            return Err(SearchError(format!(
                "action {action} is illegal at the root of tree {tree}, legal are {legal:?}"
            )));
        }
        tree_mut.advance(&game, action, keep);
        Ok(())
    }

    /// Begins a search of a tree's root: past a soft ending, too, which ends games and is a leaf below the root, but whoever
    /// asks about a position wants to know more than that.
    ///
    /// # Errors
    /// If the tree does not exist or has leaves in flight, or there are more simulations than [`UNLIMITED_SIMULATIONS`].
    pub fn begin(&mut self, tree: usize, num_simulations: u32, noise: Noise) -> Result<(), SearchError> {
        if num_simulations > UNLIMITED_SIMULATIONS {
            return Err(SearchError(format!(
                "num_simulations is {num_simulations}, a tree counts at most {UNLIMITED_SIMULATIONS}"
            )));
        }
        let (game, config) = (Arc::clone(&self.game), self.config);
        self.idle_tree(tree)?.begin(&game, &config, num_simulations, noise);
        Ok(())
    }

    /// From now on only these moves of a tree's root are searched and played, until its root is another one; all of them, if
    /// none is given. The search ends once the best of them is proven. A Gumbel root takes no notice.
    ///
    /// # Errors
    /// If the tree does not exist, or a move is illegal at its root.
    pub fn restrict(&mut self, tree: usize, allowed: &[Action]) -> Result<(), SearchError> {
        let (allowed, config) = (self.root_moves(tree, allowed)?, self.config);
        self.trees[tree].restrict(&config, allowed);
        Ok(())
    }

    /// From now on simulations begin with one of these moves of a tree's root, as long as one of them is allowed and not proven:
    /// until then the search goes on, even if the root is proven. None is favoured if none is given, or once the root is another
    /// one. A Gumbel root takes no notice.
    ///
    /// # Errors
    /// If the tree does not exist, or a move is illegal at its root.
    pub fn favour(&mut self, tree: usize, favoured: &[Action]) -> Result<(), SearchError> {
        let (favoured, config) = (self.root_moves(tree, favoured)?, self.config);
        self.trees[tree].favour(&config, favoured);
        Ok(())
    }

    /// The same moves of a tree's root, ascending.
    fn root_moves(&mut self, tree: usize, actions: &[Action]) -> Result<Vec<Action>, SearchError> {
        let game = Arc::clone(&self.game);
        let tree = self.tree(tree)?;
        if actions.is_empty() {
            return Ok(Vec::new());
        }
        let legal = tree.position().legal_actions(&*game, true);
        if let Some(action) = actions.iter().find(|action| !legal.contains(action)) {
            return Err(SearchError(format!("action {action} is illegal at the root, legal are {legal:?}")));
        }
        let mut actions = actions.to_vec();
        actions.sort_unstable();
        Ok(actions)
    }

    /// Runs simulations until `max_leaves` positions wait for an evaluation or no tree has another to ask about.
    ///
    /// Fewer (or no) leaves do not mean that the searches are over: [`Self::finished`] says which are. Leaves that the cache
    /// knows are settled once no tree finds another, as if they had been applied then, and others are looked for in their
    /// places: each such simulation brings its search nearer to its end.
    ///
    /// Simulations that are settled without a question may be millions, so whoever watches a clock has to be asked between
    /// them: a tree is left once those of this call have walked through `max_settled` nodes of it, and
    /// [`Leaves::budget_spent`] says that there is more to do at once.
    pub fn gather(&mut self, max_leaves: usize, max_settled: u32) -> Arc<Leaves<G>> {
        let InFlight { leaves: mut shared, mut paths, mut keys } = self.empty_batch();
        let leaves = Arc::get_mut(&mut shared).expect("a batch that nobody else holds");
        self.settled_nodes.fill(0);
        loop {
            let first = leaves.len();
            self.descend(leaves, &mut paths, max_leaves, max_settled);
            leaves.complete(&self.game, self.pool.as_ref());
            if !self.settle_known(leaves, &mut paths, &mut keys, first) {
                break;
            }
        }
        self.num_leaves += shared.len() as u64;
        let batch = InFlight { leaves: Arc::clone(&shared), paths, keys };
        if shared.is_empty() {
            self.keep_buffers(batch);
        } else {
            self.in_flight.insert(self.next_ticket, batch);
            self.next_ticket += 1;
        }
        shared
    }

    /// A batch that is done with: its memory is used again.
    fn keep_buffers(&mut self, batch: InFlight<G>) {
        self.applied.truncate(1);
        self.applied.push(batch);
    }

    /// Runs simulations, tree by tree, until there are `max_leaves` or no tree finds another.
    ///
    /// One that meets a leaf in flight is a collision, and stays on its way as a virtual visit until its tree is left: so the
    /// next ones go where the search would have gone on, had the leaf been evaluated.
    fn descend(&mut self, leaves: &mut Leaves<G>, paths: &mut Paths, max_leaves: usize, max_settled: u32) {
        let Self { game, config, exploration, trees, collisions, settled_nodes, .. } = self;
        for offset in 0..trees.len() {
            let index = (self.next_tree + offset) % trees.len();
            let (tree, settled_nodes) = (&mut trees[index], &mut settled_nodes[index]);
            let room: usize =
                (max_leaves - leaves.len()).min(config.leaves_in_flight.saturating_sub(tree.in_flight()).into());
            let most_collisions = (4 * room).min((config.collision_share * tree.num_visits() as f32) as usize);
            while leaves.len() < max_leaves && tree.in_flight() < config.leaves_in_flight {
                if *settled_nodes > 0 && *settled_nodes >= max_settled {
                    leaves.spend_budget();
                    break;
                }
                paths.indices.truncate(paths.end());
                let ask = |position| leaves.add(game, index as u32, position);
                match tree.step(game, config, exploration, &mut paths.indices, ask) {
                    Step::Leaf => paths.ends.push(paths.indices.len()),
                    Step::Settled => *settled_nodes += paths.latest_nodes(),
                    Step::Collision => {
                        self.num_collisions += 1;
                        collisions.add(&paths.indices[paths.end()..]);
                        if collisions.len() > most_collisions {
                            break;
                        }
                    }
                    Step::Nothing => break,
                }
            }
            for collision in 0..collisions.len() {
                tree.forget_collision(collisions.of(collision));
            }
            collisions.clear();
            if leaves.len() >= max_leaves {
                self.next_tree = (index + 1) % trees.len();
                break;
            }
        }
    }

    /// Settles those of the leaves from `first` on that the cache knows, and takes them out of the batch; the keys of the others are
    /// added. False if it knows none.
    fn settle_known(&mut self, leaves: &mut Leaves<G>, paths: &mut Paths, keys: &mut Vec<Key>, first: usize) -> bool {
        let Some(cache) = &mut self.cache else { return false };
        keys.resize(leaves.len(), Key::default());
        let find = |(part, keys): (usize, &mut [Key])| {
            for (index, key) in keys.iter_mut().enumerate() {
                *key = key_of(leaves.words(first + part * LEAVES_A_PART + index));
            }
        };
        let parts = keys[first..].chunks_mut(LEAVES_A_PART).enumerate();
        match &self.pool {
            Some(pool) if leaves.len() - first > LEAVES_A_PART => pool.share(parts, find),
            _ => parts.for_each(find),
        }
        let mut is_known = Vec::new();
        for (leaf, key) in keys.iter().enumerate().skip(first) {
            let known = cache.get(*key);
            is_known.push(known.is_some());
            if let Some((priors, estimate)) = known {
                let actions = &leaves.legal_actions()[leaves.legal_range(leaf)];
                let (tree, path) = (leaves.trees()[leaf] as usize, paths.of(leaf));
                self.trees[tree].apply(&self.config, path, actions, priors, estimate);
                self.settled_nodes[tree] += path.len() as u32 + 1;
                self.num_cached += 1;
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

    /// The buffers of leaves that were applied and that nobody looks at any more, or new ones.
    fn empty_batch(&mut self) -> InFlight<G> {
        let unused = self.applied.iter_mut().position(|batch| Arc::get_mut(&mut batch.leaves).is_some());
        let Some(InFlight { mut leaves, mut paths, mut keys }) = unused.map(|index| self.applied.swap_remove(index))
        else {
            let leaves = Arc::new(Leaves::new(self.game.spec(), self.next_ticket));
            return InFlight { leaves, paths: Paths::default(), keys: Vec::new() };
        };
        Arc::get_mut(&mut leaves).expect("nobody else held it a line ago").clear(self.next_ticket);
        paths.clear();
        keys.clear();
        InFlight { leaves, paths, keys }
    }

    /// Backs up the evaluations of the leaves with this ticket, leaf by leaf in their order.
    ///
    /// # Errors
    /// If the ticket is not in flight, a length is off, or a number is not finite or out of range: then nothing was done.
    pub fn apply(&mut self, ticket: u64, evaluations: &Evaluations<'_>) -> Result<(), SearchError> {
        let Some(InFlight { leaves, .. }) = self.in_flight.get(&ticket) else {
            return Err(SearchError(format!("ticket {ticket} is not in flight: each is applied or cancelled once")));
        };
        check(leaves, evaluations)?;
        if self.config.moves_left_effect > 0.0 && evaluations.moves_left.is_none() {
            return Err(SearchError(format!(
                "moves_left_effect is {}, but the evaluator does not say how many moves are left",
                self.config.moves_left_effect
            )));
        }
        let batch = self.in_flight.remove(&ticket).expect("it was there a line ago");
        let InFlight { leaves, paths, keys } = &batch;
        let pool = self.pool.as_ref().filter(|_| leaves.len() > LEAVES_A_PART);
        if let Some(pool) = pool {
            self.priors.resize(evaluations.logits.len(), 0.0);
            share_softmax(pool, leaves, evaluations.logits, &mut self.priors);
        }
        for leaf in 0..leaves.len() {
            let legal = leaves.legal_range(leaf);
            let tree = &mut self.trees[leaves.trees()[leaf] as usize];
            let actions = &leaves.legal_actions()[legal.clone()];
            let estimate = evaluations.estimate(leaf);
            let priors = if pool.is_some() {
                &self.priors[legal]
            } else {
                self.priors.resize(legal.len(), 0.0);
                prior::softmax(&evaluations.logits[legal], &mut self.weights, &mut self.priors);
                &self.priors
            };
            tree.apply(&self.config, paths.of(leaf), actions, priors, estimate);
            if let (Some(cache), Some(key)) = (&mut self.cache, keys.get(leaf)) {
                cache.insert(*key, priors, estimate);
            }
        }
        self.keep_buffers(batch);
        Ok(())
    }

    /// Takes back the leaves with this ticket as if they had never been asked for.
    ///
    /// # Errors
    /// If the ticket is not in flight.
    pub fn cancel(&mut self, ticket: u64) -> Result<(), SearchError> {
        let Some(InFlight { leaves, paths, .. }) = self.in_flight.remove(&ticket) else {
            return Err(SearchError(format!("ticket {ticket} is not in flight: each is applied or cancelled once")));
        };
        for leaf in (0..leaves.len()).rev() {
            self.trees[leaves.trees()[leaf] as usize].cancel(paths.of(leaf));
        }
        Ok(())
    }

    /// The trees whose search has ended, ascending.
    pub fn finished(&self) -> Vec<u32> {
        (0..self.trees.len() as u32).filter(|tree| self.trees[*tree as usize].is_finished()).collect()
    }

    /// What a tree's search found (so far).
    pub fn root(&self, tree: usize) -> Root {
        self.trees[tree].root(&self.config, &self.exploration)
    }

    /// A tree's line of best play, as far as it was searched, from the best move or from that given.
    pub fn best_line(&self, tree: usize, first: Option<Action>) -> Vec<Action> {
        self.trees[tree].best_line(&self.config, &self.exploration, first)
    }

    /// The position at a tree's root.
    pub fn position(&self, tree: usize) -> &Position<G::State> {
        self.trees[tree].position()
    }

    /// Forgets the evaluations that were kept: those to come are of another network. What is in flight is not kept either.
    pub fn clear_cache(&mut self) {
        self.cache.iter_mut().for_each(Cache::clear);
        self.in_flight.values_mut().for_each(|in_flight| in_flight.keys.clear());
    }

    /// How many leaves were not asked about, because the cache knew them.
    pub fn num_cached(&self) -> u64 {
        self.num_cached
    }

    /// The settings.
    pub fn config(&self) -> &SearchConfig {
        &self.config
    }

    /// How many leaves were asked about. None is asked about twice, however many are in flight.
    pub fn num_leaves(&self) -> u64 {
        self.num_leaves
    }

    /// How many simulations met a leaf in flight, and were put off.
    pub fn num_collisions(&self) -> u64 {
        self.num_collisions
    }

    /// Bytes that the trees and the cache hold.
    pub fn num_bytes(&self) -> usize {
        let trees: usize = self.trees.iter().map(Tree::num_bytes).sum();
        trees + self.cache.as_ref().map_or(0, Cache::num_bytes)
    }
}

/// The priors of all leaves of a batch, in the order of its legal actions.
fn share_softmax<G: Game>(pool: &Pool, leaves: &Leaves<G>, logits: &[f32], priors: &mut [f32]) {
    let offsets = leaves.legal_offsets();
    let mut left = priors;
    let parts: Vec<(&[i64], &mut [f32])> = (0..leaves.len())
        .step_by(LEAVES_A_PART)
        .map(|first| {
            let ends = &offsets[first..=(first + LEAVES_A_PART).min(leaves.len())];
            let here = left.split_off_mut(..(ends[ends.len() - 1] - ends[0]) as usize);
            (ends, here.expect("a prior for each legal action"))
        })
        .collect();
    pool.share(parts.into_iter(), |(ends, mut priors)| {
        let mut weights = Vec::new();
        for ends in ends.windows(2) {
            let logits = &logits[ends[0] as usize..ends[1] as usize];
            let here = priors.split_off_mut(..logits.len()).expect("a prior for each legal action");
            prior::softmax(logits, &mut weights, here);
        }
    });
}

fn check<G: Game>(leaves: &Leaves<G>, evaluations: &Evaluations<'_>) -> Result<(), SearchError> {
    let expected = (leaves.legal_actions().len(), leaves.len());
    let found = (evaluations.logits.len(), evaluations.values.len());
    if found != expected {
        return Err(SearchError(format!(
            "the evaluations hold {} logits and {} values, expected {} (one a legal action) and {} (one a leaf)",
            found.0, found.1, expected.0, expected.1
        )));
    }
    check_numbers("value", Some(evaluations.values), leaves.len(), -1.0..=1.0)?;
    check_numbers("share of draws", evaluations.draws, leaves.len(), 0.0..=1.0)?;
    check_numbers("number of moves left", evaluations.moves_left, leaves.len(), 0.0..=f32::MAX)?;
    // All of them without a branch, which compiles to vector instructions.
    if evaluations.logits.iter().fold(true, |are_finite, logit| are_finite & logit.is_finite()) {
        return Ok(());
    }
    for leaf in 0..leaves.len() {
        if let Some(logit) = evaluations.logits[leaves.legal_range(leaf)].iter().find(|logit| !logit.is_finite()) {
            return Err(SearchError(format!(
                "the evaluator's logits of leaf {leaf} hold {logit}, which is not finite"
            )));
        }
    }
    Ok(())
}

fn check_numbers(
    name: &str,
    numbers: Option<&[f32]>,
    expected: usize,
    range: RangeInclusive<f32>,
) -> Result<(), SearchError> {
    let Some(numbers) = numbers else { return Ok(()) };
    if numbers.len() != expected {
        return Err(SearchError(format!("the evaluations hold {} of a {name}, expected {expected}", numbers.len())));
    }
    match numbers.iter().position(|number| !range.contains(number)) {
        None => Ok(()),
        Some(leaf) => Err(SearchError(format!(
            "the evaluator's {name} of leaf {leaf} is {}, not in [{}, {}]",
            numbers[leaf],
            range.start(),
            range.end()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::{CoreGame, tictactoe::TicTacToe};

    #[test]
    fn a_gather_without_leaves_keeps_its_buffers() {
        let mut search = Search::new(TicTacToe::standard().into(), SearchConfig::default(), 1).unwrap();
        search.begin(0, 100, Noise::None).unwrap();
        let leaves = search.gather(1, SETTLED_NODES);
        search.apply(leaves.ticket(), &Evaluations::new(&[0.0; 9], &[0.0])).unwrap();
        let buffer = leaves.packed_planes().as_ptr();
        drop(leaves);
        for _ in 0..3 {
            let none = search.gather(0, SETTLED_NODES);
            assert!(none.is_empty() && !none.budget_spent());
        }
        assert_eq!(search.gather(1, SETTLED_NODES).packed_planes().as_ptr(), buffer);
    }
}
