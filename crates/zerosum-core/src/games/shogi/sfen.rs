//! SFEN: positions as the protocol USI writes them, files 9 to 1 from the left and ranks a to i from the top.

use std::fmt::Write;

use super::board::{
    Board, KING, NUM_HAND_KINDS, NUM_OF_KIND, NUM_SQUARES, PAWN, Piece, SIDE, Setup, promoted, rows_ahead,
    rows_without_a_move, unpromoted,
};
use crate::game::Player;
use crate::games::rows::read_counter;

/// The start of the game.
pub const START: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";

/// Letters of the kinds that are not promoted, in the order of the kinds.
const LETTERS: [char; KING + 1] = ['P', 'L', 'N', 'S', 'G', 'B', 'R', 'K'];
/// Names of those kinds.
const NAMES: [&str; NUM_HAND_KINDS] = ["pawns", "lances", "knights", "silvers", "golds", "bishops", "rooks"];

/// A kind's letter, in upper case.
pub fn letter(kind: usize) -> char {
    LETTERS[unpromoted(kind)]
}

/// A square's file and rank: `7g`.
pub fn square_text(square: usize) -> String {
    format!("{}{}", SIDE - square % SIDE, char::from(b'a' + (square / SIDE) as u8))
}

/// A piece's letters, + before it if it is promoted: upper case for Black.
pub fn piece_text(piece: Piece) -> String {
    let sign = if unpromoted(piece.kind) == piece.kind { "" } else { "+" };
    let letter = letter(piece.kind);
    format!("{sign}{}", if piece.owner == Player::First { letter } else { letter.to_ascii_lowercase() })
}

/// What a side holds, such as `RB2P`, in upper case and from the rook to the pawn, as USI has it; "" if nothing.
pub fn hand_text(hand: [u8; NUM_HAND_KINDS]) -> String {
    let mut text = String::new();
    for kind in (0..NUM_HAND_KINDS).rev().filter(|kind| hand[*kind] > 0) {
        if hand[kind] > 1 {
            write!(text, "{}", hand[kind]).expect("a string takes any text");
        }
        text.push(LETTERS[kind]);
    }
    text
}

/// Writes a position and the plies since the game began.
pub fn write(board: &Board, plies: u32) -> String {
    let mut text = String::new();
    for row in 0..SIDE {
        text.push_str(if row == 0 { "" } else { "/" });
        let mut empty = 0;
        for square in row * SIDE..(row + 1) * SIDE {
            let piece = board.piece_on(square);
            if empty > 0 && piece.is_some() {
                write!(text, "{empty}").expect("a string takes any text");
                empty = 0;
            }
            match piece {
                Some(piece) => text.push_str(&piece_text(piece)),
                None => empty += 1,
            }
        }
        if empty > 0 {
            write!(text, "{empty}").expect("a string takes any text");
        }
    }
    let [black, white] = [Player::First, Player::Second].map(|player| hand_text(board.hand(player)));
    let held = format!("{black}{}", white.to_lowercase());
    let (held, side) = (if held.is_empty() { "-" } else { &held }, ['b', 'w'][board.player().index()]);
    format!("{text} {side} {held} {}", plies + 1)
}

/// Reads SFEN, `sfen` and SFEN, or `startpos`: the board and the plies since the game began. A missing move number is 1.
///
/// # Errors
/// A sentence: which field is wrong, and what was expected.
pub fn parse(text: &str) -> Result<(Board, u32), String> {
    let mut fields: Vec<&str> = text.split_whitespace().collect();
    if fields == ["startpos"] {
        return parse(START);
    }
    if fields.first() == Some(&"sfen") {
        fields.remove(0);
    }
    let (rows, side, held, number) = match fields.as_slice() {
        [rows, side, held] => (rows, side, held, "1"),
        [rows, side, held, number] => (rows, side, held, *number),
        _ => {
            let expected = "expected pieces, side to move, hands and the move's number, or startpos";
            return Err(format!("{text:?} has {} fields, {expected}", fields.len()));
        }
    };
    let player = match *side {
        "b" => Player::First,
        "w" => Player::Second,
        _ => return Err(format!("{side:?} is to move, expected b or w")),
    };
    let setup = Setup { pieces: read_rows(rows)?, hands: read_hands(held)?, player };
    let plies = read_counter(number, "the move's number", 1)? - 1;
    let board = check(&setup).map_err(|fault| format!("{text:?}: {fault}"))?;
    Ok((board, plies))
}

/// The kind and the owner of a letter.
fn read_letter(letter: char) -> Option<Piece> {
    let kind = LETTERS.iter().position(|other| *other == letter.to_ascii_uppercase())?;
    Some(Piece { kind, owner: if letter.is_ascii_uppercase() { Player::First } else { Player::Second } })
}

