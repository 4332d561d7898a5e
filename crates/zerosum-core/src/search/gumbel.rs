//! The root of Gumbel AlphaZero (Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022).
//!
//! ```text
//!   7 moves, 42 simulations: ⌈log2 7⌉ = 3 rounds of 14        visits
//!     round 1   a b c d e f g    2 each                       a b c d e f g
//!     round 2   a b c            4 each: the better half      2 2 2 2 2 2 2
//!     round 3   a b              7 each, and on until the     6 6 6
//!               simulations are spent                         14 14 (what is left goes to the last two in turn)
//! ```
//!
//! What is better is g + logit + σ(Q), with g the move's Gumbel noise: zero where a search has none. With it, the best of
//! the m highest is a draw of m moves without replacement, so the move played is itself a draw from the improved policy.

use super::arena::{Arena, ROOT};
use super::config::SearchConfig;
use super::node::Node;
use super::select::is_proven_loss;
use std::cmp::Ordering;

/// Less than this no prior is: its logarithm is finite.
const LEAST_PRIOR: f32 = 1e-30;
/// A range of Q values is at least this wide where they are rescaled (mctx's epsilon).
const LEAST_RANGE: f32 = 1e-8;

/// The priors' logarithms: the network's logits but for a constant that all moves share.
pub fn logits_of(priors: &[f32]) -> Vec<f32> {
    priors.iter().map(|prior| libm::log(f64::from(prior.max(LEAST_PRIOR))) as f32).collect()
}

/// logit + σ(completed Q) of each move of an expanded root, the logits of the improved policy (section 4 of the paper);
/// `logits` are those of [`logits_of`].
///
/// σ(q) = (c_visit + max N) · c_scale · q, with q rescaled to [0, 1] by the least and the largest completed Q where the
/// settings say so (mctx's `qtransform_completed_by_mix_value`). A move without visits has the mixed value for its Q (the
/// paper's appendix D, equation 33): the network's value and the mean Q of the visited moves, weighted by their priors, as
/// if these were one visit and N. Visits of a reused tree count like all others.
pub fn improved_logits(config: &SearchConfig, arena: &Arena, root: &Node, priors: &[f32], logits: &[f32]) -> Vec<f32> {
    let (sign, children) = (root.player.sign(), arena.children_of(root));
    let (mut visits, mut most_visits, mut prior_sum, mut q_sum) = (0, 0, 0.0_f32, 0.0_f32);
    for (child, prior) in children.iter().zip(priors).filter(|(child, _)| child.visits > 0) {
        let prior = prior.max(LEAST_PRIOR);
        visits += child.visits;
        most_visits = child.visits.max(most_visits);
        prior_sum += prior;
        q_sum += prior * (sign * child.q);
    }
    let net_value = sign * arena.net_value(root);
    let mixed_value = match visits {
        0 => net_value,
        _ => (net_value + visits as f32 * (q_sum / prior_sum)) / (1.0 + visits as f32),
    };
    let scale = (config.gumbel_visit_scale + most_visits as f32) * config.gumbel_value_scale;
    let completed_q = |child: &Node| if child.visits > 0 { sign * child.q } else { mixed_value };
    let (mut lowest, mut range) = (0.0_f32, 1.0_f32);
    if config.gumbel_rescale {
        lowest = children.iter().map(completed_q).fold(f32::INFINITY, f32::min);
        let highest = children.iter().map(completed_q).fold(f32::NEG_INFINITY, f32::max);
        range = (highest - lowest).max(LEAST_RANGE);
    }
    let sigma = |child: &Node| scale * ((completed_q(child) - lowest) / range);
    children.iter().zip(logits).map(|(child, logit)| logit + sigma(child)).collect()
}

/// Sequential halving over the moves of a root.
///
/// Each round gives every move that is left the same number of visits, then the better half stays, but never fewer than
/// two; so many rounds that a half each time leaves one, with an equal share of the simulations each (the paper's
/// algorithm 2 and its published code, mctx). A move that is proven to lose drops out at once; if no other is left,
/// halving begins anew among those that were not considered. Only visits of this search are scheduled, whatever a reused
/// tree brought along.
#[derive(Debug, Default)]
pub struct Halving {
    /// The indices of the moves that are left.
    pub survivors: Vec<u16>,
    /// g of each move; zeros without noise.
    pub gumbels: Vec<f32>,
    /// The logits of each move, as [`logits_of`] has them: computed once a search.
    pub logits: Vec<f32>,
    priors: Vec<f32>,
    /// N(s, a) when this halving began.
    visits_before: Vec<u32>,
    num_simulations: u32,
    num_rounds: u32,
    /// Visits since then at which the round ends.
    visits_to_make: u32,
}

