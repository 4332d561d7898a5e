//! The settings of a search. Python's `SearchConfig` documents each with its source; a test holds the defaults equal.

/// What an unvisited child's Q is, in [−1, 1] for the player to move at its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UnvisitedValue {
    /// −1: the pseudocode of the Science paper, where 0 in [0, 1] is a loss.
    Loss,
    /// 0: the text of AlphaGo Zero.
    Zero,
    /// The parent's own Q less `reduction · √(sum of the visited children's priors)` (first-play urgency by reduction).
    Parent {
        /// How much less.
        reduction: f32,
    },
}

/// How a simulation chooses its move at the root. Inside the tree it is always PUCT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootSelection {
    /// As everywhere else, with Dirichlet noise in the priors where noise is asked for.
    Puct,
    /// Sequential halving among moves drawn by Gumbel noise (Danihelka et al., ICLR 2022).
    Gumbel,
}

/// What the policy is to learn from a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyTarget {
    /// The shares of the visits.
    Visits,
    /// softmax(logit + σ(completed Q)) (Danihelka et al., ICLR 2022).
    CompletedQ,
}

/// How the move to play is chosen, where a PUCT root has been searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MoveChoice {
    /// The most visited one.
    Visits,
    /// The one whose Q is best even if it is so many deviations of its mean lower, of those visited often enough.
    LowerConfidenceBound {
        /// How many.
        deviations: f32,
        /// What is often enough: this share of the most visits.
        least_share: f32,
    },
}

/// Settings that hold for all trees of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own, as in Python")]
pub struct SearchConfig {
    /// c(s) = c_init + c_factor · ln((1 + N(s) + c_base) / c_base).
    pub c_init: f32,
    /// See `c_init`.
    pub c_base: f32,
    /// See `c_init`.
    pub c_factor: f32,
    /// First-play urgency.
    pub unvisited_value: UnvisitedValue,
    /// ε: the root's priors become (1 − ε)·p + ε·Dir(α), where a search asks for noise.
    pub noise_fraction: f32,
    /// α of that noise.
    pub noise_alpha: f32,
    /// Where it is above 0, α is this divided by the position's number of legal moves instead.
    pub noise_total: f32,
    /// The reduction of `UnvisitedValue::Parent` at the root of a search with noise.
    pub root_unvisited_reduction: f32,
    /// How a simulation chooses its move at the root.
    pub root_selection: RootSelection,
    /// m: how many moves sequential halving begins with.
    pub gumbel_actions: u16,
    /// c_visit of σ(q) = (c_visit + max N) · c_scale · q.
    pub gumbel_visit_scale: f32,
    /// c_scale of it.
    pub gumbel_value_scale: f32,
    /// Whether σ takes the q of the root's moves rescaled to [0, 1], the worst to 0 and the best to 1, or in [−1, 1] as it is.
    pub gumbel_rescale: bool,
    /// What the policy is to learn.
    pub policy_target: PolicyTarget,
    /// k: in a search with noise, a visited move of a PUCT root gets at least √(k · P · N) visits; 0 is off.
    pub forced_playouts: f32,
    /// How the move to play is chosen.
    pub move_choice: MoveChoice,
    /// c(s) is multiplied by 1 + `variance_scale` · (deviation of the values below s / `variance_prior` − 1); 0 is off.
    pub variance_scale: f32,
    /// The deviation that is assumed of a node before it was visited,
    pub variance_prior: f32,
    /// and how many visits that counts as.
    pub variance_prior_visits: f32,
    /// What a draw is worth to the root's player to move, in (−1, 1).
    pub draw_value: f32,
    /// The most that Q changes for a win that comes sooner or a loss that comes later; 0 is off.
    pub moves_left_effect: f32,
    /// How much it changes a ply.
    pub moves_left_slope: f32,
    /// The |Q| from which it changes.
    pub moves_left_threshold: f32,
    /// Whether the mean shares of draws are kept for reports.
    pub keep_draws: bool,
    /// Whether proven results are exact bounds: used in selection, backup, targets and to stop.
    pub exact_bounds: bool,
    /// Whether below the root a position that occurred before in its game is a draw.
    pub twofold_draw: bool,
    /// Whether visits that a reused tree brings along count towards the number of simulations.
    pub count_reused_visits: bool,
    /// K: leaves of one tree in flight at a time; 1 is the sequential algorithm.
    pub leaves_in_flight: u16,
    /// How much less than its move's Q a leaf in flight is worth, where K > 1.
    pub virtual_loss: f32,
    /// Simulations of a tree that may meet a leaf in flight before its part of a batch goes out as it is, as a share of its visits,
    /// but not more than there is room for.
    pub collision_share: f32,
    /// Threads that share the work on a batch. What is found does not depend on them.
    pub threads: u16,
    /// How many evaluations are kept for positions that are met again; 0 is none.
    pub cache_positions: u32,
    /// Mebibytes that all trees together may hold, each an equal part: a tree that would outgrow its part ends its search.
    pub memory_mib: u32,
}

impl SearchConfig {
    /// Whether nodes need more than their mean value.
    pub fn has_details(&self) -> bool {
        self.move_choice != MoveChoice::Visits
            || self.variance_scale > 0.0
            || self.draw_value != 0.0
            || self.moves_left_effect > 0.0
            || self.keep_draws
    }
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            c_init: 1.75,
            c_base: 19652.0,
            c_factor: 2.0,
            unvisited_value: UnvisitedValue::Parent { reduction: 0.2 },
            noise_fraction: 0.25,
            noise_alpha: 1.0,
            noise_total: 0.0,
            root_unvisited_reduction: 0.2,
            root_selection: RootSelection::Puct,
            gumbel_actions: 16,
            gumbel_visit_scale: 50.0,
            gumbel_value_scale: 0.1,
            gumbel_rescale: true,
            policy_target: PolicyTarget::Visits,
            forced_playouts: 0.0,
            move_choice: MoveChoice::Visits,
            variance_scale: 0.0,
            variance_prior: 0.4,
            variance_prior_visits: 2.0,
            draw_value: 0.0,
            moves_left_effect: 0.0,
            moves_left_slope: 0.0027,
            moves_left_threshold: 0.8,
            keep_draws: false,
            exact_bounds: true,
            twofold_draw: false,
            count_reused_visits: true,
            leaves_in_flight: 1,
            virtual_loss: 0.3,
            collision_share: 0.0025,
            threads: 1,
            cache_positions: 0,
            memory_mib: 2048,
        }
    }
}