fn read_rows(text: &str) -> Result<[Option<Piece>; NUM_SQUARES], String> {
    let mut pieces = [None; NUM_SQUARES];
    let rows: Vec<&str> = text.split('/').collect();
    if rows.len() != SIDE {
        return Err(format!("{text:?} has {} rows, expected {SIDE}, separated by /", rows.len()));
    }
    for (index, row) in rows.into_iter().enumerate() {
        let wrong = |what: String| Err(format!("row {}, {row:?}{what}", index + 1));
        let (mut column, mut letters, mut was_number) = (0, row.chars(), false);
        while let Some(letter) = letters.next() {
            if let Some(number) = letter.to_digit(10) {
                if was_number || number == 0 {
                    return wrong(format!(": {letter:?}, expected digits 1 to {SIDE}, no two side by side"));
                }
                was_number = true;
                column += number as usize;
                continue;
            }
            was_number = false;
            let is_promoted = letter == '+';
            let Some(mut piece) = (if is_promoted { letters.next() } else { Some(letter) }).and_then(read_letter)
            else {
                let expected = "expected letters of PLNSGBRK and plnsgbrk, + before some";
                return wrong(format!(": {letter:?} is no piece, {expected}"));
            };
            if is_promoted {
                let Some(kind) = promoted(piece.kind) else {
                    return wrong(format!(": +{} is no piece", LETTERS[piece.kind]));
                };
                piece.kind = kind;
            }
            if column < SIDE {
                pieces[index * SIDE + column] = Some(piece);
            }
            column += 1;
        }
        if column != SIDE {
            return wrong(format!(", has {column} cells, expected {SIDE}"));
        }
    }
    Ok(pieces)
}

fn read_hands(text: &str) -> Result<[[u8; NUM_HAND_KINDS]; 2], String> {
    let mut hands = [[0; NUM_HAND_KINDS]; 2];
    let mut rest = text.trim_start_matches(|_| text == "-");
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let (number, behind) = rest.split_at(digits);
        let count = if number.is_empty() { Some(1) } else { number.parse().ok().filter(|count| *count > 1) };
        let mut letters = behind.chars();
        let piece = letters.next().and_then(read_letter).filter(|piece| piece.kind != KING);
        let (Some(count), Some(piece)) = (count, piece) else {
            let expected = "expected letters of PLNSGBR and plnsgbr, a number above 1 before some, or - alone";
            return Err(format!("hands {text:?}, at {rest:?}: {expected}"));
        };
        let held: &mut u8 = &mut hands[piece.owner.index()][piece.kind];
        *held = held.saturating_add(count);
        if *held > NUM_OF_KIND[piece.kind] {
            let (letter, most) = (LETTERS[piece.kind], NUM_OF_KIND[piece.kind]);
            return Err(format!("hands {text:?}: {held} of {letter}, expected at most {most}"));
        }
        rest = letters.as_str();
    }
    Ok(hands)
}

/// Holds what was read against what the rules allow.
fn check(setup: &Setup) -> Result<Board, String> {
    let on_board = || setup.pieces.iter().enumerate().filter_map(|(square, piece)| Some((square, (*piece)?)));
    for (owner, side) in [(Player::First, "Black"), (Player::Second, "White")] {
        let pieces = || on_board().filter(|(_, piece)| piece.owner == owner);
        let kings = pieces().filter(|(_, piece)| piece.kind == KING).count();
        if kings != 1 {
            return Err(format!("{side} has {kings} kings, expected 1"));
        }
        let cannot_move = |square, kind| rows_ahead(square, owner) < rows_without_a_move(kind);
        if let Some((square, piece)) = pieces().find(|(square, piece)| cannot_move(*square, piece.kind)) {
            return Err(format!("{side}'s {} on {} could never move", piece_text(piece), square_text(square)));
        }
        let has_two_pawns = |file: &usize| {
            pieces().filter(|(square, piece)| piece.kind == PAWN && SIDE - square % SIDE == *file).count() > 1
        };
        if let Some(file) = (1..=SIDE).find(has_two_pawns) {
            return Err(format!("{side} has two pawns on file {file}"));
        }
    }
    for (kind, name) in NAMES.into_iter().enumerate() {
        let placed = on_board().filter(|(_, piece)| unpromoted(piece.kind) == kind).count();
        let count = placed + usize::from(setup.hands[0][kind]) + usize::from(setup.hands[1][kind]);
        if count > usize::from(NUM_OF_KIND[kind]) {
            return Err(format!("there are {count} {name}, expected at most {}", NUM_OF_KIND[kind]));
        }
    }
    let opponent = setup.player.opponent();
    if Board::new(&Setup { player: opponent, ..setup.clone() }).is_in_check() {
        let [side, mover] = [opponent, setup.player].map(|player| ["Black", "White"][player.index()]);
        return Err(format!("{side}'s king could be taken, and {mover} is to move"));
    }
    Ok(Board::new(setup))
}
