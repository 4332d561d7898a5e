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
        let (plane, rest) = std::mem::take(&mut self.bits).split_at_mut(self.bytes_per_plane);
        plane.copy_from_slice(&mask.to_le_bytes()[..self.bytes_per_plane]);
        self.bits = rest;
    }

    /// The next bit plane, for boards of at most 128 squares.
    #[inline]
    pub fn mask128(&mut self, mask: u128) {
        let (plane, rest) = std::mem::take(&mut self.bits).split_at_mut(self.bytes_per_plane);
        plane.copy_from_slice(&mask.to_le_bytes()[..self.bytes_per_plane]);
        self.bits = rest;
    }

    /// The next bit plane, for boards of any size: word i has the squares from 64 i on.
    #[inline]
    pub fn words(&mut self, words: &[u64]) {
        let (plane, rest) = std::mem::take(&mut self.bits).split_at_mut(self.bytes_per_plane);
        for (bytes, word) in plane.chunks_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
        }
        self.bits = rest;
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
