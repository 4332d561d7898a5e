//! Stones, chains and liberties.
//!
//! A chain is a ring: each stone has the index of the next stone and of the chain's head, which has the count of
//! liberties. A liberty is counted once for each adjacent stone (pseudo-liberties), so a new stone updates the counts
//! from its four neighbours. A point is a chain's only liberty if and only if the chain's count is the number of its
//! stones adjacent to that point.

use super::geometry::Geometry;
use crate::games::squares::SquareSet;
use crate::player::Player;
use crate::random::mix;

/// Number of points of the largest board.
const MAX_POINTS: usize = 25 * 25;
/// The largest number of liberties for which there is a plane.
pub const MAX_LIBERTIES: usize = 8;
const EMPTY: u8 = 2;
const OUTSIDE: u8 = 3;
const NO_HEAD: u16 = u16::MAX;

/// A random word for each side's stone on each point; its lowest ten bits are the point. The hash of a position is the
/// exclusive or of the words of its stones. Two positions have equal hashes with probability 2⁻⁵⁴.
static KEYS: [[u64; MAX_POINTS]; 2] = {
    let mut keys = [[0; MAX_POINTS]; 2];
    let mut index = 0;
    while index < 2 * MAX_POINTS {
        let (side, point) = (index / MAX_POINTS, index % MAX_POINTS);
        keys[side][point] = mix(index as u64 + 1) & !0x3FF | point as u64;
        index += 1;
    }
    keys
};

/// The point of the only stone, of this side, by which two positions differ; `difference` is the exclusive or of their
/// hashes.
#[inline]
pub fn point_between(difference: u64, side: usize) -> Option<usize> {
    let point = (difference & 0x3FF) as usize;
    (KEYS[side].get(point) == Some(&difference)).then_some(point)
}

#[derive(Clone, Copy, Debug, Default)]
struct Chain {
    /// Number of pseudo-liberties.
    liberties: u16,
    /// The sum of their points, modulo 2^16. If there is one liberty, it is the mean of the pseudo-liberties.
    sum: u16,
}

/// The effect of a new stone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It captures nothing.
    Quiet,
    /// It captures.
    Capture,
    /// It and the stones that it joins have no liberty and are removed.
    Suicide,
}

/// The result of a move.
#[derive(Clone, Copy, Debug)]
pub struct Placement {
    /// The effect.
    pub effect: Effect,
    /// The position's hash after it.
    pub hash: u64,
    /// Stones on the board after it.
    pub num_stones: usize,
}

/// The stones of a position; `P` is the number of points plus one for the outside.
#[derive(Clone, Debug)]
pub struct Board<const W: usize, const P: usize> {
    /// The stones of each side.
    pub stones: [SquareSet<W>; 2],
    /// The exclusive or of their keys.
    pub hash: u64,
    /// Number of stones.
    pub num_stones: usize,
    /// For each side, a superset of the points that are the last liberty of one of its chains.
    pub last_liberties: [SquareSet<W>; 2],
    /// The owner of the stone on a point.
    owners: [u8; P],
    /// The head of a stone's chain.
    head: [u16; P],
    /// The next stone of a stone's chain.
    next: [u16; P],
    /// Chains by head.
    chains: [Chain; P],
}

impl<const W: usize, const P: usize> Board<W, P> {
    /// An empty board.
    pub fn new(geometry: &Geometry<W>) -> Self {
        let mut owners = [EMPTY; P];
        owners[geometry.size * geometry.size] = OUTSIDE;
        Self {
            stones: [SquareSet::EMPTY; 2],
            hash: 0,
            num_stones: 0,
            last_liberties: [SquareSet::EMPTY; 2],
            owners,
            head: [NO_HEAD; P],
            next: [0; P],
            chains: [Chain::default(); P],
        }
    }

    /// The owner of the stone on a point.
    pub fn owner(&self, point: usize) -> Option<Player> {
        [Player::First, Player::Second].into_iter().find(|player| self.stones[player.index()].contains(point))
    }

    /// The points of a chain, from its head.
    #[inline]
    fn chain(&self, head: u16) -> impl Iterator<Item = usize> {
        let mut next = Some(head);
        std::iter::from_fn(move || {
            let point = next?;
            next = Some(self.next[usize::from(point)]).filter(|next| *next != head);
            Some(usize::from(point))
        })
    }

    /// The stones of the chain on a point, which has a stone.
    #[inline]
    pub fn chain_at(&self, point: usize) -> SquareSet<W> {
        self.chain(self.head[point]).collect()
    }

