//! Boards and moves of minichess, always seen by the player to move.

use crate::games::fide::KNIGHT_MOVES;
use crate::games::mini::PieceRules;
use crate::games::mini::board::{
    self, ALL, DIRECTIONS, FAR_RANK, MAX_DISTANCE, MoveMasks, NUM_SQUARES, SIDE, Step, attacked, leaving,
};

/// Number of kinds of pieces.
pub const NUM_KINDS: usize = 6;

/// Kinds of pieces, in the order of the planes.
pub const PAWN: usize = 0;
pub const KNIGHT: usize = 1;
pub const BISHOP: usize = 2;
pub const ROOK: usize = 3;
pub const QUEEN: usize = 4;
pub const KING: usize = 5;

/// Knight moves in the order of [`KNIGHT_MOVES`].
const KNIGHT_STEPS: [Step; 8] = {
    let mut steps = [Step::new(0, 0); 8];
    let mut index = 0;
    while index < 8 {
        let (down, right) = KNIGHT_MOVES[index];
        steps[index] = Step::new(down, right);
        index += 1;
    }
    steps
};
/// Directions in which the opponent's pawns capture.
const OPPONENT_PAWN_TAKES: [usize; 2] = [5, 3];

/// First planes of knight moves and of underpromotions.
const FIRST_KNIGHT: usize = 32;
pub const FIRST_UNDERPROMOTION: usize = FIRST_KNIGHT + 8;
/// Number of planes of actions.
pub const NUM_ACTION_PLANES: usize = FIRST_UNDERPROMOTION + 9;
/// Directions and kinds of underpromotions.
const PROMOTION_DIRECTIONS: [usize; 3] = [7, 0, 1];
pub const UNDERPROMOTIONS: [usize; 3] = [KNIGHT, BISHOP, ROOK];
/// The rank from which a pawn promotes.
const SEVENTH: u32 = FAR_RANK << SIDE;

/// Squares of the shade of the corners.
pub const CORNER_SHADE: u32 = 0b10101_01010_10101_01010_10101;

/// A board of minichess.
pub type Board = board::Board<NUM_KINDS, 0, false>;

impl Board {
    /// Pieces that move any distance in a direction of this parity: even for ranks and files, odd for diagonals.
    #[inline]
    fn sliders(&self, direction: usize) -> u32 {
        self.kinds[QUEEN] | self.kinds[if direction.is_multiple_of(2) { ROOK } else { BISHOP }]
    }

    /// The opponent's knights and pawns that give check.
    #[inline]
    fn leaping_checkers(&self) -> u32 {
        let king = self.kinds[KING] & self.own;
        let around = |step: Step| step.back(king);
        let knights = KNIGHT_STEPS.iter().fold(0, |all, step| all | around(*step)) & self.kinds[KNIGHT];
        let [left, right] = OPPONENT_PAWN_TAKES.map(|direction| around(DIRECTIONS[direction]));
        (knights | (left | right) & self.kinds[PAWN]) & self.opponent
    }

    /// Squares that the opponent attacks, also through the own king, which cannot move along the line of a check.
    #[inline]
    fn attacks(&self) -> u32 {
        let king = self.kinds[KING];
        let empty = self.empty() | king & self.own;
        let straight = (0..8).fold(0, |attacks, direction| {
            let sliders = self.sliders(direction) & self.opponent;
            attacks | attacked(DIRECTIONS[direction], sliders | king & self.opponent, sliders, empty)
        });
        let (knights, pawns) = (self.kinds[KNIGHT] & self.opponent, self.kinds[PAWN] & self.opponent);
        let leaps = KNIGHT_STEPS.iter().fold(straight, |attacks, step| attacks | step.forth(knights));
        OPPONENT_PAWN_TAKES.iter().fold(leaps, |attacks, direction| attacks | DIRECTIONS[*direction].forth(pawns))
    }

    /// The kind of the moved piece after a legal action.
    #[inline]
    pub fn kind_after(&self, action: usize) -> usize {
        let (plane, from) = (action / NUM_SQUARES, action % NUM_SQUARES);
        if plane >= FIRST_UNDERPROMOTION {
            return UNDERPROMOTIONS[(plane - FIRST_UNDERPROMOTION) % 3];
        }
        let kind = self.kind_on(from);
        if kind == PAWN && SEVENTH >> from & 1 == 1 { QUEEN } else { kind }
    }

