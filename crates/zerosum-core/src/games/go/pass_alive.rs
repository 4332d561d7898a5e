//! Areas with life and death: stones that live although their side passes, and the points that they surround.
//!
//! Chains that live unconditionally are found by Benson's algorithm (Benson 1976, "Life in the game of Go"). The areas
//! are those that KataGo's networks see (its inputs of version 7).

use super::board::Board;
use super::geometry::Geometry;
use crate::games::squares::SquareSet;

/// A connected part of the points without stones of one side.
struct Region<const W: usize> {
    points: SquareSet<W>,
    /// The chains of the side that are beside it, by number.
    beside: Vec<usize>,
    /// The chains, by number, to which each of its points, or each empty one without suicide, is adjacent.
    vital_to: Vec<usize>,
    /// Number of points that are adjacent to none of the side's stones.
    num_inner: usize,
    has_opponent: bool,
}

impl<const W: usize, const P: usize> Board<W, P> {
    /// The points of each side's area.
    ///
    /// A side has its stones that live unconditionally, with the regions that these alone surround if the opponent cannot
    /// live there or has no stone there; then the regions without the opponent's stones that any of its stones surround;
    /// then all its other stones. What a side has unconditionally may hold dead stones of the other.
    pub fn areas_with_life(&self, geometry: &Geometry<W>, suicide: bool) -> [SquareSet<W>; 2] {
        let mut areas = [SquareSet::EMPTY; 2];
        for side in 0..2 {
            if self.stones[side].is_empty() {
                continue;
            }
            let (alive, regions) = self.living(geometry, side, suicide);
            let mut own = alive;
            for (region, is_safe) in &regions {
                if *is_safe && (region.num_inner <= 1 || !region.has_opponent) {
                    own = own | region.points;
                }
            }
            areas[side] = areas[side] | own;
            areas[1 - side] = areas[1 - side] & !own;
            for (region, _) in &regions {
                if !region.has_opponent {
                    areas[side] = areas[side] | region.points & !areas[1 - side];
                }
            }
        }
        let taken = areas[0] | areas[1];
        [0, 1].map(|side| areas[side] | self.stones[side] & !taken)
    }

    /// The stones of a side that live unconditionally, and the regions between its stones, each with whether all chains
    /// beside it live.
    fn living(&self, geometry: &Geometry<W>, side: usize, suicide: bool) -> (SquareSet<W>, Vec<(Region<W>, bool)>) {
        let chains: Vec<SquareSet<W>> = {
            let mut left = self.stones[side];
            std::iter::from_fn(|| {
                let chain = self.chain_at(left.iter().next()?);
                left = left & !chain;
                Some(chain)
            })
            .collect()
        };
        let borders: Vec<SquareSet<W>> = chains.iter().map(|chain| geometry.adjacent(*chain)).collect();
        let empty = self.empty(geometry);
        let near = geometry.adjacent(self.stones[side]);
        let regions: Vec<Region<W>> = geometry
            .parts(geometry.all & !self.stones[side])
            .map(|points| {
                let needed = if suicide { points } else { points & empty };
                let numbers = |keeps: &dyn Fn(&SquareSet<W>) -> bool| {
                    (0..chains.len()).filter(|number| keeps(&borders[*number])).collect::<Vec<_>>()
                };
                Region {
                    points,
                    beside: numbers(&|border| !(*border & points).is_empty()),
                    vital_to: numbers(&|border| (needed & !*border).is_empty()),
                    num_inner: (points & !near).len(),
                    has_opponent: !(points & self.stones[1 - side]).is_empty(),
                }
            })
            .collect();
        let mut lives = vec![true; chains.len()];
        let is_safe = |region: &Region<W>, lives: &[bool]| region.beside.iter().all(|chain| lives[*chain]);
        loop {
            let mut eyes = vec![0; chains.len()];
            for region in regions.iter().filter(|region| is_safe(region, &lives)) {
                region.vital_to.iter().for_each(|chain| eyes[*chain] += 1);
            }
            let dead: Vec<usize> = (0..chains.len()).filter(|chain| lives[*chain] && eyes[*chain] < 2).collect();
            if dead.is_empty() {
                break;
            }
            for chain in dead {
                lives[chain] = false;
            }
        }
        let alive = chains.iter().zip(&lives).filter(|(_, lives)| **lives);
        let alive = alive.fold(SquareSet::EMPTY, |stones, (chain, _)| stones | *chain);
        let regions = regions.into_iter().map(|region| {
            let is_safe = is_safe(&region, &lives);
            (region, is_safe)
        });
        (alive, regions.collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::game::Notation;
    use crate::games::go::points::gtp;
    use crate::games::go::{Go, Variant};
    use crate::games::options::Options;

    /// The points of each side's area, as texts.
    fn areas(position: &str) -> [String; 2] {
        let (_, options) = Options::parse("go(size=5)").expect("well formed");
        let go: Go<2, 82> = Go::new(Variant::from_options(options).expect("known options"));
        let state = go.parse_position(position).expect("a position");
        let areas = state.board.areas_with_life(&go.geometry, false);
        areas.map(|area| area.iter().map(|point| gtp(5, point)).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn a_lone_stone_has_the_whole_board() {
        assert_eq!(areas("5/5/2X2/5/5 O")[0].split(' ').count(), 25);
        assert_eq!(areas("5/5/5/5/5 X"), ["", ""]);
    }

    #[test]
    fn what_lives_has_what_cannot_live_beside_it() {
        // Black's chain lives by its eyes A5 and C5. White's stone beside it lives as little as it has room.
        assert_eq!(areas("1X1XO/XXXX1/XXXXX/5/O4 X"), ["A5 B5 C5 D5 E5 A4 B4 C4 D4 E4 A3 B3 C3 D3 E3", "A1"]);
        // Without a second eye nothing is sure, and White's stone in the corner is White's.
        assert_eq!(areas("XXXXO/XXXX1/XXXXX/5/O4 X"), ["A5 B5 C5 D5 A4 B4 C4 D4 A3 B3 C3 D3 E3", "E5 A1"]);
    }
}
