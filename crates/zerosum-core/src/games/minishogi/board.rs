//! Boards and moves of minishogi, always seen by the player to move.

use crate::games::mini::PieceRules;
use crate::games::mini::board::{
    self, DIRECTIONS, FAR_RANK, LEFT_FILE, MAX_DISTANCE, MoveMasks, NUM_SQUARES, SIDE, attacked, leaving,
};

/// Number of kinds of pieces on the board.
pub const NUM_KINDS: usize = 10;
/// Number of kinds of pieces in hand.
pub const NUM_HAND_KINDS: usize = 5;

/// Kinds of pieces, in the order of the planes.
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

/// The kind that a kind promotes to.
pub const fn promoted(kind: usize) -> Option<usize> {
    match kind {
        SILVER..=PAWN => Some(kind + PROMOTED_SILVER - SILVER),
        _ => None,
    }
}

/// The kind in hand of a captured kind: the unpromoted kind less one.
const IN_HAND: [usize; NUM_KINDS] = [usize::MAX, 0, 1, 2, 3, 4, 1, 2, 3, 4];
const PAWN_IN_HAND: usize = PAWN - 1;

/// First plane of drops.
pub const FIRST_DROP: usize = 64;
/// Number of planes of actions.
pub const NUM_ACTION_PLANES: usize = FIRST_DROP + NUM_HAND_KINDS;

/// A board of minishogi; kinds in hand are gold, silver, bishop, rook, pawn.
pub type Board = board::Board<NUM_KINDS, NUM_HAND_KINDS, true>;

impl Board {
    /// Pieces that move any distance in a direction of this parity: even for ranks and files, odd for diagonals.
    #[inline]
    fn sliders(&self, direction: usize) -> u32 {
        let kinds = if direction.is_multiple_of(2) { [ROOK, PROMOTED_ROOK] } else { [BISHOP, PROMOTED_BISHOP] };
        self.kinds[kinds[0]] | self.kinds[kinds[1]]
    }

    /// Pieces except kings that move at least one step in a direction of their owner's view.
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

    /// The opponent's pieces that give check from a square beside the king. A piece in a direction from the king moves
    /// there in the same direction of its owner's view.
    #[inline]
    fn close_checkers(&self) -> u32 {
        let king = self.kinds[KING] & self.own;
        (0..8).fold(0, |checkers, direction| {
            checkers | DIRECTIONS[direction].forth(king) & self.steppers(direction) & self.opponent
        })
    }

    /// Squares that the opponent attacks, also through the own king, which cannot move along the line of a check.
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

    /// For each distance, the squares from which moves lead in a direction.
    #[inline]
    fn leaving(&self, masks: &MoveMasks, direction: usize) -> [u32; MAX_DISTANCE] {
        let step = DIRECTIONS[direction];
        let movers = self.own & masks.pins.free[direction % 4];
        let (steppers, sliders) = (self.steppers(direction) & movers, self.sliders(direction) & movers);
        let mut all = leaving(step, steppers, sliders, self.empty(), masks.targets);
        all[0] |= step.back(step.forth(self.kinds[KING] & self.own) & masks.king_targets);
        all
    }

    /// Squares on which a kind in hand may be dropped.
    #[inline]
    fn drops(&self, masks: &MoveMasks, kind: usize) -> u32 {
        if self.hands[0][kind] == 0 {
            return 0;
        }
        let squares = masks.targets & self.empty();
        if kind != PAWN_IN_HAND {
            return squares;
        }
        let own_pawns = self.kinds[PAWN] & self.own;
        let on_file = (0..SIDE).fold(0, |all, row| all | own_pawns >> (SIDE * row));
        let squares = squares & !FAR_RANK & !((on_file & FAR_RANK) * LEFT_FILE);
        let before_king = DIRECTIONS[4].forth(self.kinds[KING] & self.opponent);
        if squares & before_king != 0 && self.pawn_mates(before_king.trailing_zeros() as usize) {
            squares & !before_king
        } else {
            squares
        }
    }

    /// True if a pawn dropped before the opponent's king mates. A drop never answers a pawn's check.
    fn pawn_mates(&self, square: usize) -> bool {
        let action = (FIRST_DROP + PAWN_IN_HAND) * NUM_SQUARES + square;
        let board = self.after(action).opposite();
        !board.has_move(&board.masks())
    }
}

/// The target of a move of a plane from a square.
#[inline]
pub fn target(plane: usize, from: usize) -> usize {
    let step = plane % (FIRST_DROP / 2);
    DIRECTIONS[step / MAX_DISTANCE].target(from, step % MAX_DISTANCE + 1)
}

impl PieceRules for Board {
    #[inline]
    fn masks(&self) -> MoveMasks {
        let sliders = [0, 1].map(|direction| self.sliders(direction) & self.opponent);
        self.masks_of(self.kinds[KING] & self.own, sliders, self.attacks(), || self.close_checkers())
    }

    #[inline]
    fn has_move(&self, masks: &MoveMasks) -> bool {
        (0..8).any(|direction| self.leaving(masks, direction) != [0; MAX_DISTANCE])
            || (0..NUM_HAND_KINDS).any(|kind| self.drops(masks, kind) != 0)
    }

    #[inline]
    fn for_each_plane(&self, masks: &MoveMasks, mut take: impl FnMut(usize, u32)) {
        let promotable = self.own & (self.kinds[SILVER] | self.kinds[BISHOP] | self.kinds[ROOK] | self.kinds[PAWN]);
        let pawns = self.kinds[PAWN];
        let mut promoting = [[0; MAX_DISTANCE]; 8];
        for direction in 0..8 {
            let step = DIRECTIONS[direction];
            let mut arriving_from = FAR_RANK;
            for (index, squares) in self.leaving(masks, direction).into_iter().enumerate() {
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
            take(FIRST_DROP + kind, self.drops(masks, kind));
        }
    }

    #[inline]
    fn step_of(&self, action: usize) -> Option<(usize, usize, bool)> {
        let (plane, from) = (action / NUM_SQUARES, action % NUM_SQUARES);
        (plane < FIRST_DROP).then(|| (from, target(plane, from), plane >= FIRST_DROP / 2))
    }

    #[inline]
    fn after(&self, action: usize) -> Self {
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
