//! The settings of a search. Python's `SearchConfig` documents each with its source; a test holds the defaults equal.

use crate::error::UsageError;

/// Q of an unvisited child, in [−1, 1] for the player to move at its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UnvisitedValue {
    /// −1: the pseudocode of the Science paper, where 0 in [0, 1] is a loss.
    Loss,
    /// 0: the text of AlphaGo Zero.
    Zero,
    /// The parent's own Q less `reduction · √(sum of the visited children's priors)` (first-play urgency by reduction).
    Parent {
        /// The factor of the square root.
        reduction: f32,
    },
}

/// How a simulation chooses its move at the root. Below the root it is always PUCT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootSelection {
    /// PUCT, as below the root; with Dirichlet noise in the priors if a search asks for noise.
    Puct,
    /// Sequential halving of moves sampled by Gumbel noise (Danihelka et al., ICLR 2022).
    Gumbel,
}

/// The policy that is learned from a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyTarget {
    /// The shares of the visits.
    Visits,
    /// softmax(logit + σ(completed Q)) (Danihelka et al., ICLR 2022).
    CompletedQ,
}

/// How the move to play is chosen at a PUCT root.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MoveChoice {
    /// The most visited move.
    Visits,
    /// The move with the highest lower confidence bound of Q, among those with enough visits.
    LowerConfidenceBound {
        /// Deviations of the mean by which Q is lowered.
        deviations: f32,
        /// Minimum visits, as a share of the most visited move's.
        least_share: f32,
    },
}

/// The rules that a search goes by below its root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// The game's.
    Known,
    /// Those that a network has learned (the module `hidden`).
    Learned,
}

/// Settings of a search, for all its trees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchConfig {
    /// c(s) = c_init + c_factor · ln((1 + N(s) + c_base) / c_base).
    pub c_init: f32,
    /// See `c_init`.
    pub c_base: f32,
    /// See `c_init`.
    pub c_factor: f32,
    /// Q of unvisited children (first-play urgency).
    pub unvisited_value: UnvisitedValue,
    /// T: priors are softmax(logits / T).
    pub prior_temperature: f32,
    /// ε: in a search with noise the root's priors are (1 − ε)·p + ε·Dir(α).
    pub noise_fraction: f32,
    /// α of the Dirichlet noise.
    pub noise_alpha: f32,
    /// How a simulation chooses its move at the root.
    pub root_selection: RootSelection,
    /// m: the number of moves with which sequential halving begins.
    pub gumbel_actions: u16,
    /// c_visit of σ(q) = (c_visit + max N) · c_scale · q, with q in [0, 1] from the root's worst move to its best.
    pub gumbel_visit_scale: f32,
    /// c_scale of σ.
    pub gumbel_value_scale: f32,
    /// The policy that is learned.
    pub policy_target: PolicyTarget,
    /// How the move to play is chosen.
    pub move_choice: MoveChoice,
    /// Whether mean probabilities of draws are kept, for reports.
    pub keep_draws: bool,
    /// Whether proven results act in selection, backup and policy targets, and end a search.
    pub exact_bounds: bool,
    /// Whether the visits of a reused tree count towards the number of simulations.
    pub count_reused_visits: bool,
    /// K: maximum number of leaves of one tree in flight; 1 is the sequential algorithm.
    pub leaves_in_flight: u16,
    /// Difference between a move's Q and the value of a leaf in flight below it; for K > 1.
    pub virtual_loss: f32,
    /// Maximum number of collisions of a tree in one batch, as a share of its visits; at most four for each free place in the
    /// batch.
    pub collision_share: f32,
    /// Threads that share the work on a batch. Results do not depend on their number.
    pub threads: u16,
    /// Evaluations in the cache; 0 for no cache.
    pub cache_positions: u32,
    /// The rules below the root.
    pub rules: Rules,
    /// Memory of all trees together, in MiB. Each has an equal part; a search ends when its tree would outgrow it.
    pub memory_mib: u32,
}

impl SearchConfig {
    /// Whether the rules are learned.
    #[inline]
    pub fn learns_rules(&self) -> bool {
        self.rules == Rules::Learned
    }

    /// Whether nodes keep further sums ([`Details`](super::node::Details)).
    pub fn has_details(&self) -> bool {
        self.move_choice != MoveChoice::Visits || self.keep_draws || self.learns_rules()
    }

    /// Checks what learned rules exclude.
    ///
    /// # Errors
    /// If the rules are learned and a setting needs them: exact bounds, or the cache, whose keys are positions.
    pub(super) fn check_learned_rules(&self) -> Result<(), UsageError> {
        match (self.learns_rules(), self.exact_bounds, self.cache_positions) {
            (true, true, _) => Err(UsageError("learned rules prove no result: set exact_bounds to false".into())),
            (true, false, 1..) => Err(UsageError("hidden states have no cache: set cache_positions to 0".into())),
            _ => Ok(()),
        }
    }
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            c_init: 1.75,
            c_base: 19652.0,
            c_factor: 2.0,
            unvisited_value: UnvisitedValue::Parent { reduction: 0.2 },
            prior_temperature: 1.0,
            noise_fraction: 0.25,
            noise_alpha: 1.0,
            root_selection: RootSelection::Puct,
            gumbel_actions: 16,
            gumbel_visit_scale: 50.0,
            gumbel_value_scale: 0.1,
            policy_target: PolicyTarget::Visits,
            move_choice: MoveChoice::Visits,
            keep_draws: false,
            exact_bounds: true,
            count_reused_visits: true,
            leaves_in_flight: 1,
            virtual_loss: 0.3,
            collision_share: 0.0025,
            threads: 1,
            cache_positions: 0,
            rules: Rules::Known,
            memory_mib: 2048,
        }
    }
}
