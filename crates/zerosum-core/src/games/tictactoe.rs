//! Tic-tac-toe: three in a row on a 3×3 board. The file to read first, and the model for a new game.
//!
//! ```text
//!   squares, actions and bits        as people write them
//!        0 1 2                            a3 b3 c3
//!        3 4 5                            a2 b2 c2
//!        6 7 8                            a1 b1 c1
//! ```

use super::CoreGame;
use super::options::Options;
use super::rows::{check_turn, parse_stones, write_stones};
use super::squares::mixed;
use crate::game::{Action, Description, Game, GameSpec, Notation, Outcome, Planes, PositionKey, PositionKeys};
use crate::picture::{Grid, Picture, letters, numbers_from_top};
use crate::player::Player;

/// The squares of each line; an octal digit is a row.
const LINES: [u16; 8] = [0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o124, 0o421];
const FULL: u16 = 0o777;

/// The rules.
#[derive(Debug)]
pub struct TicTacToe {
    spec: GameSpec,
}

/// A position: bit i of a side's word is its stone on square i.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    own: u16,
    opponent: u16,
    player: Player,
}

impl State {
    fn owner(self, square: usize) -> Option<Player> {
        let stone = |word: u16, player| (word >> square & 1 == 1).then_some(player);
        stone(self.own, self.player).or_else(|| stone(self.opponent, self.player.opponent()))
    }
}

impl CoreGame for TicTacToe {
    fn from_options(mut options: Options) -> Result<Self, String> {
        let max_plies = options.max_plies(9)?;
        let planes = super::bit_planes(["own stones", "opponent stones"]);
        let spec = GameSpec::new("tictactoe", 1, 9, (3, 3), planes, max_plies)?
            .with_options(options.canonical()?)
            .with_action_planes()
            .with_symmetries(super::square_symmetries(3))?;
        Ok(Self { spec })
    }
}

impl Game for TicTacToe {
    type State = State;

    fn spec(&self) -> &GameSpec {
        &self.spec
    }

    fn initial_state(&self) -> State {
        State { own: 0, opponent: 0, player: Player::First }
    }

    fn player(&self, state: &State) -> Player {
        state.player
    }

    fn legal_actions(&self, state: &State, actions: &mut Vec<Action>) {
        let occupied = state.own | state.opponent;
        actions.extend((0..9).filter(|square| occupied >> square & 1 == 0));
    }

    fn play(&self, state: &mut State, action: Action) {
        *state = State { own: state.opponent, opponent: state.own | 1 << action, player: state.player.opponent() };
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        if LINES.iter().any(|line| state.opponent & line == *line) {
            return Some(Outcome::win(state.player.opponent(), "three in a row"));
        }
        (state.own | state.opponent == FULL).then(|| Outcome::draw("board full"))
    }

    fn encode(&self, state: &State, planes: &mut Planes<'_>) {
        planes.mask(state.own.into());
        planes.mask(state.opponent.into());
    }

    fn action_text(&self, _state: &State, action: Action) -> String {
        super::square_text(usize::from(action % 3), usize::from(3 - action / 3))
    }

    fn picture(&self, state: &State) -> Option<Picture> {
        Some(Picture::of_stones(Grid::Squares, letters(3), numbers_from_top(3), |square| state.owner(square)))
    }

    fn description(&self) -> Description {
        Description {
            board: "3 columns and 3 rows. The first player's stones are X, the second's O.".into(),
            rules:
                "In turn, a stone on an empty square. Three in a row, in any direction, win; a full board is a draw."
                    .into(),
            planes: "Both sides see the board the same way up.".into(),
            actions:
                "The squares, row by row from the top left. Written as column and row: `a1` is at the bottom left."
                    .into(),
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

impl Notation<State> for TicTacToe {
    fn position_text(&self, state: &State) -> String {
        write_stones(3, 3, |square| state.owner(square), state.player)
    }

    fn parse_position(&self, text: &str) -> Result<State, String> {
        let (stones, player) = parse_stones(text, 3, 3)?;
        check_turn(&stones, player)?;
        let word =
            |side| (0..9).filter(|square| stones[*square] == Some(side)).fold(0, |word, square| word | 1 << square);
        Ok(State { own: word(player), opponent: word(player.opponent()), player })
    }
}

impl PositionKeys<State> for TicTacToe {
    #[inline]
    fn table_key(&self, state: &State) -> PositionKey {
        PositionKey::of(mixed([state.own.into(), state.opponent.into()], state.player))
    }
}
