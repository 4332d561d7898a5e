//! Planes and actions of shogi as in the AlphaZero paper (arXiv 1712.01815, tables S1 and S2).
//!
//! The board is seen by the player to move: for White it is turned by 180 degrees. Squares are numbered row by row from
//! the top, so the player to move moves towards smaller rows.
//!
//! ```text
//!   squares of the oriented board        Black's view       White's view
//!      0  1  2 ...  8                     9a 8a ... 1a       1i 2i ... 9i
//!      9 10 11 ... 17                     9b 8b ... 1b       1h 2h ... 9h
//!     ...                                 ...                ...
//!     72 73 74 ... 80                     9i 8i ... 1i       1a 2a ... 9a
//!
//!   action = 81 · plane + square that the piece leaves, or that a dropped one comes to
//!
//!   planes   0 to  63   queen moves: 8 · direction + distance − 1      7 0 1
//!                                                                      6 · 2
//!                                                                      5 4 3
//!
//!   planes  64, 65      knight moves, to the right and to the left     1 . 0
//!                                                                      . . .
//!                                                                      . N .
//!
//!   planes  66 to 131   the same 66, promoting
//!   planes 132 to 138   drops: pawn, lance, knight, silver, gold, bishop, rook
//! ```

use super::board::{
    Board, FAR_ROWS, KNIGHT, Move, Moves, NUM_HAND_KINDS, NUM_KINDS, NUM_OF_KIND, NUM_SQUARES, SIDE, oriented,
    rows_without_a_move,
};
use super::{MAX_REPETITIONS, State};
use crate::game::{Action, PlaneSpec, Planes};
use crate::games::history;
use crate::games::policy::{DIRECTIONS, Policy, kept, moved, places};
use crate::player::Player;

/// Number of planes of moves without promotion.
const NUM_MOVE_PLANES: usize = 66;
const FIRST_KNIGHT_MOVE: usize = 64;
const FIRST_DROP: usize = 2 * NUM_MOVE_PLANES;
const NUM_PLANES: usize = FIRST_DROP + NUM_HAND_KINDS;
/// Number of actions by planes.
pub const NUM_ACTIONS: usize = NUM_PLANES * NUM_SQUARES;
/// Number of actions of the flat policy: those of the 11259 that some piece could make on an empty board.
pub const NUM_FLAT_ACTIONS: usize = 3781;
/// Divisor of the plane of plies: the paper's ply cap.
const PLIES_SCALE: f32 = 512.0;

/// (rows down, columns to the right) of a plane's moves, which is not a plane of drops.
const fn step(plane: usize) -> (i32, i32) {
    let plane = plane % NUM_MOVE_PLANES;
    if plane >= FIRST_KNIGHT_MOVE {
        return (-2, if plane == FIRST_KNIGHT_MOVE { 1 } else { -1 });
    }
    let ((down, right), distance) = (DIRECTIONS[plane / 8], (plane % 8 + 1) as i32);
    (down * distance, right * distance)
}

/// The target of a move of this plane from a square, if it is on the board.
const fn target(plane: usize, from: usize) -> Option<usize> {
    moved(from, step(plane), SIDE)
}

/// True if some piece could make an action on an empty board.
const fn is_possible(action: usize) -> bool {
    let (plane, square) = (action / NUM_SQUARES, action % NUM_SQUARES);
    if plane >= FIRST_DROP {
        return square / SIDE >= rows_without_a_move(plane - FIRST_DROP);
    }
    let Some(to) = target(plane, square) else { return false };
    if plane >= NUM_MOVE_PLANES {
        return square / SIDE < FAR_ROWS || to / SIDE < FAR_ROWS;
    }
    plane < FIRST_KNIGHT_MOVE || to / SIDE >= rows_without_a_move(KNIGHT)
}

/// The plane of the queen's or knight's move from one square to another; meaningless if there is none.
static PLANE_OF: [[u8; NUM_SQUARES]; NUM_SQUARES] = {
    let mut planes = [[0; NUM_SQUARES]; NUM_SQUARES];
    let mut action = 0;
    while action < NUM_MOVE_PLANES * NUM_SQUARES {
        let (plane, from) = (action / NUM_SQUARES, action % NUM_SQUARES);
        if let Some(to) = target(plane, from) {
            planes[from][to] = plane as u8;
        }
        action += 1;
    }
    planes
};

/// The actions that the flat policy keeps, ascending.
static KEPT: [Action; NUM_FLAT_ACTIONS] = {
    let mut is_kept = [false; NUM_ACTIONS];
    let mut action = 0;
    while action < NUM_ACTIONS {
        is_kept[action] = is_possible(action);
        action += 1;
    }
    kept(&is_kept)
};

/// The flat number of each action by planes; meaningless for actions that the flat policy does not have.
static PLACE: [Action; NUM_ACTIONS] = places(&KEPT);

/// A set of actions that is read in ascending order, which is faster than sorting a list.
struct ActionSet {
    words: [u64; NUM_ACTIONS.div_ceil(64)],
    /// Set of the words that are not 0.
    summary: [u64; NUM_ACTIONS.div_ceil(64 * 64)],
}

impl ActionSet {
    #[inline]
    fn insert(&mut self, action: usize) {
        self.words[action / 64] |= 1 << (action % 64);
        self.summary[action / 64 / 64] |= 1 << (action / 64 % 64);
    }

