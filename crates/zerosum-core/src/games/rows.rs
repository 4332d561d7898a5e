//! A board as one line of text, row by row from the top: the notation for positions of games without a notation of
//! their own.
//!
//! As in FEN, a number counts empty squares, and rows are separated by `/`. Games of stones write X for the first
//! player and O for the second; the player to move follows the rows: `3/1X1/3 O`.

use std::fmt::{Display, Write};

use crate::player::Player;

/// Writes `height` rows of `width` cells; `symbol` is the text of the piece on a cell, `None` if the cell is empty.
pub fn write_rows<S: Display>(height: usize, width: usize, symbol: impl Fn(usize) -> Option<S>) -> String {
    let mut text = String::new();
    let mut write = |part: &dyn Display| write!(text, "{part}").expect("a string takes any text");
    for row in 0..height {
        write(&if row == 0 { "" } else { "/" });
        let mut empty = 0;
        for cell in row * width..(row + 1) * width {
            let Some(symbol) = symbol(cell) else {
                empty += 1;
                continue;
            };
            if empty > 0 {
                write(&empty);
            }
            write(&symbol);
            empty = 0;
        }
        if empty > 0 {
            write(&empty);
        }
    }
    text
}

/// Reads `height` rows of `width` cells. `read` is the meaning of a symbol, `None` for an unknown one; `expected`
/// describes the known ones. A symbol is one letter or, as in SFEN, a + and a letter.
///
/// # Errors
/// A sentence, if a row is too long or too short, there are not `height` rows or a symbol is unknown.
pub fn parse_rows<T: Clone>(
    text: &str,
    (height, width): (usize, usize),
    expected: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Vec<Option<T>>, String> {
    let rows: Vec<&str> = text.split('/').collect();
    if rows.len() != height {
        return Err(format!("{text:?} has {}, expected {height}, separated by /", counted(rows.len(), "row")));
    }
    let mut cells = Vec::with_capacity(height * width);
    for (index, row) in rows.iter().enumerate() {
        let (mut found, mut number) = (0, 0);
        let mut letters = row.chars();
        while let Some(letter) = letters.next() {
            if let Some(digit) = letter.to_digit(10) {
                number = (10 * number + digit as usize).min(width + 1);
                continue;
            }
            let behind = if letter == '+' { letters.next() } else { None };
            let symbol: String = std::iter::once(letter).chain(behind).collect();
            let piece = read(&symbol)
                .ok_or_else(|| format!("row {}, {row:?}: {symbol:?} is not a piece, expected {expected}", index + 1))?;
            found += number + 1;
            if found <= width {
                cells.extend(std::iter::repeat_n(None, number));
                cells.push(Some(piece));
            }
            number = 0;
        }
        found += number;
        if found != width {
            return Err(format!("row {}, {row:?}, has {}, expected {width}", index + 1, counted(found, "cell")));
        }
        cells.extend(std::iter::repeat_n(None, number));
    }
    Ok(cells)
}

/// A number with its noun: `1 row`, `2 rows`.
pub fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Reads the rows of FEN, for a square board of at most nine rows: numbers have one digit and are not adjacent.
///
/// # Errors
/// The errors of [`parse_rows`].
pub fn parse_fen_rows<T: Clone>(
    text: &str,
    side: usize,
    expected: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Vec<Option<T>>, String> {
    for (index, row) in text.split('/').enumerate() {
        let digits: Vec<Option<u32>> = row.chars().map(|letter| letter.to_digit(10)).collect();
        let is_odd = digits.iter().flatten().any(|digit| !(1..=side as u32).contains(digit));
        if is_odd || digits.windows(2).any(|pair| pair[0].is_some() && pair[1].is_some()) {
            return Err(format!("row {}, {row:?}: expected digits 1 to {side}, no two side by side", index + 1));
        }
    }
    parse_rows(text, (side, side), expected, read)
}

/// Largest counter that is read; no game is longer.
const MAX_COUNTER: u32 = 999_999;

/// Reads a counter of FEN or SFEN; `what` names it in errors.
///
/// # Errors
/// A sentence, if the text is not such a number.
pub fn read_counter(text: &str, what: &str) -> Result<u32, String> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|number| is_number && *number <= MAX_COUNTER);
    number.ok_or_else(|| format!("{text:?} is {what}, expected a number from 0 to {MAX_COUNTER}"))
}

