//! SFEN and USI for minishogi: files 5 to 1 from the left, ranks a to e from the top, as Black (who begins) sees the board.

use std::fmt::Write;

use super::board::{Board, FIRST_DROP, KING, Limits, NUM_HAND_KINDS, NUM_KINDS, PAWN, PROMOTED, target};
use crate::game::Player;
use crate::games::board5::{FAR_RANK, LEFT_FILE, NUM_SQUARES, SIDE};
use crate::games::rows::read_counter;

/// Letters of the kinds that are not promoted, in the order of the kinds.
const LETTERS: [char; 6] = ['K', 'G', 'S', 'B', 'R', 'P'];
/// Kinds in hand in the order in which SFEN writes them: rook, bishop, gold, silver, pawn.
const IN_HAND_ORDER: [usize; NUM_HAND_KINDS] = [3, 2, 0, 1, 4];

/// A piece's letters, + before it if it is promoted: upper case for Black.
pub fn piece_text(kind: usize, owner: Player) -> String {
    let plain = if kind < LETTERS.len() { kind } else { unpromoted(kind) };
    let letter = cased(LETTERS[plain], owner);
    if plain == kind { letter.to_string() } else { format!("+{letter}") }
}

fn unpromoted(kind: usize) -> usize {
    (0..kind).find(|plain| PROMOTED[*plain] == kind).unwrap_or(kind)
}

fn cased(letter: char, owner: Player) -> char {
    if owner == Player::First { letter } else { letter.to_ascii_lowercase() }
}

/// A square of the oriented board as Black sees it, or the other way round.
pub fn as_black_sees(square: usize, player: Player) -> usize {
    if player == Player::First { square } else { NUM_SQUARES - 1 - square }
}

/// The piece on a square as Black sees the board.
pub fn piece_on(board: &Board, player: Player, square: usize) -> Option<(usize, Player)> {
    let square = as_black_sees(square, player);
    let owner = if board.own >> square & 1 == 1 {
        player
    } else if board.opponent >> square & 1 == 1 {
        player.opponent()
    } else {
        return None;
    };
    Some((board.kind_on(square), owner))
}

/// What a side holds, such as `RB2P`, in upper case; "" if nothing.
pub fn hand_text(hand: [u8; NUM_HAND_KINDS]) -> String {
    let mut text = String::new();
    for kind in IN_HAND_ORDER.into_iter().filter(|kind| hand[*kind] > 0) {
        if hand[kind] > 1 {
            write!(text, "{}", hand[kind]).expect("a string takes any text");
        }
        text.push(LETTERS[kind + 1]);
    }
    text
}

/// What the two sides hold, Black's first.
pub fn hands(board: &Board, player: Player) -> [[u8; NUM_HAND_KINDS]; 2] {
    if player == Player::First { board.hands } else { [board.hands[1], board.hands[0]] }
}

/// Writes a position as SFEN.
pub fn write(board: &Board, player: Player, plies: u32) -> String {
    let mut text = String::new();
    for row in 0..SIDE {
        text.push_str(if row == 0 { "" } else { "/" });
        let mut empty = 0;
        for square in row * SIDE..(row + 1) * SIDE {
            let piece = piece_on(board, player, square);
            if empty > 0 && piece.is_some() {
                write!(text, "{empty}").expect("a string takes any text");
                empty = 0;
            }
            match piece {
                Some((kind, owner)) => text.push_str(&piece_text(kind, owner)),
                None => empty += 1,
            }
        }
        if empty > 0 {
            write!(text, "{empty}").expect("a string takes any text");
        }
    }
    let [black, white] = hands(board, player).map(hand_text);
    let held = format!("{black}{}", white.to_lowercase());
    let held = if held.is_empty() { "-" } else { &held };
    format!("{text} {} {held} {}", ['b', 'w'][player.index()], plies + 1)
}

/// Reads SFEN: the board seen by who is to move, who that is, and the plies since the game began. A missing move number is 1.
///
/// # Errors
/// A sentence: which field is wrong, and what was expected.
pub fn parse(text: &str) -> Result<(Board, Player, u32), String> {
    let fields: Vec<&str> = text.split_whitespace().collect();
    let (rows, side, held, number) = match fields.as_slice() {
        [rows, side, held] => (rows, side, held, "1"),
        [rows, side, held, number] => (rows, side, held, *number),
        _ => {
            let expected = "expected pieces, side to move, hands and the move's number";
            return Err(format!("{text:?} has {} fields, {expected}", fields.len()));
        }
    };
    let player = match *side {
        "b" => Player::First,
        "w" => Player::Second,
        _ => return Err(format!("{side:?} is to move, expected b or w")),
    };
    // Seen by Black until all is read.
    let mut board = Board::default();
    read_rows(rows, &mut board)?;
    read_hands(held, &mut board)?;
    let plies = read_counter(number, "the move's number", 1)? - 1;
    check(text, &board)?;
    let board = if player == Player::First { board } else { board.turned() };
    if Limits::of(&board.turned()).is_check {
        let king = if player == Player::First { "White" } else { "Black" };
        return Err(format!("{text:?}: {king}'s king could be taken, and {side} is to move"));
    }
    Ok((board, player, plies))
}

