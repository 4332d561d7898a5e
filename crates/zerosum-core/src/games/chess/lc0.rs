//! The 112 planes of Lc0's networks and their order of moves, so that networks of Lc0 can play (`neural/encoder.cc` and
//! `net.proto` of Lc0 describe the formats).
//!
//! The formats from [`Format::Canonical`] on turn the board into one of its symmetric forms, as far as castling and pawns
//! allow, and show the past only back to the last move that cannot be taken back.

use std::sync::Arc;

use cozy_chess::{BitBoard, Board, Color, File, Piece, Rank, Square, get_pawn_attacks};

use super::Variant;
use super::encoding::{FIRST_UNDERPROMOTION, PLANE_OF, move_of, orientation};
use super::pieces::Pieces;
use crate::game::{Action, PlaneSpec, Planes};
use crate::games::fide::{KIND_NAMES, MAX_HALFMOVES};
use crate::games::history::{self, Entry, History, MAX_HISTORY};
use crate::games::policy::Policy;

/// Earlier occurrences of a position that the planes count.
const REPETITIONS: u8 = 1;

/// The exclusive or of a square's index and this word is its index on the board upside down.
const UPSIDE_DOWN: usize = 0o70;

/// What the planes of a network of Lc0 show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `INPUT_CLASSICAL_112_PLANE`.
    Classical,
    /// `INPUT_112_WITH_CASTLING_PLANE`: the squares of rooks that may castle, as Chess960 needs them.
    CastlingRooks,
    /// `INPUT_112_WITH_CANONICALIZATION`: also one form of the symmetric ones, and less of the past.
    Canonical,
    /// `INPUT_112_WITH_CANONICALIZATION_HECTOPLIES`: also the fifty-move rule's plies in hundreds.
    Hectoplies,
    /// `INPUT_112_WITH_CANONICALIZATION_V2`: also earlier positions only if they were repetitions.
    CanonicalV2,
}

impl Format {
    /// The formats in the order of Lc0's numbers, which begin at 1, by their values of the option `planes`.
    pub const NAMES: [(&str, Self); 5] = [
        ("lc0", Self::Classical),
        ("lc0-castling", Self::CastlingRooks),
        ("lc0-canonical", Self::Canonical),
        ("lc0-hectoplies", Self::Hectoplies),
        ("lc0-canonical-v2", Self::CanonicalV2),
    ];

    /// True if symmetric positions have one form.
    pub fn is_canonical(self) -> bool {
        self as u8 >= Self::Canonical as u8
    }

    fn is_in_hundreds(self) -> bool {
        self as u8 >= Self::Hectoplies as u8
    }

    /// The planes in channel order.
    pub fn planes(self, history: usize) -> Vec<PlaneSpec> {
        let mut planes = history::planes(history, &KIND_NAMES, REPETITIONS, &[]);
        if self == Self::Classical {
            for side in ["own", "opponent"] {
                for wing in ["queen", "king"] {
                    planes.push(PlaneSpec::constant(format!("1 if {side} castling on the {wing} side is not lost")));
                }
            }
        } else {
            planes.extend(["queen", "king"].map(|wing| PlaneSpec::bits(format!("rooks that may castle, {wing} side"))));
            planes.extend(["0", "0 again"].map(PlaneSpec::constant));
        }
        planes.push(if self.is_canonical() {
            PlaneSpec::bits("file of a pawn that may be taken en passant")
        } else {
            PlaneSpec::constant("1 if Black is to move")
        });
        let scale = if self.is_in_hundreds() { format!(" / {MAX_HALFMOVES}") } else { String::new() };
        planes.push(PlaneSpec::constant(format!("plies since a capture or a pawn's move{scale}")));
        let zero = if self == Self::Classical { "0" } else { "0 for the third time" };
        planes.extend([zero, "1"].map(PlaneSpec::constant));
        planes
    }

