//! The children of a root in numbers that a selection reads one after the other.
//!
//! A root has a child for each of its moves, and every simulation compares them all. Nodes are large, and those of the roots of many
//! trees do not fit into a processor's caches; the three numbers of a child here take a quarter of the memory, and scores of
//! several children are computed at once.

use super::arena::Arena;
use super::node::Node;
use super::puct::Parent;
use crate::player::Player;

/// Children whose scores are computed at once.
const LANES: usize = 8;

/// Some children side by side.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// Q for the root's player to move; −∞ without visits.
    q: [f32; LANES],
    priors: [f32; LANES],
    /// 1 + N.
    divisors: [f32; LANES],
}

/// A group without children.
const EMPTY: Group = Group { q: [f32::NEG_INFINITY; LANES], priors: [0.0; LANES], divisors: [1.0; LANES] };

impl Group {
    /// Q + U of each child, as [`Parent::score`] has it without leaves in flight; −∞ for children without visits.
    #[inline]
    fn scores(&self, rate: f32) -> [f32; LANES] {
        std::array::from_fn(|lane| self.q[lane] + rate * self.priors[lane] / self.divisors[lane])
    }
}

/// What [`Self::select`] needs of a root's children. [`Self::note`] keeps it up to date.
#[derive(Debug, Default)]
pub struct RootScores {
    groups: Vec<Group>,
    num_children: usize,
    /// The child with the highest prior of those without visits; of several the first.
    unvisited: Option<usize>,
    /// The sum of the priors of the others.
    visited_prior: f32,
    /// Whether the result of a child is known.
    has_proven: bool,
}

impl RootScores {
    /// Takes the numbers of all children of an evaluated root, whose priors in selection these are.
    pub fn reset(&mut self, arena: &Arena, root: &Node, priors: &[f32]) {
        let children = arena.children_of(root);
        self.groups.clear();
        self.groups.resize(children.len().div_ceil(LANES), EMPTY);
        (self.num_children, self.has_proven) = (children.len(), false);
        for (index, (child, prior)) in children.iter().zip(priors).enumerate() {
            self.groups[index / LANES].priors[index % LANES] = *prior;
            self.write(index, child, root.player);
        }
        self.find_unvisited();
    }

    /// Notes that a child has changed.
    #[inline]
    pub fn note(&mut self, index: usize, child: &Node, player: Player) {
        let is_first_visit = !self.is_visited(index);
        self.write(index, child, player);
        if is_first_visit {
            self.find_unvisited();
        }
    }

    #[inline]
    fn write(&mut self, index: usize, child: &Node, player: Player) {
        let group = &mut self.groups[index / LANES];
        self.has_proven |= child.proven().is_some();
        if child.visits > 0 {
            group.q[index % LANES] = player.sign() * child.q;
            group.divisors[index % LANES] = 1.0 + child.visits as f32;
        }
    }

    #[inline]
    fn is_visited(&self, index: usize) -> bool {
        self.groups[index / LANES].q[index % LANES] != f32::NEG_INFINITY
    }

    fn find_unvisited(&mut self) {
        let mut highest = -1.0;
        (self.unvisited, self.visited_prior) = (None, 0.0);
        for index in 0..self.num_children {
            let prior = self.groups[index / LANES].priors[index % LANES];
            if self.is_visited(index) {
                self.visited_prior += prior;
            } else if prior > highest {
                (self.unvisited, highest) = (Some(index), prior);
            }
        }
    }

    /// Whether [`Self::select`] can tell the best child: no leaves are in flight, and no results known.
    #[inline]
    pub fn are_complete(&self, root: &Node) -> bool {
        root.in_flight == 0 && !self.has_proven
    }

    /// The child with the highest score, of several that with the highest prior, of several the first.
    pub fn select(&self, root: &Parent<'_>) -> usize {
        // Lane by lane, for vector instructions.
        let mut highest = [f32::NEG_INFINITY; LANES];
        for group in &self.groups {
            for (most, score) in highest.iter_mut().zip(group.scores(root.rate)) {
                *most = if score > *most { score } else { *most };
            }
        }
        let best_score = highest.into_iter().fold(f32::NEG_INFINITY, f32::max);
        let mut best: Option<(usize, f32)> = None;
        if best_score > f32::NEG_INFINITY {
            for (number, group) in self.groups.iter().enumerate() {
                let scores = group.scores(root.rate);
                // Without a branch for each it compiles to vector instructions.
                #[allow(clippy::needless_bitwise_bool)]
                let has_best = scores.iter().fold(false, |is_best, score| is_best | (*score == best_score));
                if !has_best {
                    continue;
                }
                for (lane, (score, prior)) in scores.into_iter().zip(group.priors).enumerate() {
                    if score == best_score && best.is_none_or(|(_, most)| prior > most) {
                        best = Some((number * LANES + lane, prior));
                    }
                }
            }
        }
        let Some(unvisited) = self.unvisited else { return best.expect("a child without visits was found").0 };
        let prior = self.groups[unvisited / LANES].priors[unvisited % LANES];
        let score = root.unvisited_score(prior, self.visited_prior);
        match best {
            Some((index, best_prior)) => {
                let is_before = prior > best_prior || (prior == best_prior && unvisited < index);
                if score > best_score || (score == best_score && is_before) { unvisited } else { index }
            }
            None => unvisited,
        }
    }
}
