//! The men of an ending, as the name of its table has them: `KRPvKB`.

use cozy_chess::{Board, Color, Piece};

use super::index::MAX_MEN;

/// Letters of the kinds of pieces by number: 1 is a pawn, 6 a king.
const LETTERS: &[u8; 6] = b"PNBRQK";

/// The men of both sides, the first side being White in the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Material {
    /// Men by side and kind, in the order of [`LETTERS`].
    counts: [[u8; 6]; 2],
    /// Men of both sides.
    pub num_men: usize,
    /// Pawns of the side with fewer of them, but at least one, and of the other side.
    pub pawns: [u8; 2],
    /// Whether three men are the only ones of their kind and side, the kings included.
    pub has_unique_pieces: bool,
}

impl Material {
    fn new(counts: [[u8; 6]; 2]) -> Self {
        let [first, second] = [counts[0][0], counts[1][0]];
        let is_second_leading = second > 0 && (first == 0 || first > second);
        Self {
            num_men: counts.iter().flatten().map(|count| usize::from(*count)).sum(),
            pawns: if is_second_leading { [second, first] } else { [first, second] },
            has_unique_pieces: counts.iter().flatten().filter(|count| **count == 1).count() > 2,
            counts,
        }
    }

    /// The men of a table's name; `None` if it is not one.
    pub fn of_name(name: &str) -> Option<Self> {
        let (first, second) = name.split_once('v')?;
        let count = |side: &str| {
            let mut counts = [0; 6];
            for letter in side.bytes() {
                counts[LETTERS.iter().position(|known| *known == letter)?] += 1;
            }
            (side.starts_with('K') && counts[5] == 1).then_some(counts)
        };
        let material = Self::new([count(first)?, count(second)?]);
        ((3..=MAX_MEN).contains(&material.num_men) && name == material.name()).then_some(material)
    }

    /// The men on a board.
    pub fn of_board(board: &Board) -> Self {
        let count = |color| Piece::ALL.map(|piece| board.colored_pieces(color, piece).len() as u8);
        Self::new([count(Color::White), count(Color::Black)])
    }

    /// The table's name, such as `KRPvKB`.
    pub fn name(&self) -> String {
        let side = |counts: &[u8; 6]| -> String {
            let letters = LETTERS.iter().zip(counts).rev();
            letters.flat_map(|(letter, count)| std::iter::repeat_n(char::from(*letter), (*count).into())).collect()
        };
        format!("{}v{}", side(&self.counts[0]), side(&self.counts[1]))
    }

    /// A number for the men: a different one for each material of at most 15 men of a kind.
    pub fn key(&self) -> u64 {
        self.counts.iter().flatten().fold(0, |key, count| key << 4 | u64::from(*count))
    }

    /// The same with the sides exchanged.
    pub fn mirrored(&self) -> Self {
        Self::new([self.counts[1], self.counts[0]])
    }

    /// Whether both sides have the same men.
    pub fn is_symmetric(&self) -> bool {
        self.counts[0] == self.counts[1]
    }

    /// Whether pieces are these men, those of a kind together, and the leading pawns first.
    pub fn is_listed_by(&self, pieces: &[u8]) -> bool {
        let mut counts = [[0; 6]; 2];
        for (index, piece) in pieces.iter().enumerate() {
            let (side, kind) = (usize::from(piece >> 3), usize::from(piece & 7));
            if side > 1 || !(1..=6).contains(&kind) {
                return false;
            }
            if index > 0 && pieces[index - 1] != *piece && counts[side][kind - 1] > 0 {
                return false;
            }
            counts[side][kind - 1] += 1;
        }
        let lead = |index: usize, pawns: u8| {
            pieces.get(index).is_some_and(|piece| {
                piece & 7 == 1 && counts.get(usize::from(piece >> 3)).is_some_and(|side| side[0] == pawns)
            })
        };
        let [first, second] = self.pawns;
        counts == self.counts
            && (first == 0 || lead(0, first))
            && (second == 0 || (lead(first.into(), second) && pieces[0] != pieces[usize::from(first)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for name in ["KQvK", "KRPvKB", "KPPvKP", "KNNvKP", "KBBNPvKR"] {
            assert_eq!(Material::of_name(name).unwrap().name(), name);
        }
        for name in ["", "KvK", "KQ", "QvK", "KKvK", "KPQvK", "KQvKx", "KQQQvKQQQ", "kqvk"] {
            assert_eq!(Material::of_name(name), None, "{name}");
        }
    }

    #[test]
    fn the_side_with_fewer_pawns_leads() {
        let pawns = |name| Material::of_name(name).unwrap().pawns;
        assert_eq!(
            [pawns("KPPvKP"), pawns("KPvKPP"), pawns("KRvKP"), pawns("KQvKR")],
            [[1, 2], [1, 2], [1, 0], [0, 0]]
        );
    }
}
