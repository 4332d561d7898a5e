//! X-FEN and Shredder-FEN, which differ in the names of the rooks that may castle.
//!
//! `cozy-chess` reads FEN, too, but refuses X-FEN with inner rooks and counters that games reach, and its errors do not
//! name the place. So fields are read here, and its builder checks the remaining rules.

use std::fmt::Write;

use cozy_chess::{Board, BoardBuilder, Color, File, Piece, Rank, Square, get_king_moves};

use super::{State, Variant, en_passant_square};
use crate::games::fen::Fields;
use crate::games::rows::write_rows;
use crate::player::Player;

/// The name of a rook that may castle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Castling {
    /// K or Q if it is the outermost rook on its side of the king, else its file.
    Xfen,
    /// Its file.
    Shredder,
}

/// Writes a position; en passant only if a capture is legal.
pub fn write(state: &State, castling: Castling) -> String {
    let board = &state.board;
    let mut text = write_rows(8, 8, |cell| {
        let square = Square::index(cell).flip_rank();
        let letter = char::from(board.piece_on(square)?);
        Some(cased(letter, board.color_on(square)?))
    });
    text.push_str(if board.side_to_move() == Color::White { " w " } else { " b " });
    let rooks = rook_letters(board, castling);
    text.push_str(if rooks.is_empty() { "-" } else { &rooks });
    let en_passant = en_passant_square(board).map_or_else(|| "-".into(), |square| square.to_string());
    write!(text, " {en_passant} {} {}", state.halfmoves, state.plies / 2 + 1).expect("a string takes any text");
    text
}

fn color_of(player: Player) -> Color {
    [Color::White, Color::Black][player.index()]
}

