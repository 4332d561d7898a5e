//! Boards of minishogi, always seen by the player to move, and the moves on them.

use crate::games::board5::{
    ALL, DIRECTIONS, FAR_RANK, LEFT_FILE, MAX_DISTANCE, NUM_SQUARES, Pins, SIDE, answers, attacked, leaving, turned,
};
use crate::random::mix;

/// Kinds of pieces on the board.
pub const NUM_KINDS: usize = 10;
/// Kinds of pieces in hand.
pub const NUM_HAND_KINDS: usize = 5;

/// A kind of piece, in the order of the planes.
pub const KING: usize = 0;
pub const GOLD: usize = 1;
pub const SILVER: usize = 2;
pub const BISHOP: usize = 3;
pub const ROOK: usize = 4;
pub const PAWN: usize = 5;
const PROMOTED_SILVER: usize = 6;
const PROMOTED_BISHOP: usize = 7;
const PROMOTED_ROOK: usize = 8;
const PROMOTED_PAWN: usize = 9;

/// What a kind becomes when it promotes.
pub const fn promoted(kind: usize) -> Option<usize> {
    match kind {
        SILVER..=PAWN => Some(kind + PROMOTED_SILVER - SILVER),
        _ => None,
    }
}

/// What a captured kind is in hand: its kind less one.
const IN_HAND: [usize; NUM_KINDS] = [usize::MAX, 0, 1, 2, 3, 4, 1, 2, 3, 4];
const PAWN_IN_HAND: usize = PAWN - 1;

/// First of the planes of drops among the policy's.
pub const FIRST_DROP: usize = 64;
/// Planes of the policy.
pub const NUM_ACTION_PLANES: usize = FIRST_DROP + NUM_HAND_KINDS;

/// What stands on the board and what is in hand. The default is an empty board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Board {
    /// By kind, whosever they are.
    pub kinds: [u32; NUM_KINDS],
    /// Of the player to move.
    pub own: u32,
    /// Of the opponent.
    pub opponent: u32,
    /// By kind (gold, silver, bishop, rook, pawn), own and the opponent's.
    pub hands: [[u8; NUM_HAND_KINDS]; 2],
}

impl Board {
    /// The same seen by the opponent.
    #[inline]
    pub fn turned(&self) -> Self {
        Self {
            kinds: self.kinds.map(turned),
            own: turned(self.opponent),
            opponent: turned(self.own),
            hands: [self.hands[1], self.hands[0]],
        }
    }

    /// The kind of piece on a square, which must not be empty.
    #[inline]
    pub fn kind_on(&self, square: usize) -> usize {
        (1..NUM_KINDS).map(|kind| kind * (self.kinds[kind] >> square & 1) as usize).sum()
    }

    /// Squares whose piece differs.
    pub fn difference(&self, other: &Self) -> u32 {
        let kinds = self.kinds.iter().zip(&other.kinds).fold(0, |all, (one, two)| all | one ^ two);
        kinds | self.own ^ other.own
    }

    #[inline]
    fn empty(&self) -> u32 {
        ALL & !(self.own | self.opponent)
    }

    /// Pieces that go any distance along an axis of this parity: 0 for ranks and files.
    #[inline]
    fn sliders(&self, direction: usize) -> u32 {
        let kinds = if direction.is_multiple_of(2) { [ROOK, PROMOTED_ROOK] } else { [BISHOP, PROMOTED_BISHOP] };
        self.kinds[kinds[0]] | self.kinds[kinds[1]]
    }

    /// Pieces but kings that go at least one step in a direction, as their owner sees it.
    #[inline]
    fn steppers(&self, direction: usize) -> u32 {
        let kinds = &self.kinds;
        let golds = kinds[GOLD] | kinds[PROMOTED_SILVER] | kinds[PROMOTED_PAWN];
        let small = match direction {
            0 => golds | kinds[SILVER] | kinds[PAWN],
            1 | 7 => golds | kinds[SILVER],
            3 | 5 => kinds[SILVER],
            _ => golds,
        };
        small | self.sliders(direction) | kinds[PROMOTED_BISHOP] | kinds[PROMOTED_ROOK]
    }

