//! Moves as text: USI (`7g7f`, `8h2b+`, `P*5e`), CSA (`+7776FU`, `-0055KA`), and Japanese as in KIF files (`７六歩(77)`,
//! `同　角成(88)`, `５五歩打`).

use super::board::{Board, FAR_ROWS, Move, NUM_KINDS, Piece, SIDE, promoted, rows_ahead};
use super::sfen::SFEN;
use crate::player::Player;

/// CSA's names of the kinds, after the move.
const CSA: [&str; NUM_KINDS] = ["FU", "KY", "KE", "GI", "KI", "KA", "HI", "OU", "TO", "NY", "NK", "NG", "UM", "RY"];
/// KIF's names of the kinds, before the move.
const KIF: [&str; NUM_KINDS] =
    ["歩", "香", "桂", "銀", "金", "角", "飛", "玉", "と", "成香", "成桂", "成銀", "馬", "龍"];
const FILES: [&str; SIDE] = ["１", "２", "３", "４", "５", "６", "７", "８", "９"];
const RANKS: [&str; SIDE] = ["一", "二", "三", "四", "五", "六", "七", "八", "九"];

/// A square's file and rank as two digits: `77`.
fn digits(square: usize) -> String {
    format!("{}{}", SIDE - square % SIDE, square / SIDE + 1)
}

/// The kind that moves.
fn kind_of(board: &Board, chosen: Move) -> usize {
    match chosen {
        Move::Normal { from, .. } => board.piece_on(from).map_or(0, |piece: Piece| piece.kind),
        Move::Drop { kind, .. } => kind,
    }
}

/// A move in USI.
pub fn usi(chosen: Move) -> String {
    match chosen {
        Move::Normal { from, to, promotes } => {
            format!("{}{}{}", SFEN.square_text(from), SFEN.square_text(to), if promotes { "+" } else { "" })
        }
        Move::Drop { kind, to } => format!("{}*{}", SFEN.letter(kind), SFEN.square_text(to)),
    }
}

/// A move in CSA, with the side's sign.
pub fn csa(board: &Board, chosen: Move) -> String {
    let (sign, before) = (['+', '-'][board.player().index()], kind_of(board, chosen));
    let (from, after) = match chosen {
        Move::Normal { from, promotes, .. } => (digits(from), promoted(before).filter(|_| promotes).unwrap_or(before)),
        Move::Drop { .. } => ("00".into(), before),
    };
    format!("{sign}{from}{}{}", digits(chosen.to()), CSA[after])
}

/// A move in KIF: 打 with every drop, no word for a piece that does not promote. `latest` is the target of the move
/// before it.
pub fn kif(board: &Board, chosen: Move, latest: Option<usize>) -> String {
    let (to, name) = (chosen.to(), KIF[kind_of(board, chosen)]);
    let place = if latest == Some(to) {
        "同　".to_owned()
    } else {
        format!("{}{}", FILES[SIDE - 1 - to % SIDE], RANKS[to / SIDE])
    };
    match chosen {
        Move::Normal { from, promotes, .. } => {
            format!("{place}{name}{}({})", if promotes { "成" } else { "" }, digits(from))
        }
        Move::Drop { .. } => format!("{place}{name}打"),
    }
}

/// The index of the legal move that a text means in any of the notations; `None` if no move or more than one is written
/// so.
pub fn parse(board: &Board, moves: &[Move], latest: Option<usize>, text: &str) -> Option<usize> {
    let text = text.trim();
    let only = |means: &dyn Fn(Move) -> bool| {
        let mut found = moves.iter().enumerate().filter(|(_, chosen)| means(**chosen));
        found.next().map(|(index, _)| index).filter(|_| found.next().is_none())
    };
    let is_usi_or_csa = |chosen| {
        let csa = csa(board, chosen);
        [usi(chosen).as_str(), &csa, &csa[1..]].iter().any(|written| written.eq_ignore_ascii_case(text))
    };
    if let Some(index) = only(&is_usi_or_csa) {
        return Some(index);
    }
    let japanese = japanese_words(text, board.player())?;
    // A text with the origin is complete; without it there must not be a second such move.
    only(&|chosen| spellings(board, chosen, latest, true).contains(&japanese))
        .or_else(|| only(&|chosen| spellings(board, chosen, latest, false).contains(&japanese)))
}

/// A Japanese move in one spelling: digits for all numerals, one name for each piece, no blanks, no mark of the side;
/// `None` if the mark is the opponent's.
fn japanese_words(text: &str, player: Player) -> Option<String> {
    let marks: [&[char]; 2] = [&['▲', '☗'], &['△', '▽', '☖']];
    if text.starts_with(marks[player.opponent().index()]) {
        return None;
    }
    let unmarked = text.strip_prefix(marks[player.index()]).unwrap_or(text);
    let mut words = String::new();
    for symbol in unmarked.chars().filter(|symbol| !symbol.is_whitespace()) {
        let position = |names: &[&str]| names.iter().position(|name| name.chars().eq([symbol]));
        match symbol {
            '王' => words.push('玉'),
            '竜' => words.push('龍'),
            '杏' => words.push_str("成香"),
            '圭' => words.push_str("成桂"),
            '全' => words.push_str("成銀"),
            '（' => words.push('('),
            '）' => words.push(')'),
            _ => match position(&FILES).or_else(|| position(&RANKS)) {
                Some(index) => words.push(char::from(b'1' + index as u8)),
                None => words.push(symbol),
            },
        }
    }
    Some(words)
}

/// The spellings of a move, in the words of [`japanese_words`]: the target as digits or as 同, with or without 不成 if the
/// piece could have promoted, with or without its origin or 打.
fn spellings(board: &Board, chosen: Move, latest: Option<usize>, in_full: bool) -> Vec<String> {
    let (to, kind, player) = (chosen.to(), kind_of(board, chosen), board.player());
    let places = [Some(digits(to)), (latest == Some(to)).then(|| "同".to_owned())];
    let (words, behind): (&[&str], String) = match chosen {
        Move::Normal { promotes: true, from, .. } => (&["成"], format!("({})", digits(from))),
        Move::Normal { from, .. } => {
            let reaches = |square| rows_ahead(square, player) < FAR_ROWS;
            let could_promote = promoted(kind).is_some() && (reaches(from) || reaches(to));
            (if could_promote { &["", "不成"] } else { &[""] }, format!("({})", digits(from)))
        }
        Move::Drop { .. } => (&[""], "打".to_owned()),
    };
    let behind = if in_full { behind } else { String::new() };
    let of_place =
        |place: String| words.iter().map(move |word| format!("{place}{}{word}", KIF[kind])).collect::<Vec<_>>();
    places.into_iter().flatten().flat_map(of_place).map(|written| format!("{written}{behind}")).collect()
}
