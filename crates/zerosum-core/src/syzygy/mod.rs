//! Syzygy tables of chess endings: who wins, and how soon a capture or a pawn's move comes.
//!
//! | module | subject |
//! |---|---|
//! | `material` | the men of an ending and the name of its table |
//! | `index` | a position's number in its table |
//! | `table` | a file's parts and the decompression of a value |
//!
//! Start with [`Syzygy`]. Files are read through [`Source`], a few small pieces for each position, so memory is bounded by the files'
//! headers. Tables have no positions with castling rights and no history: a result holds for a position just after a capture or a
//! pawn's move. Values count the fifty-move rule: a win that comes too late is a [`Wdl::CursedWin`].
//!
//! The tables and their format are Ronald de Man's. Probing follows his, as Fathom and Pyrrhic have it (MIT, the text is in
//! `LICENSE-pyrrhic`): a table's value may be anything where a capture is better, so captures are looked at first.

mod index;
mod material;
mod table;

use std::collections::HashMap;
use std::sync::Arc;

use cozy_chess::{BitBoard, Board, Color, Move, Piece, Rank, Square};

use index::put_leader_first;
pub use material::Material;
pub use table::{Kind, Source, Table};

/// The result of a position for the player to move, under the fifty-move rule, just after a capture or a pawn's move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wdl {
    /// A loss.
    Loss = -2,
    /// A loss that the fifty-move rule makes a draw.
    BlessedLoss = -1,
    /// A draw.
    Draw = 0,
    /// A win that the fifty-move rule makes a draw.
    CursedWin = 1,
    /// A win.
    Win = 2,
}

impl Wdl {
    fn of(value: i32) -> Self {
        match value {
            ..=-2 => Self::Loss,
            -1 => Self::BlessedLoss,
            0 => Self::Draw,
            1 => Self::CursedWin,
            2.. => Self::Win,
        }
    }

    /// The result under the fifty-move rule: 1, 0 or −1.
    pub fn result(self) -> f32 {
        match self {
            Self::Win => 1.0,
            Self::Loss => -1.0,
            _ => 0.0,
        }
    }
}

/// What opens the files of tables.
pub trait Folder: Send + Sync {
    /// The names of its files.
    fn names(&self) -> Vec<String>;

    /// The file with one of these names.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn open(&self, name: &str) -> Result<Box<dyn Source>, String>;
}

/// One ending.
struct Ending {
    material: Material,
    /// The tables of results and of distances.
    tables: [Option<Arc<Table>>; 2],
}

/// A set of tables.
pub struct Syzygy {
    endings: HashMap<u64, Arc<Ending>>,
    num_files: usize,
    max_men: usize,
}

/// A value from a table, and whether the best move is a capture (or an en passant) that decides the distance.
struct Known {
    wdl: i32,
    by_capture: bool,
}

/// The distance to zero for a result whose best move is a capture or a pawn's move.
fn immediate(wdl: i32) -> i32 {
    [-1, -101, 0, 101, 1][(wdl + 2) as usize]
}

impl Syzygy {
    /// The tables of a folder; files with other names are left alone. Each file's header is read.
    ///
    /// # Errors
    /// Which file cannot be used and why, or that there is none.
    pub fn open(folder: &dyn Folder) -> Result<Self, String> {
        let mut endings: HashMap<String, Ending> = HashMap::new();
        let mut num_files = 0;
        for file in folder.names() {
            for (index, kind) in [Kind::Wdl, Kind::Dtz].into_iter().enumerate() {
                let Some(material) = file.strip_suffix(kind.ending()).and_then(Material::of_name) else { continue };
                let table = folder.open(&file).and_then(|source| Table::open(source, kind, &material));
                let table = table.map_err(|error| format!("{file} {error}"))?;
                let ending = endings.entry(material.name());
                ending.or_insert(Ending { material, tables: [None, None] }).tables[index] = Some(table);
                num_files += 1;
            }
        }
        if num_files == 0 {
            return Err("no file there is one (they have names such as KQvK.rtbw and KQvK.rtbz)".into());
        }
        let max_men = endings.values().map(|ending| ending.material.num_men).max().unwrap_or(0);
        let mut by_key = HashMap::new();
        for ending in endings.into_values().map(Arc::new) {
            by_key.insert(ending.material.key(), Arc::clone(&ending));
            by_key.insert(ending.material.mirrored().key(), ending);
        }
        Ok(Self { endings: by_key, num_files, max_men })
    }

    /// Number of files.
    pub fn num_files(&self) -> usize {
        self.num_files
    }

