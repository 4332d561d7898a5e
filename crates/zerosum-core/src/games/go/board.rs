//! Stones, their chains and liberties.
//!
//! A chain is a ring: each stone names the next, and all name the chain's head, where its liberties are counted. They are
//! counted once for each stone beside them (pseudo-liberties), so that a stone adds and takes away by looking at four points:
//! a chain has no other liberty than a point exactly if its count is the number of its stones beside that point.

use super::bits::{Bits, Geometry};
use crate::game::Player;
use crate::random::mix;

/// Points of the largest board.
const MAX_POINTS: usize = 25 * 25;
const EMPTY: u8 = 2;
const OUTSIDE: u8 = 3;
const NO_HEAD: u16 = u16::MAX;

/// A random word for each side's stone on each point, whose lowest ten bits are the point: a position's hash is the XOR of
/// its stones' words. Two positions have one hash by a chance of 2⁻⁵⁴.
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

/// The point whose stone of this side makes the difference between two hashes, if it is one stone alone.
#[inline]
pub fn point_between(difference: u64, side: usize) -> Option<usize> {
    let point = (difference & 0x3FF) as usize;
    (KEYS[side].get(point) == Some(&difference)).then_some(point)
}

#[derive(Clone, Copy, Debug, Default)]
struct Chain {
    /// Pseudo-liberties.
    liberties: u16,
    /// The sum of their points, modulo 2^16: where there are few, their mean is the one point that they can all be.
    sum: u16,
    num_stones: u16,
}

/// What a stone does to the chains around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It stands, and takes nothing.
    Quiet,
    /// It takes stones.
    Capture,
    /// It has no liberty, nor have the stones that it joins: they all go.
    Suicide,
}

/// A move before it is made.
#[derive(Clone, Copy, Debug)]
pub struct Placement {
    /// What it does.
    pub effect: Effect,
    /// The position's hash after it.
    pub hash: u64,
    /// Stones on the board after it.
    pub num_stones: usize,
}

/// A position's stones; `P` is the number of points and one more for what is outside.
#[derive(Clone, Debug)]
pub struct Board<const W: usize, const P: usize> {
    /// The stones of each side.
    pub stones: [Bits<W>; 2],
    /// The XOR of their keys.
    pub hash: u64,
    /// How many there are.
    pub num_stones: usize,
    /// Empty points each of which was the last liberty of a chain of this side at some time, and may still be: all that
    /// are, and some more.
    pub last_liberties: [Bits<W>; 2],
    /// Whose stone is on a point.
    owners: [u8; P],
    /// Of the chain of which a stone is part.
    head: [u16; P],
    /// The chain's next stone.
    next: [u16; P],
    /// By head.
    chains: [Chain; P],
}

impl<const W: usize, const P: usize> Board<W, P> {
    /// No stones.
    pub fn new(geometry: &Geometry<W>) -> Self {
        let mut owners = [EMPTY; P];
        owners[geometry.size * geometry.size] = OUTSIDE;
        Self {
            stones: [Bits::NONE; 2],
            hash: 0,
            num_stones: 0,
            last_liberties: [Bits::NONE; 2],
            owners,
            head: [NO_HEAD; P],
            next: [0; P],
            chains: [Chain::default(); P],
        }
    }

    /// Whose stone is on a point.
    pub fn owner(&self, point: usize) -> Option<Player> {
        [Player::First, Player::Second].into_iter().find(|player| self.stones[player.index()].has(point))
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

    /// The XOR of the keys of a chain.
    fn hash_of(&self, head: u16, side: usize) -> u64 {
        self.chain(head).fold(0, |hash, point| hash ^ KEYS[side][point])
    }

    /// What a stone of `side` on an empty point would do.
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
            let beside = heads.iter().filter(|other| **other == head).count();
            let has_another = usize::from(self.chains[usize::from(head)].liberties) != beside;
            if usize::from(owner) == side {
                has_liberty |= has_another;
                own[index] = if own.contains(&head) { NO_HEAD } else { head };
            } else if !has_another && !taken.contains(&head) {
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
        gone.into_iter().filter(|head| *head != NO_HEAD).fold(start, |placement, head| Placement {
            hash: placement.hash ^ self.hash_of(head, owner),
            num_stones: placement.num_stones - usize::from(self.chains[usize::from(head)].num_stones),
            ..placement
        })
    }

    /// Puts a stone of `side` on an empty point. Answers the point, if there is one, on which the other side would take back
    /// at once the one stone that took one.
    pub fn place(&mut self, geometry: &Geometry<W>, point: usize, side: usize) -> Option<u16> {
        let around = geometry.neighbours[point];
        let name = point as u16;
        self.stones[side].add(point);
        self.last_liberties.iter_mut().for_each(|points| points.remove(point));
        self.hash ^= KEYS[side][point];
        self.num_stones += 1;
        self.owners[point] = side as u8;
        self.head[point] = name;
        self.next[point] = name;
        self.chains[point] = Chain { liberties: 0, sum: 0, num_stones: 1 };
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
        if chain.liberties == 0 {
            self.lift(geometry, self.head[point], side);
        } else {
            self.note_last_liberty(self.head[point], side);
        }
        taken.filter(|_| num_taken == 1 && chain.num_stones == 1 && chain.liberties == 1)
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

    /// A point has four neighbours: a chain with more pseudo-liberties has at least two liberties. Where the mean of few
    /// is no liberty at all, it is no harm that it is noted.
    #[inline]
    fn note_last_liberty(&mut self, head: u16, side: usize) {
        let chain = self.chains[usize::from(head)];
        if (1..=4).contains(&chain.liberties) {
            self.last_liberties[side].add(usize::from(chain.sum / chain.liberties));
        }
    }

    /// Makes one chain of two of the same side.
    fn join(&mut self, one: u16, other: u16) {
        let stones = |head: u16| self.chains[usize::from(head)].num_stones;
        let (large, small) = if stones(one) < stones(other) { (other, one) } else { (one, other) };
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
        whole.num_stones += part.num_stones;
    }

    /// Takes a chain off the board.
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

    /// The points without a stone.
    #[inline]
    pub fn empty(&self, geometry: &Geometry<W>) -> Bits<W> {
        geometry.all & !(self.stones[0] | self.stones[1])
    }

    /// True if a point is on the board and without a stone.
    pub fn is_empty_at(&self, point: u16) -> bool {
        self.owners[usize::from(point)] == EMPTY
    }

    /// How many points each side's area has: its stones and the empty points from which only its stones are reached.
    pub fn areas(&self, geometry: &Geometry<W>) -> [usize; 2] {
        self.areas_owned(geometry).map(|area| area.count())
    }

    /// The points of each side's area.
    pub fn areas_owned(&self, geometry: &Geometry<W>) -> [Bits<W>; 2] {
        let empty = self.empty(geometry);
        let [one, other] = self.stones.map(|stones| {
            let mut reached = stones;
            loop {
                let next = reached | geometry.beside(reached) & empty;
                if next == reached {
                    return reached;
                }
                reached = next;
            }
        });
        [one & !other, other & !one]
    }
}
