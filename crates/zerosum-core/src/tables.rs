//! Results that tables know, for a search: proven nodes in its trees, and the order of a root's moves.

use std::sync::Arc;

use crate::error::UsageError;
use crate::evaluation::{Evaluation, Material};
use crate::game::{Action, Endings, Game, Position};
use crate::player::{ValueForFirst, ValueForMover};
use crate::retrograde::ResultTable;
use crate::syzygy::{Syzygy, is_mate};

/// Plies without a capture or a pawn's move after which a game of chess is drawn, less the one by which a distance may be wrong.
const CERTAIN_PLIES: i32 = 99;

/// The tables of a search; none by default.
#[derive(Clone, Default)]
pub struct Tables {
    /// Tables of chess endings.
    pub syzygy: Option<Arc<Syzygy>>,
    /// Results of a small game, or of endings, by retrograde analysis.
    pub results: Vec<Arc<ResultTable>>,
}

/// What tables know of a root's moves.
#[derive(Debug, PartialEq)]
pub struct RankedMoves {
    /// Results of moves that are certain, for the player to move. Moves that are to be searched have none.
    pub results: Vec<(Action, ValueForMover)>,
    /// The best move, if all that matters is known: it wins, or all moves lose.
    pub best: Option<Action>,
}

impl Tables {
    /// Whether there are any.
    pub fn are_empty(&self) -> bool {
        self.syzygy.is_none() && self.results.is_empty()
    }

    /// Checks that a game can use them.
    ///
    /// # Errors
    /// A sentence, if the tables are of chess and the game is not.
    pub fn require_game<G: Game>(&self, game: &G) -> Result<(), UsageError> {
        if self.syzygy.is_some() && !game.endings().is_some_and(Endings::has_syzygy) {
            return Err(UsageError(format!("Syzygy tables are of chess, not of {}", game.spec().full_name())));
        }
        Ok(())
    }

    /// The certain result of a position whose game is not over.
    ///
    /// A win or a loss is certain just after a capture or a pawn's move: then the fifty-move rule has all its moves, and no earlier
    /// position can occur again. A draw is certain at any time.
    #[inline]
    pub fn result<G: Game>(&self, game: &G, position: &Position<G::State>) -> Option<ValueForFirst> {
        if let Some(plies) = self.plies(game, position) {
            let mover = game.player(&position.state);
            return Some(ValueForMover(f32::from(plies.signum())).for_first(mover));
        }
        let syzygy = self.syzygy.as_ref()?;
        let (board, clock) = game.endings()?.syzygy_board(&position.state)?;
        let result = syzygy.wdl(board)?.result();
        (clock == 0 || result == 0.0).then(|| ValueForMover(result).for_first(game.player(&position.state)))
    }

    /// Plies to the end by the tables of results: positive if the player to move wins, 0 for a draw. `None` if they do not have the
    /// position, or a counter of moves or the ply cap may come before its end.
    #[inline]
    fn plies<G: Game>(&self, game: &G, position: &Position<G::State>) -> Option<i16> {
        self.results.iter().find_map(|table| table.plies(game, position))
    }

    /// What is known of the legal moves of a position; `None` if a table is missing.
    pub fn rank<G: Game>(&self, game: &G, position: &Position<G::State>, actions: &[Action]) -> Option<RankedMoves> {
        self.rank_by_results(game, position, actions).or_else(|| self.rank_by_syzygy(game, position, actions))
    }

    /// As [`Self::rank`], by the tables of results: the nearest win is played, or the farthest loss.
    fn rank_by_results<G: Game>(
        &self,
        game: &G,
        position: &Position<G::State>,
        actions: &[Action],
    ) -> Option<RankedMoves> {
        self.plies(game, position)?;
        let mover = game.player(&position.state);
        let mut ranked = Vec::with_capacity(actions.len());
        for action in actions {
            let mut next = position.clone();
            next.play(game, *action);
            let (result, plies) = if let Some(outcome) = next.outcome(game) {
                (outcome.result.for_mover(mover).0, 0)
            } else {
                let plies = self.plies(game, &next)?;
                let is_movers = game.player(&next.state) == mover;
                (f32::from(if is_movers { plies } else { -plies }.signum()), plies.abs())
            };
            // Of wins the nearest is the best, of losses the farthest.
            ranked.push((result, if result > 0.0 { -plies } else { plies }));
        }
        let best = ranked.iter().copied().max_by(|one, other| one.partial_cmp(other).expect("results are numbers"))?;
        let is_decided = best.0 != 0.0;
        let results = actions
            .iter()
            .zip(&ranked)
            .filter(|(_, (result, _))| is_decided || *result != best.0)
            .map(|(action, (result, _))| (*action, ValueForMover(*result)));
        let choice = actions.iter().zip(&ranked).find(|(_, rank)| **rank == best);
        Some(RankedMoves { results: results.collect(), best: choice.filter(|_| is_decided).map(|(action, _)| *action) })
    }

