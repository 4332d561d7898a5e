//! An efficiently updatable network (Nasu 2018): an evaluation that a move changes by a few sums.
//!
//! The inputs are features that are present or absent: a piece on a square, a number of pieces in hand. For each side there is a
//! sum over the features as that side sees the board, the accumulator; a move adds and subtracts the few features that it
//! changes. A network may have features of whole [`lines`] of squares, too. The output is a linear layer over both accumulators,
//! that of the player to move first:
//!
//! ```text
//!   accumulator  a  = b1 + sum of W1[f] over the features f        whole numbers in units of 1 / QA
//!   activation   u  = min(max(a, 0), QA)²                          in units of 1 / QA²
//!   output       y  = b2 + W2 · [u of the mover, u of the other]   in units of 1 / (QA² · QB)
//! ```
//!
//! All of it is integers, so an accumulator that was updated equals one that was computed anew. The value of a position is
//! tanh(y): 2y is the logit of the expected result (1 + value) / 2, and [`Network`] evaluates in
//! centipawns, [`CENTIPAWNS_PER_LOGIT`] to one of that logit.
//! [`features`] has the features, [`Accumulators`] follow a line of a search.

mod accumulators;
pub mod features;
pub mod lines;

use std::sync::Arc;

pub use self::accumulators::Accumulators;
use self::features::FeatureMap;
use self::lines::{Line, Lines};
use crate::error::UsageError;
use crate::game::GameSpec;
use crate::line_evaluation::{CENTIPAWNS_PER_LOGIT, MAX_EVALUATION};

/// Units of an activation of 1.
pub const QA: i32 = 255;
/// Units of a weight of 1 in the last layer.
pub const QB: i32 = 64;
/// The largest weight of the last layer: a product with an activation fits 16 bits.
pub const MAX_OUTPUT_WEIGHT: f32 = 127.0 / QB as f32;
/// The largest weight of the first layer.
pub const MAX_INPUT_WEIGHT: f32 = 32767.0 / QA as f32;
/// Centipawns per unit of the output, which is half a logit.
const CENTIPAWNS: i64 = 2 * CENTIPAWNS_PER_LOGIT as i64;
/// Numbers of the first layer's units are multiples of this.
pub const UNITS_STEP: usize = 16;
/// The largest number of units.
pub const MAX_UNITS: usize = 1024;

/// The weights, and the features that they belong to.
#[derive(Debug)]
pub struct Network {
    features: FeatureMap,
    num_units: usize,
    /// [features][units], in units of 1 / [`QA`].
    input: Vec<i16>,
    input_bias: Vec<i32>,
    /// [mover's units, other's units], in units of 1 / [`QB`].
    output: Vec<i16>,
    /// In units of 1 / (QA² · QB).
    output_bias: i64,
    lines: Option<Lines>,
}

/// Weights as they were learned.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    /// [features][units].
    pub input: &'a [f32],
    /// [units].
    pub input_bias: &'a [f32],
    /// [2 · units].
    pub output: &'a [f32],
    /// The last layer's bias.
    pub output_bias: f32,
    /// [features of lines][units]; empty without lines.
    pub lines: &'a [f32],
}