    /// For each distance, the squares from which moves of all pieces but knights lead in a direction.
    #[inline]
    fn leaving(&self, masks: &MoveMasks, direction: usize) -> [u32; MAX_DISTANCE] {
        let step = DIRECTIONS[direction];
        let sliders = self.sliders(direction) & self.own & masks.pins.free[direction % 4];
        let mut all = leaving(step, sliders, sliders, self.empty(), masks.targets);
        all[0] |= step.back(step.forth(self.kinds[KING] & self.own) & masks.king_targets);
        all[0] |= self.pawns_leaving(masks, direction);
        all
    }

    /// The squares from which pawns move in a direction.
    #[inline]
    fn pawns_leaving(&self, masks: &MoveMasks, direction: usize) -> u32 {
        let onto = match direction {
            0 => self.empty(),
            1 | 7 => self.opponent,
            _ => return 0,
        };
        let pawns = self.kinds[PAWN] & self.own & masks.pins.free[direction % 4];
        DIRECTIONS[direction].back(DIRECTIONS[direction].forth(pawns) & onto & masks.targets)
    }

    /// The squares from which a knight makes one of its moves.
    #[inline]
    fn knights_leaving(&self, masks: &MoveMasks, step: Step) -> u32 {
        let knights = self.kinds[KNIGHT] & self.own & masks.pins.unpinned();
        step.back(step.forth(knights) & masks.targets)
    }
}

/// The target of a move of a plane from a square.
#[inline]
pub fn target(plane: usize, from: usize) -> usize {
    if plane < FIRST_KNIGHT {
        return DIRECTIONS[plane / MAX_DISTANCE].target(from, plane % MAX_DISTANCE + 1);
    }
    match plane.checked_sub(FIRST_UNDERPROMOTION) {
        None => KNIGHT_STEPS[plane - FIRST_KNIGHT].target(from, 1),
        Some(underpromotion) => DIRECTIONS[PROMOTION_DIRECTIONS[underpromotion / 3]].target(from, 1),
    }
}

impl PieceRules for Board {
    #[inline]
    fn masks(&self) -> MoveMasks {
        let sliders = [0, 1].map(|direction| self.sliders(direction) & self.opponent);
        self.masks_of(self.kinds[KING] & self.own, sliders, self.attacks(), || self.leaping_checkers())
    }

    #[inline]
    fn has_move(&self, masks: &MoveMasks) -> bool {
        (0..8).any(|direction| self.leaving(masks, direction) != [0; MAX_DISTANCE])
            || KNIGHT_STEPS.iter().any(|step| self.knights_leaving(masks, *step) != 0)
    }

    #[inline]
    fn for_each_plane(&self, masks: &MoveMasks, mut take: impl FnMut(usize, u32)) {
        for direction in 0..8 {
            for (index, squares) in self.leaving(masks, direction).into_iter().enumerate() {
                take(direction * MAX_DISTANCE + index, squares);
            }
        }
        for (index, step) in KNIGHT_STEPS.iter().enumerate() {
            take(FIRST_KNIGHT + index, self.knights_leaving(masks, *step));
        }
        if self.kinds[PAWN] & self.own & SEVENTH == 0 {
            return;
        }
        for (index, direction) in PROMOTION_DIRECTIONS.into_iter().enumerate() {
            let squares = self.pawns_leaving(masks, direction) & SEVENTH;
            for kind in 0..UNDERPROMOTIONS.len() {
                take(FIRST_UNDERPROMOTION + 3 * index + kind, squares);
            }
        }
    }

    #[inline]
    fn step_of(&self, action: usize) -> Option<(usize, usize, bool)> {
        let (plane, from) = (action / NUM_SQUARES, action % NUM_SQUARES);
        Some((from, target(plane, from), self.kind_after(action) != self.kind_on(from)))
    }

    #[inline]
    fn after(&self, action: usize) -> Self {
        let mut board = *self;
        let (plane, from) = (action / NUM_SQUARES, action % NUM_SQUARES);
        let to = target(plane, from);
        let stays = ALL & !(1 << from | 1 << to);
        board.kinds.iter_mut().for_each(|squares| *squares &= stays);
        board.kinds[self.kind_after(action)] |= 1 << to;
        board.own = board.own & stays | 1 << to;
        board.opponent &= stays;
        board
    }

    /// True for captures and moves of pawns.
    #[inline]
    fn is_irreversible(&self, action: usize) -> bool {
        let (plane, from) = (action / NUM_SQUARES, action % NUM_SQUARES);
        self.kinds[PAWN] >> from & 1 == 1 || self.opponent >> target(plane, from) & 1 == 1
    }
}
