//! A board as one line of text, row by row from the top: the notation for positions of games that have none of their own.
//!
//! As in FEN, a number is so many empty squares, and rows are separated by `/`; games of stones write X for the first player,
//! O for the second, and behind the rows who is to move: `3/1X1/3 O`.

use std::fmt::Write;

use crate::game::Player;

/// Writes `height` rows of `width` cells; `symbol` is a cell's letter, `None` if it is empty.
pub fn write_rows(height: usize, width: usize, symbol: impl Fn(usize) -> Option<char>) -> String {
    let mut text = String::new();
    for row in 0..height {
        text.push_str(if row == 0 { "" } else { "/" });
        let mut empty = 0;
        for cell in row * width..(row + 1) * width {
            match symbol(cell) {
                None => empty += 1,
                Some(letter) => {
                    if empty > 0 {
                        write!(text, "{empty}").expect("a string takes any text");
                    }
                    text.push(letter);
                    empty = 0;
                }
            }
        }
        if empty > 0 {
            write!(text, "{empty}").expect("a string takes any text");
        }
    }
    text
}

/// Reads `height` rows of `width` cells; `read` says what a letter means, `None` if it is none of the game's.
///
/// # Errors
/// A sentence, if a row is too long or too short, there are not `height` rows or a letter means nothing.
pub fn parse_rows<T: Clone>(
    text: &str,
    height: usize,
    width: usize,
    read: impl Fn(char) -> Option<T>,
) -> Result<Vec<Option<T>>, String> {
    let rows: Vec<&str> = text.split('/').collect();
    if rows.len() != height {
        return Err(format!("{text:?} has {} rows, expected {height}, separated by /", rows.len()));
    }
    let mut cells = Vec::with_capacity(height * width);
    for (index, row) in rows.iter().enumerate() {
        let (mut found, mut number) = (0, 0);
        for letter in row.chars() {
            if let Some(digit) = letter.to_digit(10) {
                number = (10 * number + digit as usize).min(width + 1);
                continue;
            }
            let piece = read(letter).ok_or_else(|| format!("row {}, {row:?}: {letter:?} is no piece", index + 1))?;
            found += number + 1;
            if found <= width {
                cells.extend(std::iter::repeat_n(None, number));
                cells.push(Some(piece));
            }
            number = 0;
        }
        found += number;
        if found != width {
            return Err(format!("row {}, {row:?}, has {found} cells, expected {width}", index + 1));
        }
        cells.extend(std::iter::repeat_n(None, number));
    }
    Ok(cells)
}

/// Reads rows as FEN has them, of a square board of at most nine rows: numbers have one digit, no two side by side.
///
/// # Errors
/// As [`parse_rows`].
pub fn parse_fen_rows<T: Clone>(
    text: &str,
    side: usize,
    read: impl Fn(char) -> Option<T>,
) -> Result<Vec<Option<T>>, String> {
    for (index, row) in text.split('/').enumerate() {
        let digits: Vec<Option<u32>> = row.chars().map(|letter| letter.to_digit(10)).collect();
        let is_odd = digits.iter().flatten().any(|digit| !(1..=side as u32).contains(digit));
        if is_odd || digits.windows(2).any(|pair| pair[0].is_some() && pair[1].is_some()) {
            return Err(format!("row {}, {row:?}: expected digits 1 to {side}, no two side by side", index + 1));
        }
    }
    parse_rows(text, side, side, read)
}

/// Largest counter that is read: no game is longer.
const MAX_COUNTER: u32 = 999_999;

/// Reads a counter of FEN or SFEN; `what` it is, and the `least` that it can be.
///
/// # Errors
/// A sentence, if it is no such number.
pub fn read_counter(text: &str, what: &str, least: u32) -> Result<u32, String> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|number| is_number && (least..=MAX_COUNTER).contains(number));
    number.ok_or_else(|| format!("{text:?} is {what}, expected a number from {least} to {MAX_COUNTER}"))
}

