//! Territory: the empty points that one side's stones surround, those of groups in seki left out.
//!
//! All stones count as alive: whoever removes dead ones first sets up the position without them, as prisoners.

use super::bits::{Bits, Geometry};
use super::board::{Board, Effect};

/// A group with so many points of its own, or with two eyes, lives by itself: it is not in seki (a customary bound; it is
/// the largest eye space in which an opponent may kill).
const ROOM: usize = 7;

impl<const W: usize> Geometry<W> {
    /// The points of a set that hang together with one of them.
    pub fn connected(&self, start: usize, within: Bits<W>) -> Bits<W> {
        let mut found = Bits::NONE;
        found.add(start);
        loop {
            let next = found | self.beside(found) & within;
            if next == found {
                return found;
            }
            found = next;
        }
    }

    /// The parts of a set that hang together.
    pub fn parts(&self, set: Bits<W>) -> impl Iterator<Item = Bits<W>> {
        let mut left = set;
        std::iter::from_fn(move || {
            let part = self.connected(left.points().next()?, left);
            left = left & !part;
            Some(part)
        })
    }
}

impl<const W: usize, const P: usize> Board<W, P> {
    /// Points of territory of each side.
    pub fn territories(&self, geometry: &Geometry<W>) -> [usize; 2] {
        let mut surrounded = [Bits::NONE; 2];
        let mut stuck = Bits::NONE;
        for region in geometry.parts(self.empty(geometry)) {
            let border = geometry.beside(region);
            match self.stones.map(|stones| stones & border != Bits::NONE) {
                [true, false] => surrounded[0] = surrounded[0] | region,
                [false, true] => surrounded[1] = surrounded[1] | region,
                [true, true] if !region.points().any(|point| self.can_be_filled(geometry, point)) => {
                    stuck = stuck | region;
                }
                _ => {}
            }
        }
        let beside_stuck = geometry.beside(stuck);
        [0, 1].map(|side| {
            let all = surrounded[side].count();
            if self.stones[side] & beside_stuck == Bits::NONE {
                return all;
            }
            let groups = geometry.parts(self.stones[side] | surrounded[side]);
            let in_seki = groups.filter(|group| *group & beside_stuck & self.stones[side] != Bits::NONE).map(|group| {
                let own = group & surrounded[side];
                let lives = own.count() >= ROOM || geometry.parts(own).count() >= 2;
                if lives { 0 } else { own.count() }
            });
            all - in_seki.sum::<usize>()
        })
    }

    /// True if some side can put a stone there that takes something or has two liberties.
    fn can_be_filled(&self, geometry: &Geometry<W>, point: usize) -> bool {
        geometry.neighbours[point].iter().filter(|neighbour| self.is_empty_at(**neighbour)).count() >= 2
            || [0, 1].into_iter().any(|side| match self.placement(geometry, point, side).effect {
                Effect::Capture => true,
                Effect::Suicide => false,
                Effect::Quiet => {
                    let mut after = self.clone();
                    after.place(geometry, point, side);
                    after.liberties_of(geometry, point, side).count() >= 2
                }
            })
    }

    /// The liberties of the chain of `side` on a point.
    pub fn liberties_of(&self, geometry: &Geometry<W>, point: usize, side: usize) -> Bits<W> {
        geometry.beside(geometry.connected(point, self.stones[side])) & self.empty(geometry)
    }
}

#[cfg(test)]
mod tests {
    use crate::game::Game;
    use crate::games::Options;
    use crate::games::go::{Go, Variant};

    fn score(options: &str, position: &str) -> f32 {
        let (_, options) = Options::parse(&format!("go({options}, rules=japanese, komi=0)")).expect("well formed");
        let go: Go<2, 82> = Go::new(Variant::from_options(options).expect("known options"));
        go.score(&go.parse_position(position).expect("a position")).expect("Go has points")
    }

    #[test]
    fn territory_and_prisoners_count() {
        assert_eq!(score("size=5", "5/5/5/5/5 X"), 0.0);
        assert_eq!(score("size=5", "1X1O1/1X1O1/1X1O1/1X1O1/1X1O1 X"), 0.0, "five each, and five that are nobody's");
        assert_eq!(score("size=5", "1X1O1/1X1O1/1X1O1/1X1O1/XX1O1 X"), -1.0);
        assert_eq!(score("size=5", "1X1O1/1X1O1/1X1O1/1X1O1/1X1O1 X prisoners=4,1"), 3.0);
    }

    /// Below a chain of each colour stands inside the other's wall, and who plays between them loses his.
    const SEKI: &str = "4OX3/4OX3/4OX3/4OX3/4OX3/OOOOOXXXX/OOOXXOXXX/XXXX1OOOO/XXXX1OOOO X";
    /// The same, each chain with a point of its own in the corner.
    const SEKI_WITH_EYES: &str = "4OX3/4OX3/4OX3/4OX3/4OX3/OOOOOXXXX/OOOXXOXXX/XXXXXOOOO/1XXX1OOO1 X";

    #[test]
    fn points_in_seki_do_not_count() {
        assert_eq!(score("size=9", SEKI), -5.0);
        assert_eq!(score("size=9", SEKI_WITH_EYES), -5.0);
        // Black may fill the point between them: nobody is in seki.
        assert_eq!(score("size=9", &SEKI_WITH_EYES.replace("1XXX1OOO1", "1X1X1OOO1")), -4.0);
    }
}
