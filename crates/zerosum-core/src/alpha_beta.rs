//! Alpha-beta search of a fixed depth with a static evaluation at its leaves: with material, an opponent that learns nothing.
//!
//! The search is the textbook's (Knuth and Moore 1975), without extensions, transposition table or quiescence search, so its
//! depth alone determines its strength. Moves that refuted others at the same distance from the root, "killer moves" (Slate and
//! Atkin 1977), are tried first, which changes the time and not the result. Start with [`alpha_beta`].

use std::cmp::Ordering;
use std::ops::Neg;

use crate::error::UsageError;
use crate::evaluation::Evaluation;
use crate::game::{Action, Game, Outcome, Position};
use crate::interrupt::InterruptCheck;
use crate::player::Player;
use crate::random::RandomStream;

/// Largest depth of a search, in plies.
pub const MAX_DEPTH: u32 = 64;

/// The minimax value of a position for one side. Values are ordered by result, then delay, then evaluation: an early win is
/// better than a late win, a late win is better than any evaluation, and a late loss is better than an early loss.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct MinimaxValue {
    /// The result in [−1, 1]; 0 if it is a draw or lies beyond the leaves.
    pub result: f32,
    /// Plies from the root to a decided end, negative for a win and positive for a loss; 0 if `result` is 0.
    pub delay: i32,
    /// The evaluation at the leaf; 0 if the game ends before it.
    pub evaluation: f32,
}

impl MinimaxValue {
    const LOWEST: Self = Self { result: f32::NEG_INFINITY, delay: 0, evaluation: 0.0 };

    fn of_outcome(outcome: &Outcome, side: Player, plies: u32) -> Self {
        let result = outcome.result.0 * side.sign();
        // `signum` of 0 is 1.
        let faster = match result.partial_cmp(&0.0) {
            Some(Ordering::Greater) => -1,
            Some(Ordering::Less) => 1,
            _ => 0,
        };
        Self { result, delay: faster * plies as i32, evaluation: 0.0 }
    }

    fn of_evaluation(evaluation: f32, side: Player) -> Self {
        Self { result: 0.0, delay: 0, evaluation: evaluation * side.sign() }
    }

    /// The value with another evaluation, if it is one of an evaluation or a draw.
    fn raised(self, by: f32) -> Self {
        if self.result == 0.0 { Self { evaluation: self.evaluation + by, ..self } } else { self }
    }
}

impl Neg for MinimaxValue {
    type Output = Self;

    fn neg(self) -> Self {
        Self { result: -self.result, delay: -self.delay, evaluation: -self.evaluation }
    }
}

/// What a value says of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// It is the position's value.
    Exact,
    /// The position is worth at least this.
    Lower,
    /// The position is worth at most this.
    Upper,
}

/// Sees the positions that a search looks below.
pub trait InnerNodes<G: Game> {
    /// The search has left a position with this value for its player to move.
    fn see(&mut self, game: &G, state: &G::State, value: MinimaxValue, bound: Bound);
}

/// Nobody looks.
impl<G: Game> InnerNodes<G> for () {
    #[inline]
    fn see(&mut self, _game: &G, _state: &G::State, _value: MinimaxValue, _bound: Bound) {}
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlphaBeta {
    /// The best move.
    pub action: Action,
    /// The value of the root for its player to move.
    pub value: MinimaxValue,
    /// Number of positions visited, without the root.
    pub num_nodes: u64,
}

/// The best move of a position at a depth of `depth` plies; soft endings end the game below the root.
///
/// Among equally good moves it returns one with the best evaluation at once, and among these a random one. With `noise` each
/// move's evaluation is first raised by a random number below it: evaluations with many weights leave no two moves equal, and
/// games would repeat. The value that is returned is without it. `check_interrupt` is called now and then; it may unwind.
///
/// # Errors
/// A sentence, if the depth is out of range or the game is over.
pub fn alpha_beta<G: Game, E: Evaluation<G>>(
    game: &G,
    root: &Position<G::State>,
    evaluation: &E,
    depth: u32,
    noise: f32,
    random: RandomStream,
    check_interrupt: &dyn Fn(),
) -> Result<AlphaBeta, UsageError> {
    alpha_beta_seen(game, root, evaluation, depth, noise, random, check_interrupt, &mut ())
}

/// The same; `nodes` sees the root and all positions below it that are neither over nor at the full depth.
///
/// # Errors
/// As [`alpha_beta`].
#[allow(clippy::too_many_arguments)] // the parts of one search
pub fn alpha_beta_seen<G: Game, E: Evaluation<G>, N: InnerNodes<G>>(
    game: &G,
    root: &Position<G::State>,
    evaluation: &E,
    depth: u32,
    noise: f32,
    mut random: RandomStream,
    check_interrupt: &dyn Fn(),
    nodes: &mut N,
) -> Result<AlphaBeta, UsageError> {
    if !(1..=MAX_DEPTH).contains(&depth) {
        return Err(UsageError(format!("alpha-beta cannot look {depth} plies ahead, expected 1 to {MAX_DEPTH}")));
    }
    let mut actions = root.legal_actions(game, true);
    if actions.is_empty() {
        return Err(UsageError("the game is over, there is nothing to search in".into()));
    }
    for last in (1..actions.len()).rev() {
        actions.swap(last, random.below(last + 1));
    }
    let mut descent = Descent {
        game,
        evaluation,
        root_plies: root.plies,
        killers: vec![[None; 2]; depth as usize],
        num_nodes: 0,
        interrupt: InterruptCheck::new(check_interrupt),
        nodes,
    };
    let side = game.player(&root.state);
    descent.sort(root, side, &mut actions);
    let (mut best, mut found) = (MinimaxValue::LOWEST, (MinimaxValue::LOWEST, actions[0]));
    for action in actions {
        let raise = if noise > 0.0 { random.uniform() as f32 * noise } else { 0.0 };
        let value = descent.value_after(root, action, side, depth, best.raised(-raise), -MinimaxValue::LOWEST);
        if value.raised(raise) > best {
            best = value.raised(raise);
            found = (value, action);
        }
    }
    // With noise another move may be worth more.
    let bound = if noise > 0.0 { Bound::Lower } else { Bound::Exact };
    descent.nodes.see(game, &root.state, found.0, bound);
    Ok(AlphaBeta { action: found.1, value: found.0, num_nodes: descent.num_nodes })
}

struct Descent<'a, G, E, N> {
    game: &'a G,
    evaluation: &'a E,
    root_plies: u32,
    /// For each remaining depth less 1, the latest two moves that were too good for the opponent to allow, the latest first.
    killers: Vec<[Option<Action>; 2]>,
    num_nodes: u64,
    interrupt: InterruptCheck<'a>,
    nodes: &'a mut N,
}

