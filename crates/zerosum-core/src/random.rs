//! Counter-based random numbers: every number is a pure function of (run seed, game, ply, purpose) and its index in the
//! stream.
//!
//! A resumed or re-ordered run draws the same numbers, and no generator state has to be stored.

/// The step of `SplitMix64`: 2^64 divided by the golden ratio, made odd.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// A stream of random numbers with a key.
#[derive(Clone, Debug)]
pub struct RandomStream {
    key: u64,
    counter: u64,
}

impl RandomStream {
    /// The stream for `purpose` at `ply` of game number `game` of the run with this seed.
    pub fn new(seed: u64, game: u64, ply: u64, purpose: &str) -> Self {
        let key =
            [game, ply, hash_text(purpose)].iter().fold(mix(seed), |key, part| mix(key.wrapping_add(STEP) ^ part));
        Self { key, counter: 0 }
    }

    /// 64 random bits (`SplitMix64`, Steele et al. 2014, from a mixed key).
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.counter = self.counter.wrapping_add(STEP);
        mix(self.key.wrapping_add(self.counter))
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Uniform in `0..bound` (multiply-shift; its bias is below bound / 2^64).
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// A standard normal number (Box-Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// A standard Gumbel number, −ln(−ln(u)) with u uniform in the open interval (0, 1).
    fn gumbel(&mut self) -> f64 {
        let uniform = ((self.bits() >> 11) as f64 + 0.5) * (1.0 / (1_u64 << 53) as f64);
        -libm::log(-libm::log(uniform))
    }

    /// The logarithm of a Gamma(shape, 1) number (Marsaglia and Tsang 2000; shapes below 1 are boosted, in the
    /// logarithm because shapes as small as Go's 0.03 underflow).
    fn log_gamma(&mut self, shape: f64) -> f64 {
        let boost = if shape < 1.0 { libm::log(1.0 - self.uniform()) / shape } else { 0.0 };
        let d = if shape < 1.0 { shape + 1.0 } else { shape } - 1.0 / 3.0;
        let c = 1.0 / libm::sqrt(9.0 * d);
        loop {
            let x = self.normal();
            let v = (1.0 + c * x) * (1.0 + c * x) * (1.0 + c * x);
            if v > 0.0 && libm::log(1.0 - self.uniform()) < 0.5 * x * x + d * (1.0 - v + libm::log(v)) {
                return libm::log(d * v) + boost;
            }
        }
    }

    /// Dir(alpha): `size` positive numbers that sum to 1.
    pub fn dirichlet(&mut self, alpha: f64, size: usize) -> Vec<f32> {
        let logs: Vec<f64> = (0..size).map(|_| self.log_gamma(alpha)).collect();
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logs.iter().map(|log| libm::exp(log - largest)).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|weight| (weight / sum) as f32).collect()
    }
}

/// The Gumbel noise of a root, from a stream keyed (seed, game, ply).
pub fn gumbel_noise(seed: u64, game: u64, ply: u64, size: usize) -> Vec<f32> {
    let random = &mut RandomStream::new(seed, game, ply, "gumbel");
    (0..size).map(|_| random.gumbel() as f32).collect()
}

/// The finaliser of `SplitMix64`: a bijection of 64-bit words in which every input bit reaches every output bit.
#[inline]
pub(crate) const fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// FNV-1a, 64 bits.
pub fn hash_text(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_the_key_gives_another_stream() {
        let base = RandomStream::new(1, 2, 3, "move").bits();
        for other in [
            RandomStream::new(0, 2, 3, "move"),
            RandomStream::new(1, 3, 3, "move"),
            RandomStream::new(1, 2, 2, "move"),
            RandomStream::new(1, 2, 3, "noise"),
            RandomStream::new(2, 1, 3, "move"),
        ] {
            assert_ne!(base, other.clone().bits());
        }
    }

    #[test]
    fn uniform_has_the_right_moments() {
        let mut random = RandomStream::new(7, 0, 0, "test");
        let numbers: Vec<f64> = (0..100_000).map(|_| random.uniform()).collect();
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let square = numbers.iter().map(|u| u * u).sum::<f64>() / numbers.len() as f64;
        assert!((mean - 0.5).abs() < 0.004, "{mean}");
        assert!((square - 1.0 / 3.0).abs() < 0.004, "{square}");
    }

    #[test]
    fn gumbel_has_the_right_mean_and_variance() {
        let numbers = gumbel_noise(7, 0, 0, 100_000);
        let mean = numbers.iter().map(|g| f64::from(*g)).sum::<f64>() / 1e5;
        let variance = numbers.iter().map(|g| (f64::from(*g) - mean).powi(2)).sum::<f64>() / 1e5;
        assert!((mean - 0.577_216).abs() < 0.015, "Euler's constant, not {mean}");
        assert!((variance / 1.644_934 - 1.0).abs() < 0.03, "a sixth of the square of pi, not {variance}");
    }

    #[test]
    fn dirichlet_has_the_right_mean_and_variance() {
        // Each entry of a symmetric Dir(alpha) over n is Beta(alpha, (n-1) alpha).
        for alpha in [0.03_f64, 0.3, 1.4, 5.0] {
            let n = 7.0;
            let firsts: Vec<f64> = (0..20_000)
                .map(|game| f64::from(RandomStream::new(3, game, 0, "noise").dirichlet(alpha, n as usize)[2]))
                .collect();
            let mean = firsts.iter().sum::<f64>() / firsts.len() as f64;
            let variance = firsts.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / firsts.len() as f64;
            let expected = (1.0 / n) * (1.0 - 1.0 / n) / (n * alpha + 1.0);
            assert!((mean - 1.0 / n).abs() < 0.01, "alpha {alpha}: mean {mean}");
            assert!(
                (variance / expected - 1.0).abs() < 0.05,
                "alpha {alpha}: variance {variance}, expected {expected}"
            );
        }
    }
}