    #[inline]
    fn for_each(&self, mut each: impl FnMut(usize)) {
        for (block, mut words) in self.summary.into_iter().enumerate() {
            while words != 0 {
                let word = 64 * block + words.trailing_zeros() as usize;
                words &= words - 1;
                let mut bits = self.words[word];
                while bits != 0 {
                    each(64 * word + bits.trailing_zeros() as usize);
                    bits &= bits - 1;
                }
            }
        }
    }
}

/// Appends the legal actions, ascending.
#[inline]
pub fn legal_actions(board: &Board, policy: Policy, actions: &mut Vec<Action>) {
    let player = board.player();
    let mut set = ActionSet { words: [0; NUM_ACTIONS.div_ceil(64)], summary: [0; NUM_ACTIONS.div_ceil(64 * 64)] };
    board.for_each_moves(|moves| match moves {
        Moves::Normal { from, promoting, others } => {
            let from = oriented(from, player);
            let planes = &PLANE_OF[from];
            let plane_to = |to| usize::from(planes[oriented(to, player)]);
            promoting.for_each(|to| set.insert((plane_to(to) + NUM_MOVE_PLANES) * NUM_SQUARES + from));
            others.for_each(|to| set.insert(plane_to(to) * NUM_SQUARES + from));
        }
        Moves::Drop { kind, to } => {
            to.for_each(|to| set.insert((FIRST_DROP + kind) * NUM_SQUARES + oriented(to, player)));
        }
    });
    match policy {
        Policy::Planes => set.for_each(|action| actions.push(action as Action)),
        Policy::Flat => set.for_each(|action| actions.push(PLACE[action])),
    }
}

/// True if an action of any number is some piece's move on an empty board.
pub fn is_action(policy: Policy, action: Action) -> bool {
    match policy {
        Policy::Planes => usize::from(action) < NUM_ACTIONS && is_possible(action.into()),
        Policy::Flat => usize::from(action) < NUM_FLAT_ACTIONS,
    }
}

/// The move of an action.
#[inline]
pub fn move_of(player: Player, policy: Policy, action: Action) -> Move {
    let action = usize::from(if policy == Policy::Flat { KEPT[usize::from(action)] } else { action });
    let (plane, square) = (action / NUM_SQUARES, action % NUM_SQUARES);
    if plane >= FIRST_DROP {
        return Move::Drop { kind: plane - FIRST_DROP, to: oriented(square, player) };
    }
    let (down, right) = step(plane);
    let to = (square as i32 + SIDE as i32 * down + right) as usize;
    Move::Normal { from: oriented(square, player), to: oriented(to, player), promotes: plane >= NUM_MOVE_PLANES }
}

/// Names of the kinds of pieces, in the order of the planes.
const NAMES: [&str; NUM_KINDS] = [
    "pawns",
    "lances",
    "knights",
    "silvers",
    "golds",
    "bishops",
    "rooks",
    "king",
    "promoted pawns",
    "promoted lances",
    "promoted knights",
    "promoted silvers",
    "horses",
    "dragons",
];

/// The planes in channel order.
pub fn planes(history: usize) -> Vec<PlaneSpec> {
    let hand: Vec<_> = NAMES.into_iter().zip(NUM_OF_KIND).take(NUM_HAND_KINDS).collect();
    let mut planes = history::planes(history, &NAMES, MAX_REPETITIONS, &hand);
    planes.push(PlaneSpec::constant("1 if White is to move"));
    planes.push(PlaneSpec::constant(format!("plies since the game began / {PLIES_SCALE}")));
    planes
}

/// Writes the planes.
#[inline]
pub fn encode(state: &State, history: usize, planes: &mut Planes<'_>) {
    let player = state.board.player();
    let mut board = state.board.clone();
    for age in 0..history {
        let entry = state.history.get(age);
        encode_board(&board, player, entry.repetitions, planes);
        if age + 1 == history {
            break;
        }
        if let Some(played) = entry.item {
            board.take_back(played);
        } else if !state.repeats_history {
            encode_empty_boards(history - 1 - age, planes);
            break;
        }
    }
    planes.constant(player.index() as f32);
    planes.constant(state.plies as f32 / PLIES_SCALE);
}

#[inline]
fn encode_board(board: &Board, player: Player, repetitions: u8, planes: &mut Planes<'_>) {
    let mut pieces = [[0_u128; NUM_KINDS]; 2];
    board.for_each_piece(|square, piece| {
        pieces[piece.owner.index()][piece.kind] |= 1 << oriented(square, player);
    });
    let sides = [player, player.opponent()];
    sides.iter().flat_map(|side| pieces[side.index()]).for_each(|mask| planes.mask128(mask));
    history::encode_repetitions(repetitions, MAX_REPETITIONS, planes);
    for side in sides {
        let held = board.hand(side).into_iter().zip(NUM_OF_KIND);
        held.for_each(|(count, all)| planes.constant(f32::from(count) / f32::from(all)));
    }
}

/// Writes planes of positions before the game began.
#[inline]
fn encode_empty_boards(num_positions: usize, planes: &mut Planes<'_>) {
    (0..num_positions * 2 * NUM_KINDS).for_each(|_| planes.mask128(0));
    (0..num_positions * (usize::from(MAX_REPETITIONS) + 2 * NUM_HAND_KINDS)).for_each(|_| planes.constant(0.0));
}
