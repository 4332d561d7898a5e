//! Tree search that returns the positions to evaluate, and never calls an evaluator: [`Search::gather`] hands out leaves,
//! [`Search::apply`] takes their evaluations.
//!
//! A [`Search`] holds many trees side by side. With one leaf in flight per tree, each tree runs exactly the sequential
//! algorithm of the paper (Science 2018, supplement, "MCTS"); batches come from the number of trees.
//!
//! | module | subject |
//! |---|---|
//! | `config` | the settings |
//! | `gather` | simulations until a batch of leaves waits for evaluations |
//! | `evaluations`, `apply` | the answers: checked, and backed up |
//! | `batch` | leaves in flight and their paths |
//! | `tree` | one tree: a simulation, its descent and its end; the root's noise |
//! | `select`, `gumbel`, `root_moves`, `root_scores` | which child a simulation visits |
//! | `backup` | how a value and proven bounds travel to the root |
//! | `root` | the result of a search: statistics, policy target, move to play |
//! | `most_visited` | the most visited part of a tree, to be drawn |
//! | `arena`, `node`, `prior` | the memory of a tree |
//! | `cache` | evaluations of positions that are met again |
//! | `hidden` | hidden states in the place of positions, where the rules are learned |

mod apply;
mod arena;
mod backup;
mod batch;
mod cache;
mod config;
mod evaluations;
mod gather;
mod gumbel;
mod hidden;
mod most_visited;
mod node;
mod prior;
mod puct;
mod root;
mod root_moves;
mod root_scores;
mod select;
mod tree;

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::UsageError;
use crate::game::{Action, Game, Position};
pub use crate::hidden_move::{HiddenMove, NO_SLOT};
use crate::player::ValueForMover;
use crate::pool::Pool;
use crate::proof::{Forced, Prover};
use crate::tables::Tables;
use batch::{Batch, Paths};
use cache::Cache;
pub use config::{MoveChoice, PolicyTarget, RootSelection, Rules, SearchConfig, UnvisitedValue};
pub use evaluations::Evaluations;
use hidden::Slots;
pub use most_visited::VisitedNode;
pub use prior::{prior_of, round_prior};
use puct::ExplorationTable;
pub use root::{Root, SearchedMove, StopReason};
use tree::ForcedResults;
pub use tree::{Noise, Tree};

/// Minimum memory per tree, in KiB: the children of a root alone can take as much.
pub const MIN_TREE_KIB: u64 = 64;

/// Maximum number of simulations of a search, for searches that end by something else.
pub const UNLIMITED_SIMULATIONS: u32 = u32::MAX - 1;

/// Budget of a [`Search::gather`] for fast rules, in nodes: about a millisecond.
pub const MAX_SETTLED_NODES: u32 = 4096;

/// The search of many positions of one game.
pub struct Search<G: Game> {
    game: Arc<G>,
    config: SearchConfig,
    exploration: ExplorationTable,
    tables: Tables,
    trees: Vec<Tree<G>>,
    /// Whether the tables know each tree's root.
    is_ranked: Vec<bool>,
    /// For each tree the search for forced results of its root, once [`Self::prove`] was called.
    provers: Vec<Option<Box<Prover<G>>>>,
    /// Batches with an evaluator, by ticket.
    in_flight: HashMap<u64, Batch<G>>,
    next_ticket: u64,
    /// Applied batches whose memory is used again: one more than a caller works on at a time.
    spare_batches: Vec<Batch<G>>,
    /// Threads that share the work on a batch, if the settings ask for more than one.
    pool: Option<Pool>,
    cache: Option<Cache>,
    /// Slots of hidden states; none is taken where the rules are known.
    slots: Slots,
    /// Whether logits have other places than their actions' numbers, in this game.
    has_logit_places: bool,
    num_leaves: u64,
    num_collisions: u64,
    /// Nodes that settled simulations have walked through in this `gather`, per tree.
    settled_nodes: Vec<u32>,
    /// The tree at which the next batch begins: trees take turns.
    next_tree: usize,
    /// Scratch: paths of the collisions of one tree.
    collisions: Paths,
    /// Scratch: priors of one leaf or batch.
    priors: Vec<f32>,
    /// Scratch of the softmax.
    weights: Vec<f64>,
}