    /// The liberties of the chain on a point.
    #[inline]
    pub fn liberties_at(&self, geometry: &Geometry<W>, point: usize) -> SquareSet<W> {
        geometry.adjacent(self.chain_at(point)) & self.empty(geometry)
    }

    /// The exclusive or of the keys of a chain, and its number of stones.
    fn hash_of(&self, head: u16, side: usize) -> (u64, usize) {
        self.chain(head).fold((0, 0), |(hash, count), point| (hash ^ KEYS[side][point], count + 1))
    }

    /// The result of a stone of `side` on an empty point.
    #[inline]
    pub fn placement(&self, geometry: &Geometry<W>, point: usize, side: usize) -> Placement {
        let around = geometry.neighbours[point].map(usize::from);
        let heads = around.map(|neighbour| self.head[neighbour]);
        let mut has_liberty = false;
        let (mut own, mut taken) = ([NO_HEAD; 4], [NO_HEAD; 4]);
        for (index, neighbour) in around.into_iter().enumerate() {
            let (owner, head) = (self.owners[neighbour], heads[index]);
            if owner == OUTSIDE {
                continue;
            }
            if owner == EMPTY {
                has_liberty = true;
                continue;
            }
            #[allow(clippy::manual_contains)] // `contains` would be a call, which costs more than the comparisons
            if heads[..index].iter().any(|other| *other == head) {
                continue; // the chain is known already
            }
            let beside = heads.iter().filter(|other| **other == head).count();
            let has_another = usize::from(self.chains[usize::from(head)].liberties) != beside;
            if usize::from(owner) == side {
                has_liberty |= has_another;
                own[index] = head;
            } else if !has_another {
                taken[index] = head;
            }
        }
        let is_capture = taken != [NO_HEAD; 4];
        if has_liberty && !is_capture {
            let (hash, num_stones) = (self.hash ^ KEYS[side][point], self.num_stones + 1);
            return Placement { effect: Effect::Quiet, hash, num_stones };
        }
        let (effect, gone, owner, hash, num_stones) = if is_capture {
            (Effect::Capture, taken, 1 - side, self.hash ^ KEYS[side][point], self.num_stones + 1)
        } else {
            (Effect::Suicide, own, side, self.hash, self.num_stones)
        };
        let start = Placement { effect, hash, num_stones };
        gone.into_iter().filter(|head| *head != NO_HEAD).fold(start, |placement, head| {
            let (hash, count) = self.hash_of(head, owner);
            Placement { hash: placement.hash ^ hash, num_stones: placement.num_stones - count, ..placement }
        })
    }

    /// Puts a stone of `side` on an empty point. Returns the point, if there is one, on which simple ko forbids the
    /// other side to recapture.
    pub fn place(&mut self, geometry: &Geometry<W>, point: usize, side: usize) -> Option<u16> {
        let around = geometry.neighbours[point];
        let name = point as u16;
        self.stones[side].insert(point);
        self.last_liberties.iter_mut().for_each(|points| points.remove(point));
        self.hash ^= KEYS[side][point];
        self.num_stones += 1;
        self.owners[point] = side as u8;
        self.head[point] = name;
        self.next[point] = name;
        self.chains[point] = Chain { liberties: 0, sum: 0 };
        for neighbour in around {
            match self.owners[usize::from(neighbour)] {
                OUTSIDE => {}
                EMPTY => self.add_liberty(name, neighbour),
                _ => self.take_liberty(self.head[usize::from(neighbour)], name),
            }
        }
        let mut taken = None;
        let before = self.num_stones;
        for neighbour in around.map(usize::from) {
            if usize::from(self.owners[neighbour]) != 1 - side {
                continue;
            }
            let head = self.head[neighbour];
            if self.chains[usize::from(head)].liberties == 0 {
                self.lift(geometry, head, 1 - side);
                taken = Some(neighbour as u16);
            } else {
                self.note_last_liberty(head, 1 - side);
            }
        }
        let num_taken = before - self.num_stones;
        for neighbour in around.map(usize::from) {
            if usize::from(self.owners[neighbour]) == side && self.head[neighbour] != self.head[point] {
                self.join(self.head[neighbour], self.head[point]);
            }
        }
        let chain = self.chains[usize::from(self.head[point])];
        let is_alone = self.next[point] == name;
        if chain.liberties == 0 {
            self.lift(geometry, self.head[point], side);
        } else {
            self.note_last_liberty(self.head[point], side);
        }
        taken.filter(|_| num_taken == 1 && is_alone && chain.liberties == 1)
    }

