//! FEN and pictures of chess on boards of any size. White is the first player; squares are numbered row by row from the
//! top, as White sees the board.

use super::rows::{counted, parse_fen_rows, read_counter};
use crate::picture::{Grid, Picture, Piece, letters, numbers_from_top};
use crate::player::Player;

/// Letters of the kinds of pieces, in the order of the planes and of cozy-chess.
const LETTERS: [char; 6] = ['P', 'N', 'B', 'R', 'Q', 'K'];
const PAWN: usize = 0;
const KING: usize = 5;

/// A kind's letter: upper case for White.
pub fn letter(kind: usize, owner: Player) -> char {
    if owner == Player::First { LETTERS[kind] } else { LETTERS[kind].to_ascii_lowercase() }
}

/// The board and the player to move; `piece` is the kind and the owner of the piece on a square.
pub fn picture(
    side: usize,
    piece: impl Fn(usize) -> Option<(usize, Player)>,
    mover: Player,
    last_move: Vec<usize>,
) -> Picture {
    let drawn = |(kind, owner): (usize, Player)| {
        let glyphs = [["♙", "♘", "♗", "♖", "♕", "♔"], ["♟", "♞", "♝", "♜", "♛", "♚"]];
        Piece { owner, text: letter(kind, owner).into(), glyph: glyphs[owner.index()][kind].into() }
    };
    Picture {
        grid: Grid::Chequered,
        cells: (0..side * side).map(|square| piece(square).map(drawn)).collect(),
        column_labels: letters(side),
        row_labels: numbers_from_top(side),
        last_move,
        captions: vec![format!("{} to move", ["White", "Black"][mover.index()])],
    }
}

/// The fields of a FEN; pieces, castling and en passant are still texts.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    /// The pieces, row by row from the top.
    pub placement: &'a str,
    /// The player to move.
    pub player: Player,
    /// The castling rights.
    pub castling: &'a str,
    /// The square behind a pawn that has just made a double step.
    pub en_passant: &'a str,
    /// Plies since a capture or a pawn's move.
    pub halfmoves: u32,
    /// Plies since the game began.
    pub plies: u32,
}

impl<'a> Fields<'a> {
    /// Reads FEN. Missing counters are `0 1`; a move number of 0, which some programs write, is 1.
    ///
    /// # Errors
    /// A sentence: which field is wrong, and what was expected.
    pub fn parse(text: &'a str) -> Result<Self, String> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [placement, side, castling, en_passant, counters @ ..] = fields.as_slice() else {
            let (found, expected) = (counted(fields.len(), "field"), "pieces, side to move, castling, en passant");
            return Err(format!("{text:?} has {found}, expected at least four: {expected}"));
        };
        let [halfmoves, moves] = match counters {
            [] => ["0", "1"],
            [halfmoves] => [halfmoves, "1"],
            [halfmoves, moves] => [*halfmoves, *moves],
            [.., extra] => return Err(format!("{extra:?} is one field too many: a FEN has six")),
        };
        let player = match *side {
            "w" => Player::First,
            "b" => Player::Second,
            _ => return Err(format!("{side:?} is to move, expected w or b")),
        };
        let halfmoves = read_counter(halfmoves, "plies since a capture or a pawn's move")?;
        let moves = read_counter(moves, "the move's number")?;
        let plies = 2 * moves.saturating_sub(1) + player.index() as u32;
        Ok(Self { placement, player, castling, en_passant, halfmoves, plies })
    }

    /// The kind and the owner of the piece on each square.
    ///
    /// # Errors
    /// A sentence, if rows are malformed, a side has not exactly one king, or a pawn is on the first or the last rank.
    pub fn pieces(&self, side: usize) -> Result<Vec<Option<(usize, Player)>>, String> {
        let text = self.placement;
        let read = |symbol: &str| {
            let letter: char = symbol.parse().ok()?;
            let kind = LETTERS.iter().position(|other| *other == letter.to_ascii_uppercase())?;
            Some((kind, if letter.is_ascii_uppercase() { Player::First } else { Player::Second }))
        };
        let pieces = parse_fen_rows(text, side, "one of PNBRQKpnbrqk", read)?;
        for (owner, name) in [(Player::First, "White"), (Player::Second, "Black")] {
            let kings = pieces.iter().flatten().filter(|piece| **piece == (KING, owner)).count();
            if kings != 1 {
                return Err(format!("{text:?}: {name} has {kings} kings, expected 1"));
            }
        }
        let (first_rows, last_row) = pieces.split_at(side * (side - 1));
        let is_pawn = |piece: &Option<(usize, Player)>| piece.is_some_and(|(kind, _)| kind == PAWN);
        if first_rows[..side].iter().chain(last_row).any(is_pawn) {
            return Err(format!("{text:?}: a pawn stands on the first or the last rank"));
        }
        Ok(pieces)
    }

    /// The error of a position in which the king of the side that has moved can be taken.
    pub fn king_could_be_taken(&self) -> String {
        let [king, mover] = [self.player.opponent(), self.player].map(|player| ["White", "Black"][player.index()]);
        format!("{:?}: {king}'s king could be taken, and {mover} is to move", self.placement)
    }
}
