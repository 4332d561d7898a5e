//! The memory of a position's planes.

/// The memory into which [`Game::encode`](super::Game::encode) writes the planes of one position, one call for each plane, in channel order.
#[derive(Debug)]
pub struct Planes<'a> {
    bits: &'a mut [u8],
    constants: &'a mut [f32],
    bytes_per_plane: usize,
}

impl<'a> Planes<'a> {
    /// `bits` has whole planes of `bytes_per_plane` zeroed bytes, `constants` one number for each constant plane.
    pub fn new(bits: &'a mut [u8], constants: &'a mut [f32], bytes_per_plane: usize) -> Self {
        Self { bits, constants, bytes_per_plane }
    }

    /// The next bit plane, for boards of at most 64 squares: bit i is square i, counted row by row from the top left.
    #[inline]
    pub fn mask(&mut self, mask: u64) {
        self.words(&[mask]);
    }

    /// The next bit plane, for boards of at most 128 squares.
    #[inline]
    pub fn mask128(&mut self, mask: u128) {
        self.words(&[mask as u64, (mask >> 64) as u64]);
    }

    /// The next bit plane, for boards of any size: word i has the squares from 64 i on.
    #[inline]
    pub fn words(&mut self, words: &[u64]) {
        let (plane, rest) = std::mem::take(&mut self.bits).split_at_mut(self.bytes_per_plane);
        self.bits = rest;
        if let ([low, high, ..], 9..16) = (words, plane.len()) {
            // Two numbers that overlap, for boards of 65 to 120 squares.
            let num_passed = 8 * (plane.len() - 8);
            let last = low >> num_passed | high << (64 - num_passed);
            *plane.first_chunk_mut().expect("it has eight bytes") = low.to_le_bytes();
            *plane.last_chunk_mut().expect("it has eight bytes") = last.to_le_bytes();
            return;
        }
        Self::write(plane, words);
    }

    /// Writes the words into a plane of any size.
    fn write(plane: &mut [u8], words: &[u64]) {
        let mut chunks = plane.chunks_exact_mut(8);
        for (bytes, word) in (&mut chunks).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        // Bytes of a number that the compiler does not know are copied by a call, which costs more than the plane.
        let (num_left, num_words) = (plane.len() % 8, plane.len() / 8);
        match num_left {
            0 => {}
            _ if num_words == 0 => plane.copy_from_slice(&words[0].to_le_bytes()[..num_left]),
            _ => {
                let last = words[num_words - 1] >> (8 * num_left) | words[num_words] << (64 - 8 * num_left);
                *plane.last_chunk_mut().expect("it has eight bytes") = last.to_le_bytes();
            }
        }
    }

    /// The next bit plane from the squares that are set, for boards of any size.
    pub fn squares(&mut self, squares: impl IntoIterator<Item = usize>) {
        let (plane, rest) = std::mem::take(&mut self.bits).split_at_mut(self.bytes_per_plane);
        for square in squares {
            plane[square / 8] |= 1 << (square % 8);
        }
        self.bits = rest;
    }

    /// The next constant plane.
    pub fn constant(&mut self, number: f32) {
        let (first, rest) = std::mem::take(&mut self.constants).split_at_mut(1);
        first[0] = number;
        self.constants = rest;
    }

    /// True once every plane has been written.
    pub fn is_complete(&self) -> bool {
        self.bits.is_empty() && self.constants.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::Planes;
    use crate::random::mix;

    #[test]
    fn words_of_boards_of_all_sizes_are_written_in_their_bytes() {
        for bytes_per_plane in 1..=79 {
            let words: Vec<u64> = (0..10).map(|index| mix(index * 100 + bytes_per_plane as u64)).collect();
            let expected: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take(bytes_per_plane).collect();
            let mut bits = vec![0; 3 * bytes_per_plane];
            let mut planes = Planes::new(&mut bits, &mut [], bytes_per_plane);
            planes.words(&[0; 10]);
            planes.words(&words);
            planes.words(&[0; 10]);
            assert!(planes.is_complete());
            assert_eq!(bits, [vec![0; bytes_per_plane], expected, vec![0; bytes_per_plane]].concat());
        }
    }
}
