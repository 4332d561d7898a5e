//! Tic-tac-toe: three in a row on a 3×3 board. The file to read first, and the model for a new game.
//!
//! ```text
//!   squares, actions and bits        as people write them
//!        0 1 2                            a3 b3 c3
//!        3 4 5                            a2 b2 c2
//!        6 7 8                            a1 b1 c1
//! ```

use crate::game::{Action, Game, GameSpec, Outcome, PlaneKind, PlaneSpec, Planes, Player};

const LINES: [u16; 8] = [
    0b000_000_111,
    0b000_111_000,
    0b111_000_000,
    0b001_001_001,
    0b010_010_010,
    0b100_100_100,
    0b100_010_001,
    0b001_010_100,
];
const FULL: u16 = 0b111_111_111;

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

impl TicTacToe {
    /// The rules.
    pub fn new() -> Self {
        let planes =
            ["own stones", "opponent stones"].map(|name| PlaneSpec { name: name.into(), kind: PlaneKind::Bits });
        let spec = GameSpec::new("tictactoe", 1, 9, (3, 3), planes.into(), 9)
            .and_then(|spec| spec.with_symmetries(super::square_symmetries(3)));
        Self { spec: spec.expect("the sizes are in range") }
    }
}

impl Default for TicTacToe {
    fn default() -> Self {
        Self::new()
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
        format!("{}{}", ['a', 'b', 'c'][usize::from(action % 3)], 3 - action / 3)
    }

    fn draw(&self, state: &State) -> String {
        let (first, second) = match state.player {
            Player::First => (state.own, state.opponent),
            Player::Second => (state.opponent, state.own),
        };
        let mut text = String::new();
        for row in 0..3 {
            text.push_str(["3 ", "2 ", "1 "][row]);
            for square in 3 * row..3 * row + 3 {
                text.push_str(match (first >> square & 1, second >> square & 1) {
                    (1, _) => " X",
                    (_, 1) => " O",
                    _ => " .",
                });
            }
            text.push('\n');
        }
        text + "   a b c\n"
    }
}
