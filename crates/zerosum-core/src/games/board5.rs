//! Boards of 5×5 squares as words of 25 bits, for minishogi and minichess, and how pieces move over them, all at once.
//!
//! A word is a set of squares; [`Board`] says what stands on them, [`Limits`] what checks and pins leave of the moves.
//!
//! ```text
//!   bits, seen by the player to move       directions
//!      0  1  2  3  4   far rank               7 0 1
//!      5  6  7  8  9                          6 · 2
//!     10 11 12 13 14                          5 4 3
//!     15 16 17 18 19
//!     20 21 22 23 24   home rank
//! ```

use crate::game::{Planes, Player};
use crate::random::mix;

/// Squares of a rank and of a file.
pub const SIDE: usize = 5;
/// Squares of the board.
pub const NUM_SQUARES: usize = SIDE * SIDE;
/// The longest way that a piece goes.
pub const MAX_DISTANCE: usize = SIDE - 1;
/// All squares.
pub const ALL: u32 = (1 << NUM_SQUARES) - 1;
/// The rank furthest from the player to move.
pub const FAR_RANK: u32 = (1 << SIDE) - 1;
/// The file at the left.
pub const LEFT_FILE: u32 = 0b00001_00001_00001_00001_00001;

/// A step of so many rows and columns, the same from each square.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Bits to rotate a word by, to the left.
    rotation: u32,
    /// Squares from which the step stays on the board.
    stays: u32,
}

impl Step {
    /// So many rows down and columns to the right.
    pub const fn new(down: i32, right: i32) -> Self {
        let mut stays = 0;
        let mut square = 0;
        while square < NUM_SQUARES {
            let (row, column) = ((square / SIDE) as i32 + down, (square % SIDE) as i32 + right);
            if row >= 0 && row < SIDE as i32 && column >= 0 && column < SIDE as i32 {
                stays |= 1 << square;
            }
            square += 1;
        }
        Self { rotation: (SIDE as i32 * down + right).rem_euclid(32) as u32, stays }
    }

    /// Where the step leads from these squares.
    #[inline]
    pub const fn forth(self, squares: u32) -> u32 {
        (squares & self.stays).rotate_left(self.rotation)
    }

    /// The squares from which the step leads here.
    #[inline]
    pub const fn back(self, squares: u32) -> u32 {
        squares.rotate_right(self.rotation) & self.stays
    }

    /// So many steps back, from squares that as many steps led to.
    #[inline]
    fn retrace(self, squares: u32, steps: usize) -> u32 {
        squares.rotate_right(self.rotation * steps as u32)
    }

    /// The square so many steps on, which must be on the board.
    #[inline]
    pub fn target(self, square: usize, steps: usize) -> usize {
        (1_u32 << square).rotate_left(self.rotation * steps as u32).trailing_zeros() as usize
    }
}

/// The queen's directions, clockwise from straight ahead; direction d is of axis d % 4.
pub const DIRECTIONS: [Step; 8] = [
    Step::new(-1, 0),
    Step::new(-1, 1),
    Step::new(0, 1),
    Step::new(1, 1),
    Step::new(1, 0),
    Step::new(1, -1),
    Step::new(0, -1),
    Step::new(-1, -1),
];

/// No direction leads from a square to the other.
const UNALIGNED: u8 = 8;

/// Squares strictly between two, and the direction from one to the other.
struct Lines {
    between: [[u32; NUM_SQUARES]; NUM_SQUARES],
    direction: [[u8; NUM_SQUARES]; NUM_SQUARES],
}

static LINES: Lines = {
    let mut lines =
        Lines { between: [[0; NUM_SQUARES]; NUM_SQUARES], direction: [[UNALIGNED; NUM_SQUARES]; NUM_SQUARES] };
    let mut from = 0;
    while from < NUM_SQUARES {
        let mut direction = 0;
        while direction < 8 {
            let (mut reached, mut passed) = (DIRECTIONS[direction].forth(1 << from), 0);
            while reached != 0 {
                let to = reached.trailing_zeros() as usize;
                lines.between[from][to] = passed;
                lines.direction[from][to] = direction as u8;
                passed |= reached;
                reached = DIRECTIONS[direction].forth(reached);
            }
            direction += 1;
        }
        from += 1;
    }
    lines
};

