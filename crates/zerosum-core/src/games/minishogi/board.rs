//! Boards of minishogi, always seen by the player to move, and the moves on them.

use crate::games::board5::{
    self, DIRECTIONS, FAR_RANK, LEFT_FILE, Limits, MAX_DISTANCE, NUM_SQUARES, SIDE, attacked, leaving,
};

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

/// By kind; a king is never lost.
pub const PIECE_VALUES: [f32; NUM_KINDS] = [0.0, 6.0, 5.0, 8.0, 10.0, 1.0, 6.0, 10.0, 12.0, 7.0];

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

/// A board of minishogi; what is in hand is gold, silver, bishop, rook, pawn.
pub type Board = board5::Board<NUM_KINDS, NUM_HAND_KINDS, true>;

impl Board {
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

    /// What limits the moves of the player to move.
    #[inline]
    pub fn limits(&self) -> Limits {
        let sliders = [0, 1].map(|direction| self.sliders(direction) & self.opponent);
        self.limits_of(self.kinds[KING] & self.own, sliders, self.attacks(), || self.close_checkers())
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
}

/// Where a move of a plane leads from a square.
#[inline]
pub fn target(plane: usize, from: usize) -> usize {
    let step = plane % (FIRST_DROP / 2);
    DIRECTIONS[step / MAX_DISTANCE].target(from, step % MAX_DISTANCE + 1)
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
        let board = self.board.after(action).opposite();
        !Moves { board: &board, limits: &board.limits() }.any()
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
