//! The result of a search: statistics of the root's moves, the policy target, the move to play.

use super::arena::{Arena, ROOT};
use super::config::{MoveChoice, PolicyTarget, RootSelection, SearchConfig};
use super::gumbel::{Halving, improved_logits, logits_of};
use super::node::{Details, Node, NodeKind};
use super::prior::prior_of;
use crate::game::Action;
use crate::player::Player;

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// All simulations are done.
    Simulations,
    /// The result of the root, or of the best allowed move, is proven.
    Proven,
    /// The tree has used up its memory.
    Memory,
    /// The game is over at the root.
    GameOver,
}

impl StopReason {
    /// The reason in a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Simulations => "simulations",
            Self::Proven => "proven",
            Self::Memory => "memory",
            Self::GameOver => "game over",
        }
    }
}

/// Statistics of a searched root. Values are for the player to move; lists are in the order of `actions`.
#[derive(Clone, Debug)]
pub struct Root {
    /// The legal actions, ascending.
    pub actions: Vec<Action>,
    /// N(s, a).
    pub visits: Vec<u32>,
    /// Q(s, a), the expected result; NaN where N is 0.
    pub q: Vec<f32>,
    /// The mean probability of a draw below each move, NaN where N is 0; empty unless a setting needs it.
    pub draw_shares: Vec<f32>,
    /// The mean probability of a draw at the root; `None` unless a setting needs it.
    pub draw_share: Option<f32>,
    /// The network's priors, without noise.
    pub priors: Vec<f32>,
    /// The network's value of the position after each move; the exact result where the game is over, NaN where the network was
    /// not asked.
    pub net_values: Vec<f32>,
    /// Lower bounds of the moves' exact results.
    pub lower: Vec<f32>,
    /// Upper bounds of the moves' exact results.
    pub upper: Vec<f32>,
    /// The search's value of the root: the mean of the values backed up, or the exact result.
    pub value: f32,
    /// The network's value of the root.
    pub net_value: f32,
    /// The exact result, if it is proven.
    pub proven: Option<f32>,
    /// The player to move.
    pub player: Player,
    /// Simulations in the tree, reused ones included.
    pub num_simulations: u32,
    /// Simulations that were reused from an earlier search.
    pub num_reused: u32,
    /// Plies of the longest simulation of this search.
    pub deepest: u32,
    /// Why the search ended; `None` before and during it.
    pub stop_reason: Option<StopReason>,
    /// Whether the best move is itself sampled, by Gumbel noise, from the improved policy.
    pub has_gumbel_noise: bool,
    /// Logits of the improved policy; empty unless it is learned or played from.
    improved_logits: Vec<f32>,
    /// For each move of a Gumbel root whether it survived the halving, and its Gumbel noise; else empty.
    halving: Vec<(bool, f32)>,
    policy_target: PolicyTarget,
    /// Whether each move is excluded from play; empty if none is.
    is_barred: Vec<bool>,
    /// The move of the forced result that [`super::Search::prove`] found.
    forced: Option<Action>,
    /// Lower confidence bounds of Q, −∞ for moves with few visits; empty unless the move is chosen by them.
    lower_confidence_bounds: Vec<f32>,
}

/// A move that another kind of search has looked at: its nodes count as visits.
#[derive(Clone, Copy, Debug)]
pub struct SearchedMove {
    /// The move.
    pub action: Action,
    /// Nodes of its search.
    pub num_nodes: u32,
    /// The expected result for the player to move.
    pub value: f32,
    /// True if the move certainly wins.
    pub is_win: bool,
}

impl Root {
    /// The statistics of a position as another kind of search has them: of some legal moves, the best with the most nodes. All
    /// moves have the same prior.
    pub fn of_moves(
        actions: Vec<Action>,
        player: Player,
        searched: &[SearchedMove],
        net_value: f32,
        depth: u32,
    ) -> Self {
        let size = actions.len();
        let mut root = Self {
            visits: vec![0; size],
            q: vec![f32::NAN; size],
            draw_shares: Vec::new(),
            draw_share: None,
            priors: vec![1.0 / size as f32; size],
            net_values: vec![f32::NAN; size],
            lower: vec![-1.0; size],
            upper: vec![1.0; size],
            value: searched.first().map_or(net_value, |best| best.value),
            net_value,
            proven: searched.first().filter(|best| best.is_win).map(|_| 1.0),
            player,
            num_simulations: searched.iter().map(|one| one.num_nodes).sum(),
            num_reused: 0,
            deepest: depth,
            stop_reason: None,
            has_gumbel_noise: false,
            improved_logits: Vec::new(),
            halving: Vec::new(),
            policy_target: PolicyTarget::Visits,
            is_barred: Vec::new(),
            forced: None,
            lower_confidence_bounds: Vec::new(),
            actions,
        };
        for one in searched {
            if let Ok(index) = root.actions.binary_search(&one.action) {
                (root.visits[index], root.q[index]) = (one.num_nodes, one.value);
                if one.is_win {
                    root.lower[index] = 1.0;
                }
            }
        }
        root
    }

