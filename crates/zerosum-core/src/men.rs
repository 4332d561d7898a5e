//! Few men on a board of chess, without regard to colours and directions of the board; and endings by their names, such as `KQvKR`.
//!
//! ```text
//!   squares, seen by the player to move      a position and its mirror image have one key; without
//!      0  1  2 …   far rank                  pawns also those that are turned or flipped to the
//!      …           home rank                 other diagonal
//! ```

/// Most men of a table's positions, kings included.
pub const MAX_MEN: usize = 4;
/// Kinds in the order of an ending's name. The kinds of the games' planes are numbered in the opposite order.
const LETTERS: &[u8; 6] = b"KQRBNP";
const PAWN: u8 = 5;
/// A place without a man.
const NO_MAN: u16 = 0xF << 6 | 63;

/// The men of a position, seen by the player to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Men {
    /// `(2 * kind + is_opponent) << 6 | square`, ascending, with kinds as in [`LETTERS`]: the player's king is the first.
    places: [u16; MAX_MEN],
    /// The square behind a pawn that has just made a double step, if a capture there is legal.
    en_passant: Option<u8>,
}

impl Men {
    /// Men as (number of the kind among the game's planes, whether it is the opponent's, square); `None` if there are more
    /// than [`MAX_MEN`].
    pub fn of(men: impl Iterator<Item = (usize, bool, usize)>, en_passant: Option<usize>) -> Option<Self> {
        let mut places = [NO_MAN; MAX_MEN];
        for (index, (kind, is_opponent, square)) in men.enumerate() {
            *places.get_mut(index)? = ((PAWN as usize - kind) << 7 | usize::from(is_opponent) << 6 | square) as u16;
        }
        places.sort_unstable();
        Some(Self { places, en_passant: en_passant.map(|square| square as u8) })
    }

    /// Whether a pawn can be taken en passant.
    pub fn has_en_passant(&self) -> bool {
        self.en_passant.is_some()
    }

    fn places(&self) -> impl Iterator<Item = u16> + '_ {
        self.places.iter().copied().filter(|place| *place != NO_MAN)
    }

    /// A number that is equal for positions that symmetries of the board map to each other, and for no others: kinds, squares, en
    /// passant.
    pub fn key(&self, (rows, columns): (usize, usize)) -> u64 {
        let has_pawns = self.places().any(|place| place >> 7 == PAWN.into());
        let num_symmetries = if has_pawns {
            2
        } else if rows == columns {
            8
        } else {
            4
        };
        (0..num_symmetries).map(|symmetry| self.image(symmetry, rows, columns).number()).min().expect("there are two")
    }

    /// The position mapped by one of the symmetries; number 0 is the identity.
    fn image(mut self, symmetry: u8, rows: usize, columns: usize) -> Self {
        let mapped = |square: usize| {
            let (mut row, mut column) = (square / columns, square % columns);
            if symmetry & 1 != 0 {
                column = columns - 1 - column;
            }
            if symmetry & 2 != 0 {
                row = rows - 1 - row;
            }
            if symmetry & 4 != 0 {
                (row, column) = (column, row);
            }
            row * columns + column
        };
        for place in &mut self.places {
            if *place != NO_MAN {
                *place = *place & !63 | mapped(usize::from(*place & 63)) as u16;
            }
        }
        self.places.sort_unstable();
        self.en_passant = self.en_passant.map(|square| mapped(square.into()) as u8);
        self
    }

    fn number(&self) -> u64 {
        let [kinds, squares] = [(6, 4), (0, 6)].map(|(shift, bits)| {
            self.places.iter().fold(0, |all, place| all << bits | u64::from(place >> shift) & ((1 << bits) - 1))
        });
        kinds << 32 | squares << 7 | self.en_passant.map_or(0, |square| u64::from(square) + 1)
    }

    /// The FEN with the first side to move, without en passant.
    fn fen(&self, rows: usize, columns: usize) -> String {
        let mut board = vec![None; rows * columns];
        for place in self.places() {
            let letter = char::from(LETTERS[usize::from(place >> 7)]);
            let is_opponent = place >> 6 & 1 == 1;
            board[usize::from(place & 63)] = Some(if is_opponent { letter.to_ascii_lowercase() } else { letter });
        }
        let rows: Vec<String> = board.chunks(columns).map(row_text).collect();
        format!("{} w - - 0 1", rows.join("/"))
    }
}

fn row_text(row: &[Option<char>]) -> String {
    let (mut text, mut empty) = (String::with_capacity(row.len()), 0);
    for square in row.iter().map(Some).chain([None]) {
        if let Some(None) = square {
            empty += 1;
            continue;
        }
        if empty > 0 {
            text.push_str(&empty.to_string());
            empty = 0;
        }
        text.extend(square.copied().flatten());
    }
    text
}

/// The men of both sides of an ending, kings included: numbers of [`LETTERS`], each side's ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending([Vec<u8>; 2]);

