//! Alpha-beta search of a fixed depth that counts material at its leaves: an opponent that learns nothing.
//!
//! It is the textbook's (Knuth and Moore 1975), with no extension, no table and no quiescence, so that its strength is known
//! by its depth. Start with [`alpha_beta`].

use std::cmp::Ordering;
use std::ops::Neg;

use crate::game::{Action, Game, Outcome, Player, Position};
use crate::lines::Pulse;
use crate::random::Draws;
use crate::search::SearchError;

/// The most plies that a search may look ahead.
pub const MAX_DEPTH: u32 = 64;

/// What a position is worth to one of the sides. Results count more than time, and time more than material: a win soon is
/// better than a win late, which is better than any material; a loss late is better than a loss soon.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Worth {
    /// How the game ends, in [−1, 1]; 0 if that is a draw or lies beyond the leaves.
    pub result: f32,
    /// Plies from the root to a decided end, counted down for who wins and up for who loses; else 0.
    pub delay: i32,
    /// At the leaf; 0 if the game ends.
    pub material: f32,
}

impl Worth {
    const LEAST: Self = Self { result: f32::NEG_INFINITY, delay: 0, material: 0.0 };

    fn of_outcome(outcome: &Outcome, side: Player, plies: u32) -> Self {
        let result = outcome.result.0 * side.sign();
        // Not `signum`, which makes something of 0.
        let faster = match result.partial_cmp(&0.0) {
            Some(Ordering::Greater) => -1,
            Some(Ordering::Less) => 1,
            _ => 0,
        };
        Self { result, delay: faster * plies as i32, material: 0.0 }
    }

    fn of_material(material: f32, side: Player) -> Self {
        Self { result: 0.0, delay: 0, material: material * side.sign() }
    }
}

impl Neg for Worth {
    type Output = Self;

    fn neg(self) -> Self {
        Self { result: -self.result, delay: -self.delay, material: -self.material }
    }
}

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlphaBeta {
    /// The best move.
    pub action: Action,
    /// Of the position, for its player to move.
    pub worth: Worth,
    /// Positions that were visited, the root not counted.
    pub num_nodes: u64,
}

/// The best move of a position by looking `depth` plies ahead; soft endings end the game below the root.
///
/// Of equally good moves it takes one that gains the most material at once, and of these any, as `draws` has it. `pulse` is
/// called now and then, so that whoever waits may lose patience: it may unwind.
///
/// # Errors
/// A sentence, if the depth is out of range or the game is over.
pub fn alpha_beta<G: Game>(
    game: &G,
    root: &Position<G::State>,
    depth: u32,
    mut draws: Draws,
    pulse: &dyn Fn(),
) -> Result<AlphaBeta, SearchError> {
    if !(1..=MAX_DEPTH).contains(&depth) {
        return Err(SearchError(format!("alpha-beta cannot look {depth} plies ahead, expected 1 to {MAX_DEPTH}")));
    }
    let mut actions = root.legal_actions(game, true);
    if actions.is_empty() {
        return Err(SearchError("the game is over, there is nothing to search in".into()));
    }
    for last in (1..actions.len()).rev() {
        actions.swap(last, draws.below(last + 1));
    }
    let mut descent = Descent { game, root_plies: root.plies, num_nodes: 0, pulse: Pulse::new(pulse) };
    let side = game.player(&root.state);
    descent.sort(root, side, &mut actions);
    let mut found = (Worth::LEAST, actions[0]);
    for action in actions {
        let worth = descent.worth_after(root, action, side, depth, found.0, -Worth::LEAST);
        if worth > found.0 {
            found = (worth, action);
        }
    }
    Ok(AlphaBeta { action: found.1, worth: found.0, num_nodes: descent.num_nodes })
}

struct Descent<'a, G> {
    game: &'a G,
    root_plies: u32,
    num_nodes: u64,
    pulse: Pulse<'a>,
}

impl<G: Game> Descent<'_, G> {
    /// Puts the actions that leave `side` the most material first, others in their order: good moves first make the window
    /// narrow for those behind them.
    fn sort(&self, position: &Position<G::State>, side: Player, actions: &mut [Action]) {
        let material = |action: &Action| {
            let mut next = position.clone();
            next.play(self.game, *action);
            self.game.material(&next.state) * side.sign()
        };
        let mut sorted: Vec<(f32, Action)> = actions.iter().map(|action| (material(action), *action)).collect();
        sorted.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        for (action, (_, sorted)) in actions.iter_mut().zip(sorted) {
            *action = sorted;
        }
    }

    /// What a move of `side` is worth to it, looking `depth` plies ahead; exact if it lies between `alpha` and
    /// `beta`, else beyond the same one of them.
    fn worth_after(
        &mut self,
        parent: &Position<G::State>,
        action: Action,
        side: Player,
        depth: u32,
        alpha: Worth,
        beta: Worth,
    ) -> Worth {
        let mut position = parent.clone();
        position.play(self.game, action);
        self.num_nodes += 1;
        self.pulse.count();
        if let Some(outcome) = position.outcome(self.game) {
            return Worth::of_outcome(&outcome, side, position.plies - self.root_plies);
        }
        if depth == 1 {
            return Worth::of_material(self.game.material(&position.state), side);
        }
        // A side may move several times in a row.
        if self.game.player(&position.state) == side {
            self.best(&position, side, depth - 1, alpha, beta)
        } else {
            -self.best(&position, side.opponent(), depth - 1, -beta, -alpha)
        }
    }

    /// What a position that is not over is worth to `mover`, who is to move.
    fn best(&mut self, position: &Position<G::State>, mover: Player, depth: u32, alpha: Worth, beta: Worth) -> Worth {
        let mut actions = position.legal_actions(self.game, false);
        if depth > 1 {
            self.sort(position, mover, &mut actions);
        }
        let mut best = alpha;
        for action in actions {
            let worth = self.worth_after(position, action, mover, depth, best, beta);
            if worth > best {
                best = worth;
            }
            if best >= beta {
                break;
            }
        }
        best
    }
}
