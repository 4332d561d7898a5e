//! One tree: the search of one position, a simulation at a time.

mod descent;

use super::arena::{Arena, ROOT};
use super::backup::{backup, tighten};
use super::config::{RootSelection, SearchConfig};
use super::gumbel::Halving;
use super::hidden::Slots;
use super::most_visited::{VisitedNode, most_visited};
use super::node::{Estimate, NodeId, NodeKind};
use super::prior::prior_of;
use super::root::{Root, StopReason};
use super::root_moves::RootMoves;
use super::root_scores::RootScores;
use crate::game::{Action, Game, Position};
use crate::player::{ValueForFirst, ValueForMover};
use crate::random::{RandomStream, gumbel_noise};
use crate::tables::RankedMoves;
pub use descent::Descent;

/// The noise of a search's root: Dirichlet noise for a PUCT root, Gumbel noise for a Gumbel root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// No noise.
    None,
    /// Noise from the random stream of (seed, game, ply).
    Drawn {
        /// The run's seed.
        seed: u64,
        /// The game's number.
        game: u64,
        /// The ply of the move to choose.
        ply: u64,
    },
}

/// Results of root moves that [`super::Search::prove`] found, or tables know.
pub struct ForcedResults {
    pub results: Vec<(Action, ValueForMover)>,
    /// The line of the root's own result, to the end of the game; empty if it is not known.
    pub line: Vec<Action>,
}

/// A root position and the tree below it.
pub struct Tree<G: Game> {
    position: Position<G::State>,
    arena: Arena,
    /// The network's priors at the root, unrounded, in the order of actions.
    root_priors: Vec<f32>,
    /// The priors that selection uses: with noise, if any.
    search_priors: Vec<f32>,
    /// The children of a root in selection by PUCT.
    root_scores: RootScores,
    noise: Noise,
    /// Restrictions of the root's moves.
    moves: RootMoves,
    /// Sequential halving, at a Gumbel root.
    halving: Halving,
    /// Visits of the root at which the search ends; 0 before a search.
    target_visits: u32,
    /// Visits of the root, without its own evaluation, before this search.
    reused_visits: u32,
    /// Plies of the longest simulation of this search.
    deepest: u32,
    stop_reason: Option<StopReason>,
    /// Results that count once a simulation was made.
    pending: Option<ForcedResults>,
    /// The forced result that [`super::Search::prove`] found, move by move; the first move of one that tables know.
    forced_line: Vec<Action>,
    /// Slots of the tree's hidden states, where the rules are learned.
    slots: Vec<u32>,
    /// The places of the logits of the root's actions, in their order, where the rules are learned.
    root_places: Vec<Action>,
    /// Virtual visits of collisions: they count as leaves in flight in selection alone.
    num_collisions: u16,
    /// Positions that tables have settled.
    num_table_hits: u64,
    /// Scratch: node ids of the latest descent or backup, from the root.
    path: Vec<NodeId>,
    /// Scratch: moves of the latest descent.
    line: Vec<Action>,
    /// Scratch: legal actions of the latest expanded node.
    actions: Vec<Action>,
}

impl<G: Game> Tree<G> {
    /// A tree of this position, limited to `max_bytes`; no search has begun.
    pub fn new(position: Position<G::State>, max_bytes: u64, has_details: bool) -> Self {
        Self {
            position,
            arena: Arena::new(max_bytes, has_details),
            root_priors: Vec::new(),
            search_priors: Vec::new(),
            root_scores: RootScores::default(),
            noise: Noise::None,
            moves: RootMoves::default(),
            halving: Halving::default(),
            target_visits: 0,
            reused_visits: 0,
            deepest: 0,
            stop_reason: None,
            pending: None,
            forced_line: Vec::new(),
            slots: Vec::new(),
            root_places: Vec::new(),
            num_collisions: 0,
            num_table_hits: 0,
            path: Vec::new(),
            line: Vec::new(),
            actions: Vec::new(),
        }
    }

    /// The root's position.
    pub fn position(&self) -> &Position<G::State> {
        &self.position
    }

    /// Leaves in flight.
    pub fn in_flight(&self) -> u16 {
        self.arena.nodes[ROOT as usize].in_flight - self.num_collisions
    }

    /// Visits of the root.
    pub fn num_visits(&self) -> u32 {
        self.arena.nodes[ROOT as usize].visits
    }

