//! The two players, and whose perspective a value has.
//!
//! Perspective is a type: [`ValueForFirst`] is absolute, [`ValueForMover`] belongs to the player to move at a position.
//! Only [`ValueForFirst::for_mover`] and [`ValueForMover::for_first`] convert one into the other.

/// One of the two sides. A side may move several times in a row, so the player to move is not a function of the ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Player {
    /// The side that moves first (player 0), or that has the handicap stones.
    First,
    /// The other side (player 1).
    Second,
}

impl Player {
    /// The other side.
    #[inline]
    pub fn opponent(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// 0 or 1.
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }

    /// +1 for the first player, −1 for the second.
    #[inline]
    pub fn sign(self) -> f32 {
        match self {
            Self::First => 1.0,
            Self::Second => -1.0,
        }
    }
}

/// A value in [−1, 1] for the first player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueForFirst(pub f32);

/// A value in [−1, 1] for the player to move at some position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueForMover(pub f32);

impl ValueForFirst {
    /// The same value seen by `mover`.
    #[inline]
    pub fn for_mover(self, mover: Player) -> ValueForMover {
        ValueForMover(self.0 * mover.sign())
    }
}

impl ValueForMover {
    /// The same value seen by the first player.
    #[inline]
    pub fn for_first(self, mover: Player) -> ValueForFirst {
        ValueForFirst(self.0 * mover.sign())
    }
}
