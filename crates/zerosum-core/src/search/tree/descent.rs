//! A simulation on its way down, to a leaf or a settled position.

use super::Tree;
use crate::game::{Action, Game, Position};
use crate::hidden_move::{HiddenMove, NO_SLOT};
use crate::player::ValueForFirst;
use crate::search::arena::ROOT;
use crate::search::config::{RootSelection, SearchConfig};
use crate::search::hidden::{Question, Slots};
use crate::search::node::{Estimate, NodeId, NodeKind};
use crate::search::puct::ExplorationTable;
use crate::search::root::StopReason;
use crate::search::select::{select_child, select_root_child};
use crate::tables::Tables;

/// The end of a descent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Descent {
    /// A question that needs an evaluation: the simulation waits for it.
    Leaf(Question),
    /// The end of a game, or a proven position: the simulation is done.
    Settled,
    /// A leaf that is in flight already. A virtual visit on the path sends the next descents elsewhere, until
    /// [`Tree::forget_collision`].
    Collision,
    /// No descent was made: the search is over, or its last leaves are in flight.
    NotMade,
}

impl<G: Game> Tree<G> {
    /// Makes one simulation as far as it goes without an evaluation.
    ///
    /// Positions that `tables` know are settled like those whose game is over.
    /// `positions` gets the position of a leaf, and maybe another one if no leaf was found; a hidden state's slot is taken from
    /// `slots`. `indices` gets the indices of the children taken on the way, also if no leaf was found.
    #[allow(clippy::too_many_arguments, clippy::too_many_lines)] // a search's parts; one simulation, step by step
    pub fn descend(
        &mut self,
        game: &G,
        config: &SearchConfig,
        exploration: &ExplorationTable,
        tables: &Tables,
        slots: &mut Slots,
        indices: &mut Vec<u16>,
        positions: &mut Vec<Position<G::State>>,
    ) -> Descent {
        let root = self.arena.nodes[ROOT as usize];
        let in_flight = u32::from(self.in_flight());
        if !self.is_searching() || root.visits + in_flight >= self.target_visits {
            return Descent::NotMade;
        }
        if self.moves.are_settled(&self.arena, config) {
            // The search ends once the leaves in flight are back.
            self.note_end(config);
            return Descent::NotMade;
        }
        if !self.arena.has_room(1 + in_flight) {
            self.stop_reason = (in_flight == 0).then_some(StopReason::Memory);
            return Descent::NotMade;
        }
        // Moves are made only where the rules are needed.
        let mut has_position = false;
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
                    return Descent::Collision;
                }
                NodeKind::Fresh if config.learns_rules() => {
                    let question = self.hidden_question(game, slots, positions);
                    self.enter_flight();
                    return Descent::Leaf(question);
                }
                NodeKind::Fresh => {
                    let position = follow(game, &self.position, positions, &mut has_position, &mut self.line);
                    let settled = || {
                        position.outcome(game).map(|outcome| outcome.result).or_else(|| {
                            let result = tables.result(game, position);
                            self.num_table_hits += u64::from(result.is_some());
                            result
                        })
                    };
                    if let Some(ValueForFirst(result)) = (id != ROOT).then(settled).flatten() {
                        let node = &mut self.arena.nodes[id as usize];
                        node.kind = NodeKind::Terminal;
                        (node.lower, node.upper) = (result, result);
                        break;
                    }
                    let node = &mut self.arena.nodes[id as usize];
                    node.player = game.player(&position.state);
                    node.kind = NodeKind::Pending;
                    self.enter_flight();
                    return Descent::Leaf(Question::Position(NO_SLOT));
                }
                NodeKind::Evaluated if config.learns_rules() => {
                    self.actions.clear();
                    self.actions.extend(0..=(game.spec().num_actions() - 1) as Action);
                    self.arena.list(id, &self.actions);
                    self.arena.expand(id);
                }
                NodeKind::Evaluated => {
                    let here = follow(game, &self.position, positions, &mut has_position, &mut self.line);
                    self.actions.clear();
                    game.legal_actions(&here.state, &mut self.actions);
                    self.arena.list(id, &self.actions);
                    self.arena.expand(id);
                }
                NodeKind::Listed => self.arena.expand(id),
                NodeKind::Expanded | NodeKind::Terminal => {}
            }
            let index = match config.root_selection {
                _ if id != ROOT => select_child(&self.arena, config, exploration, id),
                RootSelection::Puct => select_root_child(
                    &self.arena,
                    config,
                    exploration,
                    &self.search_priors,
                    &self.moves,
                    &self.root_scores,
                ),
                RootSelection::Gumbel => {
                    let left = self.target_visits - root.visits - in_flight;
                    match self.halving.select(config, &self.arena, left) {
                        Some(index) => index,
                        None => return Descent::NotMade,
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
        self.finish_simulation(config, Estimate { value, draw_share: 0.0 });
        Descent::Settled
    }

    /// The question of the fresh node at the end of the path, where the rules are learned. Below the root players take turns.
    fn hidden_question(&mut self, game: &G, slots: &mut Slots, positions: &mut Vec<Position<G::State>>) -> Question {
        let id = *self.path.last().expect("a path holds the root") as usize;
        let slot = slots.take();
        self.slots.push(slot);
        self.arena.details[id].slot = slot;
        self.arena.nodes[id].kind = NodeKind::Pending;
        let Some(parent) = self.path.len().checked_sub(2).map(|depth| self.path[depth] as usize) else {
            self.arena.nodes[id].player = game.player(&self.position.state);
            positions.push(self.position.clone());
            return Question::Position(slot);
        };
        let player = self.arena.nodes[parent].player.opponent();
        self.arena.nodes[id].player = player;
        let last = *self.line.last().expect("a move led here");
        let is_root = parent == ROOT as usize;
        let action = if is_root { self.root_places[id - self.arena.nodes[parent].first_child as usize] } else { last };
        Question::Move(HiddenMove { parent: self.arena.details[parent].slot, action, slot }, player)
    }
}

/// The position at the end of a descent from a tree's root: the last of `positions`, to which it is added unless it is there
/// already (`has_position`). Makes the moves of `line`, which it clears.
fn follow<'p, G: Game>(
    game: &G,
    root: &Position<G::State>,
    positions: &'p mut Vec<Position<G::State>>,
    has_position: &mut bool,
    line: &mut Vec<Action>,
) -> &'p Position<G::State> {
    if !*has_position {
        // Into its place at once: `push` would copy it twice more.
        positions.extend_from_slice(std::slice::from_ref(root));
        *has_position = true;
    }
    let position = positions.last_mut().expect("it was added");
    line.drain(..).for_each(|action| position.play(game, action));
    position
}
