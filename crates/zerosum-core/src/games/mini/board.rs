//! Boards of 5×5 squares as words of 25 bits, and moves of all pieces at once.
//!
//! A word is a set of squares. [`Board`] holds the pieces, [`MoveMasks`] the restrictions by checks and pins.
//!
//! ```text
//!   bits, seen by the player to move       directions
//!      0  1  2  3  4   far rank               7 0 1
//!      5  6  7  8  9                          6 · 2
//!     10 11 12 13 14                          5 4 3
//!     15 16 17 18 19
//!     20 21 22 23 24   home rank
//! ```

use crate::game::Planes;
use crate::games::squares::set_bits;
use crate::player::Player;
use crate::random::mix;

/// Squares of a rank, and of a file.
pub const SIDE: usize = 5;
/// Squares of the board.
pub const NUM_SQUARES: usize = SIDE * SIDE;
/// Largest distance of a move.
pub const MAX_DISTANCE: usize = SIDE - 1;
/// All squares.
pub const ALL: u32 = (1 << NUM_SQUARES) - 1;
/// The rank furthest from the player to move.
pub const FAR_RANK: u32 = (1 << SIDE) - 1;
/// The leftmost file.
pub const LEFT_FILE: u32 = 0b00001_00001_00001_00001_00001;

/// A step of some rows and columns, the same from each square.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Bits by which a word is rotated to the left.
    rotation: u32,
    /// Squares from which the step stays on the board.
    stays: u32,
}

impl Step {
    /// A step of `down` rows and `right` columns.
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

    /// The squares to which the step leads from these.
    #[inline]
    pub const fn forth(self, squares: u32) -> u32 {
        (squares & self.stays).rotate_left(self.rotation)
    }

    /// The squares from which the step leads to these.
    #[inline]
    pub const fn back(self, squares: u32) -> u32 {
        squares.rotate_right(self.rotation) & self.stays
    }

    /// `steps` steps back, from squares that were reached by as many steps.
    #[inline]
    fn retrace(self, squares: u32, steps: usize) -> u32 {
        squares.rotate_right(self.rotation * steps as u32)
    }

    /// The square `steps` steps on, which must be on the board.
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

/// The entry for two squares that are not on one line.
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

/// The squares strictly between two squares of one line; empty for others.
#[inline]
fn between(from: usize, to: usize) -> u32 {
    LINES.between[from][to]
}

/// The squares of a set, ascending.
#[inline]
pub fn squares(set: u32) -> impl Iterator<Item = usize> {
    set_bits(set.into())
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

/// Squares attacked in one direction: one step ahead of `steppers`, and ahead of `sliders` (which are steppers, too) up
/// to the first occupied square.
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

/// For each distance from 1 on, the squares from which pieces move that far in one direction to one of the targets.
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

/// The checks and pins of the opponent's sliders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pins {
    /// The sliders that give check.
    checkers: u32,
    /// By axis, the squares of pieces that no pin keeps from moving along it.
    pub free: [u32; 4],
}

impl Pins {
    /// The checks and pins of sliders along ranks and files and of diagonal sliders; `own` are the pieces of the king's
    /// side.
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

    /// The squares of pieces that are not pinned: a pinned piece may move along one axis only.
    #[inline]
    pub fn unpinned(&self) -> u32 {
        self.free[0] & self.free[1]
    }
}

/// The targets of pieces other than the king: all squares without a check; with one, the checker and the squares
/// between it and the king; none with two.
#[inline]
fn answers(king: usize, checkers: u32) -> u32 {
    match checkers.count_ones() {
        0 => ALL,
        1 => checkers | between(king, checkers.trailing_zeros() as usize),
        _ => 0,
    }
}

/// The masks that checks and pins put on the moves of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveMasks {
    /// The checks and pins of the opponent's sliders.
    pub pins: Pins,
    /// The targets of pieces other than the king.
    pub targets: u32,
    /// The targets of the king.
    pub king_targets: u32,
    /// True if the player to move is in check.
    pub is_check: bool,
}