impl Ending {
    /// The ending of a name such as `KQvKR`.
    ///
    /// # Errors
    /// A sentence, if it is not one of up to [`MAX_MEN`] men.
    pub fn parse(name: &str) -> Result<Self, String> {
        let kinds = |side: &str| {
            side.bytes()
                .map(|man| Some(LETTERS.iter().position(|kind| *kind == man)? as u8))
                .collect::<Option<Vec<u8>>>()
        };
        let sides = name.split_once('v').and_then(|(first, second)| Some([kinds(first)?, kinds(second)?]));
        let is_side = |side: &Vec<u8>| side.first() == Some(&0) && !side[1..].contains(&0);
        sides
            .filter(|sides| sides.iter().all(is_side) && sides[0].len() + sides[1].len() <= MAX_MEN)
            .map(|sides| Self(sides).ordered())
            .ok_or_else(|| {
                format!("{name:?} is not an ending: expected the men of both sides, such as KQvK or KPvKR, {MAX_MEN} at most")
            })
    }

    /// The same with each side's men in order, and the side with more or better ones first.
    fn ordered(mut self) -> Self {
        self.0.iter_mut().for_each(|side| side.sort_unstable());
        self.0.sort_by_key(|side| (usize::MAX - side.len(), side.clone()));
        self
    }

    /// The endings to which a capture or a promotion leads.
    pub fn next(&self) -> Vec<Self> {
        let mut found = Vec::new();
        for (side, place) in (0..2).flat_map(|side| (1..self.0[side].len()).map(move |place| (side, place))) {
            let mut taken = self.clone();
            let kind = taken.0[side].remove(place);
            if kind == PAWN {
                for promoted in 1..PAWN {
                    let mut next = taken.clone();
                    next.0[side].push(promoted);
                    found.push(next.ordered());
                }
            }
            found.push(taken.ordered());
        }
        found
    }

    /// The kinds of a position, with a bit for the opponent's, as [`Men`] has them: for either side to move.
    fn kinds_to_move(&self) -> Vec<Vec<u8>> {
        let [first, second] = &self.0;
        let kinds = |own: &[u8], opponent: &[u8]| {
            let mut kinds: Vec<u8> =
                own.iter().map(|kind| 2 * kind).chain(opponent.iter().map(|kind| 2 * kind + 1)).collect();
            kinds.sort_unstable();
            kinds
        };
        if first == second { vec![kinds(first, second)] } else { vec![kinds(first, second), kinds(second, first)] }
    }

    /// The most positions up to symmetry: ways to place the men.
    pub fn num_positions(&self, board: (usize, usize)) -> u64 {
        let (num_squares, num_kings) = ((board.0 * board.1) as u64, self.king_squares(board).len() as u64);
        let ways = |kinds: &Vec<u8>| {
            (1..kinds.len()).fold(num_kings, |ways, index| {
                let free = num_squares - if kinds[index] >> 1 == PAWN { 2 * board.1 as u64 } else { index as u64 };
                let num_alike = kinds[..=index].iter().rev().take_while(|kind| **kind == kinds[index]).count();
                ways * free / num_alike as u64
            })
        };
        self.kinds_to_move().iter().map(ways).sum()
    }

    /// The squares of the king to move, up to symmetry.
    fn king_squares(&self, (rows, columns): (usize, usize)) -> Vec<usize> {
        let has_pawns = self.0.iter().flatten().any(|kind| *kind == PAWN);
        (0..rows * columns)
            .filter(|square| {
                let (row, column) = (square / columns, square % columns);
                let is_left = 2 * column < columns + 1;
                is_left && (has_pawns || 2 * row < rows + 1 && (rows != columns || row <= column))
            })
            .collect()
    }

    /// The FEN and the key of each `step`-th way to place the men that may be a legal position, once for each key. The side to move
    /// is the first.
    pub fn positions(&self, board: (usize, usize), step: u64) -> impl Iterator<Item = (String, u64)> {
        let (rows, columns) = board;
        let (num_squares, kings) = ((rows * columns) as u64, self.king_squares(board));
        let turns = self.kinds_to_move();
        let num_placed = turns[0].len() as u32 - 1;
        let num_ways = turns.len() as u64 * kings.len() as u64 * num_squares.pow(num_placed);
        (0..num_ways.div_ceil(step)).filter_map(move |number| {
            let mut rest = number * step;
            let mut next = |of: u64| {
                let digit = rest % of;
                rest /= of;
                digit as usize
            };
            let codes = &turns[next(turns.len() as u64)];
            let mut places = [NO_MAN; MAX_MEN];
            places[0] = u16::from(codes[0]) << 6 | kings[next(kings.len() as u64)] as u16;
            for (index, kind) in codes.iter().enumerate().skip(1) {
                places[index] = u16::from(*kind) << 6 | next(num_squares) as u16;
            }
            let men = Men { places, en_passant: None };
            let key = men.number();
            (men.may_be_legal(rows, columns) && key == men.key(board)).then(|| (men.fen(rows, columns), key))
        })
    }
}

impl Men {
    /// False if two men are on one square or out of order, pawns at an end of the board, or kings beside each other.
    fn may_be_legal(&self, rows: usize, columns: usize) -> bool {
        let squares = rows * columns;
        let is_pawn_at_end =
            |place: u16| place >> 7 == PAWN.into() && !(columns..squares - columns).contains(&usize::from(place & 63));
        let [king, opponent] = [0, 1].map(|index| usize::from(self.places[index] & 63));
        let are_apart =
            (king / columns).abs_diff(opponent / columns) > 1 || (king % columns).abs_diff(opponent % columns) > 1;
        let men: Vec<u16> = self.places().collect();
        let is_doubled = (1..men.len()).any(|index| men[..index].iter().any(|other| other & 63 == men[index] & 63));
        are_apart && men.is_sorted() && !is_doubled && !men.into_iter().any(is_pawn_at_end)
    }
}