    /// Writes the planes.
    #[inline]
    pub fn encode(
        self,
        board: &Board,
        halfmoves: u32,
        entries: &History<Pieces>,
        past: &Past,
        history: usize,
        planes: &mut Planes<'_>,
    ) {
        let side = board.side_to_move();
        let form = self.form(board);
        let entry = Entry::default();
        let mut repeat = past.repeats.as_ref();
        for age in 0..history {
            let shown = match self {
                Self::Classical | Self::CastlingRooks => *entries.get(age),
                _ if age == 0 => *entries.get(0),
                Self::CanonicalV2 => repeat.map_or(entry, |one| Entry { item: one.pieces, repetitions: REPETITIONS }),
                _ if age <= past.reach.into() => *entries.get(age),
                _ => entry,
            };
            if age > 0 {
                repeat = repeat.and_then(|one| one.older.as_ref());
            }
            for color in [side, !side] {
                for squares in shown.item.of_side(color) {
                    planes.mask(form.shown(squares, side));
                }
            }
            history::encode_repetitions(shown.repetitions, REPETITIONS, planes);
        }
        if self == Self::Classical {
            for color in [side, !side] {
                let rights = board.castle_rights(color);
                for rook in [rights.long, rights.short] {
                    planes.constant(if rook.is_some() { 1.0 } else { 0.0 });
                }
            }
        } else {
            for is_long in [true, false] {
                let rooks = [side, !side].map(|color| castling_rook(board, color, is_long));
                planes.mask(form.shown(rooks[0] | rooks[1], side));
            }
            planes.constant(0.0);
            planes.constant(0.0);
        }
        if self.is_canonical() {
            let file = en_passant(board)
                .map_or(BitBoard::EMPTY, |file| Square::new(file, Rank::Eighth.relative_to(side)).bitboard());
            planes.mask(form.shown(file, side));
        } else {
            planes.constant(if side == Color::Black { 1.0 } else { 0.0 });
        }
        let scale = if self.is_in_hundreds() { MAX_HALFMOVES as f32 } else { 1.0 };
        planes.constant(halfmoves as f32 / scale);
        planes.constant(0.0);
        planes.constant(1.0);
    }

    /// The symmetry that turns a position into the form that the planes show.
    #[inline]
    pub fn form(self, board: &Board) -> Form {
        if self.is_canonical() { Form::of(board) } else { Form::default() }
    }
}

/// The place of an action's logit in the policy, whose 73 planes have the same queen and knight moves: a castling king
/// takes its rook, a promotion to a knight is the pawn's move, and planes 64 to 72 are the promotions to a rook, a
/// bishop and a queen (lczero-training, `lc0_az_policy_map.py`).
#[inline]
pub fn place(board: &Board, form: Form, variant: Variant, action: Action) -> Action {
    let chosen = move_of(board, variant, Policy::Planes, action);
    // Squares from the top as the mover sees them; Lc0 counts them from the bottom.
    let orientation = orientation(board.side_to_move());
    let [from, to] =
        [chosen.from, chosen.to].map(|square| form.square(square as usize ^ orientation ^ UPSIDE_DOWN) ^ UPSIDE_DOWN);
    let by_squares = usize::from(PLANE_OF[from][to]);
    let promotion = |piece: usize| FIRST_UNDERPROMOTION + 3 * (to % 8 + 1 - from % 8) + piece;
    let plane = match chosen.promotion {
        Some(Piece::Rook) => promotion(0),
        Some(Piece::Bishop) => promotion(1),
        Some(Piece::Queen) => promotion(2),
        _ => by_squares,
    };
    (plane * 64 + from) as Action
}

/// A symmetry of the board as the mover sees it: files mirrored, then ranks, then all in the diagonal from h1 to a8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Form {
    mirrors_files: bool,
    mirrors_ranks: bool,
    transposes: bool,
}

impl Form {
    /// The symmetry that brings the mover's king to the right half, without pawns to the lower right quarter, and there
    /// below the diagonal from h1; no symmetry while a side may castle. A king on the diagonal is decided by the other pieces.
    fn of(board: &Board) -> Self {
        let has_rights =
            |color| board.castle_rights(color).short.is_some() || board.castle_rights(color).long.is_some();
        let mut form = Self::default();
        if has_rights(Color::White) || has_rights(Color::Black) {
            return form;
        }
        let side = board.side_to_move();
        let king = |form: Self| form.square(relative_square(board.king(side), side));
        form.mirrors_files = king(form) % 8 < 4;
        if !board.pieces(Piece::Pawn).is_empty() {
            return form;
        }
        form.mirrors_ranks = king(form) / 8 > 3;
        let (rank, file) = (king(form) / 8, king(form) % 8);
        form.transposes = match (rank + file).cmp(&7) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => Self::is_greater_transposed(board, form),
        };
        form
    }

    /// True if the first of these sets of squares that is not symmetric to the diagonal is the greater number untransposed.
    fn is_greater_transposed(board: &Board, form: Self) -> bool {
        let side = board.side_to_move();
        let kinds =
            [Piece::King, Piece::Queen, Piece::Rook, Piece::Knight, Piece::Bishop].map(|kind| board.pieces(kind));
        let sets = [board.occupied(), board.colors(side)].into_iter().chain(kinds);
        sets.map(|squares| form.bits(relative(squares, side)))
            .map(|bits| (bits, transposed(bits)))
            .find(|(bits, other)| bits != other)
            .is_some_and(|(bits, other)| bits > other)
    }

    /// A square counted from the bottom left as the mover sees the board, in this form.
    #[inline]
    fn square(self, square: usize) -> usize {
        let square = square ^ if self.mirrors_files { 7 } else { 0 } ^ if self.mirrors_ranks { UPSIDE_DOWN } else { 0 };
        if self.transposes { (7 - square % 8) * 8 + 7 - square / 8 } else { square }
    }

    /// Squares counted from the bottom left as the mover sees the board, in this form.
    #[inline]
    fn bits(self, mut bits: u64) -> u64 {
        if self.mirrors_files {
            bits = bits.reverse_bits().swap_bytes();
        }
        if self.mirrors_ranks {
            bits = bits.swap_bytes();
        }
        if self.transposes { transposed(bits) } else { bits }
    }

    /// The plane of some squares, counted from the top.
    #[inline]
    fn shown(self, squares: BitBoard, side: Color) -> u64 {
        self.bits(relative(squares, side)).swap_bytes()
    }
}

