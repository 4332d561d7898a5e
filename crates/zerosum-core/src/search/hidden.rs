//! Learned rules (MuZero, Nature 588, 2020): below the root a node is a hidden state of the network, not a position.
//!
//! ```text
//!   root    a position         the network turns its planes into the hidden state in slot 1
//!    └ a    (slot 1, a)        the network turns both into the next hidden state, in slot 2
//!       └ b (slot 2, b)        … in slot 3
//! ```
//!
//! The hidden states themselves lie where the network runs, in rows that this module numbers. The rules are asked for the
//! legal moves of the root and for nothing else: below it every action of the game may be searched, players take turns, and no
//! node is the end of a game.

use crate::hidden_move::{HiddenMove, NO_SLOT};
use crate::player::Player;

/// What a simulation asks an evaluator about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The position that it has added. With learned rules it is a root, and its hidden state belongs into this slot; else the
    /// slot is [`NO_SLOT`].
    Position(u32),
    /// A move from a hidden state, and the player to move after it.
    Move(HiddenMove, Player),
}

/// The slots of a search's hidden states. Those of a tree are used again once its root changes.
#[derive(Debug)]
pub struct Slots {
    free: Vec<u32>,
    /// The lowest number that was never used.
    next: u32,
}

impl Default for Slots {
    fn default() -> Self {
        Self { free: Vec::new(), next: NO_SLOT + 1 }
    }
}

impl Slots {
    /// A slot that no node has.
    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// Takes slots back, whose hidden states nobody needs any more.
    pub fn give_back(&mut self, slots: &mut Vec<u32>) {
        self.free.append(slots);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_numbered_from_one_and_used_again() {
        let mut slots = Slots::default();
        let mut held: Vec<u32> = (0..3).map(|_| slots.take()).collect();
        assert_eq!(held, [1, 2, 3]);
        slots.give_back(&mut held);
        assert!(held.is_empty());
        let mut again: Vec<u32> = (0..4).map(|_| slots.take()).collect();
        again.sort_unstable();
        assert_eq!(again, [1, 2, 3, 4]);
    }
}