/// The pieces on a board and in hand, seen by the player to move. The opponent sees the board turned by 180 degrees if
/// it `TURNS`, as in shogi, else flipped top to bottom, as in chess. The default is an empty board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board<const KINDS: usize, const IN_HAND: usize, const TURNS: bool> {
    /// Squares of both sides' pieces by kind.
    pub kinds: [u32; KINDS],
    /// Squares of the pieces of the player to move.
    pub own: u32,
    /// Squares of the opponent's pieces.
    pub opponent: u32,
    /// Numbers of pieces in hand by kind, own and the opponent's.
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

    /// The same board seen by the opponent.
    #[inline]
    pub fn opposite(&self) -> Self {
        Self {
            kinds: self.kinds.map(Self::opposite_squares),
            own: Self::opposite_squares(self.opponent),
            opponent: Self::opposite_squares(self.own),
            hands: [self.hands[1], self.hands[0]],
        }
    }

    /// The board of `player`'s view in the first player's view, or the reverse.
    pub fn first_sees(&self, player: Player) -> Self {
        if player == Player::First { *self } else { self.opposite() }
    }

    /// A square of `player`'s view in the first player's view, or the reverse.
    pub fn first_sees_square(square: usize, player: Player) -> usize {
        if player == Player::First { square } else { Self::opposite_squares(1 << square).trailing_zeros() as usize }
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

    /// The squares, in the first player's view and ascending, that the last move changed; `player` is to move. Empty if
    /// there is no board before.
    pub fn last_move(&self, before: &Self, player: Player) -> Vec<usize> {
        if *before == Self::default() {
            return Vec::new();
        }
        let before = before.opposite();
        let kinds = self.kinds.iter().zip(before.kinds).fold(0, |all, (one, two)| all | one ^ two);
        let changed = kinds | self.own ^ before.own;
        squares(if player == Player::First { changed } else { Self::opposite_squares(changed) }).collect()
    }

    /// Material of the player to move less the opponent's, by the value of each kind. Kinds in hand follow kind 0.
    #[inline]
    pub fn material(&self, values: &[f32; KINDS]) -> f32 {
        let count =
            |squares: u32| (squares & self.own).count_ones() as f32 - (squares & self.opponent).count_ones() as f32;
        let on_board: f32 = self.kinds.iter().zip(values).map(|(squares, value)| count(*squares) * value).sum();
        let [own, opponent] = &self.hands;
        let counts = own.iter().zip(opponent).map(|(own, opponent)| f32::from(*own) - f32::from(*opponent));
        on_board + counts.zip(&values[1..]).map(|(count, value)| count * value).sum::<f32>()
    }

    /// A board of pieces, each a kind and its owner, row by row as the first player sees the board; hands are empty.
    pub fn of_pieces(pieces: impl IntoIterator<Item = Option<(usize, Player)>>) -> Self {
        let mut board = Self::default();
        for (square, piece) in pieces.into_iter().enumerate() {
            let Some((kind, owner)) = piece else { continue };
            board.kinds[kind] |= 1 << square;
            *[&mut board.own, &mut board.opponent][owner.index()] |= 1 << square;
        }
        board
    }

    /// The squares without a piece.
    #[inline]
    pub fn empty(&self) -> u32 {
        ALL & !(self.own | self.opponent)
    }

    /// The masks for the player to move. `sliders` are the opponent's along ranks and files and along diagonals,
    /// `attacks` all squares that the opponent attacks, `others` the opponent's pieces that give check and are not
    /// sliders.
    #[inline]
    pub fn masks_of(&self, king: u32, sliders: [u32; 2], attacks: u32, others: impl FnOnce() -> u32) -> MoveMasks {
        let king_square = king.trailing_zeros() as usize;
        let pins = Pins::of(king_square, sliders, self.own, self.own | self.opponent);
        let is_check = attacks & king != 0;
        let checkers = if is_check { pins.checkers | others() } else { 0 };
        let targets = answers(king_square, checkers) & !self.own;
        MoveMasks { pins, targets, king_targets: !(self.own | attacks), is_check }
    }

    /// The key for repetition: a hash of board, hands and player to move.
    #[inline]
    pub fn key(&self, player: Player) -> u64 {
        // The squares whose kind, numbered from 1, has bit b.
        let bits =
            |b: usize| (0..KINDS).filter(|kind| (kind + 1) >> b & 1 == 1).fold(0, |set, kind| set | self.kinds[kind]);
        let word = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let rest = self.hands.as_flattened().iter().fold(player as u32, |rest, count| rest << 2 | u32::from(*count));
        mix(mix(mix(word(bits(0), bits(1))) ^ word(bits(2), bits(3))) ^ word(self.own, rest))
    }

    /// Writes the planes of the pieces: own by kind, then the opponent's.
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
        // There is a rook in the left corner of the home rank, and a piece two squares ahead of it on the same file.
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
