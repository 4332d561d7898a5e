//! Boards of 5×5 squares as words of 25 bits, for minishogi and minichess, and how pieces move over them, all at once.
//!
//! ```text
//!   bits, seen by the player to move       directions
//!      0  1  2  3  4   far rank               7 0 1
//!      5  6  7  8  9                          6 · 2
//!     10 11 12 13 14                          5 4 3
//!     15 16 17 18 19
//!     20 21 22 23 24   home rank
//! ```

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
pub fn between(from: usize, to: usize) -> u32 {
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
pub fn turned(set: u32) -> u32 {
    set.reverse_bits() >> (32 - NUM_SQUARES)
}

/// The board flipped top to bottom.
#[inline]
pub fn flipped(set: u32) -> u32 {
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
#[derive(Clone, Copy, Debug)]
pub struct Pins {
    /// Those that give check.
    pub checkers: u32,
    /// By axis, the squares that no pin keeps off it.
    pub free: [u32; 4],
}

impl Pins {
    /// What sliders, some along ranks and files, some diagonally, do to the king of the side that has `own` pieces.
    #[inline]
    pub fn of(king: usize, straight: u32, diagonal: u32, own: u32, occupied: u32) -> Self {
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
pub fn answers(king: usize, checkers: u32) -> u32 {
    match checkers.count_ones() {
        0 => ALL,
        1 => checkers | between(king, checkers.trailing_zeros() as usize),
        _ => 0,
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