    /// Positions that tables have settled so far.
    pub fn num_table_hits(&self) -> u64 {
        self.num_table_hits
    }

    /// Bytes of the arena.
    pub fn num_bytes(&self) -> usize {
        self.arena.num_bytes()
    }

    /// Replaces the root by another position and forgets the tree.
    pub fn reset(&mut self, position: Position<G::State>) {
        self.position = position;
        self.arena.clear();
        self.forget_search();
    }

    /// Gives the slots of hidden states back, after the root has changed.
    pub fn release(&mut self, slots: &mut Slots) {
        slots.give_back(&mut self.slots);
    }

    /// Notes the places of the logits of the root's actions, which a network that has learned the rules knows moves by.
    pub fn note_root_places(&mut self, places: &[Action]) {
        self.root_places = places.to_vec();
    }

    /// Whether the root is expanded and this is one of its moves.
    pub fn has_root_action(&self, action: Action) -> bool {
        let root = &self.arena.nodes[ROOT as usize];
        root.kind == NodeKind::Expanded && self.arena.actions_of(root).contains(&action)
    }

    /// Makes a legal move at the root. With `keep` the subtree stays.
    pub fn advance(&mut self, game: &G, action: Action, keep: bool) {
        let root = &self.arena.nodes[ROOT as usize];
        let child = match root.kind {
            NodeKind::Expanded => self.arena.actions_of(root).iter().position(|legal| *legal == action),
            _ => None,
        };
        let child = child.map(|index| root.first_child + index as NodeId);
        self.position.play(game, action);
        self.forget_search();
        match child.filter(|id| keep && self.arena.nodes[*id as usize].is_evaluated()) {
            Some(id) => {
                self.arena.keep(id);
                self.complete_root(game);
                self.forget_noted_result();
            }
            None => self.arena.clear(),
        }
    }

    /// Ends the search, for another root.
    fn forget_search(&mut self) {
        self.root_priors.clear();
        self.moves = RootMoves::default();
        self.noise = Noise::None;
        self.halving = Halving::default();
        self.pending = None;
        self.forced_line.clear();
        self.target_visits = 0;
        self.stop_reason = None;
    }

    /// Begins a search of `num_simulations`, reused visits included if the settings count them.
    pub fn begin(&mut self, game: &G, config: &SearchConfig, num_simulations: u32, noise: Noise) {
        let root = &self.arena.nodes[ROOT as usize];
        self.reused_visits = root.visits.saturating_sub(1);
        self.deepest = 0;
        // Sequential halving is a schedule of new visits.
        let counts_reused = config.count_reused_visits && config.root_selection == RootSelection::Puct;
        let reused = if counts_reused { 0 } else { self.reused_visits };
        self.target_visits = (1 + num_simulations).saturating_add(reused);
        self.noise = noise;
        self.stop_reason = (!self.position.has_move(game)).then_some(StopReason::GameOver);
        if root.kind == NodeKind::Expanded {
            self.prepare_root(config);
            self.note_end(config);
        }
    }

    /// Restricts the root to these legal moves, ascending; an empty list allows all.
    pub fn restrict(&mut self, config: &SearchConfig, allowed: Vec<Action>) {
        self.moves.allowed = allowed;
        self.pending = None;
        self.note_end_again(config);
    }

    /// Searches these moves of the root, ascending, before all others, as long as one of them is open.
    pub fn favour(&mut self, config: &SearchConfig, favoured: Vec<Action>) {
        self.moves.favoured = favoured;
        self.note_end_again(config);
    }

    /// The root's moves that may be searched and played, ascending; empty for all.
    pub fn allowed(&self) -> &[Action] {
        &self.moves.allowed
    }

    /// Notes what tables know of the root's moves; `best`, if they know the best one, is played.
    pub fn note_ranks(&mut self, config: &SearchConfig, ranked: RankedMoves) {
        self.note_results(config, ForcedResults { results: ranked.results, line: ranked.best.into_iter().collect() });
    }

    /// Notes results of root moves that are known from elsewhere. They count once a simulation was made.
    pub fn note_results(&mut self, config: &SearchConfig, forced: ForcedResults) {
        self.pending = Some(forced);
        self.count_results();
        if self.is_searching() {
            self.note_end(config);
        }
    }

    /// Counts the noted results once the root is evaluated and a simulation was made.
    #[inline]
    fn count_results(&mut self) {
        if self.pending.is_some() {
            self.count_pending_results();
        }
    }