/// What canonical planes show of the past.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Past {
    /// Positions before the present one that are shown.
    reach: u8,
    /// The positions before the present one that were repetitions, the newest first.
    repeats: Option<Arc<Repeat>>,
}

#[derive(Debug, PartialEq)]
struct Repeat {
    pieces: Pieces,
    older: Option<Arc<Repeat>>,
}

impl Past {
    /// The past of a position that was set up, which stands for the positions before it unless the move before it is known.
    pub fn before(board: &Board, halfmoves: u32, repeats_history: bool) -> Self {
        let is_known = halfmoves == 0 || en_passant(board).is_some();
        Self { reach: if is_known || !repeats_history { 0 } else { MAX_HISTORY as u8 - 1 }, repeats: None }
    }

    /// Adds the position before a move, of which `is_final` says whether it can never return.
    pub fn push(&mut self, before: &Board, entry: Entry<Pieces>, is_final: bool) {
        if is_final {
            *self = Self::default();
            return;
        }
        self.reach = if en_passant(before).is_some() { 0 } else { (self.reach + 1).min(MAX_HISTORY as u8 - 1) };
        if entry.repetitions > 0 {
            self.repeats = Some(Arc::new(Repeat { pieces: entry.item, older: self.repeats.take() }));
        }
    }
}

/// The file of a pawn that has just made a double step beside a pawn of the mover.
fn en_passant(board: &Board) -> Option<File> {
    let side = board.side_to_move();
    let file = board.en_passant()?;
    let square = Square::new(file, Rank::Sixth.relative_to(side));
    let takers = get_pawn_attacks(square, !side) & board.colored_pieces(side, Piece::Pawn);
    (!takers.is_empty()).then_some(file)
}

fn castling_rook(board: &Board, color: Color, is_long: bool) -> BitBoard {
    let rights = board.castle_rights(color);
    let file = if is_long { rights.long } else { rights.short };
    file.map_or(BitBoard::EMPTY, |file| Square::new(file, Rank::First.relative_to(color)).bitboard())
}

/// Squares counted from the bottom left as a side sees the board.
#[inline]
fn relative(squares: BitBoard, side: Color) -> u64 {
    if side == Color::White { squares.0 } else { squares.0.swap_bytes() }
}

#[inline]
fn relative_square(square: Square, side: Color) -> usize {
    square as usize ^ if side == Color::White { 0 } else { UPSIDE_DOWN }
}

/// The squares reflected in the diagonal from h1 to a8: a half turn, then files and ranks exchanged by three exchanges of
/// blocks (Hacker's Delight, section 7-3).
#[inline]
fn transposed(bits: u64) -> u64 {
    [(7, 0x00AA_00AA_00AA_00AA), (14, 0x0000_CCCC_0000_CCCC), (28, 0x0000_0000_F0F0_F0F0)].into_iter().fold(
        bits.reverse_bits(),
        |bits: u64, (shift, mask)| {
            let moved = (bits ^ (bits >> shift)) & mask;
            bits ^ moved ^ (moved << shift)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_squares_and_its_squares_have_one_form() {
        for number in 0..8 {
            let form =
                Form { mirrors_files: number & 1 > 0, mirrors_ranks: number & 2 > 0, transposes: number & 4 > 0 };
            for square in 0..64 {
                assert_eq!(form.bits(1 << square), 1 << form.square(square), "{form:?}");
            }
        }
    }

    #[test]
    fn symmetric_positions_have_one_form() {
        // One king and rook against a king, in the eight forms of the board.
        let seen = |text: &str| {
            let board: Board = text.parse().expect("a position");
            let form = Form::of(&board);
            let side = board.side_to_move();
            Piece::ALL.map(|piece| form.shown(board.pieces(piece), side))
        };
        let first = seen("8/8/3k4/8/8/8/1R6/6K1 w - - 0 1");
        for text in
            ["8/8/4k3/8/8/8/6R1/1K6 w - - 0 1", "6K1/1R6/8/8/8/3k4/8/8 w - - 0 1", "1K6/6R1/8/8/8/4k3/8/8 w - - 0 1"]
        {
            assert_eq!(seen(text), first, "{text}");
        }
    }
}