impl Halving {
    /// Begins with all moves of an expanded root; `priors` and `gumbels` are in their order.
    pub fn new(
        config: &SearchConfig,
        arena: &Arena,
        priors: Vec<f32>,
        gumbels: Vec<f32>,
        num_simulations: u32,
    ) -> Self {
        let mut halving = Self { gumbels, logits: logits_of(&priors), priors, ..Self::default() };
        halving.begin(config, arena, num_simulations);
        halving
    }

    /// The index of the move to visit next, with `num_simulations` still to come; `None` if the last visits of the round,
    /// which decide who stays, are in flight.
    pub fn select(&mut self, config: &SearchConfig, arena: &Arena, num_simulations: u32) -> Option<usize> {
        let root = &arena.nodes[ROOT as usize];
        let children = arena.children_of(root);
        self.survivors.retain(|index| !is_proven_loss(arena, config, &children[usize::from(*index)], root.player));
        if self.survivors.is_empty() {
            self.begin(config, arena, num_simulations);
        }
        let order = self.order(config, arena);
        let is_done = |index: &u16| self.visits_made(children, *index) >= self.visits_to_make;
        if self.survivors.len() > 2 && self.survivors.iter().all(is_done) {
            if root.in_flight > 0 {
                return None;
            }
            self.survivors.sort_unstable_by(|a, b| order(*a, *b));
            self.survivors.truncate((self.survivors.len() / 2).max(2));
            self.visits_to_make += self.visits_a_round();
        }
        let fewest_visits = |index: u16| self.visits_made(children, index);
        let next =
            self.survivors.iter().min_by(|a, b| fewest_visits(**a).cmp(&fewest_visits(**b)).then(order(**a, **b)));
        next.map(|index| usize::from(*index))
    }

    /// Considers the best moves that are not lost.
    fn begin(&mut self, config: &SearchConfig, arena: &Arena, num_simulations: u32) {
        let root = &arena.nodes[ROOT as usize];
        let children = arena.children_of(root);
        let order = self.order(config, arena);
        let mut moves: Vec<u16> = (0..children.len() as u16)
            .filter(|index| !is_proven_loss(arena, config, &children[usize::from(*index)], root.player))
            .collect();
        moves.sort_unstable_by(|a, b| order(*a, *b));
        moves.truncate(config.gumbel_actions.into());
        self.num_rounds = moves.len().next_power_of_two().trailing_zeros();
        self.survivors = moves;
        self.num_simulations = num_simulations;
        self.visits_before = children.iter().map(|child| child.visits).collect();
        self.visits_to_make = self.visits_a_round();
    }

    /// Visits for each move that is left, in one round.
    fn visits_a_round(&self) -> u32 {
        let moves_visited = self.num_rounds * self.survivors.len() as u32;
        (self.num_simulations / moves_visited.max(1)).max(1)
    }

    /// Visits of a move since this halving began, those in flight included.
    fn visits_made(&self, children: &[Node], index: u16) -> u32 {
        let child = &children[usize::from(index)];
        child.visits + u32::from(child.in_flight) - self.visits_before[usize::from(index)]
    }

    /// Better moves first: by g + logit + σ(Q), then the higher prior, then the lower action.
    fn order(&self, config: &SearchConfig, arena: &Arena) -> impl Fn(u16, u16) -> Ordering + use<> {
        let root = &arena.nodes[ROOT as usize];
        let scores = improved_logits(config, arena, root, &self.priors, &self.logits);
        let ranks: Vec<(f32, f32)> =
            scores.iter().zip(&self.gumbels).zip(&self.priors).map(|((score, g), prior)| (score + g, *prior)).collect();
        move |a, b| {
            let (a_rank, b_rank) = (ranks[usize::from(a)], ranks[usize::from(b)]);
            b_rank.partial_cmp(&a_rank).expect("no NaN among scores and priors").then(a.cmp(&b))
        }
    }
}
