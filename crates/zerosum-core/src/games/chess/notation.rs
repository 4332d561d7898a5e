//! Moves as text: UCI and SAN.

use cozy_chess::util::display_san_move;
use cozy_chess::{Board, File, Move, Piece, Rank, Square};

use super::Variant;
use super::encoding::two_steps;

/// The rook that a move castles with.
fn castling_rook(board: &Board, chosen: Move) -> Option<Square> {
    board.colors(board.side_to_move()).has(chosen.to).then_some(chosen.to)
}

/// A move in UCI: in chess a castling king moves two squares, in Chess960 it takes its rook.
pub fn uci(board: &Board, variant: Variant, chosen: Move) -> String {
    let to = match castling_rook(board, chosen) {
        Some(rook) if variant == Variant::Chess => two_steps(chosen.from, rook),
        _ => chosen.to,
    };
    Move { to, ..chosen }.to_string()
}

/// A move in standard algebraic notation, with + or #.
pub fn san(board: &Board, chosen: Move) -> String {
    display_san_move(board, chosen).to_string()
}

/// The index of the legal move that a text means; `None` if no move or more than one is written so.
pub fn parse(board: &Board, variant: Variant, legal: &[Move], text: &str) -> Option<usize> {
    let text = text.trim();
    let exact = legal.iter().position(|chosen| uci(board, variant, *chosen) == text);
    exact.or_else(|| parse_other_uci(board, legal, text)).or_else(|| parse_san(board, legal, text))
}

/// Reads UCI of the other of the two games, or with the piece of a promotion in upper case.
fn parse_other_uci(board: &Board, legal: &[Move], text: &str) -> Option<usize> {
    let promotion = match text.get(4..)? {
        "" => None,
        letter => Some(letter.to_ascii_lowercase().parse().ok()?),
    };
    let wanted = Move { from: text.get(..2)?.parse().ok()?, to: text.get(2..4)?.parse().ok()?, promotion };
    let castles = |chosen: &Move| {
        castling_rook(board, *chosen).is_some_and(|rook| {
            let file = if rook > chosen.from { File::G } else { File::C };
            wanted == Move { to: Square::new(file, rook.rank()), ..*chosen }
        })
    };
    legal.iter().position(|chosen| *chosen == wanted).or_else(|| legal.iter().position(castles))
}

/// A move in algebraic notation.
struct San {
    piece: Piece,
    from_file: Option<File>,
    from_rank: Option<Rank>,
    to: Square,
    promotion: Option<Piece>,
}

/// Reads algebraic notation as people write it: castling with zeros, a promotion with or without its sign, more of the
/// origin than necessary, and any marks of check and praise.
fn parse_san(board: &Board, legal: &[Move], text: &str) -> Option<usize> {
    let text = text.trim_end_matches(['+', '#', '!', '?']);
    let is_meant: Box<dyn Fn(&Move) -> bool> = if let Some(is_short) = castling_side(text) {
        Box::new(move |chosen| castling_rook(board, *chosen).is_some_and(|rook| (rook > chosen.from) == is_short))
    } else {
        let san = read_san(text)?;
        Box::new(move |chosen| {
            castling_rook(board, *chosen).is_none()
                && chosen.to == san.to
                && chosen.promotion == san.promotion
                && board.piece_on(chosen.from) == Some(san.piece)
                && san.from_file.is_none_or(|file| file == chosen.from.file())
                && san.from_rank.is_none_or(|rank| rank == chosen.from.rank())
        })
    };
    let mut meant = (0..legal.len()).filter(|index| is_meant(&legal[*index]));
    meant.next().filter(|_| meant.next().is_none())
}

/// True for castling on the king's side, false on the queen's side, `None` if the text is not castling.
fn castling_side(text: &str) -> Option<bool> {
    match text {
        "O-O" | "0-0" | "o-o" => Some(true),
        "O-O-O" | "0-0-0" | "o-o-o" => Some(false),
        _ => None,
    }
}

/// The piece of a letter, in upper case.
fn piece_of(letter: char) -> Option<Piece> {
    letter.is_ascii_uppercase().then(|| Piece::try_from(letter.to_ascii_lowercase()).ok()).flatten()
}

/// Reads from the end: promotion, target, x or -, rank and file of the origin, piece.
fn read_san(text: &str) -> Option<San> {
    let text = text.strip_suffix("e.p.").unwrap_or(text).trim_end();
    let mut letters: Vec<char> = text.chars().collect();
    // `e8=Q`, `e8(Q)`, `e8/Q`, `e8Q`
    letters.pop_if(|letter| *letter == ')');
    let promotion = letters.last().copied().and_then(piece_of);
    if promotion.is_some() {
        letters.pop();
        letters.pop_if(|letter| matches!(letter, '=' | '(' | '/'));
    }
    let rank = Rank::try_from(letters.pop()?).ok()?;
    let to = Square::new(File::try_from(letters.pop()?).ok()?, rank);
    letters.pop_if(|letter| matches!(letter, 'x' | ':' | '-'));
    let from_rank = letters.last().and_then(|letter| Rank::try_from(*letter).ok());
    letters.pop_if(|_| from_rank.is_some());
    let from_file = letters.last().and_then(|letter| File::try_from(*letter).ok());
    letters.pop_if(|_| from_file.is_some());
    let piece = letters.pop().map_or(Some(Piece::Pawn), piece_of)?;
    letters.is_empty().then_some(San { piece, from_file, from_rank, to, promotion })
}