    #[cold]
    fn count_pending_results(&mut self) {
        let root = self.arena.nodes[ROOT as usize];
        if root.kind != NodeKind::Expanded || root.visits <= 1 {
            return;
        }
        let Some(ForcedResults { results, line }) = self.pending.take() else { return };
        self.moves.has_results = true;
        for (action, value) in results {
            let Some(index) = self.arena.actions_of(&root).iter().position(|legal| *legal == action) else { continue };
            let child = &mut self.arena.nodes[root.first_child as usize + index];
            if child.proven().is_none() {
                let result = value.for_first(root.player).0;
                (child.lower, child.upper) = (result, result);
                child.q = child.mean();
            }
        }
        tighten(&mut self.arena, ROOT);
        let root = &mut self.arena.nodes[ROOT as usize];
        root.q = root.mean();
        self.forced_line = line;
    }

    /// Checks again whether the search is over, after the searched moves have changed.
    fn note_end_again(&mut self, config: &SearchConfig) {
        if self.stop_reason == Some(StopReason::Proven) {
            self.stop_reason = None;
        }
        if self.is_searching() {
            self.note_end(config);
        }
    }

    /// Whether the search has begun and is not over.
    pub fn is_searching(&self) -> bool {
        self.target_visits > 0 && self.stop_reason.is_none()
    }

    /// Whether the search has begun and is over.
    pub fn is_finished(&self) -> bool {
        self.stop_reason.is_some()
    }

    /// Removes the virtual visit of a collision.
    pub fn forget_collision(&mut self, path: &[u16]) {
        self.walk(path);
        self.leave_flight();
        self.num_collisions -= 1;
    }

    /// Stores the evaluation of a leaf and backs it up.
    pub fn apply(
        &mut self,
        config: &SearchConfig,
        path: &[u16],
        actions: &[Action],
        priors: &[f32],
        estimate: Estimate<ValueForMover>,
    ) {
        self.walk(path);
        self.leave_flight();
        let id = *self.path.last().expect("a path holds the root");
        let net_value = estimate.value.for_first(self.arena.nodes[id as usize].player);
        self.arena.evaluate(id, net_value.0, priors, actions);
        if id == ROOT {
            // The root has all its children, in the order of actions, and unrounded priors.
            self.arena.expand(ROOT);
            self.arena.add_all_children(ROOT);
            self.root_priors = priors.to_vec();
            self.prepare_root(config);
        }
        self.finish_simulation(config, Estimate { value: net_value, draw_share: estimate.draw_share });
    }

    /// The result of the search so far.
    pub fn root(&self, config: &SearchConfig) -> Root {
        let root = &self.arena.nodes[ROOT as usize];
        Root::new(config, &self.arena, root, &self.root_priors)
            .searched(self.reused_visits, self.deepest, self.stop_reason)
            .restricted(&self.moves.allowed)
            .forced(self.forced_line.first().copied())
            .improved(config, &self.arena, root, &self.halving, self.noise != Noise::None)
    }

    /// The `count` most visited nodes, the root first.
    pub fn most_visited(&self, count: usize) -> Vec<VisitedNode> {
        most_visited(&self.arena, count)
    }

    /// The line of best play, from the best move or the given one, as far as it was searched. At each node it takes the best child
    /// in the order of [`Root::best_index`]. A forced result has its own line.
    pub fn best_line(&self, config: &SearchConfig, first: Option<Action>) -> Vec<Action> {
        let found = self.root(config);
        let index = match first {
            Some(action) => found.actions.iter().position(|legal| *legal == action),
            None => found.best_index(),
        };
        if index.is_some_and(|index| self.forced_line.first() == Some(&found.actions[index])) {
            return self.forced_line.clone();
        }
        let children = self.arena.children_of(&self.arena.nodes[ROOT as usize]);
        let mut next =
            index.filter(|index| found.visits[*index] > 0).map(|index| (found.actions[index], children[index]));
        let mut line = Vec::new();
        while let Some((action, child)) = next {
            line.push(action);
            next = super::root::best_child(&self.arena, config, &child);
        }
        line
    }

    /// Sets `self.path` to the nodes on a path.
    fn walk(&mut self, path: &[u16]) {
        self.path.clear();
        self.path.push(ROOT);
        let mut id = ROOT;
        for index in path {
            id = self.arena.nodes[id as usize].first_child + NodeId::from(*index);
            self.path.push(id);
        }
    }

