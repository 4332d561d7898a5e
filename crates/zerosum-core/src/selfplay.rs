//! The moves of self-play: what a finished search decides, for all trees of a search at once.
//!
//! [`GamesInFlight`] knows the game at each tree. Its [`play`](GamesInFlight::play) chooses, records and makes a move wherever
//! a search has ended, and begins the next search. All draws are keyed (seed, game, ply, purpose).

use crate::erased::AnySearch;
use crate::error::UsageError;
use crate::game::{Action, Outcome};
use crate::player::Player;
use crate::random::RandomStream;
use crate::search::{Noise, Root, StopReason};

/// The flags of a ply; `zerosum.replay.records.PlyFlag` describes them.
pub mod flag {
    /// The search had its full number of simulations.
    pub const FULL_SEARCH: u8 = 1;
    /// Noise was mixed into the root's priors.
    pub const NOISE: u8 = 2;
    /// The search value is exact.
    pub const PROVEN: u8 = 4;
    /// The move was drawn at random.
    pub const SAMPLED: u8 = 8;
    /// The move is an opening move, random or of an earlier game, without a search.
    pub const OPENING: u8 = 16;
}

/// The settings of self-play that do not change during a run.
#[derive(Clone, Copy, Debug)]
pub struct MoveSettings {
    /// The run's seed.
    pub seed: u64,
    /// Temperature of the drawn moves; 0 plays the best move.
    pub temperature: f64,
    /// Plies after which the best move is played.
    pub temperature_plies: u32,
    /// Whether full searches have noise at the root.
    pub has_noise: bool,
    /// Whether the tree below the played move is kept.
    pub reuse_tree: bool,
}

/// What a search is given when it begins.
#[derive(Clone, Copy, Debug)]
pub struct NextSearch {
    /// Simulations of a full search.
    pub num_simulations: u32,
    /// Simulations of any other search.
    pub fast_simulations: u32,
    /// Share of full searches.
    pub full_search_share: f64,
    /// The learner's step of the network.
    pub network_step: u32,
}

/// When the side to move resigns.
#[derive(Clone, Copy, Debug)]
pub struct Resigning {
    /// The value below which root and move must be; `None` if nobody resigns so far.
    pub threshold: Option<f64>,
    /// Share of games in which no side resigns.
    pub played_out_share: f64,
}

/// A move and the search that chose it, without its policy target.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // `zerosum.replay.records.PlyRecord` describes the fields
pub struct PlayedPly {
    pub tree: usize,
    pub game_id: u64,
    /// Number of earlier plies.
    pub index: u32,
    pub action: Action,
    pub player: Player,
    pub network_step: u32,
    pub search_value: f32,
    pub net_value: f32,
    pub num_simulations: u32,
    pub flags: u8,
    /// The end of its policy target among [`Played::target`]; it begins where that of the ply before ends.
    pub target_end: usize,
}

/// An entry of a policy target: a move, its share as the bits of a 16-bit float, its visits.
pub type TargetEntry = (Action, u16, u32);

/// The end of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// The game's tree, at which no search has begun.
    pub tree: usize,
    /// The first player's result.
    pub outcome: f32,
    /// The ending in the game's words; `None` for a resignation.
    pub ending: Option<String>,
}

/// What finished searches have decided, in the order of trees.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// The moves that were made.
    pub plies: Vec<PlayedPly>,
    /// Their policy targets.
    pub target: Vec<TargetEntry>,
    /// The games that ended.
    pub ended: Vec<Ended>,
    /// Simulations of the finished searches, without reused ones.
    pub num_simulations: u64,
    /// Searches that ended early because their trees were full.
    pub num_short: u64,
    /// The first tree that was not looked at; the number of trees if all were.
    pub next_tree: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct GameInFlight {
    game_id: u64,
    num_opening_plies: u32,
    is_full: bool,
    network_step: u32,
}

/// The games at the trees of a search.
#[derive(Clone, Debug)]
pub struct GamesInFlight {
    settings: MoveSettings,
    games: Vec<GameInFlight>,
}

impl GamesInFlight {
    /// Trees without games.
    pub fn new(settings: MoveSettings, num_trees: usize) -> Self {
        Self { settings, games: vec![GameInFlight::default(); num_trees] }
    }