/// Squares strictly between two of one line; none for others.
#[inline]
fn between(from: usize, to: usize) -> u32 {
    LINES.between[from][to]
}

/// The squares of a set, ascending.
#[inline]
pub fn squares(mut set: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let square = set.trailing_zeros() as usize;
        let is_some = set != 0;
        set &= set.wrapping_sub(1);
        is_some.then_some(square)
    })
}

/// The board turned by 180 degrees.
#[inline]
fn turned(set: u32) -> u32 {
    set.reverse_bits() >> (32 - NUM_SQUARES)
}

/// The board flipped top to bottom.
#[inline]
fn flipped(set: u32) -> u32 {
    let rank = |row: usize| set >> (SIDE * row) & FAR_RANK;
    rank(4) | rank(3) << 5 | rank(2) << 10 | rank(1) << 15 | rank(0) << 20
}

/// Squares attacked in one direction: one step ahead of `steppers`, and ahead of `sliders` (steppers, too) up to the first
/// square that is not empty.
#[inline]
pub fn attacked(direction: Step, steppers: u32, sliders: u32, empty: u32) -> u32 {
    let mut attacked = direction.forth(steppers);
    let mut reached = direction.forth(sliders) & empty;
    for _ in 1..MAX_DISTANCE {
        reached = direction.forth(reached);
        attacked |= reached;
        reached &= empty;
    }
    attacked
}

/// For each distance from 1 on, the squares from which pieces go so far in one direction to one of the targets.
#[inline]
pub fn leaving(direction: Step, steppers: u32, sliders: u32, empty: u32, targets: u32) -> [u32; MAX_DISTANCE] {
    let mut leaving = [0; MAX_DISTANCE];
    leaving[0] = direction.back(direction.forth(steppers) & targets);
    let mut reached = direction.forth(sliders) & empty;
    for (index, leaving) in leaving.iter_mut().enumerate().skip(1) {
        reached = direction.forth(reached);
        *leaving = direction.retrace(reached & targets, index + 1);
        reached &= empty;
    }
    leaving
}

/// What the opponent's sliders do to a king.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pins {
    /// Those that give check.
    checkers: u32,
    /// By axis, the squares that no pin keeps off it.
    pub free: [u32; 4],
}

impl Pins {
    /// What sliders, some along ranks and files, some diagonally, do to the king of the side that has `own` pieces.
    #[inline]
    fn of(king: usize, [straight, diagonal]: [u32; 2], own: u32, occupied: u32) -> Self {
        let mut pins = Self { checkers: 0, free: [ALL; 4] };
        for slider in squares(straight | diagonal) {
            let direction = LINES.direction[king][slider];
            let moves_so = if direction.is_multiple_of(2) { straight } else { diagonal } >> slider & 1 == 1;
            if direction == UNALIGNED || !moves_so {
                continue;
            }
            let passed = LINES.between[king][slider] & occupied;
            if passed == 0 {
                pins.checkers |= 1 << slider;
            } else if passed.is_power_of_two() && passed & own != 0 {
                for (axis, free) in pins.free.iter_mut().enumerate() {
                    if axis != usize::from(direction) % 4 {
                        *free &= !passed;
                    }
                }
            }
        }
        pins
    }

    /// The squares of pieces that are not pinned at all: a pin keeps a piece off all axes but one.
    #[inline]
    pub fn unpinned(&self) -> u32 {
        self.free[0] & self.free[1]
    }
}

/// Where pieces other than the king may go: anywhere if nothing gives check; to take the one piece that does, or between it
/// and the king; nowhere if two do.
#[inline]
fn answers(king: usize, checkers: u32) -> u32 {
    match checkers.count_ones() {
        0 => ALL,
        1 => checkers | between(king, checkers.trailing_zeros() as usize),
        _ => 0,
    }
}

/// What limits the moves on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of the opponent's sliders.
    pub pins: Pins,
    /// Where pieces other than the king may go.
    pub targets: u32,
    /// Where the king may go.
    pub king_targets: u32,
    /// Whether the player to move is in check.
    pub is_check: bool,
}

