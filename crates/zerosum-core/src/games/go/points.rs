//! Points in GTP and SGF.
//!
//! ```text
//!   GTP: columns A to Z without I, rows from the bottom    SGF: column and row from the top left, a to y
//!   3  A3 B3 C3                                            aa ba ca
//!   2  A2 B2 C2                                            ab bb cb
//!   1  A1 B1 C1                                            ac bc cc
//!      A  B  C
//! ```

use crate::game::Action;

const COLUMNS: &[u8; 25] = b"ABCDEFGHJKLMNOPQRSTUVWXYZ";

/// The letters of a board's columns.
pub fn column_labels(size: usize) -> Vec<String> {
    COLUMNS[..size].iter().map(|letter| char::from(*letter).to_string()).collect()
}

/// A point or the pass in GTP: `D4`, `pass`.
pub fn gtp(size: usize, point: usize) -> String {
    if point == size * size {
        return "pass".into();
    }
    format!("{}{}", char::from(COLUMNS[point % size]), size - point / size)
}

/// A point or the pass in SGF's fourth format: `dp`; a pass is empty.
pub fn sgf(size: usize, point: usize) -> String {
    if point == size * size {
        return String::new();
    }
    [point % size, point / size].iter().map(|index| char::from(b'a' + *index as u8)).collect()
}

/// Reads a point or the pass in GTP (in upper or lower case) or SGF. SGF's third format has `tt` for a pass on boards
/// without that point.
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

/// The points of a fixed handicap by GTP's second version (section 4.1.1).
///
/// # Errors
/// A sentence, if the board has not so many handicap points.
pub fn handicap_points(size: usize, handicap: usize) -> Result<Vec<usize>, String> {
    let most = if size < 7 {
        0
    } else if size.is_multiple_of(2) || size == 7 {
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

/// The legal action that a text means.
pub fn parse_action(size: usize, legal: &[Action], text: &str) -> Option<Action> {
    let action = parse_point(size, text.trim())? as Action;
    legal.contains(&action).then_some(action)
}

#[cfg(test)]
mod tests {
    use super::{gtp, handicap_points, parse_point, sgf};

    #[test]
    fn points_are_written_and_read() {
        for size in 5..=25 {
            for point in 0..=size * size {
                for text in [gtp(size, point), gtp(size, point).to_lowercase(), sgf(size, point)] {
                    assert_eq!(parse_point(size, &text), Some(point), "{size}: {text:?}");
                }
            }
            assert_eq!(parse_point(size, "tt"), Some(if size <= 19 { size * size } else { 19 * size + 19 }));
        }
        assert_eq!([0, 8, 18, 342, 360, 361].map(|point| gtp(19, point)), ["A19", "J19", "T19", "A1", "T1", "pass"]);
        assert_eq!([0, 8, 18, 342, 360, 361].map(|point| sgf(19, point)), ["aa", "ia", "sa", "as", "ss", ""]);
        for text in
            ["I5", "A0", "A20", "U1", "A01", "A", "5", "A-1", "A+1", "a", "az", "abc", "pas", "A111", "Ä1", "A1 "]
        {
            assert_eq!(parse_point(19, text), None, "{text:?}");
        }
    }

    #[test]
    fn handicap_stones_are_where_gtp_has_them() {
        let texts = |size, handicap| {
            let points = handicap_points(size, handicap).expect("it is allowed");
            points.into_iter().map(|point| gtp(size, point)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(texts(19, 9), "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10");
        assert_eq!(texts(19, 7), "D4 Q16 D16 Q4 D10 Q10 K10");
        assert_eq!(texts(13, 6), "D4 K10 D10 K4 D7 K7");
        assert_eq!(texts(9, 5), "C3 G7 C7 G3 E5");
        assert_eq!(texts(8, 3), "C3 F6 C6");
        assert_eq!((texts(5, 0), texts(7, 4)), (String::new(), "C3 E5 C5 E3".into()));
        for (size, handicap, allowed) in [(19, 1, " or 2 to 9"), (8, 5, " or 2 to 4"), (7, 5, " or 2 to 4"), (6, 2, "")]
        {
            let sentence = format!("go: handicap is {handicap}, expected 0{allowed} on {size}×{size}");
            assert_eq!(handicap_points(size, handicap), Err(sentence));
        }
    }
}
