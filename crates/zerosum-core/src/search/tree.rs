//! One tree: the search of one position, a simulation at a time.

use super::arena::{Arena, NodeId, ROOT};
use super::config::{RootSelection, SearchConfig};
use super::gumbel::Halving;
use super::node::{Estimate, NodeKind, utility_of};
use super::prior::prior_of;
use super::root::{Limit, Root};
use super::select::{Exploration, RootMoves, backup, select_child, select_root_child, unforced_visits};
use crate::game::{Action, Game, Position, ValueForFirst, ValueForMover};
use crate::random::{RandomStream, gumbel_noise};

/// Whether a search's root gets noise, Dirichlet's or Gumbel's by the way its moves are chosen, and from which draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// The priors as they are.
    None,
    /// Noise from the stream of (seed, game, ply).
    Drawn {
        /// The run's seed.
        seed: u64,
        /// The game's number.
        game: u64,
        /// The ply that is decided.
        ply: u64,
    },
}

/// What one attempt at a simulation came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It found a position that is to be evaluated.
    Leaf,
    /// The simulation is done: it met the end of a game or a proven position.
    Settled,
    /// The descent met a leaf that is in flight already: a virtual visit on the way there sends the next one elsewhere, until
    /// [`Tree::forget_collision`].
    Collision,
    /// The search is over, or the rest of it is in flight.
    Nothing,
}

/// A position and what has been found out about it.
pub struct Tree<G: Game> {
    position: Position<G::State>,
    arena: Arena,
    /// The network's priors at the root, in the order of actions.
    root_priors: Vec<f32>,
    /// The same with noise, if any: what selection uses.
    search_priors: Vec<f32>,
    noise: Noise,
    /// The root's moves that are searched.
    moves: RootMoves,
    /// The root's own way to choose, where it is not PUCT.
    halving: Halving,
    /// The root's visits at which the search ends; 0 when none was begun.
    target_visits: u32,
    reused_visits: u32,
    /// Plies of the longest simulation of this search.
    deepest: u32,
    limit: Option<Limit>,
    /// Visits that stand for collisions: leaves in flight for selection alone.
    num_collisions: u16,
    /// Node ids from the root of the latest descent or backup: kept to spare the allocation.
    path: Vec<NodeId>,
    /// The moves of the latest descent: kept for the same reason.
    line: Vec<Action>,
    /// The legal actions of the latest node that was expanded: kept for the same reason.
    actions: Vec<Action>,
}