/// Writes a position of a game of stones.
pub fn write_stones(height: usize, width: usize, owner: impl Fn(usize) -> Option<Player>, mover: Player) -> String {
    let letter = |player: Player| ['X', 'O'][player.index()];
    format!("{} {}", write_rows(height, width, |cell| owner(cell).map(letter)), letter(mover))
}

/// Reads a position of a game of stones: the owner of the stone on each cell, and the player to move.
///
/// # Errors
/// A sentence, if the rows or the side are malformed.
pub fn parse_stones(text: &str, height: usize, width: usize) -> Result<(Vec<Option<Player>>, Player), String> {
    let read = |symbol: &str| match symbol {
        "X" => Some(Player::First),
        "O" => Some(Player::Second),
        _ => None,
    };
    let (rows, side) = text.trim().split_once(' ').ok_or_else(|| format!("{text:?} lacks the side to move, X or O"))?;
    let mover = parse_side(side)?;
    Ok((parse_rows(rows, (height, width), "X or O", read)?, mover))
}

/// Reads the player to move.
///
/// # Errors
/// A sentence, if the text is neither X nor O.
pub fn parse_side(text: &str) -> Result<Player, String> {
    match text.trim() {
        "X" => Ok(Player::First),
        "O" => Ok(Player::Second),
        other => Err(format!("{other:?} is to move, expected X or O")),
    }
}

/// Checks the numbers of stones of sides that put one stone each in turn.
///
/// # Errors
/// A sentence, if the numbers of stones do not fit the player to move.
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

    fn rows(text: &str, side: (usize, usize)) -> Result<Vec<Option<String>>, String> {
        parse_rows(text, side, "X, O or +X", |symbol| ["X", "O", "+X"].contains(&symbol).then(|| symbol.to_owned()))
    }

    #[test]
    fn rows_read_back() {
        for text in ["3/3/3", "X2/1O1/2X", "XOX/OXO/XOX", "1X1/3/O1O", "+XX+X/1+X1/+X2"] {
            let cells = rows(text, (3, 3)).expect("well formed");
            assert_eq!(write_rows(3, 3, |cell| cells[cell].as_ref()), text);
        }
        assert_eq!(rows("12/X11", (2, 12)).expect("two digits").len(), 24);
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
        assert_eq!(parse_stones("3/3/3", 3, 3).unwrap_err(), "\"3/3/3\" lacks the side to move, X or O");
        assert_eq!(parse_stones("3/3/3 w", 3, 3).unwrap_err(), "\"w\" is to move, expected X or O");
    }

    #[test]
    fn malformed_rows_are_named() {
        for (text, sentence) in [
            ("3", "\"3\" has 1 row, expected 3, separated by /"),
            ("3/3", "\"3/3\" has 2 rows, expected 3, separated by /"),
            ("3/X3/3", "row 2, \"X3\", has 4 cells, expected 3"),
            ("3/X/3", "row 2, \"X\", has 1 cell, expected 3"),
            ("3/XOXOX/3", "row 2, \"XOXOX\", has 5 cells, expected 3"),
            ("3/99999999999999999999/3", "row 2, \"99999999999999999999\", has 4 cells, expected 3"),
            ("3/XQX/3", "row 2, \"XQX\": \"Q\" is not a piece, expected X, O or +X"),
            ("3/X+O1/3", "row 2, \"X+O1\": \"+O\" is not a piece, expected X, O or +X"),
            ("3/XO+/3", "row 2, \"XO+\": \"+\" is not a piece, expected X, O or +X"),
        ] {
            assert_eq!(rows(text, (3, 3)).unwrap_err(), sentence);
        }
    }
}
