//! Othello: a disc turns over the opponent's discs that it encloses; the side with more discs wins.
//!
//! ```text
//!   squares, actions and bits           as people write them
//!        0  1  2  3  4  5  6  7             a1 b1 c1 … h1
//!        8  9 10 …                          a2 b2 c2 … h2
//! ```

use super::CoreGame;
use super::options::Options;
use super::rows::{parse_stones, write_stones};
use super::squares::{mixed, set_bits};
use crate::game::{
    Action, Description, Game, GameSpec, Notation, Outcome, Planes, PositionKey, PositionKeys, Valuation,
};
use crate::picture::{Grid, Picture, letters};
use crate::player::Player;

const SIDE: usize = 8;
const PASS: Action = 64;
/// The squares d4, e4, d5 and e5, which have a disc in every position.
const MIDDLE: [usize; 4] = [27, 28, 35, 36];
const NOT_LEFT_COLUMN: u64 = 0xFEFE_FEFE_FEFE_FEFE;
const NOT_RIGHT_COLUMN: u64 = 0x7F7F_7F7F_7F7F_7F7F;
/// The eight directions: the bits by which a step rotates a word to the left, and the squares that a step can reach.
const DIRECTIONS: [(u32, u64); 8] = [
    (1, NOT_LEFT_COLUMN),
    (63, NOT_RIGHT_COLUMN),
    (8, !0xFF),
    (56, !0 >> 8),
    (9, NOT_LEFT_COLUMN & !0xFF),
    (55, NOT_RIGHT_COLUMN & !0 >> 8),
    (7, NOT_RIGHT_COLUMN & !0xFF),
    (57, NOT_LEFT_COLUMN & !0 >> 8),
];

/// The rules.
#[derive(Debug)]
pub struct Othello {
    spec: GameSpec,
}

/// A position: the discs of the player to move and of the opponent, and the legal moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    own: u64,
    opponent: u64,
    player: Player,
    /// The squares on which the player to move may put a disc.
    moves: u64,
    /// True if neither side has a move.
    is_over: bool,
}

impl State {
    fn new(own: u64, opponent: u64, player: Player) -> Self {
        let moves = moves(own, opponent);
        let is_over = moves == 0 && self::moves(opponent, own) == 0;
        Self { own, opponent, player, moves, is_over }
    }

    fn owner(self, square: usize) -> Option<Player> {
        let side = (self.own >> square & 1 == 1).then_some(self.player);
        side.or_else(|| (self.opponent >> square & 1 == 1).then(|| self.player.opponent()))
    }
}

/// The opponent's discs in unbroken rows that begin beside `from`, in one direction.
#[inline]
fn row_of(opponent: u64, from: u64, turn: u32, reachable: u64) -> u64 {
    let opponent = opponent & reachable;
    let mut row = opponent & from.rotate_left(turn);
    for _ in 0..SIDE - 3 {
        row |= opponent & row.rotate_left(turn);
    }
    row
}

/// The empty squares on which a disc encloses some of the opponent's.
#[inline]
fn moves(own: u64, opponent: u64) -> u64 {
    let ends = DIRECTIONS.iter().fold(0, |ends, (turn, reachable)| {
        ends | row_of(opponent, own, *turn, *reachable).rotate_left(*turn) & reachable
    });
    ends & !(own | opponent)
}

/// The opponent's discs that a disc on a square encloses.
#[inline]
fn enclosed(own: u64, opponent: u64, square: u64) -> u64 {
    DIRECTIONS.iter().fold(0, |enclosed, (turn, reachable)| {
        let row = row_of(opponent, square, *turn, *reachable);
        let is_closed = row.rotate_left(*turn) & reachable & own != 0;
        enclosed | if is_closed { row } else { 0 }
    })
}

impl CoreGame for Othello {
    fn from_options(mut options: Options) -> Result<Self, String> {
        // There are 60 moves with a disc, and at most one pass between two of them.
        let max_plies = options.max_plies(120)?;
        let planes = super::bit_planes(["own discs", "opponent discs"]);
        let mut symmetries = super::square_symmetries(SIDE);
        symmetries.retain(|squares| [27, 36].contains(&squares[27]));
        for actions in &mut symmetries {
            actions.push(PASS);
        }
        let spec = GameSpec::new("othello", 1, 65, (SIDE, SIDE), planes, max_plies)?
            .with_options(options.canonical()?)
            .with_action_planes()
            .with_symmetries(symmetries)?;
        Ok(Self { spec })
    }
}

impl Game for Othello {
    type State = State;

    fn spec(&self) -> &GameSpec {
        &self.spec
    }

    fn initial_state(&self) -> State {
        State::new(1 << 28 | 1 << 35, 1 << 27 | 1 << 36, Player::First)
    }

    #[inline]
    fn player(&self, state: &State) -> Player {
        state.player
    }