    /// What the opponent's sliders do to the own king.
    #[inline]
    fn pins(&self) -> Pins {
        let king = (self.kinds[KING] & self.own).trailing_zeros() as usize;
        let (straight, diagonal) = (self.sliders(0) & self.opponent, self.sliders(1) & self.opponent);
        Pins::of(king, straight, diagonal, self.own, self.own | self.opponent)
    }

    /// Opponent's pieces that give check from the square beside the king. What stands in a direction from it steps there
    /// by the same direction, as its owner sees it.
    #[inline]
    fn close_checkers(&self) -> u32 {
        let king = self.kinds[KING] & self.own;
        (0..8).fold(0, |checkers, direction| {
            checkers | DIRECTIONS[direction].forth(king) & self.steppers(direction) & self.opponent
        })
    }

    /// Squares that the opponent attacks, through the own king, which cannot hide behind itself.
    #[inline]
    fn attacks(&self) -> u32 {
        let king = self.kinds[KING];
        let empty = self.empty() | king & self.own;
        (0..8).fold(0, |attacks, direction| {
            let steppers = (self.steppers(direction) | king) & self.opponent;
            let sliders = self.sliders(direction) & self.opponent;
            attacks | attacked(DIRECTIONS[(direction + 4) % 8], steppers, sliders, empty)
        })
    }

    /// The board after a legal action, seen by the same side.
    #[inline]
    pub fn after(&self, action: usize) -> Self {
        let mut board = *self;
        let (plane, square) = (action / NUM_SQUARES, action % NUM_SQUARES);
        if plane >= FIRST_DROP {
            let kind = plane - FIRST_DROP;
            board.hands[0][kind] -= 1;
            board.kinds[kind + 1] |= 1 << square;
            board.own |= 1 << square;
            return board;
        }
        let to = target(plane, square);
        if self.opponent >> to & 1 == 1 {
            let kind = self.kind_on(to);
            board.kinds[kind] ^= 1 << to;
            board.opponent ^= 1 << to;
            board.hands[0][IN_HAND[kind]] += 1;
        }
        let kind = self.kind_on(square);
        board.kinds[kind] ^= 1 << square;
        board.kinds[if plane >= FIRST_DROP / 2 { promoted(kind).unwrap_or(kind) } else { kind }] |= 1 << to;
        board.own ^= 1 << square | 1 << to;
        board
    }

    /// A number for the repetition rule: board, hands and who is to move (0 or 1).
    #[inline]
    pub fn key(&self, player: usize) -> u64 {
        // Bit b of each square's kind, counted from 1.
        let bits = |b: usize| {
            (0..NUM_KINDS).filter(|kind| (kind + 1) >> b & 1 == 1).fold(0, |set, kind| set | self.kinds[kind])
        };
        let word = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let hands = self.hands.as_flattened().iter().fold(player as u32, |hands, count| hands << 2 | u32::from(*count));
        mix(mix(mix(word(bits(0), bits(1))) ^ word(bits(2), bits(3))) ^ word(self.own, hands))
    }
}

/// Where a move of a plane leads from a square.
#[inline]
pub fn target(plane: usize, from: usize) -> usize {
    let step = plane % (FIRST_DROP / 2);
    DIRECTIONS[step / MAX_DISTANCE].target(from, step % MAX_DISTANCE + 1)
}

/// What limits the moves on a board.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pins: Pins,
    /// Where pieces other than the king may go.
    targets: u32,
    king_targets: u32,
    /// Whether the player to move is in check.
    pub is_check: bool,
}

