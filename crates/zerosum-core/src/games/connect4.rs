//! Connect Four: stones fall down seven columns of six squares; four in a row, in any direction, win.
//!
//! ```text
//!   bits of a side's word (column 7 stays empty,      as people see it: an action is a column,
//!   so that no line wraps around)                     written 1 to 7; planes have the top row first
//!     40 41 42 43 44 45 46 (47)                         . . . . . . .
//!     ...                                               . . . . . . .
//!      8  9 10 11 12 13 14 (15)                         . . . X . . .
//!      0  1  2  3  4  5  6  (7)                         1 2 3 4 5 6 7
//! ```

use super::CoreGame;
use super::options::Options;
use super::rows::{check_turn, parse_stones, write_stones};
use super::squares::mixed;
use crate::game::{Action, Description, Game, GameSpec, Notation, Outcome, Planes, PositionKey, PositionKeys};
use crate::picture::{Grid, Picture};
use crate::player::Player;

const COLUMNS: u32 = 7;
const ROWS: u32 = 6;
/// Bits from a square to the one above it.
const UP: u32 = 8;
const BOTTOM_ROW: u64 = 0x7F;
const FULL: u64 = 0x7F7F_7F7F_7F7F;

/// The rules.
#[derive(Debug)]
pub struct ConnectFour {
    spec: GameSpec,
}

/// A position: the stones of the player to move and of the opponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    own: u64,
    opponent: u64,
    player: Player,
}

impl State {
    /// The owner of the stone on a square, numbered row by row from the top left.
    fn owner(self, square: usize) -> Option<Player> {
        let (row, column) = (square / COLUMNS as usize, square % COLUMNS as usize);
        let bit = (ROWS as usize - 1 - row) * UP as usize + column;
        let side = if self.own >> bit & 1 == 1 { Some(self.player) } else { None };
        side.or_else(|| (self.opponent >> bit & 1 == 1).then(|| self.player.opponent()))
    }
}

#[inline]
fn has_four(stones: u64) -> bool {
    [1, UP - 1, UP, UP + 1].iter().any(|shift| {
        let pairs = stones & stones >> shift;
        pairs & pairs >> (2 * shift) != 0
    })
}

/// A side's word as a plane: rows of seven bits, the top row first.
#[inline]
fn plane(stones: u64) -> u64 {
    (0..ROWS).fold(0, |plane, row| plane | (stones >> (row * UP) & BOTTOM_ROW) << ((ROWS - 1 - row) * COLUMNS))
}

impl CoreGame for ConnectFour {
    fn from_options(mut options: Options) -> Result<Self, String> {
        let max_plies = options.max_plies(COLUMNS * ROWS)?;
        let planes = super::bit_planes(["own stones", "opponent stones"]);
        let mirrored = (0..COLUMNS as Action).rev().collect();
        let spec = GameSpec::new("connect4", 1, 7, (ROWS as usize, COLUMNS as usize), planes, max_plies)?
            .with_options(options.canonical()?)
            .with_symmetries(vec![mirrored])?;
        Ok(Self { spec })
    }
}

impl Game for ConnectFour {
    type State = State;

    fn spec(&self) -> &GameSpec {
        &self.spec
    }

    fn initial_state(&self) -> State {
        State { own: 0, opponent: 0, player: Player::First }
    }

    #[inline]
    fn player(&self, state: &State) -> Player {
        state.player
    }

    #[inline]
    fn legal_actions(&self, state: &State, actions: &mut Vec<Action>) {
        let open = !((state.own | state.opponent) >> ((ROWS - 1) * UP)) & BOTTOM_ROW;
        actions.extend((0..COLUMNS as Action).filter(|column| open >> column & 1 == 1));
    }

    #[inline]
    fn play(&self, state: &mut State, action: Action) {
        let occupied = state.own | state.opponent;
        let column = 0x0101_0101_0101_u64 << action;
        // The height of the column is counted. A carry from the bottom square into the lowest empty one would need bits
        // column by column.
        let stone = 1 << (u32::from(action) + UP * (occupied & column).count_ones());
        *state = State { own: state.opponent, opponent: state.own | stone, player: state.player.opponent() };
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        if has_four(state.opponent) {
            return Some(Outcome::win(state.player.opponent(), "four in a row"));
        }
        (state.own | state.opponent == FULL).then(|| Outcome::draw("board full"))
    }

