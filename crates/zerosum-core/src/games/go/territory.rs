//! Territory: the empty points that one side's stones surround, except those of groups in seki.
//!
//! All stones count as alive. To remove dead stones, set up the position without them and with them as prisoners.

use super::board::{Board, Effect};
use super::geometry::Geometry;
use crate::games::squares::SquareSet;

/// A group with so many points of its own, or with two eyes, is alive and not in seki. The bound is customary: an
/// opponent cannot kill in a larger eye space.
const ROOM: usize = 7;

impl<const W: usize> Geometry<W> {
    /// The points of a set that are connected to one of them.
    pub fn connected(&self, start: usize, within: SquareSet<W>) -> SquareSet<W> {
        let mut found = SquareSet::EMPTY;
        found.insert(start);
        loop {
            let next = found | self.adjacent(found) & within;
            if next == found {
                return found;
            }
            found = next;
        }
    }

    /// The connected parts of a set.
    pub fn parts(&self, set: SquareSet<W>) -> impl Iterator<Item = SquareSet<W>> {
        let mut left = set;
        std::iter::from_fn(move || {
            let part = self.connected(left.iter().next()?, left);
            left = left & !part;
            Some(part)
        })
    }
}

impl<const W: usize, const P: usize> Board<W, P> {
    /// Points of territory of each side.
    pub fn territories(&self, geometry: &Geometry<W>) -> [usize; 2] {
        let mut surrounded = [SquareSet::EMPTY; 2];
        let mut stuck = SquareSet::EMPTY;
        for region in geometry.parts(self.empty(geometry)) {
            let border = geometry.adjacent(region);
            match self.stones.map(|stones| stones & border != SquareSet::EMPTY) {
                [true, false] => surrounded[0] = surrounded[0] | region,
                [false, true] => surrounded[1] = surrounded[1] | region,
                [true, true] if !region.iter().any(|point| self.can_be_filled(geometry, point)) => {
                    stuck = stuck | region;
                }
                _ => {}
            }
        }
        let beside_stuck = geometry.adjacent(stuck);
        [0, 1].map(|side| {
            let all = surrounded[side].len();
            if (self.stones[side] & beside_stuck).is_empty() {
                return all;
            }
            let groups = geometry.parts(self.stones[side] | surrounded[side]);
            let in_seki = groups.filter(|group| !(*group & beside_stuck & self.stones[side]).is_empty()).map(|group| {
                let own = group & surrounded[side];
                let lives = own.len() >= ROOM || geometry.parts(own).count() >= 2;
                if lives { 0 } else { own.len() }
            });
            all - in_seki.sum::<usize>()
        })
    }

    /// True if some side can put a stone there that captures or has two liberties.
    fn can_be_filled(&self, geometry: &Geometry<W>, point: usize) -> bool {
        geometry.neighbours[point].iter().filter(|neighbour| self.is_empty_at(**neighbour)).count() >= 2
            || [0, 1].into_iter().any(|side| match self.placement(geometry, point, side).effect {
                Effect::Capture => true,
                Effect::Suicide => false,
                Effect::Quiet => {
                    let mut after = self.clone();
                    after.place(geometry, point, side);
                    after.liberties_of(geometry, point, side).len() >= 2
                }
            })
    }

    /// The liberties of the chain of `side` on a point.
    pub fn liberties_of(&self, geometry: &Geometry<W>, point: usize, side: usize) -> SquareSet<W> {
        geometry.adjacent(geometry.connected(point, self.stones[side])) & self.empty(geometry)
    }
}

#[cfg(test)]
mod tests {
    use crate::game::{Notation, Points};
    use crate::games::go::{Go, Variant};
    use crate::games::options::Options;

    fn score(options: &str, position: &str) -> f32 {
        let (_, options) = Options::parse(&format!("go({options}, rules=japanese, komi=0)")).expect("well formed");
        let go: Go<2, 82> = Go::new(Variant::from_options(options).expect("known options"));
        go.score(&go.parse_position(position).expect("a position"))
    }

    #[test]
    fn territory_and_prisoners_count() {
        assert_eq!(score("size=5", "5/5/5/5/5 X"), 0.0);
        assert_eq!(score("size=5", "1X1O1/1X1O1/1X1O1/1X1O1/1X1O1 X"), 0.0, "five each, and five that are nobody's");
        assert_eq!(score("size=5", "1X1O1/1X1O1/1X1O1/1X1O1/XX1O1 X"), -1.0);
        assert_eq!(score("size=5", "1X1O1/1X1O1/1X1O1/1X1O1/1X1O1 X prisoners=4,1"), 3.0);
    }

    /// At the bottom, a chain of each colour is inside the other's wall; a side that plays between them loses its own.
    const SEKI: &str = "4OX3/4OX3/4OX3/4OX3/4OX3/OOOOOXXXX/OOOXXOXXX/XXXX1OOOO/XXXX1OOOO X";
    /// The same, each chain with a point of its own in the corner.
    const SEKI_WITH_EYES: &str = "4OX3/4OX3/4OX3/4OX3/4OX3/OOOOOXXXX/OOOXXOXXX/XXXXXOOOO/1XXX1OOO1 X";

    #[test]
    fn points_in_seki_do_not_count() {
        assert_eq!(score("size=9", SEKI), -5.0);
        assert_eq!(score("size=9", SEKI_WITH_EYES), -5.0);
        // Black may fill the point between them, so there is no seki.
        assert_eq!(score("size=9", &SEKI_WITH_EYES.replace("1XXX1OOO1", "1X1X1OOO1")), -4.0);
    }
}
