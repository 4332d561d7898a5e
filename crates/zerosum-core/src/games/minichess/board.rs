//! Boards of minichess, always seen by the player to move, and the moves on them.

use crate::games::board5::{
    self, ALL, DIRECTIONS, FAR_RANK, Limits, MAX_DISTANCE, NUM_SQUARES, SIDE, Step, attacked, leaving,
};

/// Kinds of pieces.
pub const NUM_KINDS: usize = 6;

/// A kind of piece, in the order of the planes.
pub const PAWN: usize = 0;
pub const KNIGHT: usize = 1;
pub const BISHOP: usize = 2;
pub const ROOK: usize = 3;
pub const QUEEN: usize = 4;
pub const KING: usize = 5;

/// By kind; a king is never lost.
pub const PIECE_VALUES: [f32; NUM_KINDS] = [1.0, 3.0, 3.0, 5.0, 9.0, 0.0];

/// Knight moves, clockwise from two ahead and one to the right.
const KNIGHT_STEPS: [Step; 8] = [
    Step::new(-2, 1),
    Step::new(-1, 2),
    Step::new(1, 2),
    Step::new(2, 1),
    Step::new(2, -1),
    Step::new(1, -2),
    Step::new(-1, -2),
    Step::new(-2, -1),
];
/// Directions in which the opponent's pawns take, to the left and to the right.
const OPPONENT_PAWN_TAKES: [usize; 2] = [5, 3];

/// First of the planes of knight moves and of underpromotions among the policy's.
const FIRST_KNIGHT: usize = 32;
pub const FIRST_UNDERPROMOTION: usize = FIRST_KNIGHT + 8;
/// Planes of the policy.
pub const NUM_ACTION_PLANES: usize = FIRST_UNDERPROMOTION + 9;
/// Directions of underpromotions, and the kinds.
const PROMOTION_DIRECTIONS: [usize; 3] = [7, 0, 1];
pub const UNDERPROMOTIONS: [usize; 3] = [KNIGHT, BISHOP, ROOK];
/// From where a pawn promotes.
const SEVENTH: u32 = FAR_RANK << SIDE;

/// Squares of the shade of the corners.
const CORNER_SHADE: u32 = 0b10101_01010_10101_01010_10101;

/// A board of minichess.
pub type Board = board5::Board<NUM_KINDS, 0, false>;

impl Board {
    /// Pieces that go any distance along an axis of this parity: 0 for ranks and files.
    #[inline]
    fn sliders(&self, direction: usize) -> u32 {
        self.kinds[QUEEN] | self.kinds[if direction.is_multiple_of(2) { ROOK } else { BISHOP }]
    }

    /// What limits the moves of the player to move.
    #[inline]
    pub fn limits(&self) -> Limits {
        let sliders = [0, 1].map(|direction| self.sliders(direction) & self.opponent);
        self.limits_of(self.kinds[KING] & self.own, sliders, self.attacks(), || self.leaping_checkers())
    }

    /// Opponent's knights and pawns that give check.
    #[inline]
    fn leaping_checkers(&self) -> u32 {
        let king = self.kinds[KING] & self.own;
        let around = |step: Step| step.back(king);
        let knights = KNIGHT_STEPS.iter().fold(0, |all, step| all | around(*step)) & self.kinds[KNIGHT];
        let [left, right] = OPPONENT_PAWN_TAKES.map(|direction| around(DIRECTIONS[direction]));
        (knights | (left | right) & self.kinds[PAWN]) & self.opponent
    }

    /// Squares that the opponent attacks, through the own king, which cannot hide behind itself.
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

    /// Whether a legal action cannot be taken back: a capture or a pawn's move.
    #[inline]
    pub fn is_progress(&self, action: usize) -> bool {
        let (plane, from) = (action / NUM_SQUARES, action % NUM_SQUARES);
        self.kinds[PAWN] >> from & 1 == 1 || self.opponent >> target(plane, from) & 1 == 1
    }