impl Limits {
    /// What limits the moves of the player to move.
    #[inline]
    pub fn of(board: &Board) -> Self {
        let pins = board.pins();
        let attacks = board.attacks();
        let king = board.kinds[KING] & board.own;
        let is_check = attacks & king != 0;
        let checkers = if is_check { pins.checkers | board.close_checkers() } else { 0 };
        let targets = answers(king.trailing_zeros() as usize, checkers) & !board.own;
        Self { pins, targets, king_targets: !(board.own | attacks), is_check }
    }
}

/// The moves on a board.
#[derive(Clone, Copy, Debug)]
pub struct Moves<'a> {
    /// Seen by the player to move.
    pub board: &'a Board,
    /// Of this board.
    pub limits: &'a Limits,
}

impl Moves<'_> {
    /// For each distance, the squares from which moves lead in a direction.
    #[inline]
    fn leaving(&self, direction: usize) -> [u32; MAX_DISTANCE] {
        let (board, step) = (self.board, DIRECTIONS[direction]);
        let movers = board.own & self.limits.pins.free[direction % 4];
        let (steppers, sliders) = (board.steppers(direction) & movers, board.sliders(direction) & movers);
        let mut all = leaving(step, steppers, sliders, board.empty(), self.limits.targets);
        all[0] |= step.back(step.forth(board.kinds[KING] & board.own) & self.limits.king_targets);
        all
    }

    /// Squares that a kind in hand may be dropped on.
    #[inline]
    fn drops(&self, kind: usize) -> u32 {
        let board = self.board;
        if board.hands[0][kind] == 0 {
            return 0;
        }
        let squares = self.limits.targets & board.empty();
        if kind != PAWN_IN_HAND {
            return squares;
        }
        let own_pawns = board.kinds[PAWN] & board.own;
        let on_file = (0..SIDE).fold(0, |all, row| all | own_pawns >> (SIDE * row));
        let squares = squares & !FAR_RANK & !((on_file & FAR_RANK) * LEFT_FILE);
        let before_king = DIRECTIONS[4].forth(board.kinds[KING] & board.opponent);
        if squares & before_king != 0 && self.pawn_mates(before_king.trailing_zeros() as usize) {
            squares & !before_king
        } else {
            squares
        }
    }

    /// Whether a pawn dropped before the opponent's king leaves it no answer. No drop answers a pawn's check.
    fn pawn_mates(&self, square: usize) -> bool {
        let action = (FIRST_DROP + PAWN_IN_HAND) * NUM_SQUARES + square;
        let board = self.board.after(action).turned();
        !Moves { board: &board, limits: &Limits::of(&board) }.any()
    }

    /// Whether there is a legal move.
    #[inline]
    pub fn any(&self) -> bool {
        (0..8).any(|direction| self.leaving(direction) != [0; MAX_DISTANCE])
            || (0..NUM_HAND_KINDS).any(|kind| self.drops(kind) != 0)
    }

    /// The policy's planes in order, each with the squares of its legal actions.
    #[inline]
    pub fn for_each_plane(&self, mut take: impl FnMut(usize, u32)) {
        let board = self.board;
        let promotable =
            board.own & (board.kinds[SILVER] | board.kinds[BISHOP] | board.kinds[ROOK] | board.kinds[PAWN]);
        let pawns = board.kinds[PAWN];
        let mut promoting = [[0; MAX_DISTANCE]; 8];
        for direction in 0..8 {
            let step = DIRECTIONS[direction];
            let mut arriving_from = FAR_RANK;
            for (index, squares) in self.leaving(direction).into_iter().enumerate() {
                arriving_from = step.back(arriving_from);
                if squares == 0 {
                    continue;
                }
                promoting[direction][index] = squares & promotable & (FAR_RANK | arriving_from);
                take(direction * MAX_DISTANCE + index, squares & !(pawns & arriving_from));
            }
        }
        for (index, squares) in promoting.as_flattened().iter().enumerate() {
            take(FIRST_DROP / 2 + index, *squares);
        }
        for kind in 0..NUM_HAND_KINDS {
            take(FIRST_DROP + kind, self.drops(kind));
        }
    }
}