fn cased(letter: char, color: Color) -> char {
    if color == Color::White { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
}

fn rook_letters(board: &Board, castling: Castling) -> String {
    let mut letters = String::new();
    for color in [Color::White, Color::Black] {
        let rights = board.castle_rights(color);
        for (file, wing) in [(rights.short, 'k'), (rights.long, 'q')] {
            let Some(file) = file else { continue };
            let is_outermost = outermost_rook(&BoardBuilder::from_board(board), color, wing) == Some(file);
            let letter = if castling == Castling::Xfen && is_outermost { wing } else { char::from(file) };
            letters.push(cased(letter, color));
        }
    }
    letters
}

/// The file of a side's king, if it stands on its back rank.
fn king_file(builder: &BoardBuilder, color: Color) -> Option<File> {
    File::ALL.into_iter().find(|file| piece_on_back_rank(builder, color, *file) == Some(Piece::King))
}

fn piece_on_back_rank(builder: &BoardBuilder, color: Color, file: File) -> Option<Piece> {
    let (piece, owner) = builder.square(Square::new(file, Rank::First.relative_to(color)))?;
    (owner == color).then_some(piece)
}

/// The file of a side's rook that is furthest from its king, to the east (k) or to the west (q).
fn outermost_rook(builder: &BoardBuilder, color: Color, wing: char) -> Option<File> {
    let king = king_file(builder, color)?;
    let is_rook = |file: &File| piece_on_back_rank(builder, color, *file) == Some(Piece::Rook);
    let mut files = File::ALL.into_iter();
    if wing == 'k' {
        files.rfind(is_rook).filter(|file| *file > king)
    } else {
        files.find(is_rook).filter(|file| *file < king)
    }
}

/// Reads a position: the board, the plies since a capture or a pawn's move, and those since the game began.
///
/// # Errors
/// A sentence: which field is wrong, and what was expected.
pub fn parse(text: &str, variant: Variant) -> Result<(Board, u32, u32), String> {
    let fields = Fields::parse(text)?;
    let mut builder = BoardBuilder::empty();
    read_placement(&fields, &mut builder)?;
    builder.side_to_move = color_of(fields.player);
    let placed = builder.build().map_err(|_| fields.king_could_be_taken())?;
    // The builder looks for checks by all pieces but kings.
    if get_king_moves(placed.king(Color::White)).has(placed.king(Color::Black)) {
        return Err(fields.king_could_be_taken());
    }
    read_castling(fields.castling, variant, &mut builder)?;
    read_en_passant(fields.en_passant, &placed, &mut builder)?;
    // The board's own clock ends at 100; `play` recognises a capture or a pawn's move by its zero.
    builder.halfmove_clock = fields.halfmoves.min(100) as u8;
    let board = builder.build().map_err(|error| format!("{text:?} is not a position of chess: {error}"))?;
    Ok((board, fields.halfmoves, fields.plies))
}

fn read_placement(fields: &Fields<'_>, builder: &mut BoardBuilder) -> Result<(), String> {
    let pieces = fields.pieces(8)?;
    for (cell, piece) in pieces.iter().enumerate() {
        *builder.square_mut(Square::index(cell).flip_rank()) =
            piece.map(|(kind, owner)| (Piece::index(kind), color_of(owner)));
    }
    for (owner, name) in [(Player::First, "White"), (Player::Second, "Black")] {
        let count = |is_counted: fn(Piece) -> bool| {
            pieces.iter().flatten().filter(|piece| piece.1 == owner && is_counted(Piece::index(piece.0))).count()
        };
        let (pawns, all) = (count(|piece| piece == Piece::Pawn), count(|_| true));
        if pawns > 8 || all > 16 {
            let text = fields.placement;
            return Err(format!("{text:?}: {name} has {pawns} pawns of {all} pieces, expected at most 8 of 16"));
        }
    }
    Ok(())
}

fn read_castling(text: &str, variant: Variant, builder: &mut BoardBuilder) -> Result<(), String> {
    for letter in text.chars().filter(|_| text != "-") {
        let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
        let side = if color == Color::White { "White" } else { "Black" };
        let wrong = |what: String| Err(format!("{text:?}, castling by {letter:?}: {what}"));
        let Some(king) = king_file(builder, color) else {
            return wrong(format!("{side}'s king is not on its back rank"));
        };
        let named = match letter.to_ascii_lowercase() {
            wing @ ('k' | 'q') => outermost_rook(builder, color, wing),
            file @ 'a'..='h' => File::try_from(file).ok().filter(|file| *file != king),
            _ => return wrong("expected letters of KQkq, files A to H and a to h, or - alone".into()),
        };
        let rook = named.filter(|file| piece_on_back_rank(builder, color, *file) == Some(Piece::Rook));
        let Some(rook) = rook else {
            return wrong(format!("{side} has no such rook beside its king"));
        };
        if variant == Variant::Chess && (king != File::E || !matches!(rook, File::A | File::H)) {
            return wrong(format!("{side}'s king is on {king}, the rook on {rook}: this is a position of chess960"));
        }
        let rights = builder.castle_rights_mut(color);
        let right = if rook > king { &mut rights.short } else { &mut rights.long };
        if right.replace(rook).is_some() {
            return wrong(format!("a right of {side}'s on this side of the king is given twice"));
        }
    }
    Ok(())
}

fn read_en_passant(text: &str, board: &Board, builder: &mut BoardBuilder) -> Result<(), String> {
    if text == "-" {
        return Ok(());
    }
    let side = !builder.side_to_move;
    let passed: Square = text.parse().map_err(|_| format!("en passant square {text:?}, expected a square or -"))?;
    let [from, rank, to] = [Rank::Second, Rank::Third, Rank::Fourth].map(|rank| rank.relative_to(side));
    if passed.rank() != rank {
        return Err(format!("en passant square {text:?}, expected one on rank {rank} when this side is to move"));
    }
    let [from, to] = [from, to].map(|rank| Square::new(passed.file(), rank));
    let occupied = board.occupied();
    if occupied.has(passed) || occupied.has(from) || builder.square(to) != Some((Piece::Pawn, side)) {
        return Err(format!("en passant square {text:?}: no pawn can just have come from {from} to {to}"));
    }
    builder.en_passant = Some(passed);
    if builder.build().is_err() {
        return Err(format!(
            "en passant square {text:?}: the king was in check before the pawn came from {from} to {to}"
        ));
    }
    Ok(())
}
