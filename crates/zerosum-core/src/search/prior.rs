//! Priors: the softmax of the legal logits, and the 16 bits in which the tree keeps them below the root.

// The functions of the softmax are compiled once for each width of vectors, inside of their caller.
#![allow(clippy::inline_always)]

use crate::game::Action;

/// Softmax over one position's legal logits times `sharpness`, 1 / temperature. Computed in f64 so that any faithful implementation rounds to the same f32;
/// `weights` is scratch.
pub fn softmax(logits: &[f32], sharpness: f64, weights: &mut Vec<f64>, priors: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2.
        #[allow(unsafe_code)]
        return unsafe { softmax_avx2(logits, sharpness, weights, priors) };
    }
    softmax_of_any_machine(logits, sharpness, weights, priors);
}

/// The same function in vectors of four f64, with which it takes half the time. It computes the same numbers: nothing is fused or
/// reordered.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn softmax_avx2(logits: &[f32], sharpness: f64, weights: &mut Vec<f64>, priors: &mut [f32]) {
    softmax_of_any_machine(logits, sharpness, weights, priors);
}

#[inline(always)]
fn softmax_of_any_machine(logits: &[f32], sharpness: f64, weights: &mut Vec<f64>, priors: &mut [f32]) {
    let largest = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    // A loop and no `extend`, whose inner function would be compiled without the vectors of the outer one.
    weights.resize(logits.len(), 0.0);
    for (weight, logit) in weights.iter_mut().zip(logits) {
        *weight = exp((f64::from(*logit) - largest) * sharpness);
    }
    let scale = 1.0 / sum(weights);
    for (prior, weight) in priors.iter_mut().zip(weights) {
        *prior = (*weight * scale) as f32;
    }
}

/// The sum in eight parts, each of every eighth number: additions in a row wait for each other.
#[inline(always)]
fn sum(numbers: &[f64]) -> f64 {
    let mut parts = [0.0; 8];
    let chunks = numbers.chunks_exact(parts.len());
    let rest = chunks.remainder().iter().sum::<f64>();
    for chunk in chunks {
        for (part, number) in parts.iter_mut().zip(chunk) {
            *part += number;
        }
    }
    parts.iter().sum::<f64>() + rest
}

/// e^x for x ≤ 0, with a relative error below 4e-16; below −708 it is e^−708, which is 0 as an f32.
///
/// libm's has a call and branches for each number; this is compiled to vector instructions, and computes the same on every
/// machine. x = k ln 2 + r with |r| ≤ ln 2 / 2; e^r is its Taylor series, and 2^k is written into the exponent.
#[inline(always)]
fn exp(x: f64) -> f64 {
    const INTEGERS: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52: the sum of it and a number is rounded to an integer
    const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1; // its last 21 bits are 0, so k times it is exact
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let x = x.max(-708.0);
    let shifted = x * std::f64::consts::LOG2_E + INTEGERS;
    let k = shifted - INTEGERS;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let mut series = 0.0;
    for factor in INVERSE_FACTORIALS {
        series = series * r + factor;
    }
    let two_to_k = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    (1.0 + r * series) * two_to_k
}

/// 1 / n! for n from 13 to 1.
const INVERSE_FACTORIALS: [f64; 13] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    1.0 / 2.0,
    1.0,
];

/// A number in [0, 1] in 16 bits: the f32 pattern without its two leading zero bits, rounded to nearest even at 9 bits
/// of fraction. Monotonic, so rounded priors sort as integers.
#[inline]
pub fn round_prior(prior: f32) -> u16 {
    let bits = prior.to_bits();
    ((bits + 0x1FFF + (bits >> 14 & 1)) >> 14) as u16
}

/// The inverse of [`round_prior`], up to rounding.
#[inline]
pub fn prior_of(rounded: u16) -> f32 {
    f32::from_bits(u32::from(rounded) << 14)
}

/// The sort key of an edge: the rounded prior in the high half, the complemented action in the low half. Descending order is the
/// higher prior, then the lower action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge(u32);

impl Edge {
    /// An edge with a rounded prior.
    #[inline]
    pub fn new(prior: u16, action: Action) -> Self {
        Self(u32::from(prior) << 16 | u32::from(!action))
    }

    /// The rounded prior.
    #[inline]
    pub fn prior(self) -> u16 {
        (self.0 >> 16) as u16
    }

    /// The action.
    #[inline]
    pub fn action(self) -> Action {
        !(self.0 as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_within_two_units_of_the_last_place() {
        for step in 0..200_000_u32 {
            let x = -f64::from(step) * 0.003_517;
            let expected = libm::exp(x);
            assert!((exp(x) / expected - 1.0).abs() < 4.5e-16, "e^{x} is {}, expected {expected}", exp(x));
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-1e300) as f32, 0.0);
    }

    #[test]
    fn vectors_of_any_width_compute_the_same_priors() {
        let mut random = crate::random::RandomStream::new(1, 0, 0, "softmax");
        for count in 1..200 {
            let logits: Vec<f32> = (0..count).map(|_| 20.0 * random.uniform() as f32 - 10.0).collect();
            let (mut ours, mut plain) = (vec![0.0; count], vec![0.0; count]);
            softmax(&logits, 0.8, &mut Vec::new(), &mut ours);
            softmax_of_any_machine(&logits, 0.8, &mut Vec::new(), &mut plain);
            assert_eq!(ours, plain, "{count} logits");
        }
    }

    #[test]
    fn sixteen_bits_keep_a_thousandth() {
        assert_eq!(prior_of(round_prior(0.0)), 0.0);
        assert_eq!(prior_of(round_prior(1.0)), 1.0);
        assert_eq!(prior_of(round_prior(0.25)), 0.25);
        let mut last = 0;
        for step in 1..=100_000_u32 {
            let prior = step as f32 / 100_000.0;
            let rounded = round_prior(prior);
            assert!((prior_of(rounded) / prior - 1.0).abs() < 1.0 / 1024.0, "{prior}");
            assert!(rounded >= last, "not monotonic at {prior}");
            last = rounded;
        }
    }

    #[test]
    fn edges_sort_by_prior_then_lower_action() {
        let mut edges =
            [(0.2, 4), (0.5, 9), (0.2, 3), (0.1, 0)].map(|(prior, action)| Edge::new(round_prior(prior), action));
        edges.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(edges.map(Edge::action), [9, 3, 4, 0]);
    }

    #[test]
    fn priors_are_in_proportion_to_exponentials() {
        let logits: Vec<f32> = (0..100).map(|i| (i as f32 * 0.37).sin() * 5.0).collect();
        let mut priors = vec![0.0; logits.len()];
        softmax(&logits, 1.0, &mut Vec::new(), &mut priors);
        let sum: f64 = logits.iter().map(|logit| f64::from(*logit).exp()).sum();
        for (prior, logit) in priors.iter().zip(&logits) {
            assert!((f64::from(*prior) - f64::from(*logit).exp() / sum).abs() < 1e-7);
        }
    }
}
