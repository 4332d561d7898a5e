//! Static evaluations: what a search says of a position without looking ahead.

use crate::error::UsageError;
use crate::game::{Game, GameSpec, PlaneKind, Planes, Valuation};

/// A static evaluation of positions for alpha-beta searches, in units of the evaluation, positive for the first player.
pub trait Evaluation<G: Game>: Send + Sync {
    /// The evaluation of a position that is not over.
    fn evaluate(&self, game: &G, state: &G::State) -> f32;
}

/// The material that the game counts; 0 in games that count none.
#[derive(Clone, Copy, Debug)]
pub struct Material;

impl<G: Game> Evaluation<G> for Material {
    #[inline]
    fn evaluate(&self, game: &G, state: &G::State) -> f32 {
        game.valuation().map_or(0.0, |valuation| valuation.material(state))
    }
}

/// A weighted sum of a game's planes, as the player to move sees them: a weight for each square of each bit plane, and one
/// for the number of each constant plane. It knows nothing of a game but its encoding.
///
/// A value for each kind of piece is the case of equal weights on all squares of a plane. The planes are those of the whole
/// encoding, so a game without history (`history=1`) has only the newest position in the sum.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearEvaluation {
    /// [bit planes][8 · bytes of a plane] and up to a whole word of 64, in units of 1 / [`UNITS`], zero beyond the board.
    squares: Vec<i32>,
    num_bytes: usize,
    /// One for each constant plane.
    numbers: Vec<f32>,
    /// The evaluation of an empty board for the player to move.
    bias: f32,
    bytes_per_plane: usize,
    encoder_id: String,
}

impl LinearEvaluation {
    /// `squares` has one weight for each square of each bit plane, plane by plane.
    ///
    /// # Errors
    /// A sentence, if the game has no bit plane, a number of weights is not the game's, or a weight is not finite.
    pub fn new(spec: &GameSpec, squares: &[f32], numbers: &[f32], bias: f32) -> Result<Self, String> {
        let [num_bits, num_constants] = [PlaneKind::Bits, PlaneKind::Constant].map(|kind| spec.num_planes(kind));
        if num_bits == 0 {
            return Err(format!("{} has no planes of pieces, so a sum over its pieces tells nothing", spec.name()));
        }
        let num_squares = spec.num_squares();
        if (squares.len(), numbers.len()) != (num_bits * num_squares, num_constants) {
            let (found, expected) = (squares.len(), num_bits * num_squares);
            let found_numbers = numbers.len();
            return Err(format!(
                "an evaluation of {} has {found} weights of squares and {found_numbers} of numbers, expected {expected} \
                 and {num_constants}",
                spec.name()
            ));
        }
        let is_too_large = |weight: &&f32| !weight.is_finite() || weight.abs() > MAX_WEIGHT;
        if let Some(weight) = squares.iter().chain(numbers).chain([&bias]).find(is_too_large) {
            return Err(format!(
                "an evaluation has the weight {weight}, expected numbers from -{MAX_WEIGHT} to {MAX_WEIGHT}"
            ));
        }
        let bytes_per_plane = spec.bytes_per_plane();
        let num_bytes = num_bits * bytes_per_plane;
        let mut padded = vec![0; num_bytes.next_multiple_of(8) * 8];
        for (row, weights) in padded.chunks_mut(bytes_per_plane * 8).zip(squares.chunks(num_squares)) {
            for (unit, weight) in row.iter_mut().zip(weights) {
                *unit = (weight * UNITS).round() as i32;
            }
        }
        Ok(Self {
            squares: padded,
            num_bytes,
            numbers: numbers.to_vec(),
            bias,
            bytes_per_plane,
            encoder_id: spec.encoder_id(),
        })
    }

    /// Refuses another game than that of the weights.
    ///
    /// # Errors
    /// A sentence, if the encodings differ.
    pub fn require_game(&self, spec: &GameSpec) -> Result<(), UsageError> {
        if self.encoder_id == spec.encoder_id() {
            return Ok(());
        }
        let (found, expected) = (&self.encoder_id, spec.encoder_id());
        Err(UsageError(format!("this evaluation is of the encoding {found}, expected one of {expected}")))
    }

    /// The sum for the player to move. The squares' part is exact; `bits` are whole words.
    #[inline]
    fn of_planes(&self, bits: &[u8], constants: &[f32]) -> f32 {
        let mut sum = 0;
        for (bytes, weights) in bits.chunks_exact(8).zip(self.squares.chunks_exact(64)) {
            let mut word = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            while word != 0 {
                sum += weights[word.trailing_zeros() as usize & 63];
                word &= word - 1;
            }
        }
        let sum = sum as f32 / UNITS + self.bias;
        constants.iter().zip(&self.numbers).fold(sum, |sum, (number, weight)| sum + number * weight)
    }
}

/// Bytes and numbers of an encoding that need no allocation.
pub(crate) const NUM_STACK_BYTES: usize = 512;
pub(crate) const NUM_STACK_NUMBERS: usize = 64;
/// Units of a weight of 1: sums of integers do not depend on their order.
const UNITS: f32 = 16384.0;
/// Largest weight of a square: the sum over a full board fits.
const MAX_WEIGHT: f32 = 256.0;

impl<G: Game> Evaluation<G> for LinearEvaluation {
    #[inline]
    fn evaluate(&self, game: &G, state: &G::State) -> f32 {
        self.for_mover(game, state) * game.player(state).sign()
    }
}

impl LinearEvaluation {
    /// The evaluation of a position for its player to move.
    #[inline]
    pub fn for_mover<G: Game>(&self, game: &G, state: &G::State) -> f32 {
        let (num_bytes, num_numbers) = self.memory();
        if num_bytes <= NUM_STACK_BYTES && num_numbers <= NUM_STACK_NUMBERS {
            let (mut bits, mut numbers) = ([0; NUM_STACK_BYTES], [0.0; NUM_STACK_NUMBERS]);
            self.encode_and_sum(game, state, &mut bits[..num_bytes], &mut numbers[..num_numbers])
        } else {
            self.encode_and_sum(game, state, &mut vec![0; num_bytes], &mut vec![0.0; num_numbers])
        }
    }

    /// Sizes of the zeroed memory that [`Self::encode_and_sum`] takes: bytes of whole words, and numbers.
    pub(crate) fn memory(&self) -> (usize, usize) {
        (self.squares.len() / 8, self.numbers.len())
    }

    /// Writes the planes of a position into zeroed memory and returns its evaluation for its player to move.
    #[inline]
    pub(crate) fn encode_and_sum<G: Game>(
        &self,
        game: &G,
        state: &G::State,
        bits: &mut [u8],
        numbers: &mut [f32],
    ) -> f32 {
        game.encode(state, &mut Planes::new(&mut bits[..self.num_bytes], numbers, self.bytes_per_plane));
        self.of_planes(bits, numbers)
    }
}
