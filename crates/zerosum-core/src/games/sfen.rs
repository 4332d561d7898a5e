//! SFEN, the notation for positions of the protocol USI, for shogi on boards of any size. Files are numbered from the
//! right, ranks a, b, … from the top, as Black (the first player) sees the board; pieces in hand follow.

use std::fmt::Write;

use super::rows::{counted, parse_fen_rows, read_counter, write_rows};
use crate::picture::{self, Grid, Picture};
use crate::player::Player;

/// Largest number of kinds of unpromoted pieces.
pub const MAX_KINDS: usize = 8;

/// Letters of the kinds that can be in hand, in the order of USI.
const HAND_ORDER: [char; MAX_KINDS - 1] = ['R', 'B', 'G', 'S', 'N', 'L', 'P'];

/// A piece on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The game's number for the kind; unpromoted kinds come first.
    pub kind: usize,
    /// The owner.
    pub owner: Player,
}

/// A position as SFEN has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The pieces, row by row from the top, as Black sees the board.
    pub pieces: Vec<Option<Piece>>,
    /// Numbers of pieces in hand, by player, then by kind.
    pub hands: [[u8; MAX_KINDS]; 2],
    /// The player to move.
    pub player: Player,
    /// Plies since the game began.
    pub plies: u32,
}

/// The facts about a game that SFEN needs.
#[derive(Clone, Copy, Debug)]
pub struct Sfen {
    /// The start.
    pub start: &'static str,
    /// Squares of a rank, and of a file.
    pub side: usize,
    /// Letters of the unpromoted kinds, in the order of the kinds.
    pub letters: &'static [char],
    /// Number of pieces of each of these kinds, promoted ones included.
    pub num_of_kind: &'static [u8],
    /// The kind that a kind promotes to.
    pub promoted: fn(usize) -> Option<usize>,
    /// Number of rows at a side's far end in which a kind could never move again.
    pub rows_without_a_move: fn(usize) -> usize,
}

impl Sfen {
    /// The kind before promotion; an unpromoted kind itself.
    fn unpromoted(&self, kind: usize) -> usize {
        (0..self.letters.len()).find(|plain| (self.promoted)(*plain) == Some(kind)).unwrap_or(kind)
    }

    /// A kind's letter, in upper case.
    pub fn letter(&self, kind: usize) -> char {
        self.letters[self.unpromoted(kind)]
    }

    /// The kind of a letter in upper case.
    fn kind_of(&self, letter: char) -> Option<usize> {
        self.letters.iter().position(|other| *other == letter)
    }

    /// A piece's letters, + before it if it is promoted: upper case for Black.
    pub fn piece_text(&self, piece: Piece) -> String {
        let letter = self.letter(piece.kind);
        let letter = if piece.owner == Player::First { letter } else { letter.to_ascii_lowercase() };
        if self.unpromoted(piece.kind) == piece.kind { letter.into() } else { format!("+{letter}") }
    }

    /// A square's file and rank: `7g`.
    pub fn square_text(&self, square: usize) -> String {
        format!("{}{}", self.side - square % self.side, char::from(b'a' + (square / self.side) as u8))
    }

    /// The pieces in hand of a side, such as `RB2P`, in upper case; "" if there are none.
    fn hand_text(&self, hand: &[u8]) -> String {
        let mut text = String::new();
        for letter in HAND_ORDER {
            match self.kind_of(letter).map_or(0, |kind| hand[kind]) {
                0 => {}
                1 => text.push(letter),
                count => write!(text, "{count}{letter}").expect("a string takes any text"),
            }
        }
        text
    }

    /// Writes a position.
    pub fn write(&self, setup: &Setup) -> String {
        let piece = |square: usize| setup.pieces[square].map(|piece| self.piece_text(piece));
        let rows = write_rows(self.side, self.side, piece);
        let [black, white] = setup.hands.map(|hand| self.hand_text(&hand));
        let held = format!("{black}{}", white.to_lowercase());
        let (held, side) = (if held.is_empty() { "-" } else { &held }, ['b', 'w'][setup.player.index()]);
        format!("{rows} {side} {held} {}", setup.plies + 1)
    }

    /// The board, with both hands and the player to move below it; `glyphs` are by kind.
    pub fn picture(&self, setup: &Setup, glyphs: &[&str], last_move: Vec<usize>) -> Picture {
        let drawn = |piece: Piece| picture::Piece {
            owner: piece.owner,
            text: self.piece_text(piece),
            glyph: glyphs[piece.kind].into(),
        };
        let [black, white] = setup.hands.map(|hand| match self.hand_text(&hand) {
            text if text.is_empty() => "nothing".to_owned(),
            text => text,
        });
        Picture {
            grid: Grid::Squares,
            cells: setup.pieces.iter().map(|piece| piece.map(drawn)).collect(),
            column_labels: (1..=self.side).rev().map(|file| file.to_string()).collect(),
            row_labels: picture::letters(self.side),
            last_move,
            captions: vec![
                format!("White holds {}", white.to_lowercase()),
                format!("Black holds {black}"),
                format!("{} to move", ["Black", "White"][setup.player.index()]),
            ],
        }
    }