    /// Begins the first search of a game, from the position at a tree's root.
    ///
    /// # Errors
    /// As [`crate::Search::begin`].
    pub fn start(
        &mut self,
        search: &mut dyn AnySearch,
        tree: usize,
        game_id: u64,
        num_opening_plies: u32,
        next: &NextSearch,
    ) -> Result<(), UsageError> {
        search.require_tree(tree)?;
        self.games[tree] = GameInFlight { game_id, num_opening_plies, ..GameInFlight::default() };
        let is_full = self.is_full_search(tree, search.plies(tree), next);
        self.begin(search, tree, is_full, next)
    }

    /// Makes the move of each finished search from `first_tree` on and begins the next searches.
    ///
    /// Stops after each game's end if `resigning` is given: the caller may learn from the game when to resign.
    ///
    /// # Errors
    /// As [`crate::Search::begin`].
    pub fn play(
        &mut self,
        search: &mut dyn AnySearch,
        first_tree: usize,
        next: &NextSearch,
        resigning: Option<&Resigning>,
    ) -> Result<Played, UsageError> {
        let mut played = Played { next_tree: self.games.len(), ..Played::default() };
        for tree in search.finished().into_iter().map(|tree| tree as usize).filter(|tree| *tree >= first_tree) {
            match self.play_at(search, tree, next, resigning, &mut played)? {
                Some(ended) => played.ended.push(ended),
                None => continue,
            }
            if resigning.is_some() {
                played.next_tree = tree + 1;
                break;
            }
        }
        Ok(played)
    }

    fn play_at(
        &mut self,
        search: &mut dyn AnySearch,
        tree: usize,
        next: &NextSearch,
        resigning: Option<&Resigning>,
        played: &mut Played,
    ) -> Result<Option<Ended>, UsageError> {
        let (ply, root, game) = (search.plies(tree), search.root(tree), self.games[tree]);
        played.num_short += u64::from(root.stop_reason == Some(StopReason::Memory));
        played.num_simulations += u64::from(root.num_simulations - root.num_reused);
        let (chosen, is_sampled) = self.choose(&root, game.game_id, ply);
        if resigning.is_some_and(|resigning| self.resigns(resigning, &root, chosen, game.game_id)) {
            search.clear(tree)?;
            return Ok(Some(Ended { tree, outcome: -root.player.sign(), ending: None }));
        }
        self.record(tree, ply, &root, (chosen, is_sampled), played);
        let is_full = self.is_full_search(tree, ply + 1, next);
        search.advance(tree, root.actions[chosen], self.settings.reuse_tree)?;
        if let Some(Outcome { result, ending, .. }) = search.outcome(tree) {
            return Ok(Some(Ended { tree, outcome: result.0, ending: Some(ending.into_owned()) }));
        }
        self.begin(search, tree, is_full, next)?;
        Ok(None)
    }

    fn begin(
        &mut self,
        search: &mut dyn AnySearch,
        tree: usize,
        is_full: bool,
        next: &NextSearch,
    ) -> Result<(), UsageError> {
        let game = &mut self.games[tree];
        (game.is_full, game.network_step) = (is_full, next.network_step);
        let noise = if is_full && self.settings.has_noise {
            Noise::Drawn { seed: self.settings.seed, game: game.game_id, ply: search.plies(tree).into() }
        } else {
            Noise::None
        };
        search.begin(tree, if is_full { next.num_simulations } else { next.fast_simulations }, noise)
    }

    /// Whether a ply is searched in full. The position after the random moves is new: it is always learned from.
    fn is_full_search(&self, tree: usize, ply: u32, next: &NextSearch) -> bool {
        let game = &self.games[tree];
        (ply > 0 && ply == game.num_opening_plies)
            || next.full_search_share == 1.0
            || self.uniform(game.game_id, ply, "full search") < next.full_search_share
    }