impl Network {
    /// Weights rounded to the units of play.
    ///
    /// # Errors
    /// A sentence, if numbers of weights do not fit the features or a weight is out of range.
    pub fn new(features: FeatureMap, lines: Vec<Line>, weights: Weights<'_>) -> Result<Arc<Self>, String> {
        let num_units = weights.input_bias.len();
        if num_units == 0 || num_units > MAX_UNITS || !num_units.is_multiple_of(UNITS_STEP) {
            return Err(format!(
                "an updatable network has {num_units} units, expected a multiple of {UNITS_STEP} up to {MAX_UNITS}"
            ));
        }
        let expected = (features.num_features() * num_units, 2 * num_units);
        if (weights.input.len(), weights.output.len()) != expected {
            return Err(format!(
                "an updatable network has {} and {} weights, expected {} and {}",
                weights.input.len(),
                weights.output.len(),
                expected.0,
                expected.1
            ));
        }
        let scaled = |weights: &[f32], unit: i32, most: f32| -> Result<Vec<i16>, String> {
            let one = |weight: &f32| {
                // NaN is in no range.
                let is_in_range = weight.abs() <= most;
                is_in_range.then(|| (weight * unit as f32).round() as i16).ok_or_else(|| {
                    format!("an updatable network has the weight {weight}, expected numbers from -{most} to {most}")
                })
            };
            weights.iter().map(one).collect()
        };
        // NaN is in no range.
        let has_bias = weights.output_bias.abs() <= MAX_INPUT_WEIGHT;
        if !has_bias {
            return Err(format!("an updatable network has the bias {}", weights.output_bias));
        }
        let line_weights = scaled(weights.lines, QA, MAX_INPUT_WEIGHT)?;
        let has_lines = !(lines.is_empty() && line_weights.is_empty());
        Ok(Arc::new(Self {
            lines: has_lines.then(|| Lines::new(&features, lines, line_weights, num_units)).transpose()?,
            features,
            num_units,
            input: scaled(weights.input, QA, MAX_INPUT_WEIGHT)?,
            input_bias: scaled(weights.input_bias, QA, MAX_INPUT_WEIGHT)?.into_iter().map(i32::from).collect(),
            output: scaled(weights.output, QB, MAX_OUTPUT_WEIGHT)?,
            output_bias: (f64::from(weights.output_bias) * f64::from(QA * QA * QB)).round() as i64,
        }))
    }

    /// The features.
    pub fn features(&self) -> &FeatureMap {
        &self.features
    }

    /// Refuses another game than that of the weights.
    ///
    /// # Errors
    /// A sentence, if the encodings differ.
    pub fn require_game(&self, spec: &GameSpec) -> Result<(), UsageError> {
        self.features.require_game(spec)
    }

    /// Adds a feature's weights to an accumulator, or subtracts them.
    #[inline]
    fn change(&self, accumulator: &mut [i32], feature: usize, is_added: bool) {
        change(accumulator, &self.input[feature * self.num_units..][..self.num_units], is_added);
    }

    /// The output in centipawns.
    #[inline]
    fn output(&self, mover: &[i32], other: &[i32]) -> i32 {
        let (first, second) = self.output.split_at(self.num_units);
        let sum = self.output_bias + weighed(mover, first) + weighed(other, second);
        let centipawns = sum * CENTIPAWNS / i64::from(QA * QA * QB);
        centipawns.clamp(i64::from(-MAX_EVALUATION), i64::from(MAX_EVALUATION)) as i32
    }
}

/// Adds a column of weights to an accumulator, or subtracts it.
#[inline]
fn change(accumulator: &mut [i32], column: &[i16], is_added: bool) {
    if is_added {
        accumulator.iter_mut().zip(column).for_each(|(sum, weight)| *sum += i32::from(*weight));
    } else {
        accumulator.iter_mut().zip(column).for_each(|(sum, weight)| *sum -= i32::from(*weight));
    }
}

/// The weighed sum of the activations of one accumulator. A chunk's sum fits 32 bits: 16 · 255² · 127.
#[inline]
fn weighed(accumulator: &[i32], weights: &[i16]) -> i64 {
    let chunk = |(sums, weights): (&[i32], &[i16])| {
        let products = sums.iter().zip(weights).map(|(sum, weight)| {
            let clamped = (*sum).clamp(0, QA) as i16;
            // At most 255 · 127, which fits 16 bits.
            i32::from(clamped) * i32::from(clamped * weight)
        });
        i64::from(products.sum::<i32>())
    };
    accumulator.chunks_exact(UNITS_STEP).zip(weights.chunks_exact(UNITS_STEP)).map(chunk).sum()
}