    /// The statistics of a node with these priors of its children. Without exact bounds no move has a proven result, not even
    /// one that ends the game.
    pub(super) fn new(config: &SearchConfig, arena: &Arena, root: &Node, priors: &[f32]) -> Self {
        let (sign, children) = (root.player.sign(), arena.children_of(root));
        let visits: Vec<u32> = children.iter().map(|child| child.visits).collect();
        let bounds = |child: &Node| match root.player {
            _ if !config.exact_bounds => (-1.0, 1.0),
            Player::First => (child.lower, child.upper),
            Player::Second => (-child.upper, -child.lower),
        };
        let details = if config.has_details() { arena.details_of_children(root) } else { &[] };
        let mean = |sum: f64, node: &Node| (sum / f64::from(node.visits)) as f32;
        let q = |child: &Node| if child.visits == 0 { f32::NAN } else { sign * child.q };
        let net_value = |child: &Node| match child.kind {
            NodeKind::Terminal => sign * child.lower,
            _ if child.is_evaluated() => sign * arena.net_value(child),
            _ => f32::NAN,
        };
        let of_root = arena.details.get(ROOT as usize).filter(|_| root.visits > 0);
        let draw_share = of_root.map(|details| mean(details.draw_sum, root));
        let actions = if children.is_empty() { &[] } else { &arena.actions_of(root)[..children.len()] };
        Self {
            actions: actions.to_vec(),
            q: children.iter().map(q).collect(),
            lower_confidence_bounds: lower_confidence_bounds(config, children, details, sign),
            priors: priors.to_vec(),
            net_values: children.iter().map(net_value).collect(),
            lower: children.iter().map(|child| bounds(child).0).collect(),
            upper: children.iter().map(|child| bounds(child).1).collect(),
            value: if root.visits == 0 { 0.0 } else { sign * root.q },
            net_value: sign * arena.net_value(root),
            proven: root.proven().filter(|_| config.exact_bounds).map(|value| sign * value.0),
            player: root.player,
            num_simulations: root.visits.saturating_sub(1),
            num_reused: 0,
            deepest: 0,
            stop_reason: None,
            has_gumbel_noise: false,
            is_barred: Vec::new(),
            forced: None,
            improved_logits: Vec::new(),
            halving: Vec::new(),
            policy_target: config.policy_target,
            visits,
            draw_shares: details.iter().zip(children).map(|(of, child)| mean(of.draw_sum, child)).collect(),
            draw_share,
        }
    }

    /// Adds how the search went.
    pub(super) fn searched(self, num_reused: u32, deepest: u32, stop_reason: Option<StopReason>) -> Self {
        Self { num_reused, deepest, stop_reason, ..self }
    }

    /// Adds what the improved policy needs, if a setting asks for it.
    pub(super) fn improved(
        mut self,
        config: &SearchConfig,
        arena: &Arena,
        root: &Node,
        halving: &Halving,
        has_noise: bool,
    ) -> Self {
        if config.root_selection == RootSelection::Gumbel {
            let is_left = |index: usize| halving.survivors.iter().any(|left| usize::from(*left) == index);
            let gumbel = |index: usize| halving.gumbels.get(index).copied().unwrap_or(0.0);
            self.halving = (0..self.actions.len()).map(|index| (is_left(index), gumbel(index))).collect();
            self.has_gumbel_noise = has_noise;
        }
        if config.root_selection == RootSelection::Gumbel || config.policy_target == PolicyTarget::CompletedQ {
            self.improved_logits = if halving.logits.len() == self.priors.len() {
                improved_logits(config, arena, root, &self.priors, &halving.logits)
            } else {
                improved_logits(config, arena, root, &self.priors, &logits_of(&self.priors))
            };
        }
        self
    }