    /// The index of the move to play, and whether it was drawn at random.
    ///
    /// Drawn from [`Root::move_policy`] to the power of 1 / temperature. A Gumbel root with noise has drawn its move already:
    /// the best one.
    fn choose(&self, root: &Root, game_id: u64, ply: u32) -> (usize, bool) {
        let temperature = self.settings.temperature;
        if temperature == 0.0 || ply >= self.settings.temperature_plies || root.has_gumbel_noise {
            return (root.best_index().expect("a running game has a move"), false);
        }
        let mut weights: Vec<f64> = root.move_policy().into_iter().map(f64::from).collect();
        if temperature != 1.0 {
            let largest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            for weight in &mut weights {
                *weight = libm::pow(*weight / largest, 1.0 / temperature);
            }
        }
        let mut sum = 0.0;
        for weight in &mut weights {
            sum += *weight;
            *weight = sum;
        }
        let drawn = self.uniform(game_id, ply, "move") * sum;
        (weights.partition_point(|cumulative| *cumulative <= drawn), true)
    }

    /// Whether the side to move resigns instead of playing a move.
    fn resigns(&self, resigning: &Resigning, root: &Root, chosen: usize, game_id: u64) -> bool {
        resigning.threshold.is_some_and(|threshold| {
            self.uniform(game_id, 0, "played out") >= resigning.played_out_share
                && f64::from(root.value) < threshold
                && f64::from(root.q[chosen]) < threshold
        })
    }

    fn record(&self, tree: usize, index: u32, root: &Root, (chosen, is_sampled): (usize, bool), played: &mut Played) {
        let game = &self.games[tree];
        assert!((-1.0..=1.0).contains(&root.value) && (-1.0..=1.0).contains(&root.net_value), "{root:?}");
        if game.is_full {
            let mut total = 0.0;
            for (index, share) in root.policy_target().into_iter().enumerate() {
                let rounded = half_bits(share);
                total += share;
                // In 16 bits the smallest shares of a softmax vanish.
                if rounded != 0 {
                    played.target.push((root.actions[index], rounded, root.visits[index]));
                }
            }
            assert!((total - 1.0).abs() < 0.01, "shares that add up to {total}");
        }
        let flags = [
            (game.is_full, flag::FULL_SEARCH),
            (game.is_full && self.settings.has_noise, flag::NOISE),
            (root.proven.is_some(), flag::PROVEN),
            (is_sampled, flag::SAMPLED),
        ];
        played.plies.push(PlayedPly {
            tree,
            game_id: game.game_id,
            index,
            action: root.actions[chosen],
            player: root.player,
            network_step: game.network_step,
            search_value: root.value,
            net_value: root.net_value,
            num_simulations: root.num_simulations,
            flags: flags.iter().map(|(is_set, flag)| u8::from(*is_set) * flag).sum(),
            target_end: played.target.len(),
        });
    }

    fn uniform(&self, game_id: u64, ply: u32, purpose: &str) -> f64 {
        RandomStream::new(self.settings.seed, game_id, ply.into(), purpose).uniform()
    }
}

/// The bits of the 16-bit float (IEEE 754 binary16) nearest to a number in [0, 1], ties to even.
fn half_bits(share: f32) -> u16 {
    const SMALLEST_NORMAL: f32 = 1.0 / 16384.0;
    if share < SMALLEST_NORMAL {
        // In units of the smallest subnormal number: the product is exact, and so is its rounding.
        return (share * 16_777_216.0).round_ties_even() as u16;
    }
    let bits = share.to_bits();
    ((bits + 0xFFF + (bits >> 13 & 1)) >> 13).wrapping_sub((127 - 15) << 10) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number with these bits, by the definition of the format.
    fn of_half(bits: u16) -> f64 {
        let (exponent, fraction) = (i32::from(bits >> 10), f64::from(bits & 0x3FF));
        if exponent == 0 { fraction * 2f64.powi(-24) } else { (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15) }
    }

    #[test]
    fn shares_are_rounded_to_the_nearest_half() {
        const ONE: u16 = 15 << 10;
        for bits in 0..ONE {
            let (number, next) = (of_half(bits), of_half(bits + 1));
            assert_eq!(half_bits(number as f32), bits);
            let middle = f64::midpoint(number, next) as f32; // exact: it has one more binary digit
            assert_eq!(half_bits(middle), bits + (bits & 1), "a tie goes to the even one");
            assert_eq!(half_bits(middle.next_down()), bits);
            assert_eq!(half_bits(middle.next_up()), bits + 1);
        }
        assert_eq!(half_bits(1.0), ONE);
    }
}