impl<G: Game> Tree<G> {
    /// A tree of this position that may hold so many bytes; no search has begun.
    pub fn new(position: Position<G::State>, most_bytes: u64, has_details: bool) -> Self {
        Self {
            position,
            arena: Arena::new(most_bytes, has_details),
            root_priors: Vec::new(),
            search_priors: Vec::new(),
            noise: Noise::None,
            moves: RootMoves::default(),
            halving: Halving::default(),
            target_visits: 0,
            reused_visits: 0,
            deepest: 0,
            limit: None,
            num_collisions: 0,
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

    /// Bytes of the arena.
    pub fn num_bytes(&self) -> usize {
        self.arena.num_bytes()
    }

    /// Takes another position as the root and forgets the tree.
    pub fn reset(&mut self, position: Position<G::State>) {
        self.position = position;
        self.arena.clear();
        self.forget_search();
    }

    /// Makes a legal move at the root. With `keep`, what is known below it stays, unless draws are worth something else to
    /// whoever is to move then.
    pub fn advance(&mut self, game: &G, action: Action, keep: bool) {
        let root = &self.arena.nodes[ROOT as usize];
        let child = match root.kind {
            NodeKind::Expanded => self.arena.actions_of(root).iter().position(|legal| *legal == action),
            _ => None,
        };
        let child = child.map(|index| root.first_child + index as NodeId);
        let player = root.player;
        self.position.play(game, action);
        let keep = keep && (self.arena.draw_utility == 0.0 || game.player(&self.position.state) == player);
        self.forget_search();
        match child.filter(|id| keep && self.arena.nodes[*id as usize].is_evaluated()) {
            Some(id) => {
                self.arena.keep(id);
                self.make_root_dense(game);
            }
            None => self.arena.clear(),
        }
    }

    /// The root is another one: its search is still to begin.
    fn forget_search(&mut self) {
        self.root_priors.clear();
        self.moves = RootMoves::default();
        self.noise = Noise::None;
        self.halving = Halving::default();
        self.target_visits = 0;
        self.limit = None;
    }

    /// Begins a search: `num_simulations` more, or so many with those that the tree holds already.
    pub fn begin(&mut self, game: &G, config: &SearchConfig, num_simulations: u32, noise: Noise) {
        let root = &self.arena.nodes[ROOT as usize];
        self.reused_visits = root.visits.saturating_sub(1);
        self.deepest = 0;
        // Halving is a schedule of new visits: what was kept would leave it none.
        let counts_reused = config.count_reused_visits && config.root_selection == RootSelection::Puct;
        let reused = if counts_reused { 0 } else { self.reused_visits };
        self.target_visits = (1 + num_simulations).saturating_add(reused);
        self.noise = noise;
        self.arena.draw_utility = game.player(&self.position.state).sign() * config.draw_value;
        self.limit = (!self.position.has_move(game)).then_some(Limit::GameOver);
        if root.kind == NodeKind::Expanded {
            self.prepare_root(config);
            self.note_end(config);
        }
    }

    /// From now on only these moves of the root are searched and played: legal ones, ascending; all, if there are none.
    pub fn restrict(&mut self, config: &SearchConfig, allowed: Vec<Action>) {
        self.moves.allowed = allowed;
        self.note_end_anew(config);
    }

    /// From now on these moves of the root, ascending, are searched first, as long as one of them is open.
    pub fn favour(&mut self, config: &SearchConfig, favoured: Vec<Action>) {
        self.moves.favoured = favoured;
        self.note_end_anew(config);
    }

    /// Other moves are searched: what was proven of others does not end the search.
    fn note_end_anew(&mut self, config: &SearchConfig) {
        if self.limit == Some(Limit::Proven) {
            self.limit = None;
        }
        if self.is_searching() {
            self.note_end(config);
        }
    }

    /// The search has begun and is not over.
    pub fn is_searching(&self) -> bool {
        self.target_visits > 0 && self.limit.is_none()
    }

    /// The search has begun and is over.
    pub fn is_finished(&self) -> bool {
        self.limit.is_some()
    }

    /// One simulation, as far as it goes without an evaluation. If it finds a leaf, `ask` gets its position; `indices` gets
    /// those of the children taken on the way, to a leaf or not.
    pub fn step(
        &mut self,
        game: &G,
        config: &SearchConfig,
        exploration: &Exploration,
        indices: &mut Vec<u16>,
        ask: impl FnOnce(Position<G::State>),
    ) -> Step {
        let root = self.arena.nodes[ROOT as usize];
        let in_flight = u32::from(self.in_flight());
        if !self.is_searching() || root.visits + in_flight >= self.target_visits {
            return Step::Nothing;
        }
        if self.moves.are_settled(&self.arena, config) {
            // Only what is in flight is waited for.
            self.note_end(config);
            return Step::Nothing;
        }
        if !self.arena.has_room(1 + in_flight) {
            self.limit = (in_flight == 0).then_some(Limit::Memory);
            return Step::Nothing;
        }
        // Follows the descent only where the rules are asked.
        let mut position = None;
        let mut id = ROOT;
        self.path.clear();
        self.line.clear();
        self.path.push(ROOT);
        loop {
            let node = &self.arena.nodes[id as usize];
            if id != ROOT && node.proven().is_some() && (node.kind == NodeKind::Terminal || config.exact_bounds) {
                break;
            }
            match node.kind {
                NodeKind::Pending => {
                    self.enter_flight();
                    self.num_collisions += 1;
                    return Step::Collision;
                }
                NodeKind::Fresh => {
                    let position = follow(game, &self.position, &mut position, &mut self.line);
                    if let Some(result) = result_of_leaf(game, config, &position).filter(|_| id != ROOT) {
                        let utility = utility_of(result, self.arena.draw_utility);
                        let node = &mut self.arena.nodes[id as usize];
                        node.kind = NodeKind::Terminal;
                        (node.lower, node.upper) = (utility, utility);
                        break;
                    }
                    let node = &mut self.arena.nodes[id as usize];
                    node.player = game.player(&position.state);
                    node.kind = NodeKind::Pending;
                    self.enter_flight();
                    ask(position);
                    return Step::Leaf;
                }
                NodeKind::Evaluated => {
                    let here = follow(game, &self.position, &mut position, &mut self.line);
                    self.actions.clear();
                    game.legal_actions(&here.state, &mut self.actions);
                    position = Some(here);
                    self.arena.list(id, &self.actions);
                    self.arena.expand(id);
                }
                NodeKind::Listed => self.arena.expand(id),
                NodeKind::Expanded | NodeKind::Terminal => {}
            }
            let index = match config.root_selection {
                _ if id != ROOT => select_child(&self.arena, config, exploration, id),
                RootSelection::Puct => {
                    let has_noise = self.noise != Noise::None;
                    select_root_child(&self.arena, config, exploration, &self.search_priors, has_noise, &self.moves)
                }
                RootSelection::Gumbel => {
                    let left = self.target_visits - root.visits - in_flight;
                    match self.halving.select(config, &self.arena, left) {
                        Some(index) => index,
                        None => return Step::Nothing,
                    }
                }
            };
            let node = &self.arena.nodes[id as usize];
            self.line.push(self.arena.actions_of(node)[index]);
            id = if index == usize::from(node.num_children) {
                self.arena.add_child(id)
            } else {
                node.first_child + index as NodeId
            };
            indices.push(index as u16);
            self.path.push(id);
        }
        let node = &self.arena.nodes[id as usize];
        let value = node.proven().expect("only proven nodes end the descent");
        let plies_left = self.arena.details.get(id as usize).map_or(0.0, |details| details.plies_left);
        let plies_left = (plies_left / f64::from(node.visits.max(1))) as f32;
        self.finish_simulation(config, Estimate { value, draw: 0.0, plies_left });
        Step::Settled
    }

    /// Takes the virtual visit of a collision back.
    pub fn forget_collision(&mut self, path: &[u16]) {
        self.walk(path);
        self.leave_flight();
        self.num_collisions -= 1;
    }

    /// Takes the evaluation of a leaf, the priors and what is expected: backs that up.
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
            // The dense root keeps the order of actions, and its priors in full.
            self.arena.expand(ROOT);
            self.arena.add_all_children(ROOT);
            self.root_priors = priors.to_vec();
            self.prepare_root(config);
        }
        let value = ValueForFirst(net_value.0 + self.arena.draw_utility * estimate.draw);
        self.finish_simulation(config, Estimate { value, draw: estimate.draw, plies_left: estimate.plies_left });
    }