    /// What a legal action makes of the piece that it moves.
    #[inline]
    pub fn kind_after(&self, action: usize) -> usize {
        let (plane, from) = (action / NUM_SQUARES, action % NUM_SQUARES);
        if plane >= FIRST_UNDERPROMOTION {
            return UNDERPROMOTIONS[(plane - FIRST_UNDERPROMOTION) % 3];
        }
        let kind = self.kind_on(from);
        if kind == PAWN && SEVENTH >> from & 1 == 1 { QUEEN } else { kind }
    }

    /// The board after a legal action, seen by the same side.
    #[inline]
    pub fn after(&self, action: usize) -> Self {
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

    /// No sequence of moves mates: kings with at most one knight, or with bishops all on squares of one shade.
    #[inline]
    pub fn is_insufficient_material(&self) -> bool {
        let [pawns, knights, bishops, rooks, queens, _] = self.kinds;
        if pawns | rooks | queens != 0 {
            return false;
        }
        let is_one_shade = bishops & CORNER_SHADE == 0 || bishops & !CORNER_SHADE == 0;
        if knights == 0 { is_one_shade } else { (knights | bishops).is_power_of_two() }
    }
}

/// Where a move of a plane leads from a square.
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

/// The moves on a board.
#[derive(Clone, Copy, Debug)]
pub struct Moves<'a> {
    /// Seen by the player to move.
    pub board: &'a Board,
    /// Of this board.
    pub limits: &'a Limits,
}

impl Moves<'_> {
    /// For each distance, the squares from which queen moves (a king's and a pawn's, too) lead in a direction.
    #[inline]
    fn leaving(&self, direction: usize) -> [u32; MAX_DISTANCE] {
        let (board, step) = (self.board, DIRECTIONS[direction]);
        let sliders = board.sliders(direction) & board.own & self.limits.pins.free[direction % 4];
        let mut all = leaving(step, sliders, sliders, board.empty(), self.limits.targets);
        all[0] |= step.back(step.forth(board.kinds[KING] & board.own) & self.limits.king_targets);
        all[0] |= self.pawns_leaving(direction);
        all
    }

    /// The squares from which pawns move in a direction.
    #[inline]
    fn pawns_leaving(&self, direction: usize) -> u32 {
        let board = self.board;
        let onto = match direction {
            0 => board.empty(),
            1 | 7 => board.opponent,
            _ => return 0,
        };
        let pawns = board.kinds[PAWN] & board.own & self.limits.pins.free[direction % 4];
        DIRECTIONS[direction].back(DIRECTIONS[direction].forth(pawns) & onto & self.limits.targets)
    }

    /// The squares from which a knight makes one of its moves.
    #[inline]
    fn knights_leaving(&self, step: Step) -> u32 {
        let knights = self.board.kinds[KNIGHT] & self.board.own & self.limits.pins.unpinned();
        step.back(step.forth(knights) & self.limits.targets)
    }

    /// Whether there is a legal move.
    #[inline]
    pub fn any(&self) -> bool {
        (0..8).any(|direction| self.leaving(direction) != [0; MAX_DISTANCE])
            || KNIGHT_STEPS.iter().any(|step| self.knights_leaving(*step) != 0)
    }

    /// The policy's planes in order, each with the squares of its legal actions.
    #[inline]
    pub fn for_each_plane(&self, mut take: impl FnMut(usize, u32)) {
        for direction in 0..8 {
            for (index, squares) in self.leaving(direction).into_iter().enumerate() {
                take(direction * MAX_DISTANCE + index, squares);
            }
        }
        for (index, step) in KNIGHT_STEPS.iter().enumerate() {
            take(FIRST_KNIGHT + index, self.knights_leaving(*step));
        }
        if self.board.kinds[PAWN] & self.board.own & SEVENTH == 0 {
            return;
        }
        for (index, direction) in PROMOTION_DIRECTIONS.into_iter().enumerate() {
            let squares = self.pawns_leaving(direction) & SEVENTH;
            for kind in 0..UNDERPROMOTIONS.len() {
                take(FIRST_UNDERPROMOTION + 3 * index + kind, squares);
            }
        }
    }
}
