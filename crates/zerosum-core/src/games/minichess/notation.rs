//! FEN, UCI and SAN for minichess: files a to e from the left, ranks 5 to 1 from the top, as White (the first player) sees
//! the board.

use std::fmt::Write;

use super::board::{Board, FIRST_UNDERPROMOTION, PAWN, target};
use crate::game::{Action, find_action};
use crate::games::fen::{self, Fields};
use crate::games::mini::board::{NUM_SQUARES, SIDE, squares};
use crate::games::mini::{PieceRules, Setup};
use crate::games::rows::write_rows;
use crate::player::Player;

/// Writes a position as FEN, with - for castling and en passant.
pub fn write(setup: &Setup<Board>) -> String {
    let letter = |square| setup.board.piece_on(square, setup.player).map(|(kind, owner)| fen::letter(kind, owner));
    let side = ['w', 'b'][setup.player.index()];
    format!("{} {side} - - {} {}", write_rows(SIDE, SIDE, letter), setup.halfmoves, setup.plies / 2 + 1)
}

/// Reads FEN; missing counters are `0 1`.
///
/// # Errors
/// A sentence: which field is wrong, and what was expected.
pub fn parse_position(text: &str) -> Result<Setup<Board>, String> {
    let fields = Fields::parse(text)?;
    for (name, field) in [("castling", fields.castling), ("en passant", fields.en_passant)] {
        if field != "-" {
            return Err(format!("{name} is {field:?}, expected -: minichess has none"));
        }
    }
    let board = Board::of_pieces(fields.pieces(SIDE)?).first_sees(fields.player);
    if board.opposite().masks().is_check {
        return Err(fields.king_could_be_taken());
    }
    Ok(Setup { board, player: fields.player, halfmoves: fields.halfmoves, plies: fields.plies })
}

fn square_text(square: usize) -> String {
    format!("{}{}", char::from(b'a' + (square % SIDE) as u8), SIDE - square / SIDE)
}

/// An action's squares in White's view, and the kind to which a pawn promotes.
fn parts(board: &Board, player: Player, action: usize) -> (usize, usize, Option<usize>) {
    let (plane, from) = (action / NUM_SQUARES, action % NUM_SQUARES);
    let kind = board.kind_after(action);
    let promotion = (kind != board.kind_on(from)).then_some(kind);
    (Board::first_sees_square(from, player), Board::first_sees_square(target(plane, from), player), promotion)
}

/// An action in UCI: `a2a3`, `b4b5q`.
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
    let masks = next.masks();
    text.push_str(match (masks.is_check, next.has_move(&masks)) {
        (true, false) => "#",
        (true, true) => "+",
        _ => "",
    });
    text
}

/// The part of a piece's square that distinguishes it from others of its kind with the same target: nothing, the file,
/// the rank, or both.
fn origin(board: &Board, player: Player, from: usize, to: usize) -> String {
    let alike = board.kinds[board.kind_on(from)] & board.own & !(1 << from);
    let mut others = Vec::new();
    board.for_each_plane(&board.masks(), |plane, set| {
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

/// Algebraic notation without optional marks: of check and praise, = before a promotion, x.
fn bare_san(text: &str) -> String {
    text.trim().trim_end_matches(['+', '#', '!', '?']).replace(['=', 'x', ':'], "")
}

/// The legal action that a text means in UCI or algebraic notation.
pub fn parse(board: &Board, player: Player, legal: &[Action], text: &str) -> Option<Action> {
    // `B5a3` is a bishop's move before it is `b5a3` in capitals.
    let bare = bare_san(text);
    let is_uci = |action: &Action| uci(board, player, usize::from(*action)) == text.trim();
    let is_san = |action: &Action| bare_san(&san(board, player, usize::from(*action))) == bare;
    let exact = legal.iter().copied().find(is_uci).or_else(|| legal.iter().copied().find(is_san));
    exact.or_else(|| find_action(legal, text, |action| uci(board, player, action.into())))
}
