//! What a search of a root's moves heeds besides their statistics: some moves alone, or before the others; noted results.

use super::arena::{Arena, ROOT};
use super::config::{RootSelection, SearchConfig};
use super::node::Node;
use crate::game::Action;

/// What is known of the moves at a root besides their statistics. Lists are ascending.
#[derive(Debug, Default)]
pub struct RootMoves {
    /// The moves that may be searched and played; empty for all.
    pub allowed: Vec<Action>,
    /// Allowed moves that are searched before all others, as long as one of them is not proven.
    pub favoured: Vec<Action>,
    /// Whether results of moves came from elsewhere: only then may a move without visits be proven.
    pub has_results: bool,
}

impl RootMoves {
    pub fn is_allowed(&self, action: Action) -> bool {
        self.allowed.is_empty() || self.allowed.binary_search(&action).is_ok()
    }

    pub fn is_favoured(&self, config: &SearchConfig, action: Action, child: &Node) -> bool {
        let is_open = !config.exact_bounds || child.proven().is_none();
        is_open && self.favoured.binary_search(&action).is_ok() && self.is_allowed(action)
    }

    pub fn has_favoured(&self, arena: &Arena, config: &SearchConfig) -> bool {
        let root = &arena.nodes[ROOT as usize];
        let children = arena.children_of(root);
        !self.favoured.is_empty()
            && !children.is_empty()
            && arena
                .actions_of(root)
                .iter()
                .zip(children)
                .any(|(action, child)| self.is_favoured(config, *action, child))
    }

    /// Whether the search is over: the best of the allowed moves is proven, and no favoured move is open.
    pub fn are_settled(&self, arena: &Arena, config: &SearchConfig) -> bool {
        if !config.exact_bounds {
            return false;
        }
        let root = &arena.nodes[ROOT as usize];
        let children = arena.children_of(root);
        if (self.allowed.is_empty() && self.favoured.is_empty())
            || children.is_empty()
            || config.root_selection == RootSelection::Gumbel
        {
            return root.proven().is_some();
        }
        let allowed = || arena.actions_of(root).iter().zip(children).filter(|(action, _)| self.is_allowed(**action));
        let best = |bound: fn(&Node) -> f32| {
            let signed = allowed().map(|(_, child)| root.player.sign() * bound(child));
            signed.fold(f32::NEG_INFINITY, f32::max)
        };
        best(|child| child.lower) == best(|child| child.upper) && !self.has_favoured(arena, config)
    }
}
