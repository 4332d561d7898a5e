//! Points as GTP and SGF write them, and positions as text.
//!
//! ```text
//!   GTP: columns A to Z without I, rows from the bottom    SGF: column and row from the top left, a to y
//!   3  A3 B3 C3                                            aa ba ca
//!   2  A2 B2 C2                                            ab bb cb
//!   1  A1 B1 C1                                            ac bc cc
//!      A  B  C
//! ```

use std::fmt::Write;

use super::state::{MAX_PAST, State};
use super::{Go, Variant};
use crate::game::{Action, Player};
use crate::games::rows::{parse_stones, write_stones};

const COLUMNS: &[u8; 25] = b"ABCDEFGHJKLMNOPQRSTUVWXYZ";

/// The letters of a board's columns.
pub fn column_labels(size: usize) -> Vec<String> {
    COLUMNS[..size].iter().map(|letter| char::from(*letter).to_string()).collect()
}

/// A point, or the pass, as GTP writes it: `D4`, `pass`.
pub fn gtp(size: usize, point: usize) -> String {
    if point == size * size {
        return "pass".into();
    }
    format!("{}{}", char::from(COLUMNS[point % size]), size - point / size)
}

/// A point, or the pass, as SGF's fourth format writes it: `dp`, and nothing for a pass.
pub fn sgf(size: usize, point: usize) -> String {
    if point == size * size {
        return String::new();
    }
    [point % size, point / size].iter().map(|index| char::from(b'a' + *index as u8)).collect()
}

/// The point that GTP (in upper or lower case) or SGF writes like this, or the pass: SGF's third format has `tt` for it, on
/// boards that have no such point.
pub fn parse_point(size: usize, text: &str) -> Option<usize> {
    let pass = size * size;
    match *text.as_bytes() {
        [] => Some(pass),
        [column @ b'a'..=b'z', row @ b'a'..=b'z'] => {
            let (column, row) = (usize::from(column - b'a'), usize::from(row - b'a'));
            let is_pass = size <= 19 && text == "tt";
            if is_pass { Some(pass) } else { (column < size && row < size).then(|| row * size + column) }
        }
        _ if text.eq_ignore_ascii_case("pass") => Some(pass),
        [letter, b'1'..=b'9', ref rest @ ..] if rest.len() < 2 => {
            let column = COLUMNS[..size].iter().position(|column| *column == letter.to_ascii_uppercase())?;
            let row: usize = text[1..].parse().ok()?;
            (row <= size).then(|| (size - row) * size + column)
        }
        _ => None,
    }
}

/// Where stones of a fixed handicap go, as GTP's second version has it (section 4.1.1).
///
/// # Errors
/// A sentence, if the board does not take so many.
pub fn handicap_points(size: usize, handicap: usize) -> Result<Vec<usize>, String> {
    let most = if size < 7 {
        0
    } else if size % 2 == 0 || size == 7 {
        4
    } else {
        9
    };
    if handicap == 0 {
        return Ok(Vec::new());
    }
    if !(2..=most).contains(&handicap) {
        let allowed = if most == 0 { String::new() } else { format!(" or 2 to {most}") };
        return Err(format!("go: handicap is {handicap}, expected 0{allowed} on {size}×{size}"));
    }
    let low = if size < 13 { 2 } else { 3 };
    let (middle, high) = (size / 2, size - 1 - low);
    let point = |column: usize, row_from_below: usize| (size - 1 - row_from_below) * size + column;
    let corners = [point(low, low), point(high, high), point(low, high), point(high, low)];
    let sides = [point(low, middle), point(high, middle), point(middle, low), point(middle, high)];
    let mut points: Vec<usize> = corners.into_iter().take(handicap).collect();
    points.extend(sides.into_iter().take((handicap & !1).saturating_sub(4)));
    if handicap > 4 && handicap % 2 == 1 {
        points.push(point(middle, middle));
    }
    Ok(points)
}

/// Rows of stones and who is to move, then what ko forbids and how many passes came before, where there is any:
/// `5/2X2/1XOX1/5/5 O ko=C3 passes=1`.
pub fn position_text<const W: usize, const P: usize>(go: &Go<W, P>, state: &State<W, P>) -> String {
    let size = go.variant.size;
    let mut text = write_stones(size, size, |point| owner(state, point), state.mover);
    let banned = state.moves(go).banned;
    for (index, point) in banned.points().enumerate() {
        let before = if index == 0 { " ko=" } else { "," };
        write!(text, "{before}{}", gtp(size, point)).expect("a string takes any text");
    }
    if state.passes > 0 {
        write!(text, " passes={}", state.passes).expect("a string takes any text");
    }
    text
}

/// Whose stone is on a point.
pub fn owner<const W: usize, const P: usize>(state: &State<W, P>, point: usize) -> Option<Player> {
    [Player::First, Player::Second].into_iter().find(|player| state.board.stones[player.index()].has(point))
}

/// The position that [`position_text`] writes like this.
///
/// # Errors
/// A sentence: which part is wrong, and what was expected.
pub fn parse_position<const W: usize, const P: usize>(go: &Go<W, P>, text: &str) -> Result<State<W, P>, String> {
    let variant = &go.variant;
    let words: Vec<&str> = text.split_whitespace().collect();
    let (board, fields) = words.split_at(words.len().min(2));
    let (stones, mover) = parse_stones(&board.join(" "), variant.size, variant.size)?;
    let (mut banned, mut passes) = (Vec::new(), None);
    for field in fields {
        match field.split_once('=') {
            Some(("ko", points)) if banned.is_empty() => banned = parse_ko(variant, points)?,
            Some(("passes", number @ ("1" | "2"))) if passes.is_none() => passes = number.parse().ok(),
            _ => return Err(format!("{field:?} behind the side to move, expected ko=C3,D4 or passes=1, each once")),
        }
    }
    let mut state = State::set_up(go, &stones, mover, &banned)?;
    state.passes = passes.unwrap_or(0);
    if variant.repeats_history {
        state.past = [state.board.stones; MAX_PAST];
    }
    Ok(state)
}

fn parse_ko(variant: &Variant, points: &str) -> Result<Vec<usize>, String> {
    let point = |text: &str| {
        let point = parse_point(variant.size, text).filter(|point| *point < variant.pass());
        point.ok_or_else(|| format!("ko={points}: {text:?} is no point of the board, expected such as C3"))
    };
    points.split(',').map(point).collect()
}

/// The one of the legal actions that a text means.
pub fn parse_action(size: usize, legal: &[Action], text: &str) -> Option<Action> {
    let action = parse_point(size, text.trim())? as Action;
    legal.contains(&action).then_some(action)
}