    #[inline]
    fn add_liberty(&mut self, head: u16, point: u16) {
        let chain = &mut self.chains[usize::from(head)];
        chain.liberties += 1;
        chain.sum = chain.sum.wrapping_add(point);
    }

    #[inline]
    fn take_liberty(&mut self, head: u16, point: u16) {
        let chain = &mut self.chains[usize::from(head)];
        chain.liberties -= 1;
        chain.sum = chain.sum.wrapping_sub(point);
    }

    /// Notes the last liberty of a chain. A point has four neighbours, so a chain with more pseudo-liberties has at
    /// least two liberties. With fewer, the mean may be a point that is not a liberty; noting it is harmless.
    #[inline]
    fn note_last_liberty(&mut self, head: u16, side: usize) {
        let chain = self.chains[usize::from(head)];
        if (1..=4).contains(&chain.liberties) {
            self.last_liberties[side].insert(usize::from(chain.sum / chain.liberties));
        }
    }

    /// Joins two chains of one side. The stones of the one with fewer pseudo-liberties get the other's head: it is likely to be
    /// the smaller one, and a state that a search copies has no room for a count of stones.
    fn join(&mut self, one: u16, other: u16) {
        let liberties = |head: u16| self.chains[usize::from(head)].liberties;
        let (large, small) = if liberties(one) < liberties(other) { (other, one) } else { (one, other) };
        let mut point = small;
        loop {
            self.head[usize::from(point)] = large;
            point = self.next[usize::from(point)];
            if point == small {
                break;
            }
        }
        self.next.swap(usize::from(large), usize::from(small));
        let part = self.chains[usize::from(small)];
        let whole = &mut self.chains[usize::from(large)];
        whole.liberties += part.liberties;
        whole.sum = whole.sum.wrapping_add(part.sum);
    }

    /// Removes a chain.
    fn lift(&mut self, geometry: &Geometry<W>, head: u16, side: usize) {
        let mut name = head;
        loop {
            let point = usize::from(name);
            self.stones[side].remove(point);
            self.hash ^= KEYS[side][point];
            self.num_stones -= 1;
            self.owners[point] = EMPTY;
            self.head[point] = NO_HEAD;
            for neighbour in geometry.neighbours[point].map(usize::from) {
                if usize::from(self.owners[neighbour]) == 1 - side {
                    self.add_liberty(self.head[neighbour], name);
                }
            }
            name = self.next[point];
            if name == head {
                break;
            }
        }
    }

    /// For each index below `most`, the stones whose chains have `index + 1` liberties.
    pub fn stones_by_liberties(&self, geometry: &Geometry<W>, most: usize) -> [SquareSet<W>; MAX_LIBERTIES] {
        let empty = self.empty(geometry);
        let mut counted = [SquareSet::EMPTY; MAX_LIBERTIES];
        (self.stones[0] | self.stones[1]).for_each(|point| {
            // Each liberty has at most four neighbours, for each of which it is counted.
            if usize::from(self.head[point]) != point || usize::from(self.chains[point].liberties) > 4 * most {
                return;
            }
            let chain: SquareSet<W> = self.chain(point as u16).collect();
            let num_liberties = (geometry.adjacent(chain) & empty).len();
            if let Some(stones) = counted.get_mut(num_liberties - 1) {
                *stones = *stones | chain;
            }
        });
        counted
    }

    /// The points without a stone.
    #[inline]
    pub fn empty(&self, geometry: &Geometry<W>) -> SquareSet<W> {
        geometry.all & !(self.stones[0] | self.stones[1])
    }

    /// True if a point is on the board and without a stone.
    pub fn is_empty_at(&self, point: u16) -> bool {
        self.owners[usize::from(point)] == EMPTY
    }

    /// Number of points of each side's area: its stones and the empty points from which only its stones are reached.
    pub fn areas(&self, geometry: &Geometry<W>) -> [usize; 2] {
        self.areas_owned(geometry).map(|area| area.len())
    }

    /// The points of each side's area.
    pub fn areas_owned(&self, geometry: &Geometry<W>) -> [SquareSet<W>; 2] {
        let empty = self.empty(geometry);
        let [one, other] = self.stones.map(|stones| {
            let mut reached = stones;
            loop {
                let next = reached | geometry.adjacent(reached) & empty;
                if next == reached {
                    return reached;
                }
                reached = next;
            }
        });
        [one & !other, other & !one]
    }
}
