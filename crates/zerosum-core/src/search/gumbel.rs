//! The root of Gumbel AlphaZero (Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022).
//!
//! ```text
//!   7 moves, 42 simulations: ⌈log2 7⌉ = 3 rounds of 14        visits
//!     round 1   a b c d e f g    2 each                       a b c d e f g
//!     round 2   a b c            4 each: the better half      2 2 2 2 2 2 2
//!     round 3   a b              7 each, and on until the     6 6 6
//!               simulations are spent                         14 14 (the last two moves take turns)
//! ```
//!
//! Moves are ordered by g + logit + σ(Q), with g the move's Gumbel noise, which is 0 in a search without noise. With noise the
//! m highest g + logit are a sample of m moves without replacement, and the move played is a sample from the improved policy.

use super::arena::{Arena, ROOT};
use super::config::SearchConfig;
use super::node::Node;
use super::puct::is_proven_loss;
use std::cmp::Ordering;

/// Minimum prior, so that logarithms are finite.
const MIN_PRIOR: f32 = 1e-30;
/// Minimum range of Q values that are rescaled (mctx's epsilon).
const MIN_RANGE: f32 = 1e-8;

/// The logarithms of the priors: the network's logits up to a constant that all moves share.
pub fn logits_of(priors: &[f32]) -> Vec<f32> {
    priors.iter().map(|prior| libm::log(f64::from(prior.max(MIN_PRIOR))) as f32).collect()
}

/// The logits of the improved policy, logit + σ(completed Q), for each move of an expanded root (section 4 of the paper). `logits`
/// come from [`logits_of`].
///
/// σ(q) = (c_visit + max N) · c_scale · q, with q rescaled to [0, 1] by the smallest and the largest
/// completed Q (mctx's `qtransform_completed_by_mix_value`). The Q of a move without visits is the mixed value (the paper's
/// appendix D, equation 33): the mean of the network's value, with weight 1, and the prior-weighted mean Q of the visited
/// moves, with weight N. Visits of a reused tree count like all others.
pub fn improved_logits(config: &SearchConfig, arena: &Arena, root: &Node, priors: &[f32], logits: &[f32]) -> Vec<f32> {
    let (sign, children) = (root.player.sign(), arena.children_of(root));
    let (mut visits, mut most_visits, mut prior_sum, mut q_sum) = (0, 0, 0.0_f32, 0.0_f32);
    for (child, prior) in children.iter().zip(priors).filter(|(child, _)| child.visits > 0) {
        let prior = prior.max(MIN_PRIOR);
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
    let lowest = children.iter().map(completed_q).fold(f32::INFINITY, f32::min);
    let highest = children.iter().map(completed_q).fold(f32::NEG_INFINITY, f32::max);
    let range = (highest - lowest).max(MIN_RANGE);
    let sigma = |child: &Node| scale * ((completed_q(child) - lowest) / range);
    children.iter().zip(logits).map(|(child, logit)| logit + sigma(child)).collect()
}

/// Sequential halving over the moves of a root.
///
/// Each round gives every surviving move the same number of visits; then the better half survives, but at least two moves. The
/// number of rounds is ⌈log2 m⌉ for m moves, and each has an equal share of the simulations (the paper's algorithm 2 and its
/// published code, mctx). A move that is proven to lose drops out at once; if no move survives, halving begins again with
/// those that were not considered. The schedule counts visits of this search alone, not those of a reused tree.
#[derive(Debug, Default)]
pub struct Halving {
    /// Indices of the surviving moves.
    pub survivors: Vec<u16>,
    /// The Gumbel noise g of each move; zeros without noise.
    pub gumbels: Vec<f32>,
    /// The logit of each move, from [`logits_of`]: computed once per search.
    pub logits: Vec<f32>,
    priors: Vec<f32>,
    /// N(s, a) at the start of this halving.
    visits_before: Vec<u32>,
    num_simulations: u32,
    num_rounds: u32,
    /// Visits of each survivor, since the start of this halving, at which the round ends.
    visits_to_make: u32,
}

impl Halving {
    /// Begins with the moves of an expanded root; `priors` and `gumbels` are in their order.
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

    /// The index of the move to visit next, with `num_simulations` left.
    ///
    /// `None` while the last visits of the round are in flight: they decide which moves survive.
    pub fn select(&mut self, config: &SearchConfig, arena: &Arena, num_simulations: u32) -> Option<usize> {
        let root = &arena.nodes[ROOT as usize];
        let children = arena.children_of(root);
        self.survivors.retain(|index| !is_proven_loss(config, &children[usize::from(*index)], root.player));
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
            self.visits_to_make += self.visits_per_round();
        }
        let fewest_visits = |index: u16| self.visits_made(children, index);
        let next =
            self.survivors.iter().min_by(|a, b| fewest_visits(**a).cmp(&fewest_visits(**b)).then(order(**a, **b)));
        next.map(|index| usize::from(*index))
    }

    /// Begins with the best moves that are not proven losses.
    fn begin(&mut self, config: &SearchConfig, arena: &Arena, num_simulations: u32) {
        let root = &arena.nodes[ROOT as usize];
        let children = arena.children_of(root);
        let order = self.order(config, arena);
        let mut moves: Vec<u16> = (0..children.len() as u16)
            .filter(|index| !is_proven_loss(config, &children[usize::from(*index)], root.player))
            .collect();
        moves.sort_unstable_by(|a, b| order(*a, *b));
        moves.truncate(config.gumbel_actions.into());
        self.num_rounds = moves.len().next_power_of_two().trailing_zeros();
        self.survivors = moves;
        self.num_simulations = num_simulations;
        self.visits_before = children.iter().map(|child| child.visits).collect();
        self.visits_to_make = self.visits_per_round();
    }

    /// Visits of each surviving move in one round.
    fn visits_per_round(&self) -> u32 {
        let moves_visited = self.num_rounds * self.survivors.len() as u32;
        (self.num_simulations / moves_visited.max(1)).max(1)
    }

    /// Visits of a move since the start of this halving, leaves in flight included.
    fn visits_made(&self, children: &[Node], index: u16) -> u32 {
        let child = &children[usize::from(index)];
        child.visits + u32::from(child.in_flight) - self.visits_before[usize::from(index)]
    }

    /// The order of moves, the best first: by g + logit + σ(Q), then the higher prior, then the lower action.
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
