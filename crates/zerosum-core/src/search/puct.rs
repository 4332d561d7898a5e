//! PUCT: Q(s,a) + c(s) · P(s,a) · √N(s) / (1 + N(s,a)), the score of each child of a node.

use super::arena::Arena;
use super::config::{SearchConfig, UnvisitedValue};
use super::node::{Node, NodeId};
use crate::player::Player;

/// c(s) · √N(s), from a table for small N: the logarithm would be most of the cost of a selection.
#[derive(Debug)]
pub struct ExplorationTable {
    config: SearchConfig,
    table: Vec<f32>,
}

impl ExplorationTable {
    /// The table for these settings.
    pub fn new(config: SearchConfig) -> Self {
        Self { config, table: (0..4096).map(|visits| exploration(&config, visits)).collect() }
    }

    /// c(s) · √N(s).
    #[inline]
    pub fn at(&self, visits: u32) -> f32 {
        self.table.get(visits as usize).copied().unwrap_or_else(|| exploration(&self.config, visits))
    }
}

/// c(s) = c_init + c_factor · ln((1 + N(s) + c_base) / c_base), in f64 and rounded once, times √N(s) in f32.
fn exploration(config: &SearchConfig, visits: u32) -> f32 {
    let base = f64::from(config.c_base);
    let growth = libm::log((1.0 + f64::from(visits) + base) / base);
    let rate = f64::from(config.c_init) + f64::from(config.c_factor) * growth;
    rate as f32 * libm::sqrtf(visits as f32)
}

/// Q of an unvisited child for the node's player to move; `visited_prior` is the sum of its visited children's priors.
#[inline]
fn unvisited_q(value: UnvisitedValue, node: &Node, visited_prior: f32) -> f32 {
    match value {
        UnvisitedValue::Loss => -1.0,
        UnvisitedValue::Zero => 0.0,
        UnvisitedValue::Parent { reduction } => {
            (node.player.sign() * node.q - reduction * libm::sqrtf(visited_prior)).max(-1.0)
        }
    }
}

/// Whether a child is proven to lose for `player`. Such a child is not visited while another move exists.
#[inline]
pub fn is_proven_loss(config: &SearchConfig, child: &Node, player: Player) -> bool {
    child.lower == child.upper && config.exact_bounds && player.sign() * child.lower < 0.0
}

/// Whether a child has visits or leaves in flight.
#[inline]
pub fn is_visited(child: &Node) -> bool {
    child.visits > 0 || child.in_flight > 0
}

/// N(s): visits and leaves in flight.
#[inline]
pub fn visits_of(node: &Node) -> u32 {
    node.visits + u32::from(node.in_flight)
}

/// A node on the way down, with the terms that the scores of all its children share.
pub struct Parent<'a> {
    pub arena: &'a Arena,
    pub config: &'a SearchConfig,
    pub node: &'a Node,
    pub children: &'a [Node],
    /// c(s) · √N(s).
    pub rate: f32,
}

impl<'a> Parent<'a> {
    #[inline]
    pub fn new(arena: &'a Arena, config: &'a SearchConfig, exploration: &ExplorationTable, id: NodeId) -> Self {
        let node = &arena.nodes[id as usize];
        Self { arena, config, node, children: arena.children_of(node), rate: exploration.at(visits_of(node)) }
    }

    /// Q + U of a visited child that is not proven. A leaf in flight counts as a visit worth Q − `virtual_loss`, with the node's Q if
    /// the child has no other visits.
    #[inline]
    pub fn score(&self, child: &Node, prior: f32) -> f32 {
        let sign = self.node.player.sign();
        if child.in_flight == 0 {
            return sign * child.q + self.rate * prior / (1.0 + child.visits as f32);
        }
        let (visits, in_flight) = (visits_of(child) as f32, f32::from(child.in_flight));
        let lowered = self.q_of(child) - self.config.virtual_loss * in_flight / visits;
        lowered + self.rate * prior / (1.0 + visits)
    }

    /// Q of a child with visits or leaves in flight, for the mover.
    #[inline]
    fn q_of(&self, child: &Node) -> f32 {
        self.node.player.sign() * if child.visits == 0 { self.node.q } else { child.q }
    }

    /// Whether the result of a child is known and used.
    #[inline]
    pub fn is_proven(&self, child: &Node) -> bool {
        child.lower == child.upper && self.config.exact_bounds
    }

    /// The result of a proven child, for the mover.
    #[inline]
    pub fn result(&self, child: &Node) -> f32 {
        self.node.player.sign() * child.lower
    }

    /// The proven child to follow: the first with the best result, if it is no loss and better than Q + U of every open move.
    ///
    /// Scores have no virtual losses here: a proven result must not be visited only because the leaves of a better open move are in
    /// flight. `children` are the index, the child and its prior, each visited or proven; `open` is [`Self::hope`] of the unvisited
    /// ones.
    #[cold]
    pub fn proven_choice<'b>(
        &self,
        children: impl Iterator<Item = (usize, &'b Node, f32)>,
        mut open: f32,
    ) -> Option<usize> {
        let mut best: Option<(usize, f32)> = None;
        for (index, child, prior) in children {
            if self.is_proven(child) {
                let value = self.result(child);
                if value >= 0.0 && best.is_none_or(|(_, most)| value > most) {
                    best = Some((index, value));
                }
            } else {
                open = open.max(self.q_of(child) + self.rate * prior / (1.0 + visits_of(child) as f32));
            }
        }
        best.filter(|(_, value)| *value > open).map(|(index, _)| index)
    }

    /// Q + U of an unvisited child in comparison with proven results: Q is that of the node, whatever unvisited children have in
    /// comparison with others.
    #[inline]
    pub fn hope(&self, prior: f32) -> f32 {
        self.node.player.sign() * self.node.q + self.rate * prior
    }

    /// Q + U of an unvisited child.
    #[inline]
    pub fn unvisited_score(&self, prior: f32, visited_prior: f32) -> f32 {
        unvisited_q(self.config.unvisited_value, self.node, visited_prior) + self.rate * prior
    }
}