impl<G: Game> Search<G> {
    /// Trees at the initial position; no search has begun in any.
    ///
    /// # Errors
    /// If there are no trees, or a setting is out of range.
    pub fn new(game: Arc<G>, config: SearchConfig, num_trees: usize) -> Result<Self, UsageError> {
        if num_trees == 0 || config.leaves_in_flight == 0 {
            return Err(UsageError("a search needs at least one tree and one leaf in flight".into()));
        }
        let max_bytes = (u64::from(config.memory_mib) << 20) / num_trees as u64;
        if max_bytes < MIN_TREE_KIB << 10 {
            return Err(UsageError(format!(
                "memory_mib is {}, less than {MIN_TREE_KIB} KiB for each of {num_trees} trees",
                config.memory_mib
            )));
        }
        config.check_learned_rules()?;
        let root = Position::initial(&*game);
        let has_logit_places = config.learns_rules() && has_logit_places(&*game, &root);
        Ok(Self {
            exploration: ExplorationTable::new(config),
            tables: Tables::default(),
            is_ranked: vec![false; num_trees],
            trees: (0..num_trees).map(|_| Tree::new(root.clone(), max_bytes, config.has_details())).collect(),
            provers: (0..num_trees).map(|_| None).collect(),
            in_flight: HashMap::new(),
            next_ticket: 0,
            spare_batches: Vec::new(),
            pool: Pool::new(config.threads.into()).map_err(UsageError)?,
            slots: Slots::default(),
            has_logit_places,
            cache: (config.cache_positions > 0).then(|| Cache::new(config.cache_positions as usize)),
            num_leaves: 0,
            num_collisions: 0,
            settled_nodes: vec![0; num_trees],
            next_tree: 0,
            collisions: Paths::default(),
            priors: Vec::new(),
            weights: Vec::new(),
            game,
            config,
        })
    }

    /// Makes the search use tables from its next [`Self::begin`] on: a position in them is proven, and a root's moves are ranked
    /// by them if exact bounds are on.
    ///
    /// # Errors
    /// If the tables are of another game, or the rules are learned.
    pub fn use_tables(&mut self, tables: Tables) -> Result<(), UsageError> {
        tables.require_game(&*self.game)?;
        if !tables.are_empty() && self.config.learns_rules() {
            return Err(UsageError(
                "a search by learned rules cannot use tables: it does not know its positions".into(),
            ));
        }
        self.tables = tables;
        Ok(())
    }

    /// Notes what tables know of a root.
    fn rank_root(&mut self, tree: usize) {
        if self.tables.are_empty() || !self.config.exact_bounds {
            return;
        }
        let tree_mut = &mut self.trees[tree];
        let (position, allowed) = (tree_mut.position(), tree_mut.allowed());
        let actions = if allowed.is_empty() { position.legal_actions(&*self.game, true) } else { allowed.to_vec() };
        let ranked = self.tables.rank(&*self.game, position, &actions);
        self.is_ranked[tree] = ranked.is_some();
        if let Some(ranked) = ranked {
            tree_mut.note_ranks(&self.config, ranked);
        }
    }

    /// Positions that tables have settled, in all trees.
    pub fn num_table_hits(&self) -> u64 {
        self.trees.iter().map(Tree::num_table_hits).sum()
    }

    /// The game.
    pub fn game(&self) -> &Arc<G> {
        &self.game
    }

    /// The number of trees.
    pub fn num_trees(&self) -> usize {
        self.trees.len()
    }

    /// Puts a position at a tree's root and forgets the tree's contents.
    ///
    /// # Errors
    /// If the tree does not exist or has leaves in flight.
    pub fn reset(&mut self, tree: usize, position: Position<G::State>) -> Result<(), UsageError> {
        self.idle_tree(tree)?.reset(position);
        self.trees[tree].release(&mut self.slots);
        self.provers[tree] = None;
        self.is_ranked[tree] = false;
        Ok(())
    }

    /// Makes a move at a tree's root; with `keep` the subtree below the move stays, unless the rules are learned: the new root is
    /// then a position again, not a hidden state.
    ///
    /// # Errors
    /// If the tree does not exist or has leaves in flight, or the action is illegal.
    pub fn advance(&mut self, tree: usize, action: Action, keep: bool) -> Result<(), UsageError> {
        let (game, keep) = (Arc::clone(&self.game), keep && !self.config.learns_rules());
        let tree_mut = self.idle_tree(tree)?;
        if !tree_mut.has_root_action(action) && !tree_mut.position().legal_actions(&*game, true).contains(&action) {
            let legal = tree_mut.position().legal_actions(&*game, true);
            return Err(UsageError(format!(
                "action {action} is illegal at the root of tree {tree}, legal are {legal:?}"
            )));
        }
        tree_mut.advance(&game, action, keep);
        self.trees[tree].release(&mut self.slots);
        self.is_ranked[tree] = false;
        if let Some(prover) = &mut self.provers[tree] {
            prover.advance(&game, action);
        }
        Ok(())
    }