    #[inline]
    fn encode(&self, state: &State, planes: &mut Planes<'_>) {
        planes.mask(plane(state.own));
        planes.mask(plane(state.opponent));
    }

    fn action_text(&self, _state: &State, action: Action) -> String {
        (action + 1).to_string()
    }

    fn picture(&self, state: &State) -> Option<Picture> {
        let columns = (1..=COLUMNS).map(|column| column.to_string()).collect();
        let rows = vec![String::new(); ROWS as usize];
        Some(Picture::of_stones(Grid::Squares, columns, rows, |square| state.owner(square)))
    }

    fn description(&self) -> Description {
        Description {
            board: "7 columns and 6 rows, upright. The first player's stones are X, the second's O.".into(),
            rules:
                "In turn, a stone into a column that is not full; it falls to the lowest empty square. Four in a row, \
                    in any direction, win; a full board is a draw."
                    .into(),
            planes: "Both sides see the board the same way, the top row first.".into(),
            actions: "The columns from the left, written 1 to 7.".into(),
            material: String::new(),
        }
    }

    fn notation(&self) -> Option<&impl Notation<State>> {
        Some(self)
    }

    fn keys(&self) -> Option<&impl PositionKeys<State>> {
        Some(self)
    }
}

impl Notation<State> for ConnectFour {
    fn position_text(&self, state: &State) -> String {
        write_stones(ROWS as usize, COLUMNS as usize, |square| state.owner(square), state.player)
    }

    fn parse_position(&self, text: &str) -> Result<State, String> {
        let (height, width) = (ROWS as usize, COLUMNS as usize);
        let (stones, player) = parse_stones(text, height, width)?;
        check_turn(&stones, player)?;
        if let Some(square) = (0..(height - 1) * width).find(|s| stones[*s].is_some() && stones[s + width].is_none()) {
            let (row, column) = (square / width + 1, square % width + 1);
            return Err(format!("the stone in column {column}, row {row} from the top, has none below it"));
        }
        let mut state = State { own: 0, opponent: 0, player };
        for (square, owner) in stones.iter().enumerate() {
            let bit = 1 << ((height - 1 - square / width) * UP as usize + square % width);
            match owner {
                Some(owner) if *owner == player => state.own |= bit,
                Some(_) => state.opponent |= bit,
                None => {}
            }
        }
        Ok(state)
    }
}

impl PositionKeys<State> for ConnectFour {
    #[inline]
    fn table_key(&self, state: &State) -> PositionKey {
        PositionKey::of(mixed([state.own, state.opponent], state.player))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(columns: &[Action]) -> (ConnectFour, State) {
        let game = ConnectFour::standard();
        let mut state = game.initial_state();
        for column in columns {
            game.play(&mut state, column - 1);
        }
        (game, state)
    }

    #[test]
    fn wins_in_every_direction() {
        for line in [
            &[1, 2, 1, 2, 1, 2, 1][..],
            &[1, 1, 2, 2, 3, 3, 4],
            &[1, 2, 2, 3, 3, 4, 3, 4, 4, 7, 4],
            &[7, 6, 6, 5, 5, 4, 5, 4, 4, 1, 4],
        ] {
            let (game, state) = after(line);
            assert_eq!(game.outcome(&state), Some(Outcome::win(Player::First, "four in a row")), "{line:?}");
        }
    }

    #[test]
    fn lines_do_not_wrap_around_the_edge() {
        let (game, state) = after(&[5, 5, 6, 6, 7, 7, 1, 2]);
        assert_eq!(game.outcome(&state), None, "\n{}", game.board_text(&state));
    }

    #[test]
    fn planes_are_the_board_top_row_first() {
        let (game, state) = after(&[4, 4, 1]);
        let (mut bits, mut constants) = ([0; 12], []);
        game.encode(&state, &mut Planes::new(&mut bits, &mut constants, 6));
        let word = |half: &[u8]| half.iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
        // Own: the second player's stone on column 4, second row from below. Opponent: columns 4 and 1, bottom row.
        assert_eq!(word(&bits[..6]), 1 << (4 * 7 + 3));
        assert_eq!(word(&bits[6..]), 1 << (5 * 7 + 3) | 1 << (5 * 7));
    }
}