/// What stands on a board and what is in hand, seen by the player to move. The opponent sees the board turned by 180 degrees
/// if it `TURNS`, as in shogi, else flipped top to bottom, as in chess. The default is an empty board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board<const KINDS: usize, const IN_HAND: usize, const TURNS: bool> {
    /// By kind, whosever they are.
    pub kinds: [u32; KINDS],
    /// Of the player to move.
    pub own: u32,
    /// Of the opponent.
    pub opponent: u32,
    /// What is in hand by kind, own and the opponent's.
    pub hands: [[u8; IN_HAND]; 2],
}

impl<const KINDS: usize, const IN_HAND: usize, const TURNS: bool> Default for Board<KINDS, IN_HAND, TURNS> {
    fn default() -> Self {
        Self { kinds: [0; KINDS], own: 0, opponent: 0, hands: [[0; IN_HAND]; 2] }
    }
}

impl<const KINDS: usize, const IN_HAND: usize, const TURNS: bool> Board<KINDS, IN_HAND, TURNS> {
    /// The squares of a set as the other side sees them.
    #[inline]
    fn opposite_squares(set: u32) -> u32 {
        if TURNS { turned(set) } else { flipped(set) }
    }

    /// The same seen by the opponent.
    #[inline]
    pub fn opposite(&self) -> Self {
        Self {
            kinds: self.kinds.map(Self::opposite_squares),
            own: Self::opposite_squares(self.opponent),
            opponent: Self::opposite_squares(self.own),
            hands: [self.hands[1], self.hands[0]],
        }
    }

    /// The board that `player` sees as the first player sees it, or the other way round.
    pub fn first_sees(&self, player: Player) -> Self {
        if player == Player::First { *self } else { self.opposite() }
    }

    /// A square that `player` sees as the first player sees it, or the other way round.
    pub fn first_sees_square(square: usize, player: Player) -> usize {
        if player == Player::First { square } else { Self::opposite_squares(1 << square).trailing_zeros() as usize }
    }

    /// What was so many plies before a position that was set up: the same again, as who was to move saw it, or nothing.
    pub fn before(&self, is_repeated: bool) -> impl Fn(usize) -> Self {
        let (same, opposite) = (*self, self.opposite());
        move |age| match (is_repeated, age % 2) {
            (false, _) => Self::default(),
            (true, 0) => same,
            (true, _) => opposite,
        }
    }

    /// The kind of piece on a square, which must not be empty.
    #[inline]
    pub fn kind_on(&self, square: usize) -> usize {
        (1..KINDS).map(|kind| kind * (self.kinds[kind] >> square & 1) as usize).sum()
    }

    /// The kind and the owner of the piece on a square as the first player sees the board; `player` is to move.
    pub fn piece_on(&self, square: usize, player: Player) -> Option<(usize, Player)> {
        let square = Self::first_sees_square(square, player);
        let owner = if self.own >> square & 1 == 1 { player } else { player.opponent() };
        ((self.own | self.opponent) >> square & 1 == 1).then(|| (self.kind_on(square), owner))
    }

    /// The squares, as the first player sees them and ascending, that the last move changed; `player` is to move. None if
    /// there was nothing before.
    pub fn last_move(&self, before: &Self, player: Player) -> Vec<usize> {
        if *before == Self::default() {
            return Vec::new();
        }
        let before = before.opposite();
        let kinds = self.kinds.iter().zip(before.kinds).fold(0, |all, (one, two)| all | one ^ two);
        let changed = kinds | self.own ^ before.own;
        squares(if player == Player::First { changed } else { Self::opposite_squares(changed) }).collect()
    }

    /// What the player to move has more than the opponent, at a value for each kind on the board and in hand.
    #[inline]
    pub fn material(&self, values: &[f32; KINDS], values_in_hand: &[f32]) -> f32 {
        let count =
            |squares: u32| (squares & self.own).count_ones() as f32 - (squares & self.opponent).count_ones() as f32;
        let on_board: f32 = self.kinds.iter().zip(values).map(|(squares, value)| count(*squares) * value).sum();
        let [own, opponent] = &self.hands;
        let more = own.iter().zip(opponent).map(|(own, opponent)| f32::from(*own) - f32::from(*opponent));
        on_board + more.zip(values_in_hand).map(|(count, value)| count * value).sum::<f32>()
    }