/// Writes a position of a game of stones.
pub fn write_stones(height: usize, width: usize, owner: impl Fn(usize) -> Option<Player>, mover: Player) -> String {
    let letter = |player: Player| ['X', 'O'][player.index()];
    format!("{} {}", write_rows(height, width, |cell| owner(cell).map(letter)), letter(mover))
}

/// Reads a position of a game of stones: whose stone is on each cell, and who is to move.
///
/// # Errors
/// A sentence, if the rows or the side are malformed.
pub fn parse_stones(text: &str, height: usize, width: usize) -> Result<(Vec<Option<Player>>, Player), String> {
    let read = |letter: char| match letter {
        'X' => Some(Player::First),
        'O' => Some(Player::Second),
        _ => None,
    };
    let (rows, side) = text.trim().split_once(' ').ok_or_else(|| format!("{text:?} lacks who is to move, X or O"))?;
    let mover = parse_side(side)?;
    Ok((parse_rows(rows, height, width, read)?, mover))
}

/// Reads who is to move.
///
/// # Errors
/// A sentence, if it is neither X nor O.
pub fn parse_side(text: &str) -> Result<Player, String> {
    match text.trim() {
        "X" => Ok(Player::First),
        "O" => Ok(Player::Second),
        other => Err(format!("{other:?} is to move, expected X or O")),
    }
}

/// Holds a position against sides that put one stone each in turn.
///
/// # Errors
/// A sentence, if the numbers of stones do not fit who is to move.
pub fn check_turn(stones: &[Option<Player>], mover: Player) -> Result<(), String> {
    let count = |player| stones.iter().flatten().filter(|owner| **owner == player).count();
    let (first, second) = (count(Player::First), count(Player::Second));
    let expected = second + mover.index();
    if first == expected {
        return Ok(());
    }
    let side = ['X', 'O'][mover.index()];
    Err(format!("{side} is to move, and there are {first} X and {second} O, expected {expected} X"))
}

#[cfg(test)]
mod tests {
    use super::{check_turn, parse_rows, parse_stones, write_rows, write_stones};

    fn stone(letter: char) -> Option<char> {
        "XO".contains(letter).then_some(letter)
    }

    #[test]
    fn rows_read_back() {
        for text in ["3/3/3", "X2/1O1/2X", "XOX/OXO/XOX", "1X1/3/O1O"] {
            let cells = parse_rows(text, 3, 3, stone).expect("well formed");
            assert_eq!(write_rows(3, 3, |cell| cells[cell]), text);
        }
        assert_eq!(parse_rows("12/X11", 2, 12, stone).expect("two digits").len(), 24);
    }

    #[test]
    fn stones_read_back() {
        for text in ["3/3/3 X", "X2/1O1/2X O", "XOX/OXO/XOX O"] {
            let (cells, mover) = parse_stones(text, 3, 3).expect("well formed");
            assert_eq!(write_stones(3, 3, |cell| cells[cell], mover), text);
            assert_eq!(check_turn(&cells, mover), Ok(()));
            let error = check_turn(&cells, mover.opponent()).expect_err("the other side");
            assert!(error.contains("is to move, and there are"), "{error}");
        }
        assert_eq!(parse_stones("3/3/3", 3, 3).unwrap_err(), "\"3/3/3\" lacks who is to move, X or O");
        assert_eq!(parse_stones("3/3/3 w", 3, 3).unwrap_err(), "\"w\" is to move, expected X or O");
    }

    #[test]
    fn malformed_rows_are_named() {
        for (text, sentence) in [
            ("3/3", "\"3/3\" has 2 rows, expected 3, separated by /"),
            ("3/X3/3", "row 2, \"X3\", has 4 cells, expected 3"),
            ("3/X/3", "row 2, \"X\", has 1 cells, expected 3"),
            ("3/XOXOX/3", "row 2, \"XOXOX\", has 5 cells, expected 3"),
            ("3/99999999999999999999/3", "row 2, \"99999999999999999999\", has 4 cells, expected 3"),
            ("3/XQX/3", "row 2, \"XQX\": 'Q' is no piece"),
        ] {
            assert_eq!(parse_rows(text, 3, 3, stone).unwrap_err(), sentence);
        }
    }
}