    /// Begins a search of a tree's root.
    ///
    /// A root at a soft ending is searched past it: its caller wants to know more than that the game may end. Below the
    /// root a soft ending is a leaf.
    ///
    /// # Errors
    /// If the tree does not exist or has leaves in flight, or there are more simulations than [`UNLIMITED_SIMULATIONS`].
    pub fn begin(&mut self, tree: usize, num_simulations: u32, noise: Noise) -> Result<(), UsageError> {
        if num_simulations > UNLIMITED_SIMULATIONS {
            return Err(UsageError(format!(
                "num_simulations is {num_simulations}, a tree counts at most {UNLIMITED_SIMULATIONS}"
            )));
        }
        let (game, config) = (Arc::clone(&self.game), self.config);
        self.idle_tree(tree)?.begin(&game, &config, num_simulations, noise);
        self.rank_root(tree);
        Ok(())
    }

    /// Restricts the moves of a tree's root that are searched and played, until the root changes; an empty list allows all.
    ///
    /// The search ends once the best of these moves is proven. A Gumbel root ignores the restriction.
    ///
    /// # Errors
    /// If the tree does not exist, or a move is illegal at its root.
    pub fn restrict(&mut self, tree: usize, allowed: &[Action]) -> Result<(), UsageError> {
        let (allowed, config) = (self.root_actions(tree, allowed)?, self.config);
        self.trees[tree].restrict(&config, allowed);
        self.rank_root(tree);
        Ok(())
    }

    /// Makes simulations begin with one of these moves of a tree's root, as long as one of them is allowed and not proven.
    ///
    /// Until then the search goes on, even if the root is proven. An empty list, and another root, end this. A Gumbel root
    /// ignores it.
    ///
    /// # Errors
    /// If the tree does not exist, or a move is illegal at its root.
    pub fn favour(&mut self, tree: usize, favoured: &[Action]) -> Result<(), UsageError> {
        let (favoured, config) = (self.root_actions(tree, favoured)?, self.config);
        self.trees[tree].favour(&config, favoured);
        Ok(())
    }

    /// Searches for forced results of a tree's root beside the tree, through about `max_nodes` positions and up to `max_edges`
    /// moves between the positions of a table; the next call goes on.
    ///
    /// Results become exact bounds of the root's moves once a simulation was made, and end the search. A forced win is played by
    /// the shortest line known. Without exact bounds in the settings they change nothing but [`Self::forced`]. Returns the number
    /// of positions of this call; 0 if nothing is left to search.
    ///
    /// # Errors
    /// If the tree does not exist, or the rules are learned: then there are none to search by.
    pub fn prove(&mut self, tree: usize, max_nodes: u64, max_edges: u64) -> Result<u64, UsageError> {
        let (game, config) = (Arc::clone(&self.game), self.config);
        if config.learns_rules() {
            return Err(UsageError("a search by learned rules proves nothing: it does not know the rules".into()));
        }
        let tree_mut = self.tree(tree)?;
        if !tree_mut.position().has_move(&*game) {
            return Ok(0);
        }
        let (position, allowed) = (tree_mut.position().clone(), tree_mut.allowed().to_vec());
        let prover = self.provers[tree].get_or_insert_with(|| Box::new(Prover::new(&*game, position)));
        prover.restrict(&game, &allowed);
        let before = prover.num_nodes();
        prover.work(&game, max_nodes, max_edges);
        let tree_mut = &mut self.trees[tree];
        // What tables know is complete; only a mate by force is more.
        let is_known = self.is_ranked[tree] && !matches!(prover.found(), Some(Forced::Win(_)));
        if config.exact_bounds && !is_known {
            let losses = match prover.found() {
                Some(Forced::Loss(_)) => tree_mut.position().legal_actions(&*game, true),
                _ => prover.losing_moves(),
            };
            let win = match prover.found() {
                Some(Forced::Win(line)) => line.first().copied(),
                _ => None,
            };
            let losses = losses.into_iter().map(|action| (action, ValueForMover(-1.0)));
            let results = win.into_iter().map(|action| (action, ValueForMover(1.0))).chain(losses).collect();
            let line = prover.found().map_or(Vec::new(), |found| found.line().to_vec());
            tree_mut.note_results(&config, ForcedResults { results, line });
        }
        Ok(prover.num_nodes() - before)
    }

    /// Whether [`Self::prove`] builds a table of all positions that can be reached from a tree's root, which may be small.
    pub fn builds_table(&self, tree: usize) -> bool {
        self.provers[tree].as_ref().is_some_and(|prover| prover.grows_graph())
    }

    /// The forced result that [`Self::prove`] has found for a tree's root.
    pub fn forced(&self, tree: usize) -> Option<Forced> {
        self.provers[tree].as_ref()?.found().cloned()
    }

    /// The trees whose search has ended, ascending.
    pub fn finished(&self) -> Vec<u32> {
        (0..self.trees.len() as u32).filter(|tree| self.trees[*tree as usize].is_finished()).collect()
    }

