//! The fields of FEN, for chess on boards of any size.

use super::rows::{counted, read_counter};
use crate::game::Player;

/// What a piece may be.
pub const LETTERS: &str = "one of PNBRQKpnbrqk";

/// A position as FEN writes it; where the pieces stand, castling and en passant are still to be read.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    /// Row by row from the top.
    pub placement: &'a str,
    /// Who is to move.
    pub player: Player,
    /// Who may castle.
    pub castling: &'a str,
    /// The square behind a pawn that just made a double step.
    pub en_passant: &'a str,
    /// Plies since a capture or a pawn's move.
    pub halfmoves: u32,
    /// Plies since the game began.
    pub plies: u32,
}

impl<'a> Fields<'a> {
    /// Reads FEN; missing counters are `0 1`.
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
        let halfmoves = read_counter(halfmoves, "plies since a capture or a pawn's move", 0)?;
        let moves = read_counter(moves, "the move's number", 1)?;
        let plies = 2 * (moves - 1) + player.index() as u32;
        Ok(Self { placement, player, castling, en_passant, halfmoves, plies })
    }

    /// What is wrong where the side that has moved left its king to be taken.
    pub fn king_could_be_taken(&self) -> String {
        let [king, mover] = [self.player.opponent(), self.player].map(|player| ["White", "Black"][player.index()]);
        format!("{:?}: {king}'s king could be taken, and {mover} is to move", self.placement)
    }
}