    /// Excludes all but these moves from play, if there are any.
    pub(super) fn restricted(self, allowed: &[Action]) -> Self {
        let is_barred = |action: &Action| !allowed.is_empty() && allowed.binary_search(action).is_err();
        Self { is_barred: self.actions.iter().map(is_barred).collect(), ..self }
    }

    /// Adds the move of a forced result, which is played before others of the same result.
    pub(super) fn forced(self, forced: Option<Action>) -> Self {
        Self { forced, ..self }
    }

    fn is_proven_at(&self, index: usize, value: f32) -> bool {
        self.lower[index] == value && self.upper[index] == value
    }

    fn is_proven_loss(&self, index: usize) -> bool {
        self.lower[index] == self.upper[index] && self.upper[index] < 0.0
    }

    /// Weights divided by their sum; `None` if all are 0.
    fn shares(&self, weight: impl Fn(usize) -> f32) -> Option<Vec<f32>> {
        let weights: Vec<f32> = (0..self.actions.len()).map(weight).collect();
        let sum: f32 = weights.iter().sum();
        (sum > 0.0).then(|| weights.iter().map(|weight| weight / sum).collect())
    }

    /// The uniform policy over proven wins, if there are any.
    fn proven_wins(&self) -> Option<Vec<f32>> {
        let value = self.proven.filter(|value| *value > 0.0)?;
        self.shares(|index| f32::from(self.is_proven_at(index, value)))
    }

    /// The shares of the visits; sums to 1.
    ///
    /// Uniform over proven wins if there are any. Else visits of proven losses do not count; if no others are
    /// left, the policy is the priors without the proven losses. If every move loses it is the priors: noise began
    /// those visits and the proof ended them, so they say nothing.
    pub fn visit_policy(&self) -> Vec<f32> {
        let without_losses = |index, weight| if self.is_proven_loss(index) { 0.0 } else { weight };
        self.proven_wins()
            .or_else(|| self.shares(|index| without_losses(index, self.visits[index] as f32)))
            .or_else(|| self.shares(|index| without_losses(index, self.priors[index])))
            .or_else(|| self.shares(|index| self.priors[index]))
            .unwrap_or_default()
    }

    /// softmax(logit + σ(completed Q)); sums to 1. Empty unless the root is a Gumbel root or the policy learns it.
    ///
    /// Uniform over proven wins if there are any. Proven losses have no share unless every move loses. Exact values count as
    /// Q values like all others.
    pub fn improved_policy(&self) -> Vec<f32> {
        if self.improved_logits.is_empty() {
            return Vec::new();
        }
        let all_lose = (0..self.actions.len()).all(|index| self.is_proven_loss(index));
        let is_left = |index: &usize| all_lose || !self.is_proven_loss(*index);
        let logits = (0..self.actions.len()).filter(is_left).map(|index| self.improved_logits[index]);
        let largest = f64::from(logits.fold(f32::NEG_INFINITY, f32::max));
        let weight = |index| libm::exp(f64::from(self.improved_logits[index]) - largest) as f32;
        self.proven_wins()
            .or_else(|| self.shares(|index| if is_left(&index) { weight(index) } else { 0.0 }))
            .unwrap_or_default()
    }

    /// The policy that moves are sampled from; sums to 1.
    ///
    /// At a Gumbel root it is the improved policy, because visits follow the schedule of the halving, with equal numbers for the
    /// last two moves. At other roots it is the shares of the visits.
    pub fn move_policy(&self) -> Vec<f32> {
        if self.halving.is_empty() { self.visit_policy() } else { self.improved_policy() }
    }

    /// The policy to learn; sums to 1.
    pub fn policy_target(&self) -> Vec<f32> {
        match self.policy_target {
            PolicyTarget::Visits => self.visit_policy(),
            PolicyTarget::CompletedQ => self.improved_policy(),
        }
    }