    fn enter_flight(&mut self) {
        for id in &self.path {
            self.arena.nodes[*id as usize].in_flight += 1;
        }
    }

    fn leave_flight(&mut self) {
        for id in &self.path {
            self.arena.nodes[*id as usize].in_flight -= 1;
        }
    }

    fn finish_simulation(&mut self, config: &SearchConfig, leaf: Estimate<ValueForFirst>) {
        backup(&mut self.arena, config, &self.path, leaf);
        if let (RootSelection::Puct, [_, child, ..]) = (config.root_selection, &*self.path) {
            let root = &self.arena.nodes[ROOT as usize];
            let index = (child - root.first_child) as usize;
            self.root_scores.note(index, &self.arena.nodes[*child as usize], root.player);
        }
        self.deepest = self.deepest.max(self.path.len() as u32 - 1);
        self.count_results();
        self.note_end(config);
    }

    fn note_end(&mut self, config: &SearchConfig) {
        let root = &self.arena.nodes[ROOT as usize];
        if self.stop_reason.is_some() || root.in_flight > 0 {
            return;
        }
        if self.moves.are_settled(&self.arena, config) {
            self.stop_reason = Some(StopReason::Proven);
        } else if root.visits >= self.target_visits {
            self.stop_reason = Some(StopReason::Simulations);
        }
    }

    /// Prepares a node that became the root: edges in the order of actions, and a child for each.
    fn complete_root(&mut self, game: &G) {
        let root = self.arena.nodes[ROOT as usize];
        self.actions.clear();
        game.legal_actions(&self.position.state, &mut self.actions);
        let mut order: Vec<usize> = (0..self.actions.len()).collect();
        if root.kind == NodeKind::Expanded {
            let actions = self.arena.actions_of(&root);
            order.sort_unstable_by_key(|index| actions[*index]);
        }
        let priors = self.arena.priors_of(&root);
        self.root_priors = order.iter().map(|index| prior_of(priors[*index])).collect();
        let net_value = self.arena.net_value(&root);
        self.arena.evaluate(ROOT, net_value, &self.root_priors, &self.actions);
        self.arena.expand(ROOT);
        self.arena.add_all_children(ROOT);
        let first_child = self.arena.nodes[ROOT as usize].first_child;
        for (to, from) in order.into_iter().enumerate().filter(|(_, from)| *from < usize::from(root.num_children)) {
            self.arena.move_node(first_child + to as NodeId, root.first_child + from as NodeId);
        }
    }

    /// Leaves a new root the bounds that its own children prove: a result that was noted for it has no moves in the tree.
    fn forget_noted_result(&mut self) {
        let root = &mut self.arena.nodes[ROOT as usize];
        if root.proven().is_none() {
            return;
        }
        (root.lower, root.upper) = (-1.0, 1.0);
        tighten(&mut self.arena, ROOT);
        let root = &mut self.arena.nodes[ROOT as usize];
        root.q = root.mean();
    }

    /// Prepares the choice of moves at an evaluated root: noise, and the schedule of a Gumbel root.
    fn prepare_root(&mut self, config: &SearchConfig) {
        let left = self.target_visits.saturating_sub(self.arena.nodes[ROOT as usize].visits.max(1));
        let size = self.root_priors.len();
        match (config.root_selection, self.noise) {
            (RootSelection::Puct, Noise::None) => self.search_priors.clone_from(&self.root_priors),
            (RootSelection::Puct, Noise::Drawn { seed, game, ply }) => {
                let noise = RandomStream::new(seed, game, ply, "noise").dirichlet(config.noise_alpha.into(), size);
                let mix =
                    |(prior, noise): (&f32, f32)| (1.0 - config.noise_fraction) * prior + config.noise_fraction * noise;
                self.search_priors = self.root_priors.iter().zip(noise).map(mix).collect();
            }
            (RootSelection::Gumbel, noise) => {
                let gumbels = match noise {
                    Noise::None => vec![0.0; size],
                    Noise::Drawn { seed, game, ply } => gumbel_noise(seed, game, ply, size),
                };
                self.halving = Halving::new(config, &self.arena, self.root_priors.clone(), gumbels, left);
            }
        }
        if config.root_selection == RootSelection::Puct {
            self.root_scores.reset(&self.arena, &self.arena.nodes[ROOT as usize], &self.search_priors);
        }
    }
}
