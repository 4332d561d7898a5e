//! Ladders: chains that the other side captures by one atari after another.
//!
//! They are read as KataGo reads them for its networks' planes (its inputs of version 7): the attacker plays on one of
//! two liberties, the defender extends or takes a chain of the attacker's that is in atari. The attacker wins when the
//! chain has one liberty at its turn, the defender when it has three, or two at its turn. A ladder that needs a ko is the
//! defender's.

use super::board::{Board, Effect};
use super::geometry::Geometry;
use crate::games::squares::SquareSet;

/// Moves that are read for one chain; a ladder that takes more does not work.
const MOST_MOVES: u32 = 25_000;

/// The ladders of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ladders<const W: usize> {
    /// Stones of chains that can be captured: with two liberties if the attacker begins, with one if the defender does.
    pub stones: SquareSet<W>,
    /// For each side, its moves that begin to capture a chain with two liberties.
    pub first_moves: [SquareSet<W>; 2],
}

impl<const W: usize> Ladders<W> {
    /// The ladders of a position in which simple ko forbids one point.
    pub fn of<const P: usize>(board: &Board<W, P>, geometry: &Geometry<W>, ko: Option<u16>) -> Self {
        let mut found = Self { stones: SquareSet::EMPTY, first_moves: [SquareSet::EMPTY; 2] };
        for defender in 0..2 {
            let mut left = board.stones[defender];
            while let Some(target) = left.iter().next() {
                let chain = board.chain_at(target);
                left = left & !chain;
                let liberties = geometry.adjacent(chain) & board.empty(geometry);
                match liberties.len() {
                    1 if Reader::new(geometry, target, defender).captures(board.clone()) => {
                        found.stones = found.stones | chain;
                    }
                    2 => {
                        for point in liberties.iter().filter(|point| ko.map(usize::from) != Some(*point)) {
                            if board.placement(geometry, point, 1 - defender).effect == Effect::Suicide {
                                continue;
                            }
                            let mut after = board.clone();
                            after.place(geometry, point, 1 - defender);
                            if Reader::new(geometry, target, defender).captures(after) {
                                found.stones = found.stones | chain;
                                found.first_moves[1 - defender].insert(point);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        found
    }
}

/// Reads whether one chain is captured.
struct Reader<'a, const W: usize, const P: usize> {
    geometry: &'a Geometry<W>,
    /// A stone of the chain.
    target: usize,
    defender: usize,
    /// The positions on the way, each with the point that simple ko forbids. They are on the heap: a ladder may be longer
    /// than a thread's stack is deep.
    positions: Vec<(Board<W, P>, Option<u16>)>,
    moves_left: u32,
}

/// The moves were too many to read.
struct TooLong;

impl<'a, const W: usize, const P: usize> Reader<'a, W, P> {
    fn new(geometry: &'a Geometry<W>, target: usize, defender: usize) -> Self {
        Self { geometry, target, defender, positions: Vec::new(), moves_left: MOST_MOVES }
    }

    /// True if the chain is captured although its side is to move and no ko forbids it a move.
    fn captures(mut self, board: Board<W, P>) -> bool {
        self.positions.push((board, None));
        self.defend().unwrap_or(false)
    }

    /// The newest position.
    fn board(&self) -> &Board<W, P> {
        &self.positions.last().expect("there is the first one").0
    }

    /// The point that simple ko forbids in it.
    fn ko(&self) -> Option<u16> {
        self.positions.last().expect("there is the first one").1
    }

    fn liberties(&self) -> SquareSet<W> {
        self.board().liberties_at(self.geometry, self.target)
    }

    /// True if the chain is captured with its side to move.
    fn defend(&mut self) -> Result<bool, TooLong> {
        let liberties = self.liberties();
        if liberties.len() >= 2 || self.ko().is_some() {
            return Ok(false);
        }
        let last = liberties.iter().next().expect("chains on the board have liberties");
        let takes = self.takes() & !liberties;
        let (fewest, most) = self.liberties_after(last);
        if fewest >= 3 {
            return Ok(false);
        }
        if takes.is_empty() && most <= 1 {
            return Ok(true);
        }
        for point in takes.iter().chain([last]) {
            if self.play(point, self.defender)? {
                let captured = self.attack();
                self.positions.pop();
                if !captured? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// True if the chain is captured with the other side to move.
    fn attack(&mut self) -> Result<bool, TooLong> {
        let liberties = self.liberties();
        if liberties.len() != 2 {
            return Ok(liberties.len() < 2);
        }
        if 2 * self.positions.len() > 3 * self.geometry.all.len() {
            return Ok(true);
        }
        let mut points: Vec<usize> = liberties.iter().collect();
        if self.is_double_ko(&points) {
            return Ok(true);
        }
        if (self.geometry.adjacent(std::iter::once(points[0]).collect()) & liberties).is_empty() {
            // The attacker has to take the one escape that is too wide.
            let is_wide = |point: &usize| self.empty_beside(*point) >= 3;
            match [is_wide(&points[0]), is_wide(&points[1])] {
                [true, true] => return Ok(false),
                [true, false] => points.truncate(1),
                [false, true] => points = vec![points[1]],
                [false, false] => {}
            }
        }
        points.sort_by_key(|point| std::cmp::Reverse(self.room(*point)));
        for point in points {
            if self.play(point, 1 - self.defender)? {
                let captured = self.defend();
                self.positions.pop();
                if captured? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Makes a move and returns true, if it is legal.
    fn play(&mut self, point: usize, side: usize) -> Result<bool, TooLong> {
        let is_banned = self.ko().map(usize::from) == Some(point);
        if is_banned || self.board().placement(self.geometry, point, side).effect == Effect::Suicide {
            return Ok(false);
        }
        self.moves_left = self.moves_left.checked_sub(1).ok_or(TooLong)?;
        let mut after = self.board().clone();
        let ko = after.place(self.geometry, point, side);
        self.positions.push((after, ko));
        Ok(true)
    }

    fn neighbours(&self, point: usize) -> impl Iterator<Item = usize> + '_ {
        self.geometry.neighbours[point].iter().map(|neighbour| usize::from(*neighbour))
    }

    fn empty_beside(&self, point: usize) -> usize {
        self.neighbours(point).filter(|neighbour| self.board().is_empty_at(*neighbour as u16)).count()
    }

    /// The liberties of the chain on a point.
    fn num_liberties(&self, point: usize) -> usize {
        self.board().liberties_at(self.geometry, point).len()
    }

    /// The points on which the defender takes a chain beside its own.
    fn takes(&self) -> SquareSet<W> {
        let board = self.board();
        let mut beside = self.geometry.adjacent(board.chain_at(self.target)) & board.stones[1 - self.defender];
        let mut points = SquareSet::EMPTY;
        while let Some(stone) = beside.iter().next() {
            let chain = board.chain_at(stone);
            beside = beside & !chain;
            let liberties = self.geometry.adjacent(chain) & board.empty(self.geometry);
            if liberties.len() == 1 {
                points = points | liberties;
            }
        }
        points
    }

    /// Bounds of the chain's liberties after the defender's move to its last one.
    fn liberties_after(&self, point: usize) -> (usize, usize) {
        let (board, sides) = (self.board(), [self.defender, 1 - self.defender]);
        let (mut empty, mut captures, mut gained, mut joined, mut most_joined) = (0, 0, 0, 0, 0);
        for neighbour in self.neighbours(point) {
            let [own, other] = sides.map(|side| board.stones[side].contains(neighbour));
            if own {
                let liberties = self.num_liberties(neighbour) - 1;
                joined += liberties;
                most_joined = liberties.max(most_joined);
            } else if other && self.num_liberties(neighbour) == 1 {
                captures += 1;
                gained += board.chain_at(neighbour).len();
            } else if board.is_empty_at(neighbour as u16) {
                empty += 1;
            }
        }
        (captures + empty.max(most_joined), empty + gained + joined)
    }

    /// True if both liberties are kos that the attacker can take, and the defender gains nothing by filling one.
    fn is_double_ko(&self, points: &[usize]) -> bool {
        points.iter().all(|point| self.is_ko(*point))
            && points.iter().all(|point| self.num_liberties_with(*point) <= 2)
            && self.takes().is_empty()
    }

    /// True if only the defender's stones are around a point, and one of them, a single stone, is in atari.
    fn is_ko(&self, point: usize) -> bool {
        let board = self.board();
        let beside: Vec<usize> = self.neighbours(point).filter(|other| *other < self.geometry.all.len()).collect();
        let mut weak = beside
            .iter()
            .filter(|stone| board.stones[self.defender].contains(**stone) && self.num_liberties(**stone) == 1);
        beside.iter().all(|stone| board.stones[self.defender].contains(*stone))
            && weak.next().is_some_and(|stone| board.chain_at(*stone).len() == 1)
            && weak.next().is_none()
    }

    /// The liberties of the defender's chain on a point after a move there.
    fn num_liberties_with(&self, point: usize) -> usize {
        let mut after = self.board().clone();
        after.place(self.geometry, point, self.defender);
        if after.stones[self.defender].contains(point) { after.liberties_at(self.geometry, point).len() } else { 0 }
    }

    /// How much room a move of the defender gives it: the attacker first tries the point with more.
    fn room(&self, point: usize) -> usize {
        let own = &self.board().stones[self.defender];
        let joined = self.neighbours(point).filter(|neighbour| own.contains(*neighbour));
        let liberties = joined.map(|stone| self.num_liberties(stone)).filter(|liberties| *liberties > 1);
        2 * self.empty_beside(point) + liberties.map(|liberties| 2 * liberties - 3).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::Ladders;
    use crate::game::Notation;
    use crate::games::go::points::gtp;
    use crate::games::go::{Go, Variant};
    use crate::games::options::Options;

    /// The stones in ladders, and the first moves of each side, as texts.
    fn ladders(position: &str) -> [String; 3] {
        let (_, options) = Options::parse("go(size=7)").expect("well formed");
        let go: Go<2, 82> = Go::new(Variant::from_options(options).expect("known options"));
        let state = go.parse_position(position).expect("a position");
        let found = Ladders::of(&state.board, &go.geometry, state.ko);
        [found.stones, found.first_moves[0], found.first_moves[1]]
            .map(|points| points.iter().map(|point| gtp(7, point)).collect::<Vec<_>>().join(" "))
    }

    // 7 . . . . . . .
    // 6 . . . . . . .
    // 5 . . . . . . .
    // 4 . . . . . . .      White plays C4, Black runs to D3, White plays E3 and so on to the edge.
    // 3 . O X . . . .
    // 2 . . O O . . .
    // 1 . . . . . . .
    //   A B C D E F G

    #[test]
    fn a_stone_runs_to_the_edge() {
        assert_eq!(ladders("7/7/7/7/1OX4/2OO3/7 O"), ["C3", "", "C4"]);
        assert_eq!(ladders("7/7/7/7/1OX4/2OO3/7 X"), ["C3", "", "C4"], "whoever is to move");
    }

    #[test]
    fn a_stone_on_its_way_saves_it() {
        assert_eq!(ladders("7/5X1/7/7/1OX4/2OO3/7 O"), ["", "", ""]);
    }

    #[test]
    fn in_atari_the_defender_begins() {
        assert_eq!(ladders("7/7/7/2O4/1OX4/2OO3/7 X"), ["C3", "", ""]);
        assert_eq!(ladders("7/5X1/7/2O4/1OX4/2OO3/7 O"), ["", "", ""]);
    }
}