    /// The result of a tree's search so far.
    pub fn root(&self, tree: usize) -> Root {
        self.trees[tree].root(&self.config)
    }

    /// The `count` most visited nodes of a tree, the root first.
    ///
    /// # Errors
    /// The rules are learned: moves below the root are not actions of the game.
    pub fn most_visited(&self, tree: usize, count: usize) -> Result<Vec<VisitedNode>, UsageError> {
        if self.config.learns_rules() {
            return Err(UsageError("a tree of hidden states has no positions below its root".into()));
        }
        Ok(self.trees[tree].most_visited(count))
    }

    /// A tree's line of best play, as far as it was searched, from the best move or from the given one.
    pub fn best_line(&self, tree: usize, first: Option<Action>) -> Vec<Action> {
        let line = self.trees[tree].best_line(&self.config, first);
        if self.config.learns_rules() { self.legal_part(tree, &line) } else { line }
    }

    /// The beginning of a line of hidden states that the rules allow, as the actions that they have in their positions.
    fn legal_part(&self, tree: usize, line: &[Action]) -> Vec<Action> {
        let (game, mut position) = (&*self.game, self.position(tree).clone());
        let mut legal_line = Vec::new();
        for (ply, place) in line.iter().enumerate() {
            if !position.has_move(game) || (ply > 0 && position.outcome(game).is_some()) {
                break;
            }
            let (actions, mut places) = (position.legal_actions(game, true), Vec::new());
            game.logit_actions(&position.state, &actions, &mut places);
            // The root's moves are actions already.
            let names = if ply == 0 || places.is_empty() { &actions } else { &places };
            let Some(index) = names.iter().position(|name| name == place) else { break };
            legal_line.push(actions[index]);
            position.play(game, actions[index]);
        }
        legal_line
    }

    /// The position at a tree's root.
    pub fn position(&self, tree: usize) -> &Position<G::State> {
        self.trees[tree].position()
    }

    /// Empties the evaluation cache, for a change of the network. Evaluations in flight are not kept either.
    pub fn clear_cache(&mut self) {
        self.cache.iter_mut().for_each(Cache::clear);
        self.in_flight.values_mut().for_each(|batch| batch.keys.clear());
    }

    /// The number of leaves handed out. No leaf is handed out twice, however many are in flight.
    pub fn num_leaves(&self) -> u64 {
        self.num_leaves
    }

    /// The number of simulations that met a leaf in flight and were put off.
    pub fn num_collisions(&self) -> u64 {
        self.num_collisions
    }

    /// Bytes of the trees and the cache.
    pub fn num_bytes(&self) -> usize {
        let trees: usize = self.trees.iter().map(Tree::num_bytes).sum();
        trees + self.cache.as_ref().map_or(0, Cache::num_bytes)
    }

    /// Refuses a tree that does not exist.
    ///
    /// # Errors
    /// If there are fewer trees.
    pub fn require_tree(&self, tree: usize) -> Result<(), UsageError> {
        let num_trees = self.trees.len();
        if tree < num_trees {
            return Ok(());
        }
        Err(UsageError(format!("tree {tree} does not exist, there are {num_trees}")))
    }

    fn tree(&mut self, tree: usize) -> Result<&mut Tree<G>, UsageError> {
        self.require_tree(tree)?;
        Ok(&mut self.trees[tree])
    }

    fn idle_tree(&mut self, tree: usize) -> Result<&mut Tree<G>, UsageError> {
        let tree_mut = self.tree(tree)?;
        match tree_mut.in_flight() {
            0 => Ok(tree_mut),
            leaves => Err(UsageError(format!("tree {tree} has {leaves} leaves in flight: apply them first"))),
        }
    }

    /// Sorts legal moves of a tree's root, and refuses others.
    fn root_actions(&mut self, tree: usize, actions: &[Action]) -> Result<Vec<Action>, UsageError> {
        let game = Arc::clone(&self.game);
        let tree = self.tree(tree)?;
        if actions.is_empty() {
            return Ok(Vec::new());
        }
        let legal = tree.position().legal_actions(&*game, true);
        if let Some(action) = actions.iter().find(|action| !legal.contains(action)) {
            return Err(UsageError(format!("action {action} is illegal at the root, legal are {legal:?}")));
        }
        let mut actions = actions.to_vec();
        actions.sort_unstable();
        Ok(actions)
    }
}

/// Whether the logits of a position have other places than the numbers of its actions.
fn has_logit_places<G: Game>(game: &G, position: &Position<G::State>) -> bool {
    let mut places = Vec::new();
    if position.has_move(game) {
        game.logit_actions(&position.state, &position.legal_actions(game, true), &mut places);
    }
    !places.is_empty()
}
