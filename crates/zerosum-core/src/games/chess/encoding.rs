//! Planes and actions of chess as in the AlphaZero paper (arXiv 1712.01815, tables S1 and S2).
//!
//! The board is seen by the player to move: for Black it is flipped top to bottom, and files keep their side. Squares
//! are numbered row by row from the top, so the player to move moves towards smaller rows.
//!
//! ```text
//!   squares of the oriented board        White's view       Black's view
//!      0  1  2  3  4  5  6  7             a8 b8 ... h8       a1 b1 ... h1
//!      8  9 10 11 12 13 14 15             a7 b7 ... h7       a2 b2 ... h2
//!     ...                                 ...                ...
//!     56 57 58 59 60 61 62 63             a1 b1 ... h1       a8 b8 ... h8
//!
//!   action = 64 · plane + square that the piece leaves
//!
//!   planes  0 to 55   queen moves: 7 · direction + distance − 1     7 0 1
//!                     (a promotion to a queen is one of them)       6 · 2
//!                                                                   5 4 3
//!
//!   planes 56 to 63   knight moves                                   . 7 . 0 .
//!                                                                    6 . . . 1
//!                                                                    . . N . .
//!                                                                    5 . . . 2
//!                                                                    . 4 . 3 .
//!
//!   planes 64 to 72   underpromotions: 64 + 3 · direction + piece; to the left, straight, to the right; knight, bishop, rook
//! ```

use cozy_chess::{BitBoard, Board, Color, File, Move, Piece, Rank, Square};

use super::pieces::Pieces;
use super::{Input, State, Variant};
use crate::game::{Action, PlaneSpec, Planes};
use crate::games::fide::{KIND_NAMES, KNIGHT_MOVES, MAX_HALFMOVES, MAX_REPETITIONS};
use crate::games::history::{self, History};
use crate::games::policy::{DIRECTIONS, Policy, kept, moved, places};

/// Number of planes of actions.
const NUM_PLANES: usize = 73;
pub const FIRST_UNDERPROMOTION: usize = 64;
/// Number of actions by planes.
pub const NUM_ACTIONS: usize = NUM_PLANES * 64;
/// Number of actions of the flat policy: those of the 4672 that lead from a square of the board to a square of the
/// board.
pub const NUM_FLAT_ACTIONS: usize = 1858;
/// Divisors of the planes of counts: the paper's ply cap, and the plies of the fifty-move rule.
const PLIES_SCALE: f32 = 512.0;
const NO_PROGRESS_SCALE: f32 = MAX_HALFMOVES as f32;

const UNDERPROMOTIONS: [Piece; 3] = [Piece::Knight, Piece::Bishop, Piece::Rook];

/// (rows down, columns to the right) of a plane's moves.
const fn step(plane: usize) -> (i32, i32) {
    if plane < 56 {
        let ((down, right), distance) = (DIRECTIONS[plane / 7], (plane % 7 + 1) as i32);
        (down * distance, right * distance)
    } else if plane < FIRST_UNDERPROMOTION {
        KNIGHT_MOVES[plane - 56]
    } else {
        (-1, ((plane - FIRST_UNDERPROMOTION) / 3) as i32 - 1)
    }
}

/// The target of a move of this plane from a square, if it is on the board and, for an underpromotion, on the last row.
const fn target(plane: usize, from: usize) -> Option<usize> {
    // An underpromotion moves one row up.
    if plane >= FIRST_UNDERPROMOTION && from / 8 != 1 { None } else { moved(from, step(plane), 8) }
}

/// The plane of the queen's or knight's move from one square to another; meaningless if there is none.
pub static PLANE_OF: [[u8; 64]; 64] = {
    let mut planes = [[0; 64]; 64];
    let mut action = 0;
    while action < FIRST_UNDERPROMOTION * 64 {
        let (plane, from) = (action / 64, action % 64);
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
        is_kept[action] = target(action / 64, action % 64).is_some();
        action += 1;
    }
    kept(&is_kept)
};

/// The flat number of each action by planes; meaningless for actions that the flat policy does not have.
static PLACE: [Action; NUM_ACTIONS] = places(&KEPT);

/// The exclusive or of a square's index and this word is its index on the oriented board.
#[inline]
pub fn orientation(side: Color) -> usize {
    if side == Color::White { 56 } else { 0 }
}

#[inline]
fn oriented(squares: BitBoard, side: Color) -> u64 {
    if side == Color::White { squares.0.swap_bytes() } else { squares.0 }
}

/// The target of a castling king in the actions of chess: two squares towards the rook, or the rook's square if the
/// board ends before that, as it may in Chess960. No other move of a king has this target.
#[inline]
pub fn two_steps(king: Square, rook: Square) -> Square {
    king.try_offset(if rook > king { 2 } else { -2 }, 0).unwrap_or(rook)
}