    /// Takes a leaf's virtual loss back; it will be met again.
    pub fn cancel(&mut self, path: &[u16]) {
        self.walk(path);
        self.leave_flight();
        let id = *self.path.last().expect("a path holds the root");
        self.arena.nodes[id as usize].kind = NodeKind::Fresh;
    }

    /// What the search found.
    pub fn root(&self, config: &SearchConfig, exploration: &Exploration) -> Root {
        let root = &self.arena.nodes[ROOT as usize];
        let mut found = Root::new(config, &self.arena, root, &self.root_priors)
            .searched(self.reused_visits, self.deepest, self.limit)
            .restricted(&self.moves.allowed)
            .improved(config, &self.arena, root, &self.halving, self.noise != Noise::None);
        let forced_playouts = self.forced_playouts(config);
        if forced_playouts > 0.0 && !found.actions.is_empty() {
            let priors = &self.search_priors;
            found.unforced_visits = unforced_visits(&self.arena, config, exploration, priors, forced_playouts);
        }
        found
    }

    /// The line of best play as far as it was searched, from the best move or from that given, if it was: the best child by
    /// [`Root::best_index`]'s order at each node.
    pub fn best_line(&self, config: &SearchConfig, exploration: &Exploration, first: Option<Action>) -> Vec<Action> {
        let found = self.root(config, exploration);
        let index = match first {
            Some(action) => found.actions.iter().position(|legal| *legal == action),
            None => found.best_index(),
        };
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
        self.deepest = self.deepest.max(self.path.len() as u32 - 1);
        self.note_end(config);
    }

    fn note_end(&mut self, config: &SearchConfig) {
        let root = &self.arena.nodes[ROOT as usize];
        if self.limit.is_some() || root.in_flight > 0 {
            return;
        }
        if self.moves.are_settled(&self.arena, config) {
            self.limit = Some(Limit::Proven);
        } else if root.visits >= self.target_visits {
            self.limit = Some(Limit::Simulations);
        }
    }

    /// Gives a node that became the root its dense list: edges by action, a child for each.
    fn make_root_dense(&mut self, game: &G) {
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

    /// Exploration is forced only where it is asked for, by noise.
    fn forced_playouts(&self, config: &SearchConfig) -> f32 {
        if self.noise == Noise::None { 0.0 } else { config.forced_playouts }
    }

    /// What a search needs to know about its root before it chooses the first move there.
    fn prepare_root(&mut self, config: &SearchConfig) {
        let left = self.target_visits.saturating_sub(self.arena.nodes[ROOT as usize].visits.max(1));
        let size = self.root_priors.len();
        match (config.root_selection, self.noise) {
            (RootSelection::Puct, Noise::None) => self.search_priors.clone_from(&self.root_priors),
            (RootSelection::Puct, Noise::Drawn { seed, game, ply }) => {
                let total = config.noise_total;
                let alpha = if total > 0.0 { total / size as f32 } else { config.noise_alpha };
                let noise = RandomStream::new(seed, game, ply, "noise").dirichlet(alpha.into(), size);
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
    }
}

/// The position at the end of a line from a tree's root: from where it was `reached` before, by the moves made since then, which
/// leave the line.
fn follow<G: Game>(
    game: &G,
    root: &Position<G::State>,
    reached: &mut Option<Position<G::State>>,
    line: &mut Vec<Action>,
) -> Position<G::State> {
    let mut position = reached.take().unwrap_or_else(|| root.clone());
    line.drain(..).for_each(|action| position.play(game, action));
    position
}

/// The first player's result, if a position below the root is over or counts as if it were.
fn result_of_leaf<G: Game>(game: &G, config: &SearchConfig, position: &Position<G::State>) -> Option<f32> {
    let is_twofold = || config.twofold_draw && game.num_repetitions(&position.state) > 0;
    position.outcome(game).map(|outcome| outcome.result.0).or_else(|| is_twofold().then_some(0.0))
}
