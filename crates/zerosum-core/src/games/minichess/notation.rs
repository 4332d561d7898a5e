//! FEN, UCI and SAN for minichess: files a to e from the left, ranks 5 to 1 from the top, as White (who begins) sees the board.

use std::fmt::Write;

use super::board::{Board, FIRST_UNDERPROMOTION, Moves, PAWN, target};
use crate::game::Player;
use crate::games::board5::{NUM_SQUARES, SIDE, squares};
use crate::games::fen::{self, Fields};
use crate::games::rows::write_rows;

/// What a position text says.
#[derive(Clone, Copy, Debug)]
pub struct Fen {
    /// Seen by who is to move.
    pub board: Board,
    /// Who is to move.
    pub player: Player,
    /// Since a capture or a pawn's move.
    pub halfmoves: u32,
    /// Since the game began.
    pub plies: u32,
}

/// Writes a position as FEN, with - for castling and en passant.
pub fn write(fen: &Fen) -> String {
    let letter = |square| fen.board.piece_on(square, fen.player).map(|(kind, owner)| fen::letter(kind, owner));
    let side = ['w', 'b'][fen.player.index()];
    format!("{} {side} - - {} {}", write_rows(SIDE, SIDE, letter), fen.halfmoves, fen.plies / 2 + 1)
}

/// Reads FEN; missing counters are `0 1`.
///
/// # Errors
/// A sentence: which field is wrong, and what was expected.
pub fn parse(text: &str) -> Result<Fen, String> {
    let fields = Fields::parse(text)?;
    for (name, field) in [("castling", fields.castling), ("en passant", fields.en_passant)] {
        if field != "-" {
            return Err(format!("{name} is {field:?}, expected -: minichess has none"));
        }
    }
    let (mut white_sees, player) = (Board::default(), fields.player);
    for (square, piece) in fields.pieces(SIDE)?.into_iter().enumerate() {
        let Some((kind, owner)) = piece else { continue };
        white_sees.kinds[kind] |= 1 << square;
        *[&mut white_sees.own, &mut white_sees.opponent][owner.index()] |= 1 << square;
    }
    let board = white_sees.first_sees(player);
    if board.opposite().limits().is_check {
        return Err(fields.king_could_be_taken());
    }
    Ok(Fen { board, player, halfmoves: fields.halfmoves, plies: fields.plies })
}

fn square_text(square: usize) -> String {
    format!("{}{}", char::from(b'a' + (square % SIDE) as u8), SIDE - square / SIDE)
}

/// An action's squares as White sees them, and the kind that a pawn becomes.
fn parts(board: &Board, player: Player, action: usize) -> (usize, usize, Option<usize>) {
    let (plane, from) = (action / NUM_SQUARES, action % NUM_SQUARES);
    let kind = board.kind_after(action);
    let promotion = (kind != board.kind_on(from)).then_some(kind);
    (Board::first_sees_square(from, player), Board::first_sees_square(target(plane, from), player), promotion)
}

/// An action as UCI writes it: `a2a3`, `b4b5q`.
pub fn uci(board: &Board, player: Player, action: usize) -> String {
    let (from, to, promotion) = parts(board, player, action);
    let promotion = promotion.map_or(String::new(), |kind| fen::letter(kind, Player::Second).to_string());
    format!("{}{}{promotion}", square_text(from), square_text(to))
}

/// An action in standard algebraic notation, with + or #.
pub fn san(board: &Board, player: Player, action: usize) -> String {
    let (from, to, promotion) = parts(board, player, action);
    let (plane, square) = (action / NUM_SQUARES, action % NUM_SQUARES);
    let (kind, target_square) = (board.kind_on(square), target(plane, square));
    let captures = board.opponent >> target_square & 1 == 1;
    let mut text = String::new();
    if kind == PAWN {
        text.extend(square_text(from).chars().take(usize::from(captures)));
    } else {
        text.push(fen::letter(kind, Player::First));
        text.push_str(&origin(board, player, square, target_square));
    }
    text.push_str(if captures { "x" } else { "" });
    text.push_str(&square_text(to));
    if let Some(kind) = promotion {
        write!(text, "={}", fen::letter(kind, Player::First)).expect("a string takes any text");
    }
    let next = board.after(action).opposite();
    let limits = next.limits();
    text.push_str(match (limits.is_check, Moves { board: &next, limits: &limits }.any()) {
        (true, false) => "#",
        (true, true) => "+",
        _ => "",
    });
    text
}

/// As much of a piece's square as tells it from others of its kind that may go to the same square: nothing, its file, its
/// rank, or both.
fn origin(board: &Board, player: Player, from: usize, to: usize) -> String {
    let alike = board.kinds[board.kind_on(from)] & board.own & !(1 << from);
    let mut others = Vec::new();
    Moves { board, limits: &board.limits() }.for_each_plane(|plane, set| {
        if plane < FIRST_UNDERPROMOTION {
            others.extend(squares(set & alike).filter(|square| target(plane, *square) == to));
        }
    });
    let text = square_text(Board::first_sees_square(from, player));
    if others.is_empty() {
        String::new()
    } else if others.iter().all(|other| other % SIDE != from % SIDE) {
        text[..1].to_owned()
    } else if others.iter().all(|other| other / SIDE != from / SIDE) {
        text[1..].to_owned()
    } else {
        text
    }
}

/// A text in algebraic notation without what people leave out or add: marks of check and praise, = before a promotion, x.
pub fn bare_san(text: &str) -> String {
    text.trim().trim_end_matches(['+', '#', '!', '?']).replace(['=', 'x', ':'], "")
}