impl<G: Game, E: Evaluation<G>, N: InnerNodes<G>> Descent<'_, G, E, N> {
    /// Sorts actions by the evaluation that they leave `side`, best first: good first moves narrow the window early. The sort is
    /// stable.
    fn sort(&self, position: &Position<G::State>, side: Player, actions: &mut [Action]) {
        let evaluation = |action: &Action| {
            let mut next = position.clone();
            next.play(self.game, *action);
            self.evaluation.evaluate(self.game, &next.state) * side.sign()
        };
        let mut sorted: Vec<(f32, Action)> = actions.iter().map(|action| (evaluation(action), *action)).collect();
        sorted.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        for (action, (_, sorted)) in actions.iter_mut().zip(sorted) {
            *action = sorted;
        }
    }

    /// The value for `side` of its move, `depth` plies deep. It is exact between `alpha` and `beta`, and a bound outside.
    fn value_after(
        &mut self,
        parent: &Position<G::State>,
        action: Action,
        side: Player,
        depth: u32,
        alpha: MinimaxValue,
        beta: MinimaxValue,
    ) -> MinimaxValue {
        let mut position = parent.clone();
        position.play(self.game, action);
        self.num_nodes += 1;
        self.interrupt.count();
        if let Some(outcome) = position.outcome(self.game) {
            return MinimaxValue::of_outcome(&outcome, side, position.plies - self.root_plies);
        }
        if depth == 1 {
            return MinimaxValue::of_evaluation(self.evaluation.evaluate(self.game, &position.state), side);
        }
        // A side may move several times in a row.
        if self.game.player(&position.state) == side {
            self.best(&position, side, depth - 1, alpha, beta)
        } else {
            -self.best(&position, side.opponent(), depth - 1, -beta, -alpha)
        }
    }

    /// The value of a position that is not over for `mover`, the player to move.
    fn best(
        &mut self,
        position: &Position<G::State>,
        mover: Player,
        depth: u32,
        alpha: MinimaxValue,
        beta: MinimaxValue,
    ) -> MinimaxValue {
        let mut actions = position.legal_actions(self.game, false);
        if depth > 1 {
            self.sort(position, mover, &mut actions);
        }
        let killers = self.killers[depth as usize - 1];
        for killer in killers.iter().rev().flatten() {
            if let Some(index) = actions.iter().position(|action| action == killer) {
                actions[..=index].rotate_right(1);
            }
        }
        let mut best = alpha;
        for action in actions {
            let value = self.value_after(position, action, mover, depth, best, beta);
            if value > best {
                best = value;
            }
            if best >= beta {
                let killers = &mut self.killers[depth as usize - 1];
                if killers[0] != Some(action) {
                    *killers = [Some(action), killers[0]];
                }
                break;
            }
        }
        let bound = if best >= beta {
            Bound::Lower
        } else if best > alpha {
            Bound::Exact
        } else {
            Bound::Upper
        };
        self.nodes.see(self.game, &position.state, best, bound);
        best
    }
}
