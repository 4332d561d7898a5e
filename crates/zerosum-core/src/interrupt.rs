//! Interrupts of long calls.

/// Positions between two checks.
const INTERVAL: u64 = 1 << 15;

/// A count of positions that calls a function now and then. The function may unwind, which ends the call (Ctrl-C).
pub(crate) struct InterruptCheck<'a> {
    num_positions: u64,
    check_interrupt: &'a dyn Fn(),
}

impl<'a> InterruptCheck<'a> {
    pub(crate) fn new(check_interrupt: &'a dyn Fn()) -> Self {
        Self { num_positions: 0, check_interrupt }
    }

    /// Counts a position.
    #[inline]
    pub(crate) fn count(&mut self) {
        self.num_positions += 1;
        if self.num_positions.is_multiple_of(INTERVAL) {
            (self.check_interrupt)();
        }
    }
}
