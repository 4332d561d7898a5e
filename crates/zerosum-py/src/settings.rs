//! The settings of a search as Python has them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zerosum_core::search::{MoveChoice, PolicyTarget, RootSelection, Rules, SearchConfig, UnvisitedValue};

fn unknown_word(name: &str, word: &str, known: &str) -> PyErr {
    PyValueError::new_err(format!("{name} is {word:?}, expected {known}"))
}

/// The attributes of Python's `SearchConfig` that the core needs.
#[derive(FromPyObject)]
pub struct Settings {
    c_init: f32,
    c_base: f32,
    c_factor: f32,
    unvisited_value: String,
    unvisited_reduction: f32,
    prior_temperature: f32,
    root_noise_fraction: f32,
    root_selection: String,
    gumbel_actions: u16,
    gumbel_visit_scale: f32,
    gumbel_value_scale: f32,
    policy_target: String,
    move_choice: String,
    lcb_deviations: f32,
    lcb_least_share: f32,
    keep_draws: bool,
    exact_bounds: bool,
    count_reused_visits: bool,
    leaves_in_flight: u16,
    virtual_loss: f32,
    collision_share: f32,
    threads: u16,
    cache_positions: u32,
    rules: String,
    memory_mib: u32,
}

impl Settings {
    pub fn config(&self, noise_alpha: f32) -> PyResult<SearchConfig> {
        Ok(SearchConfig {
            c_init: self.c_init,
            c_base: self.c_base,
            c_factor: self.c_factor,
            unvisited_value: match self.unvisited_value.as_str() {
                "loss" => UnvisitedValue::Loss,
                "zero" => UnvisitedValue::Zero,
                "parent" => UnvisitedValue::Parent { reduction: self.unvisited_reduction },
                other => return Err(unknown_word("unvisited_value", other, "loss, zero or parent")),
            },
            prior_temperature: self.prior_temperature,
            noise_fraction: self.root_noise_fraction,
            noise_alpha,
            root_selection: match self.root_selection.as_str() {
                "puct" => RootSelection::Puct,
                "gumbel" => RootSelection::Gumbel,
                other => return Err(unknown_word("root_selection", other, "puct or gumbel")),
            },
            gumbel_actions: self.gumbel_actions,
            gumbel_visit_scale: self.gumbel_visit_scale,
            gumbel_value_scale: self.gumbel_value_scale,
            policy_target: match self.policy_target.as_str() {
                "visits" => PolicyTarget::Visits,
                "completed-q" => PolicyTarget::CompletedQ,
                other => return Err(unknown_word("policy_target", other, "visits or completed-q")),
            },
            move_choice: match self.move_choice.as_str() {
                "visits" => MoveChoice::Visits,
                "lcb" => MoveChoice::LowerConfidenceBound {
                    deviations: self.lcb_deviations,
                    least_share: self.lcb_least_share,
                },
                other => return Err(unknown_word("move_choice", other, "visits or lcb")),
            },
            keep_draws: self.keep_draws,
            exact_bounds: self.exact_bounds,
            count_reused_visits: self.count_reused_visits,
            leaves_in_flight: self.leaves_in_flight,
            virtual_loss: self.virtual_loss,
            collision_share: self.collision_share,
            threads: self.threads,
            cache_positions: self.cache_positions,
            rules: match self.rules.as_str() {
                "known" => Rules::Known,
                "learned" => Rules::Learned,
                other => return Err(unknown_word("rules", other, "known or learned")),
            },
            memory_mib: self.memory_mib,
        })
    }
}