    /// Men of the largest ending, the kings included.
    pub fn max_men(&self) -> usize {
        self.max_men
    }

    /// The names of the endings, sorted, each with whether it has results and whether it has distances.
    pub fn endings(&self) -> Vec<(String, [bool; 2])> {
        let mut endings: Vec<_> = self
            .endings
            .values()
            .map(|ending| (ending.material.name(), [0, 1].map(|kind| ending.tables[kind].is_some())))
            .collect();
        endings.sort_unstable();
        endings.dedup();
        endings
    }

    /// Whether a board may have a value: few men and no castling.
    #[inline]
    fn is_covered(&self, board: &Board) -> bool {
        let may_castle = |color| {
            let rights = board.castle_rights(color);
            rights.short.is_some() || rights.long.is_some()
        };
        board.occupied().len() as usize <= self.max_men && !may_castle(Color::White) && !may_castle(Color::Black)
    }

    /// The result of a position; `None` if no table has it, or the table is damaged.
    pub fn wdl(&self, board: &Board) -> Option<Wdl> {
        if !self.is_covered(board) {
            return None;
        }
        self.known(board).map(|known| Wdl::of(known.wdl))
    }

    /// Plies to a capture or a pawn's move that keeps the result, with its sign: positive for a win of the player to move. Distances
    /// above 100 are cursed wins and blessed losses, 0 is a draw. It may be one ply too small or too large, but not where
    /// the fifty-move rule decides. `None` as for [`Self::wdl`], or without the table of distances.
    pub fn dtz(&self, board: &Board) -> Option<i32> {
        if !self.is_covered(board) {
            return None;
        }
        let known = self.known(board)?;
        if known.wdl == 0 {
            return Some(0);
        }
        if known.by_capture {
            return Some(immediate(known.wdl));
        }
        if known.wdl > 0 {
            // Pawn moves reset the count, too; the table knows only what is neither.
            for next in after(board, |board, chosen| is_pawn_move(board, chosen) && !is_capture(board, chosen)) {
                if -self.known(&next)?.wdl == known.wdl {
                    return Some(immediate(known.wdl));
                }
            }
        }
        if let Some(plies) = self.distance(board, known.wdl)? {
            return Some(immediate(known.wdl) + if known.wdl > 0 { plies } else { -plies });
        }
        // The table has the other side's distances: one move on.
        let mut best = if known.wdl > 0 { i32::MAX } else { immediate(known.wdl) };
        for next in after(board, |board, chosen| !is_pawn_move(board, chosen) && !is_capture(board, chosen)) {
            let plies = -self.dtz(&next)?;
            if plies == 1 && is_mate(&next) {
                best = 1;
            } else if known.wdl > 0 {
                if plies > 0 {
                    best = best.min(plies + 1);
                }
            } else {
                best = best.min(plies - 1);
            }
        }
        (best != i32::MAX).then_some(best)
    }

    /// Plies to zero, as [`Self::dtz`] counts them, of the position before a move, if that move is played: `next` is the position after
    /// it, and `resets` says whether it was a capture or a pawn's move. 1 is a mate, or a win by such a move.
    pub fn plies_before(&self, next: &Board, resets: bool) -> Option<i32> {
        if is_mate(next) {
            return Some(1);
        }
        if resets {
            return Some(immediate(-(self.wdl(next)? as i32)));
        }
        let plies = -self.dtz(next)?;
        Some(plies + plies.signum())
    }

    fn known(&self, board: &Board) -> Option<Known> {
        let (mut best_capture, mut best_en_passant) = (-3, -3);
        for chosen in moves(board, is_capture) {
            let mut next = board.clone();
            next.play_unchecked(chosen);
            let value = -self.after_captures(&next, -2, -best_capture)?;
            if value == 2 {
                return Some(Known { wdl: 2, by_capture: true });
            }
            if board.color_on(chosen.to).is_some() {
                best_capture = best_capture.max(value);
            } else {
                best_en_passant = best_en_passant.max(value);
            }
        }
        let value = self.stored(board)?;
        if best_en_passant > best_capture {
            if best_en_passant > value {
                return Some(Known { wdl: best_en_passant, by_capture: true });
            }
            best_capture = best_en_passant;
        }
        if best_capture >= value {
            return Some(Known { wdl: best_capture, by_capture: best_capture > 0 });
        }
        // The table does not know of en passant: without it the position may be stalemate.
        if best_en_passant > -3 && value == 0 && board.checkers().is_empty() {
            let is_en_passant = |chosen: &Move| is_capture(board, *chosen) && board.color_on(chosen.to).is_none();
            if moves(board, |_, _| true).iter().all(is_en_passant) {
                return Some(Known { wdl: best_en_passant, by_capture: true });
            }
        }
        Some(Known { wdl: value, by_capture: false })
    }