    /// Reads SFEN, `sfen` and SFEN, or `startpos`. A move number that is missing or 0 is 1. It is not checked whether a
    /// king can be taken.
    ///
    /// # Errors
    /// A sentence: which field is wrong, and what was expected.
    pub fn parse(&self, text: &str) -> Result<Setup, String> {
        let mut fields: Vec<&str> = text.split_whitespace().collect();
        if fields == ["startpos"] {
            return self.parse(self.start);
        }
        if fields.first() == Some(&"sfen") {
            fields.remove(0);
        }
        let (rows, side, held, number) = match fields.as_slice() {
            [rows, side, held] => (rows, side, held, "1"),
            [rows, side, held, number] => (rows, side, held, *number),
            _ => {
                let expected = "expected pieces, side to move, hands and the move's number, or startpos";
                return Err(format!("{text:?} has {}, {expected}", counted(fields.len(), "field")));
            }
        };
        let player = match *side {
            "b" => Player::First,
            "w" => Player::Second,
            _ => return Err(format!("{side:?} is to move, expected b or w")),
        };
        let letters: String = self.letters.iter().collect();
        let expected = format!("one of {letters}{}, + before some", letters.to_lowercase());
        let pieces = parse_fen_rows(rows, self.side, &expected, |symbol| self.read_piece(symbol))?;
        let hands = self.read_hands(held)?;
        let plies = read_counter(number, "the move's number")?.saturating_sub(1);
        let setup = Setup { pieces, hands, player, plies };
        self.check(&setup).map_err(|fault| format!("{text:?}: {fault}"))?;
        Ok(setup)
    }

    /// The error of a position in which the king of the side that has moved can be taken; `player` is to move.
    pub fn king_could_be_taken(text: &str, player: Player) -> String {
        let [king, mover] = [player.opponent(), player].map(|player| ["Black", "White"][player.index()]);
        format!("{text:?}: {king}'s king could be taken, and {mover} is to move")
    }

    /// The kind and the owner of a letter, with or without + before it.
    fn read_piece(&self, symbol: &str) -> Option<Piece> {
        let bare = symbol.strip_prefix('+');
        let letter: char = bare.unwrap_or(symbol).parse().ok()?;
        let plain = self.kind_of(letter.to_ascii_uppercase())?;
        let kind = if bare.is_some() { (self.promoted)(plain)? } else { plain };
        Some(Piece { kind, owner: if letter.is_ascii_uppercase() { Player::First } else { Player::Second } })
    }

    fn read_hands(&self, text: &str) -> Result<[[u8; MAX_KINDS]; 2], String> {
        let mut hands = [[0; MAX_KINDS]; 2];
        let mut rest = text.trim_start_matches(|_| text == "-");
        while !rest.is_empty() {
            let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
            let (number, behind) = rest.split_at(digits);
            let count = if number.is_empty() { Some(1) } else { number.parse().ok().filter(|count| *count > 1) };
            let mut letters = behind.chars();
            let letter = letters.next().filter(|letter| HAND_ORDER.contains(&letter.to_ascii_uppercase()));
            let piece = letter.and_then(|letter| self.read_piece(letter.encode_utf8(&mut [0; 4])));
            let (Some(count), Some(piece)) = (count, piece) else {
                let letters: String = HAND_ORDER.into_iter().filter(|letter| self.letters.contains(letter)).collect();
                let letters = format!("{letters}{}", letters.to_lowercase());
                let expected = format!("expected letters of {letters}, a number above 1 before some, or - alone");
                return Err(format!("hands {text:?}, at {rest:?}: {expected}"));
            };
            let held: &mut u8 = &mut hands[piece.owner.index()][piece.kind];
            *held = held.saturating_add(count);
            let most = self.num_of_kind[piece.kind];
            if *held > most {
                return Err(format!("hands {text:?}: {held} of {}, expected at most {most}", self.letter(piece.kind)));
            }
            rest = letters.as_str();
        }
        Ok(hands)
    }

    /// Checks a position against the rules.
    fn check(&self, setup: &Setup) -> Result<(), String> {
        let on_board = || setup.pieces.iter().enumerate().filter_map(|(square, piece)| Some((square, (*piece)?)));
        for (owner, name) in [(Player::First, "Black"), (Player::Second, "White")] {
            let of_letter = |letter| {
                on_board().filter(move |(_, piece)| piece.owner == owner && Some(piece.kind) == self.kind_of(letter))
            };
            let kings = of_letter('K').count();
            if kings != 1 {
                return Err(format!("{name} has {kings} kings, expected 1"));
            }
            let rows_ahead = |square: usize| match owner {
                Player::First => square / self.side,
                Player::Second => self.side - 1 - square / self.side,
            };
            let is_stuck = |(square, piece): &(usize, Piece)| {
                piece.owner == owner && rows_ahead(*square) < (self.rows_without_a_move)(piece.kind)
            };
            if let Some((square, piece)) = on_board().find(is_stuck) {
                let (piece, square) = (self.piece_text(piece), self.square_text(square));
                return Err(format!("{name}'s {piece} on {square} could never move"));
            }
            let pawns_on =
                |file: usize| of_letter('P').filter(move |(square, _)| self.side - square % self.side == file);
            if let Some(file) = (1..=self.side).find(|file| pawns_on(*file).count() > 1) {
                return Err(format!("{name} has two pawns on file {file}"));
            }
        }
        for (kind, most) in self.num_of_kind.iter().enumerate() {
            let placed = on_board().filter(|(_, piece)| self.unpromoted(piece.kind) == kind).count();
            let count = placed + usize::from(setup.hands[0][kind]) + usize::from(setup.hands[1][kind]);
            if count > usize::from(*most) {
                return Err(format!("there are {count} of {}, expected at most {most}", self.letters[kind]));
            }
        }
        Ok(())
    }
}
