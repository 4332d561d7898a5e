//! What a shogi position remembers of its game: the latest moves, which lead back to the boards that the planes show, and
//! the keys and checks by which repetition is judged.

use super::board::Made;
use crate::game::Player;
use crate::games::past::{Checks, Keys, MAX_HISTORY};

/// The occurrence of a position that ends the game is the fourth: three before it.
pub const MAX_REPETITIONS: u8 = 3;

/// A move, and how often the position that it was made in had occurred before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    made: Made,
    repetitions: u8,
}

/// The latest moves, in a ring, and what repetition needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    steps: [Option<Step>; MAX_HISTORY - 1],
    newest: usize,
    /// Whether the position that was set up stands for what was before it.
    pub repeats: bool,
    keys: Keys,
    repetitions: u8,
    /// Plies since the first of the occurrences that were counted.
    cycle: u32,
    checks: Checks,
}

impl Past {
    /// A game that begins with a position.
    pub fn new(key: u64, repeats: bool) -> Self {
        let mut keys = Keys::default();
        keys.push(key);
        let steps = [None; MAX_HISTORY - 1];
        Self { steps, newest: 0, repeats, keys, repetitions: 0, cycle: 0, checks: Checks::default() }
    }

    /// A player's move, and the key of the position that it led to.
    #[inline]
    pub fn push(&mut self, made: Made, player: Player, gives_check: bool, key: u64) {
        self.newest = (self.newest + 1) % (MAX_HISTORY - 1);
        self.steps[self.newest] = Some(Step { made, repetitions: self.repetitions });
        self.checks.push(player, gives_check);
        (self.repetitions, self.cycle) = self.keys.count(key, MAX_REPETITIONS);
        self.keys.push(key);
    }

    /// The latest move.
    pub fn last_move(&self) -> Option<&Made> {
        self.steps[self.newest].as_ref().map(|step| &step.made)
    }

    /// How often the position has occurred before, up to [`MAX_REPETITIONS`].
    #[inline]
    pub fn repetitions(&self) -> u8 {
        self.repetitions
    }

    /// The move that was made `age` plies before the latest one, fewer than [`MAX_HISTORY`] − 1, and how often the
    /// position that it was made in had occurred before.
    #[inline]
    pub fn step(&self, age: usize) -> Option<(Made, u8)> {
        let ring = MAX_HISTORY - 1;
        self.steps[(self.newest + ring - age) % ring].map(|step| (step.made, step.repetitions))
    }

    /// The side that gave check by each of its moves since the first of the four occurrences.
    pub fn perpetual_checker(&self) -> Option<Player> {
        match [Player::First, Player::Second].map(|player| self.checks.are_perpetual(player, self.cycle)) {
            [true, false] => Some(Player::First),
            [false, true] => Some(Player::Second),
            _ => None,
        }
    }
}