    /// The index of the move to play.
    ///
    /// A proven win comes first, or a move that is certain to reach the root's proven result, and among these the shortest way that
    /// the search for forced results knows; a proven loss comes last. Between
    /// them the most visited move wins, or the one with the highest lower confidence bound if the settings say so, but no proven
    /// result if an open move [is better](Self::better_than_proven). Ties go to the higher Q, then the higher prior, then the
    /// lower action.
    ///
    /// At a Gumbel root the largest g + logit + σ(Q) decides, among the moves that survived the halving and were visited.
    pub fn best_index(&self) -> Option<usize> {
        let better = self.better_than_proven();
        let rank = |index: &usize| {
            let is_win = self.lower[*index] == self.upper[*index] && self.lower[*index] > 0.0;
            let is_certain = is_win || self.proven.is_some_and(|value| self.lower[*index] >= value);
            let certainty = match better.get(*index) {
                _ if is_certain => 3,
                Some(true) => 2,
                _ => i32::from(!self.is_proven_loss(*index)),
            };
            let (visits, is_visited) = (self.visits[*index], self.visits[*index] > 0);
            let (first, second) = match self.halving.get(*index) {
                Some((is_left, gumbel)) => {
                    (2 * u32::from(*is_left) + u32::from(is_visited), gumbel + self.improved_logits[*index])
                }
                None => (visits, if is_visited { self.q[*index] } else { -1.0 }),
            };
            let least = self.lower_confidence_bounds.get(*index).copied().unwrap_or(0.0);
            let may_be_played = !self.is_barred.get(*index).copied().unwrap_or(false);
            (
                may_be_played,
                certainty,
                if is_certain { self.lower[*index] } else { 0.0 },
                is_certain && self.forced == Some(self.actions[*index]),
                least,
                first,
                second,
                self.priors[*index],
            )
        };
        (0..self.actions.len())
            .rev()
            .max_by(|a, b| rank(a).partial_cmp(&rank(b)).expect("no NaN among visits, Q and priors"))
    }
}

impl Root {
    /// For each move whether it is open and better than every proven result that may be played; empty if none is, or if the best
    /// move is a draw by noise.
    ///
    /// An open move is better if its Q is higher and it is the most visited open move, or if Q less 1 / √N is higher: a deviation
    /// of the mean of N results.
    fn better_than_proven(&self) -> Vec<bool> {
        let may_be_played = |index: &usize| !self.is_barred.get(*index).copied().unwrap_or(false);
        let is_proven = |index: &usize| self.lower[*index] == self.upper[*index];
        let moves = || (0..self.actions.len()).filter(may_be_played);
        let proven = moves().filter(is_proven).map(|index| self.lower[index]).fold(f32::NEG_INFINITY, f32::max);
        if proven == f32::NEG_INFINITY || self.has_gumbel_noise {
            return Vec::new();
        }
        let is_open = |index: &usize| !is_proven(index) && self.visits[*index] > 0;
        let rank = |index: &usize| (self.visits[*index], self.q[*index]);
        let most_visited =
            moves().filter(is_open).max_by(|a, b| rank(a).partial_cmp(&rank(b)).expect("visited moves have a Q"));
        let is_better = |index: usize| {
            let deviation =
                if most_visited == Some(index) { 0.0 } else { 1.0 / libm::sqrtf(self.visits[index] as f32) };
            may_be_played(&index) && is_open(&index) && self.q[index] - deviation > proven
        };
        (0..self.actions.len()).map(is_better).collect()
    }
}

/// The lower confidence bound of each move's Q: Q less a number of deviations of its mean (Leela Zero's LCB, as in KataGo), for
/// the player with this sign. −∞ for moves with too few visits; empty unless the settings choose by it.
///
/// The variance is that of the values backed up and of one more value at a distance of 1.
fn lower_confidence_bounds(config: &SearchConfig, children: &[Node], details: &[Details], sign: f32) -> Vec<f32> {
    let (RootSelection::Puct, MoveChoice::LowerConfidenceBound { deviations, least_share }) =
        (config.root_selection, config.move_choice)
    else {
        return Vec::new();
    };
    let most_visits = children.iter().map(|child| child.visits).max().unwrap_or(0);
    let bound = |(child, details): (&Node, &Details)| {
        if child.visits == 0 || (child.visits as f32) < least_share * most_visits as f32 {
            return f32::NEG_INFINITY;
        }
        let visits = f64::from(child.visits);
        let spread = (details.squares - child.value_sum / visits * child.value_sum).max(0.0);
        let deviation = libm::sqrt((spread + 1.0) / visits / visits);
        (f64::from(sign * child.q) - f64::from(deviations) * deviation) as f32
    };
    children.iter().zip(details).map(bound).collect()
}

/// The visited child of a node that [`Root::best_index`] would choose.
pub(super) fn best_child(arena: &Arena, config: &SearchConfig, node: &Node) -> Option<(Action, Node)> {
    let children = arena.children_of(node);
    let priors: Vec<f32> = arena.priors_of(node)[..children.len()].iter().map(|prior| prior_of(*prior)).collect();
    let found = Root::new(config, arena, node, &priors);
    let best = found.best_index().filter(|best| found.visits[*best] > 0)?;
    Some((found.actions[best], children[best]))
}
