//! A leaf of a search by learned rules, as search and leaves know it: a move from a hidden state of the network.

use crate::game::Action;

/// A leaf of a search by learned rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HiddenMove {
    /// The slot of the hidden state that the move starts from; [`NO_SLOT`] at a root, which has a position.
    pub parent: u32,
    /// The move, by the place of its logit; 0 at a root.
    pub action: Action,
    /// The slot of the hidden state after the move, or of the root.
    pub slot: u32,
}

/// No slot: slots are numbered from 1.
pub const NO_SLOT: u32 = 0;