/// The kind and the owner of a letter.
fn read_letter(letter: char) -> Option<(usize, Player)> {
    let kind = LETTERS.iter().position(|other| *other == letter.to_ascii_uppercase())?;
    Some((kind, if letter.is_ascii_uppercase() { Player::First } else { Player::Second }))
}

fn read_rows(text: &str, board: &mut Board) -> Result<(), String> {
    let rows: Vec<&str> = text.split('/').collect();
    if rows.len() != SIDE {
        return Err(format!("{text:?} has {} rows, expected {SIDE}, separated by /", rows.len()));
    }
    for (index, row) in rows.into_iter().enumerate() {
        let wrong = |what: String| Err(format!("row {}, {row:?}{what}", index + 1));
        let (mut column, mut letters, mut was_number) = (0, row.chars(), false);
        while let Some(letter) = letters.next() {
            if let Some(number) = letter.to_digit(10) {
                if was_number || !(1..=SIDE as u32).contains(&number) {
                    return wrong(format!(": {letter:?}, expected digits 1 to {SIDE}, no two side by side"));
                }
                was_number = true;
                column += number as usize;
                continue;
            }
            was_number = false;
            let is_promoted = letter == '+';
            let Some((plain, owner)) = (if is_promoted { letters.next() } else { Some(letter) }).and_then(read_letter)
            else {
                return wrong(format!(
                    ": {letter:?} is no piece, expected letters of KGSBRP and kgsbrp, + before some"
                ));
            };
            let kind = if is_promoted { PROMOTED[plain] } else { plain };
            if is_promoted && kind == plain {
                return wrong(format!(": +{} is no piece", LETTERS[plain]));
            }
            if column < SIDE {
                let square = 1 << (index * SIDE + column);
                board.kinds[kind] |= square;
                *(if owner == Player::First { &mut board.own } else { &mut board.opponent }) |= square;
            }
            column += 1;
        }
        if column != SIDE {
            return wrong(format!(", has {column} cells, expected {SIDE}"));
        }
    }
    Ok(())
}

fn read_hands(text: &str, board: &mut Board) -> Result<(), String> {
    let mut letters = text.chars().filter(|_| text != "-");
    while let Some(letter) = letters.next() {
        let (count, piece) = match letter.to_digit(10) {
            Some(count) => (count, letters.next()),
            None => (1, Some(letter)),
        };
        let piece = piece.and_then(read_letter).filter(|(kind, _)| *kind != KING);
        let Some((kind, owner)) = piece.filter(|_| (1..=2).contains(&count)) else {
            let expected = "expected letters of GSBRP and gsbrp, 2 before some, or - alone";
            return Err(format!("hands {text:?}, at {letter:?}: {expected}"));
        };
        let held = &mut board.hands[owner.index()][kind - 1];
        *held += count as u8;
        if *held > 2 {
            return Err(format!("hands {text:?}: {held} of {letter:?}, expected at most 2"));
        }
    }
    Ok(())
}

/// Holds what was read, seen by Black, against what the rules allow.
fn check(text: &str, board: &Board) -> Result<(), String> {
    for (side, squares, last_rank) in
        [("Black", board.own, FAR_RANK), ("White", board.opponent, FAR_RANK << (NUM_SQUARES - SIDE))]
    {
        let kings = (board.kinds[KING] & squares).count_ones();
        if kings != 1 {
            return Err(format!("{text:?}: {side} has {kings} kings, expected 1"));
        }
        let pawns = board.kinds[PAWN] & squares;
        if pawns & last_rank != 0 {
            return Err(format!("{text:?}: a pawn of {side}'s stands on the last rank"));
        }
        if (0..SIDE).any(|column| (pawns & LEFT_FILE << column).count_ones() > 1) {
            return Err(format!("{text:?}: {side} has two pawns on a file"));
        }
    }
    for kind in 1..LETTERS.len() {
        let on_board = (0..NUM_KINDS).filter(|other| *other == kind || PROMOTED[kind] == *other);
        let on_board: u32 = on_board.map(|other| board.kinds[other].count_ones()).sum();
        let count = on_board + u32::from(board.hands[0][kind - 1] + board.hands[1][kind - 1]);
        if count > 2 {
            return Err(format!("{text:?}: there are {count} of {}, expected at most 2", LETTERS[kind]));
        }
    }
    Ok(())
}

/// A square as USI writes it.
fn square_text(square: usize) -> String {
    format!("{}{}", SIDE - square % SIDE, char::from(b'a' + (square / SIDE) as u8))
}

/// An action as USI writes it: `3e3d`, `4b4a+`, `P*3c`.
pub fn usi(player: Player, action: usize) -> String {
    let (plane, square) = (action / NUM_SQUARES, action % NUM_SQUARES);
    let text = |square| square_text(as_black_sees(square, player));
    if plane >= FIRST_DROP {
        return format!("{}*{}", LETTERS[plane - FIRST_DROP + 1], text(square));
    }
    let promotion = if plane >= FIRST_DROP / 2 { "+" } else { "" };
    format!("{}{}{promotion}", text(square), text(target(plane, square)))
}