    #[inline]
    fn legal_actions(&self, state: &State, actions: &mut Vec<Action>) {
        for square in set_bits(state.moves) {
            actions.push(square as Action);
        }
        if state.moves == 0 && !state.is_over {
            actions.push(PASS);
        }
    }

    #[inline]
    fn play(&self, state: &mut State, action: Action) {
        let State { own, opponent, player, .. } = *state;
        let disc = if action == PASS { 0 } else { 1 << action };
        let turned = enclosed(own, opponent, disc);
        *state = State::new(opponent & !turned, own | disc | turned, player.opponent());
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        if !state.is_over {
            return None;
        }
        let ending = if state.own | state.opponent == !0 { "board full" } else { "neither side can move" };
        let (own, opponent) = (state.own.count_ones(), state.opponent.count_ones());
        Some(match own.cmp(&opponent) {
            std::cmp::Ordering::Equal => Outcome::draw(ending),
            std::cmp::Ordering::Greater => Outcome::win(state.player, ending),
            std::cmp::Ordering::Less => Outcome::win(state.player.opponent(), ending),
        })
    }

    #[inline]
    fn encode(&self, state: &State, planes: &mut Planes<'_>) {
        planes.mask(state.own);
        planes.mask(state.opponent);
    }

    fn action_text(&self, _state: &State, action: Action) -> String {
        if action == PASS {
            return "pass".into();
        }
        super::square_text(usize::from(action) % SIDE, usize::from(action) / SIDE + 1)
    }

    fn picture(&self, state: &State) -> Option<Picture> {
        let rows = (1..=SIDE).map(|row| row.to_string()).collect();
        let picture = Picture::of_stones(Grid::Squares, letters(SIDE), rows, |square| state.owner(square));
        Some(picture.with_mover(state.player))
    }

    fn description(&self) -> Description {
        Description {
            board: "8 columns and 8 rows. The first player's discs are X (black), the second's O (white). The game \
                    begins with X on e4 and d5 and O on d4 and e5."
                .into(),
            rules:
                "In turn, a disc on an empty square such that at least one straight row of the opponent's discs lies \
                    between it and another disc of the mover; all discs in such rows turn over. Who has no such square \
                    must pass, and nobody else may. When neither side can move, the side with more discs wins; equal \
                    numbers are a draw."
                    .into(),
            planes: "Both sides see the board the same way up. The opponent's legal moves are not an input.".into(),
            actions:
                "The squares, row by row from the top left, then `pass`. Written as column and row: `a1` is at the \
                    top left."
                    .into(),
            material: "Discs.".into(),
        }
    }

    fn notation(&self) -> Option<&impl Notation<State>> {
        Some(self)
    }

    fn valuation(&self) -> Option<&impl Valuation<State>> {
        Some(self)
    }

    fn keys(&self) -> Option<&impl PositionKeys<State>> {
        Some(self)
    }
}

impl Notation<State> for Othello {
    fn position_text(&self, state: &State) -> String {
        write_stones(SIDE, SIDE, |square| state.owner(square), state.player)
    }

    fn parse_position(&self, text: &str) -> Result<State, String> {
        let (discs, player) = parse_stones(text, SIDE, SIDE)?;
        if let Some(square) = MIDDLE.into_iter().find(|square| discs[*square].is_none()) {
            let empty = super::square_text(square % SIDE, square / SIDE + 1);
            return Err(format!("{empty} is empty, and the four squares in the middle always hold a disc"));
        }
        let word =
            |side| (0..64).filter(|square| discs[*square] == Some(side)).fold(0, |word, square| word | 1 << square);
        Ok(State::new(word(player), word(player.opponent()), player))
    }
}

impl Valuation<State> for Othello {
    fn material(&self, state: &State) -> f32 {
        (state.own.count_ones() as f32 - state.opponent.count_ones() as f32) * state.player.sign()
    }
}

impl PositionKeys<State> for Othello {
    #[inline]
    fn table_key(&self, state: &State) -> PositionKey {
        PositionKey::of(mixed([state.own, state.opponent], state.player))
    }
}

#[cfg(test)]
mod tests {
    use super::{DIRECTIONS, SIDE};

    #[test]
    fn a_step_goes_one_square_and_never_around_the_edge() {
        for (turn, reachable) in DIRECTIONS {
            let steps = (0..64).filter_map(|square| {
                let target = (1_u64 << square).rotate_left(turn) & reachable;
                (target != 0).then(|| (square, target.trailing_zeros() as usize))
            });
            let distances: Vec<(isize, isize)> = steps
                .map(|(from, to)| {
                    ((to / SIDE) as isize - (from / SIDE) as isize, (to % SIDE) as isize - (from % SIDE) as isize)
                })
                .collect();
            assert!(distances.iter().all(|step| *step == distances[0] && step.0.abs() <= 1 && step.1.abs() <= 1));
            assert_eq!(distances.len(), if distances[0].0 == 0 || distances[0].1 == 0 { 56 } else { 49 });
        }
    }
}