    /// Alpha-beta through captures to the stored values.
    fn after_captures(&self, board: &Board, mut alpha: i32, beta: i32) -> Option<i32> {
        for chosen in moves(board, is_capture) {
            let mut next = board.clone();
            next.play_unchecked(chosen);
            let value = -self.after_captures(&next, -beta, -alpha)?;
            if value >= beta {
                return Some(value);
            }
            alpha = alpha.max(value);
        }
        Some(alpha.max(self.stored(board)?))
    }

    fn stored(&self, board: &Board) -> Option<i32> {
        if board.occupied().len() == 2 {
            return Some(0);
        }
        self.look_up(board, Kind::Wdl, 0)?
    }

    /// Stored plies to zero; `Some(None)` if the table has those of the other side to move.
    #[allow(clippy::option_option)]
    fn distance(&self, board: &Board, wdl: i32) -> Option<Option<i32>> {
        self.look_up(board, Kind::Dtz, wdl)
    }

    #[allow(clippy::option_option)]
    fn look_up(&self, board: &Board, kind: Kind, wdl: i32) -> Option<Option<i32>> {
        let key = Material::of_board(board).key();
        let ending = self.endings.get(&key)?;
        let material = &ending.material;
        let table = ending.tables[usize::from(kind == Kind::Dtz)].as_ref()?;
        let is_black = board.side_to_move() == Color::Black;
        let (is_flipped, is_second) = if material.is_symmetric() {
            (is_black, false)
        } else {
            let is_flipped = key != material.key();
            (is_flipped, is_black != is_flipped)
        };
        let turn = if is_flipped && material.pawns[0] > 0 { 0x38 } else { 0 };
        let squares_of = |piece: u8| {
            let color = if (piece & 8 == 0) == is_flipped { Color::Black } else { Color::White };
            let squares = board.colored_pieces(color, Piece::ALL[usize::from(piece & 7) - 1]);
            squares.into_iter().map(move |square| square as u8 ^ turn)
        };
        let mut file = 0;
        let mut leader = 0;
        if material.pawns[0] > 0 {
            let mut pawns: Vec<u8> = squares_of(table.any_numbering()?.pieces[0]).collect();
            file = put_leader_first(&mut pawns);
            leader = pawns[0];
        }
        let Some(part) = table.part(file, is_second, material.is_symmetric()) else { return Some(None) };
        let mut squares = Vec::with_capacity(material.num_men);
        while squares.len() < material.num_men {
            squares.extend(squares_of(part.numbering.pieces[squares.len()]));
        }
        if material.pawns[0] > 0 {
            let place = squares.iter().position(|square| *square == leader)?;
            squares.swap(0, place);
        }
        let number = part.numbering.number(&mut squares, material);
        table.value(part, number, wdl).map(Some)
    }
}

/// The legal moves of a kind.
fn moves(board: &Board, is_wanted: impl Fn(&Board, Move) -> bool) -> Vec<Move> {
    let mut found = Vec::new();
    board.generate_moves(|of_piece| {
        found.extend(of_piece.into_iter().filter(|chosen| is_wanted(board, *chosen)));
        false
    });
    found
}

/// The positions after the legal moves of a kind.
fn after(board: &Board, is_wanted: impl Fn(&Board, Move) -> bool) -> impl Iterator<Item = Board> {
    moves(board, is_wanted).into_iter().map(|chosen| {
        let mut next = board.clone();
        next.play_unchecked(chosen);
        next
    })
}

fn is_pawn_move(board: &Board, chosen: Move) -> bool {
    board.pieces(Piece::Pawn).has(chosen.from)
}

/// Whether a move takes a piece; castling, which is written as the king taking its rook, does not.
fn is_capture(board: &Board, chosen: Move) -> bool {
    board.colors(!board.side_to_move()).has(chosen.to)
        || (is_pawn_move(board, chosen) && Some(chosen.to) == en_passant_target(board))
}

fn en_passant_target(board: &Board) -> Option<Square> {
    Some(Square::new(board.en_passant()?, Rank::Sixth.relative_to(board.side_to_move())))
}

/// Whether the player to move is mated.
pub(crate) fn is_mate(board: &Board) -> bool {
    board.checkers() != BitBoard::EMPTY && !board.generate_moves(|_| true)
}
