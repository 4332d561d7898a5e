//! The order of moves: good ones first narrow the window early.
//!
//! First the move of the table, then captures and promotions by what they take (the most valuable victim, by the least valuable
//! attacker), then killers, then quiet moves by their history: how often a move of this number was a refutation, whatever the
//! position (Schaeffer 1989).

use super::MAX_HEIGHT;
use crate::game::{Action, TacticalMove};
use crate::player::Player;

/// Keys of moves: the larger is searched first.
const TABLE_MOVE: i32 = 1 << 30;
const TACTICAL: i32 = 1 << 28;
const KILLER: i32 = 1 << 27;
/// Exchanges that lose material come after all quiet moves.
const LOSING: i32 = -(1 << 28);
/// Largest history.
const MAX_HISTORY: i32 = 1 << 14;
/// The value of a piece whose kind has none, in centipawns.
pub const DEFAULT_VALUE: i32 = 100;

/// A move with its key in the order.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    pub action: Action,
    pub tactics: Option<TacticalMove>,
    pub key: i32,
}

/// What past refutations say about moves.
#[derive(Debug)]
pub struct Order {
    /// For each height, the latest two quiet moves that refuted the move before, the latest first.
    killers: Vec<[Option<Action>; 2]>,
    /// For each player and action.
    history: [Vec<i32>; 2],
}

impl Order {
    /// Nothing is known.
    pub fn new(num_actions: usize) -> Self {
        Self { killers: vec![[None; 2]; MAX_HEIGHT + 1], history: [vec![0; num_actions], vec![0; num_actions]] }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.killers.fill([None; 2]);
        self.history.iter_mut().for_each(|history| history.fill(0));
    }

    /// Begins another root: killers are of other positions, and histories count less.
    pub fn begin(&mut self) {
        self.killers.fill([None; 2]);
        self.history.iter_mut().flatten().for_each(|history| *history /= 4);
    }

    /// The key of a tactical move.
    #[inline]
    pub fn of_tactics(values: &[i32], tactics: TacticalMove, loses: bool) -> i32 {
        let value = |kind: u8| values.get(usize::from(kind)).copied().unwrap_or(DEFAULT_VALUE);
        let taken = tactics.taken.map_or(0, value);
        let gain = 16 * taken + if tactics.promotes { 8 * DEFAULT_VALUE } else { 0 } - value(tactics.moved);
        gain + if loses { LOSING } else { TACTICAL }
    }

    /// The key of a quiet move.
    #[inline]
    pub fn of_quiet(&self, height: usize, player: Player, action: Action, killers: bool, history: bool) -> i32 {
        if killers {
            let [first, second] = self.killers[height];
            if first == Some(action) {
                return KILLER + 1;
            }
            if second == Some(action) {
                return KILLER;
            }
        }
        if history { self.history[player.index()][usize::from(action)] } else { 0 }
    }

    /// The key of the table's move.
    #[inline]
    pub fn of_table() -> i32 {
        TABLE_MOVE
    }

    /// A quiet move refuted the move before, after the quiet moves in `tried` had not.
    pub fn refuted(&mut self, height: usize, player: Player, action: Action, depth: i32, tried: &[Candidate]) {
        let killers = &mut self.killers[height];
        if killers[0] != Some(action) {
            *killers = [Some(action), killers[0]];
        }
        let bonus = (depth * depth * 16).min(MAX_HISTORY / 4);
        let history = &mut self.history[player.index()];
        let mut change = |action: Action, bonus: i32| {
            let value = &mut history[usize::from(action)];
            // Towards the bounds, ever more slowly.
            *value += bonus - *value * bonus.abs() / MAX_HISTORY;
        };
        change(action, bonus);
        for other in tried.iter().filter(|other| other.tactics.is_none() && other.action != action) {
            change(other.action, -bonus);
        }
    }

    /// The history of a quiet move, from -1 to 1.
    #[inline]
    pub fn history_of(&self, player: Player, action: Action) -> f32 {
        self.history[player.index()][usize::from(action)] as f32 / MAX_HISTORY as f32
    }
}