    /// As [`Self::rank`], by Syzygy tables.
    ///
    /// Wins are ranked by the distance to the next capture or pawn's move, which comes nearer with every move, so that a win is won
    /// before fifty moves are over. Of the others only moves with a worse result than the best have a certain one: among equal
    /// draws, and wins that may come too late, the search decides.
    fn rank_by_syzygy<G: Game>(
        &self,
        game: &G,
        position: &Position<G::State>,
        actions: &[Action],
    ) -> Option<RankedMoves> {
        let (syzygy, endings) = (self.syzygy.as_ref()?, game.endings()?);
        let (board, clock) = endings.syzygy_board(&position.state)?;
        syzygy.wdl(board)?;
        let mut ranks = Vec::with_capacity(actions.len());
        for action in actions {
            let mut next = position.clone();
            next.play(game, *action);
            // A mate, and draws that the history makes.
            let plies = if let Some(outcome) = next.outcome(game) {
                outcome.result.for_mover(game.player(&position.state)).0 as i32
            } else {
                let (board, clock) = endings.syzygy_board(&next.state)?;
                syzygy.plies_before(board, clock == 0)?
            };
            let is_mate = plies == 1 && endings.syzygy_board(&next.state).is_some_and(|(board, _)| is_mate(board));
            ranks.push(Rank::new(plies, clock as i32, is_mate));
        }
        let best = ranks.iter().max()?.class;
        let is_decided = best.is_certain() && best != Class::Draw;
        let results = actions
            .iter()
            .zip(&ranks)
            .filter(|(_, rank)| rank.class.is_certain() && (rank.class != best || is_decided))
            .map(|(action, rank)| (*action, ValueForMover(rank.class.result())));
        // Of equal moves the one after which the mover has more material: a queen rather than a rook.
        let material = |action: Action| {
            let mut next = position.clone();
            next.play(game, action);
            let sign = game.player(&position.state).sign();
            (sign * Material.evaluate(game, &next.state) * 100.0) as i32
        };
        let choice = actions.iter().zip(&ranks).max_by_key(|(action, rank)| (**rank, material(**action)));
        Some(RankedMoves { results: results.collect(), best: choice.filter(|_| is_decided).map(|(action, _)| *action) })
    }
}

/// The kinds of results of a move, from the worst to the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Loss,
    /// A loss that the fifty-move rule makes a draw, or may.
    LateLoss,
    Draw,
    /// A win that the fifty-move rule makes a draw, or may.
    LateWin,
    Win,
}

impl Class {
    fn is_certain(self) -> bool {
        matches!(self, Self::Loss | Self::Draw | Self::Win)
    }

    fn result(self) -> f32 {
        match self {
            Self::Win => 1.0,
            Self::Loss => -1.0,
            _ => 0.0,
        }
    }
}

/// The order of moves: by result, then a soon win and a late loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    class: Class,
    is_mate: bool,
    nearness: i32,
}

impl Rank {
    /// Of a move with so many plies to zero, positive for a win, with so many plies on the clock before it.
    fn new(plies: i32, clock: i32, is_mate: bool) -> Self {
        let is_in_time = plies.abs() + clock <= CERTAIN_PLIES || is_mate;
        let class = match (plies.signum(), is_in_time) {
            (1, true) => Class::Win,
            (1, false) => Class::LateWin,
            (-1, true) => Class::Loss,
            (-1, false) => Class::LateLoss,
            _ => Class::Draw,
        };
        Self { class, is_mate, nearness: -plies }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_follow_result_and_distance() {
        let best_first =
            [Rank::new(1, 0, true), Rank::new(1, 0, false), Rank::new(9, 0, false), Rank::new(99, 0, false)];
        let worse =
            [Rank::new(101, 0, false), Rank::new(0, 0, false), Rank::new(-110, 0, false), Rank::new(-9, 0, false)];
        let all: Vec<_> = best_first.into_iter().chain(worse).chain([Rank::new(-2, 0, false)]).collect();
        assert!(all.windows(2).all(|pair| pair[0] > pair[1]), "{all:?}");
    }

    #[test]
    fn the_clock_makes_a_win_uncertain() {
        assert_eq!(Rank::new(20, 79, false).class, Class::Win);
        assert_eq!(Rank::new(20, 80, false).class, Class::LateWin);
        assert_eq!(Rank::new(-20, 80, false).class, Class::LateLoss);
        assert_eq!(Rank::new(1, 99, true).class, Class::Win);
    }
}