/// Appends the legal actions, ascending.
#[inline]
pub fn legal_actions(board: &Board, variant: Variant, policy: Policy, actions: &mut Vec<Action>) {
    let (side, first) = (board.side_to_move(), actions.len());
    let orientation = orientation(side);
    board.generate_moves(|moves| {
        let (from, mut targets) = (moves.from as usize ^ orientation, moves.to);
        if moves.piece == Piece::King && variant == Variant::Chess {
            let rooks = targets & board.colors(side);
            targets ^= rooks;
            rooks.iter().for_each(|rook| targets |= two_steps(moves.from, rook).bitboard());
        }
        let planes = &PLANE_OF[from];
        actions.extend(targets.iter().map(|to| Action::from(planes[to as usize ^ orientation]) * 64 + from as Action));
        if moves.piece == Piece::Pawn && from / 8 == 1 {
            for to in targets {
                let plane = FIRST_UNDERPROMOTION + 3 * (to as usize % 8 + 1 - from % 8);
                actions.extend((plane..plane + 3).map(|plane| (plane * 64 + from) as Action));
            }
        }
        false
    });
    let actions = &mut actions[first..];
    if policy == Policy::Flat {
        for action in &mut *actions {
            *action = PLACE[usize::from(*action)];
        }
    }
    actions.sort_unstable();
}

/// True if an action of any number is legal.
#[inline]
pub fn is_legal(board: &Board, variant: Variant, policy: Policy, action: Action) -> bool {
    let number = match policy {
        Policy::Planes => usize::from(action),
        Policy::Flat => KEPT.get(usize::from(action)).map_or(NUM_ACTIONS, |number| usize::from(*number)),
    };
    if number >= NUM_ACTIONS {
        return false;
    }
    let side = board.side_to_move();
    let Some(to) = target(number / 64, number % 64) else { return false };
    let chosen = move_of(board, variant, policy, action);
    // A castling king takes its rook; in chess its action is two steps, and no other action is legal for it.
    let is_two_steps = variant == Variant::Chess && board.colors(side).has(chosen.to);
    let written = if is_two_steps { two_steps(chosen.from, chosen.to) } else { chosen.to };
    written as usize == to ^ orientation(side) && board.is_legal(chosen)
}

/// The move of a legal action; a castling king takes its rook.
#[inline]
pub fn move_of(board: &Board, variant: Variant, policy: Policy, action: Action) -> Move {
    let action = if policy == Policy::Flat { KEPT[usize::from(action)] } else { action };
    let (side, plane, square) = (board.side_to_move(), usize::from(action) / 64, usize::from(action) % 64);
    let (down, right) = step(plane);
    let to = (square as i32 + 8 * down + right) as usize;
    let mut result = Move {
        from: Square::index(square ^ orientation(side)),
        to: Square::index((to ^ orientation(side)) & 63),
        promotion: None,
    };
    if plane >= FIRST_UNDERPROMOTION {
        result.promotion = Some(UNDERPROMOTIONS[(plane - FIRST_UNDERPROMOTION) % 3]);
    } else if to < 8 && board.pieces(Piece::Pawn).has(result.from) {
        result.promotion = Some(Piece::Queen);
    } else if variant == Variant::Chess && down == 0 && right.abs() == 2 && board.king(side) == result.from {
        let rights = board.castle_rights(side);
        let rook = if right > 0 { rights.short } else { rights.long };
        result.to = Square::new(rook.unwrap_or(File::E), result.from.rank());
    }
    result
}

/// The planes in channel order.
pub fn planes(input: Input, variant: Variant, history: usize) -> Vec<PlaneSpec> {
    if let Input::Lc0(format) = input {
        return format.planes(history);
    }
    let mut planes = history::planes(history, &KIND_NAMES, MAX_REPETITIONS, &[]);
    planes.push(PlaneSpec::constant("1 if Black is to move"));
    planes.push(PlaneSpec::constant(format!("plies since the game began / {PLIES_SCALE}")));
    for side in ["own", "opponent"] {
        for wing in ["king", "queen"] {
            planes.push(match variant {
                Variant::Chess => PlaneSpec::constant(format!("1 if {side} castling on the {wing} side is not lost")),
                Variant::Chess960 => PlaneSpec::bits(format!("{side} rook that may yet castle on the {wing} side")),
            });
        }
    }
    planes.push(PlaneSpec::constant(format!("plies since a capture or a pawn's move / {NO_PROGRESS_SCALE}")));
    planes
}

/// Writes the planes.
#[inline]
pub fn encode(state: &State, input: Input, variant: Variant, history: usize, planes: &mut Planes<'_>) {
    let side = state.board.side_to_move();
    if let Input::Lc0(format) = input {
        return format.encode(&state.board, state.halfmoves, &state.history, &state.past, history, planes);
    }
    encode_history(&state.history, side, history, MAX_REPETITIONS, planes);
    planes.constant(if side == Color::Black { 1.0 } else { 0.0 });
    planes.constant(state.plies as f32 / PLIES_SCALE);
    for color in [side, !side] {
        let rights = state.board.castle_rights(color);
        for rook in [rights.short, rights.long] {
            match variant {
                Variant::Chess => planes.constant(if rook.is_some() { 1.0 } else { 0.0 }),
                Variant::Chess960 => {
                    let square = rook.map(|file| Square::new(file, Rank::First.relative_to(color)).bitboard());
                    planes.mask(oriented(square.unwrap_or(BitBoard::EMPTY), side));
                }
            }
        }
    }
    planes.constant(state.halfmoves as f32 / NO_PROGRESS_SCALE);
}

#[inline]
fn encode_history(entries: &History<Pieces>, side: Color, history: usize, limit: u8, planes: &mut Planes<'_>) {
    for age in 0..history {
        let entry = entries.get(age);
        for color in [side, !side] {
            for squares in entry.item.of_side(color) {
                planes.mask(oriented(squares, side));
            }
        }
        history::encode_repetitions(entry.repetitions, limit, planes);
    }
}
