//! The features of positions: which are present, by the planes of the game's encoding.
//!
//! A feature is a square of a plane of pieces, or a step of a number (one pawn in hand, two, …). Planes are seen by the player to
//! move; [`FeatureMap`] gives the same set of features in the first player's view whoever is to move, so that two positions of a
//! line differ by what a move has changed.

use crate::error::UsageError;
use crate::evaluation::{NUM_STACK_BYTES, NUM_STACK_NUMBERS};
use crate::game::{Game, GameSpec, PlaneKind, Planes};
use crate::player::Player;

/// A bit plane of the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitPlane {
    /// The feature of its first square if its view is that of the feature's side; `None` if the plane has no features.
    pub own: Option<u32>,
    /// The feature of the first square of the same piece in the other side's view.
    pub other: u32,
}

/// A constant plane of the encoding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberPlane {
    /// The feature of its first step; `None` if it has no features.
    pub own: Option<u32>,
    /// The same in the other side's view.
    pub other: u32,
    /// Number of steps; step k is present if the number times `scale` is at least k + 1.
    pub num_steps: u32,
    /// The number in the plane is a count divided by this.
    pub scale: f32,
}

/// How an encoding becomes features.
#[derive(Clone, Debug)]
pub struct FeatureMap {
    bits: Vec<BitPlane>,
    numbers: Vec<NumberPlane>,
    /// For each square, its place in the other side's view.
    turned: Vec<u32>,
    num_features: usize,
    /// For each feature, the one that means the same in the other side's view.
    swapped: Vec<u32>,
    bytes_per_plane: usize,
    encoder_id: String,
}

impl FeatureMap {
    /// The features of a game's encoding.
    ///
    /// # Errors
    /// A sentence, if a number of planes or squares is not the game's, or a feature is out of range.
    pub fn new(
        spec: &GameSpec,
        bits: Vec<BitPlane>,
        numbers: Vec<NumberPlane>,
        turned: Vec<u32>,
        num_features: usize,
    ) -> Result<Self, String> {
        let [num_bits, num_numbers] = [PlaneKind::Bits, PlaneKind::Constant].map(|kind| spec.num_planes(kind));
        let (found, num_squares) = ((bits.len(), numbers.len(), turned.len()), spec.num_squares());
        if found != (num_bits, num_numbers, num_squares) {
            return Err(format!(
                "features of {} have {found:?} bit planes, numbers and squares, expected {:?}",
                spec.name(),
                (num_bits, num_numbers, num_squares)
            ));
        }
        if turned.iter().any(|square| *square as usize >= num_squares) {
            return Err("a square of the other side's view is not on the board".into());
        }
        let mut swapped = vec![u32::MAX; num_features];
        let mut pair = |one: u32, other: u32| -> Result<(), String> {
            let place = swapped.get_mut(one as usize).filter(|_| (other as usize) < num_features);
            *place.ok_or_else(|| format!("the features {one} and {other} are not below {num_features}"))? = other;
            Ok(())
        };
        for plane in &bits {
            let Some(own) = plane.own else { continue };
            for (square, turned) in turned.iter().enumerate() {
                pair(own + square as u32, plane.other + turned)?;
            }
        }
        for plane in &numbers {
            let Some(own) = plane.own else { continue };
            (0..plane.num_steps).try_for_each(|step| pair(own + step, plane.other + step))?;
        }
        if swapped.contains(&u32::MAX) {
            return Err("a feature belongs to no plane".into());
        }
        Ok(Self {
            bits,
            numbers,
            turned,
            num_features,
            swapped,
            bytes_per_plane: spec.bytes_per_plane(),
            encoder_id: spec.encoder_id(),
        })
    }

    /// Number of squares.
    pub fn num_squares(&self) -> usize {
        self.turned.len()
    }

    /// For each feature, its square and whose piece it is, 1 for an own and 2 for the other side's, if it is of the first kind of
    /// piece, whose own features are the first of all. `None` for all others.
    pub fn places_of_first_kind(&self) -> Vec<Option<(u32, u8)>> {
        let mut places = vec![None; self.num_features];
        for plane in &self.bits {
            let digit = if plane.own == Some(0) { 1 } else { 2 };
            if let Some(own) = plane.own.filter(|own| *own == 0 || plane.other == 0) {
                (0..self.num_squares()).for_each(|square| places[own as usize + square] = Some((square as u32, digit)));
            }
        }
        places
    }

    /// Number of features.
    pub fn num_features(&self) -> usize {
        self.num_features
    }

    /// Words of a set of features.
    pub fn num_words(&self) -> usize {
        self.num_features.div_ceil(64)
    }

    /// The feature that means in the other side's view what this one means in a side's.
    #[inline]
    pub fn swapped(&self, feature: usize) -> usize {
        self.swapped[feature] as usize
    }

    /// Refuses a game of another encoding.
    ///
    /// # Errors
    /// A sentence, if the encodings differ.
    pub fn require_game(&self, spec: &GameSpec) -> Result<(), UsageError> {
        if self.encoder_id == spec.encoder_id() {
            return Ok(());
        }
        let (found, expected) = (&self.encoder_id, spec.encoder_id());
        Err(UsageError(format!("this network is of the encoding {found}, expected one of {expected}")))
    }

    /// Writes the set of a position's features in the first player's view into zeroed words.
    #[inline]
    pub fn write<G: Game>(&self, game: &G, state: &G::State, words: &mut [u64]) {
        let (num_bytes, num_numbers) = (self.bits.len() * self.bytes_per_plane, self.numbers.len());
        if num_bytes <= NUM_STACK_BYTES && num_numbers <= NUM_STACK_NUMBERS {
            let (mut bits, mut numbers) = ([0; NUM_STACK_BYTES], [0.0; NUM_STACK_NUMBERS]);
            self.encode_and_write(game, state, &mut bits[..num_bytes], &mut numbers[..num_numbers], words);
        } else {
            self.encode_and_write(game, state, &mut vec![0; num_bytes], &mut vec![0.0; num_numbers], words);
        }
    }

    #[inline]
    fn encode_and_write<G: Game>(
        &self,
        game: &G,
        state: &G::State,
        bits: &mut [u8],
        numbers: &mut [f32],
        words: &mut [u64],
    ) {
        game.encode(state, &mut Planes::new(bits, numbers, self.bytes_per_plane));
        let is_first = game.player(state) == Player::First;
        let mut insert = |feature: usize| words[feature / 64] |= 1 << (feature % 64);
        for (plane, bytes) in self.bits.iter().zip(bits.chunks_exact(self.bytes_per_plane)) {
            let Some(own) = plane.own else { continue };
            for (index, chunk) in bytes.chunks(8).enumerate() {
                let mut padded = [0; 8];
                padded[..chunk.len()].copy_from_slice(chunk);
                let mut word = u64::from_le_bytes(padded);
                while word != 0 {
                    let square = 64 * index + word.trailing_zeros() as usize;
                    word &= word - 1;
                    insert(if is_first { own as usize + square } else { (plane.other + self.turned[square]) as usize });
                }
            }
        }
        for (plane, number) in self.numbers.iter().zip(numbers.iter()) {
            let Some(own) = plane.own else { continue };
            let steps = ((number * plane.scale).round() as u32).min(plane.num_steps);
            let first = if is_first { own } else { plane.other };
            (first..first + steps).for_each(|feature| insert(feature as usize));
        }
    }
}
