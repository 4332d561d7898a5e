//! The numbering of actions: by planes of the board, as the AlphaZero paper numbers the moves of chess and shogi (arXiv
//! 1712.01815, table S2), or flat, without the numbers that no piece can use.

use super::options::Options;
use crate::game::{Action, GameSpec, PlaneSpec};

/// The numbering of actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// By planes of the board.
    Planes,
    /// Only the actions that some piece could make on an empty board, in the same order.
    Flat,
}

impl Policy {
    /// The option `policy`.
    ///
    /// # Errors
    /// A sentence, if its value is unknown.
    pub fn from_options(options: &mut Options) -> Result<Self, String> {
        Ok(if options.choice("policy", &["planes", "flat"])? == "flat" { Self::Flat } else { Self::Planes })
    }

    /// The description of a game with these numbers of actions by planes and flat.
    ///
    /// # Errors
    /// The errors of [`GameSpec::new`].
    pub fn spec(
        self,
        name: &str,
        [by_planes, flat]: [usize; 2],
        side: usize,
        planes: Vec<PlaneSpec>,
        max_plies: u32,
    ) -> Result<GameSpec, String> {
        let spec = |num_actions| GameSpec::new(name, 1, num_actions, (side, side), planes, max_plies);
        match self {
            Self::Planes => Ok(spec(by_planes)?.with_action_planes()),
            Self::Flat => spec(flat),
        }
    }
}

/// (rows down, columns to the right) of one step in each of the queen's directions, clockwise from straight ahead.
pub const DIRECTIONS: [(i32, i32); 8] = [(-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)];

/// The square at an offset in rows down and columns to the right, if it is on the board.
pub const fn moved(square: usize, (down, right): (i32, i32), side: usize) -> Option<usize> {
    let (row, column) = ((square / side) as i32 + down, (square % side) as i32 + right);
    let is_on_board = row >= 0 && row < side as i32 && column >= 0 && column < side as i32;
    if is_on_board { Some(row as usize * side + column as usize) } else { None }
}

/// The numbers by planes of the actions that the flat policy keeps, ascending; there are `KEPT` of them.
pub const fn kept<const ALL: usize, const KEPT: usize>(is_kept: &[bool; ALL]) -> [Action; KEPT] {
    let mut kept = [0; KEPT];
    let (mut action, mut number) = (0, 0);
    while action < ALL {
        if is_kept[action] {
            kept[number] = action as Action;
            number += 1;
        }
        action += 1;
    }
    assert!(number == KEPT);
    kept
}

/// The flat number of each action by planes; meaningless for actions that the flat policy does not have.
pub const fn places<const ALL: usize, const KEPT: usize>(kept: &[Action; KEPT]) -> [Action; ALL] {
    let mut places = [0; ALL];
    let mut number = 0;
    while number < KEPT {
        places[kept[number] as usize] = number as Action;
        number += 1;
    }
    places
}