    /// The squares without a piece.
    #[inline]
    pub fn empty(&self) -> u32 {
        ALL & !(self.own | self.opponent)
    }

    /// What limits the moves of the player to move: the opponent's sliders along ranks and files and along diagonals, all that
    /// the opponent attacks, and `others`, those of the opponent's pieces that give check and are no sliders.
    #[inline]
    pub fn limits_of(&self, king: u32, sliders: [u32; 2], attacks: u32, others: impl FnOnce() -> u32) -> Limits {
        let king_square = king.trailing_zeros() as usize;
        let pins = Pins::of(king_square, sliders, self.own, self.own | self.opponent);
        let is_check = attacks & king != 0;
        let checkers = if is_check { pins.checkers | others() } else { 0 };
        let targets = answers(king_square, checkers) & !self.own;
        Limits { pins, targets, king_targets: !(self.own | attacks), is_check }
    }

    /// A number for the repetition rule: board, hands and who is to move.
    #[inline]
    pub fn key(&self, player: Player) -> u64 {
        // Bit b of each square's kind, counted from 1.
        let bits =
            |b: usize| (0..KINDS).filter(|kind| (kind + 1) >> b & 1 == 1).fold(0, |set, kind| set | self.kinds[kind]);
        let word = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let rest = self.hands.as_flattened().iter().fold(player as u32, |rest, count| rest << 2 | u32::from(*count));
        mix(mix(mix(word(bits(0), bits(1))) ^ word(bits(2), bits(3))) ^ word(self.own, rest))
    }

    /// Writes where the pieces stand: own by kind, then the opponent's.
    #[inline]
    pub fn encode(&self, planes: &mut Planes<'_>) {
        for side in [self.own, self.opponent] {
            self.kinds.iter().for_each(|squares| planes.mask(u64::from(squares & side)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_stay_on_the_board() {
        for (down, right) in (-2..=2).flat_map(|down| (-2..=2).map(move |right| (down, right))) {
            let step = Step::new(down, right);
            for square in 0..NUM_SQUARES {
                let (row, column) = ((square / SIDE) as i32 + down, (square % SIDE) as i32 + right);
                let is_on_board = (0..5).contains(&row) && (0..5).contains(&column);
                let expected = if is_on_board { 1 << (5 * row + column) } else { 0 };
                assert_eq!(step.forth(1 << square), expected, "{square} by {down}, {right}");
                assert_eq!(step.back(expected), if is_on_board { 1 << square } else { 0 });
            }
            assert_eq!(step.forth(ALL) & !ALL, 0);
        }
    }

    #[test]
    fn boards_turn_and_flip() {
        for square in 0..NUM_SQUARES {
            assert_eq!(turned(1 << square), 1 << (24 - square));
            assert_eq!(flipped(1 << square), 1 << (5 * (4 - square / 5) + square % 5));
        }
    }

    #[test]
    fn sliders_stop_at_what_is_in_the_way() {
        // A rook in the left corner of the home rank, and a piece two squares ahead of it on the same file.
        let (rook, piece) = (1 << 20, 1 << 10);
        let empty = ALL & !(rook | piece);
        assert_eq!(attacked(DIRECTIONS[0], rook, rook, empty), 1 << 15 | 1 << 10);
        assert_eq!(leaving(DIRECTIONS[0], rook, rook, empty, ALL), [rook, rook, 0, 0]);
        assert_eq!(leaving(DIRECTIONS[2], rook, rook, empty, ALL & !(1 << 22)), [rook, 0, rook, rook]);
        assert_eq!(between(20, 0), 1 << 15 | 1 << 10 | 1 << 5);
        assert_eq!(between(20, 8), 1 << 16 | 1 << 12);
        assert_eq!(between(20, 9), 0);
    }
}
