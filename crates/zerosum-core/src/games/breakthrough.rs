//! Breakthrough: pieces move and capture forwards; the first piece on the far row wins.
//!
//! The board is seen by the player to move, who moves upwards: for the second player it is flipped top to bottom, and
//! the columns keep their side, as in chess. Position and actions are stored in that view.
//!
//! ```text
//!   bits of a side's word (size 6; eight a row,       as people write them,
//!   so that a flip is a swap of bytes)                the first player's view
//!      0  1  2  3  4  5 (6 7)                            a6 b6 c6 d6 e6 f6
//!      8  9 10 …                                         a5 b5 c5 …
//! ```

use super::CoreGame;
use super::options::Options;
use super::rows::{parse_stones, write_stones};
use super::squares::{mixed, set_bits};
use crate::game::{
    Action, Description, Game, GameSpec, Notation, Outcome, Planes, PositionKey, PositionKeys, TacticalMove, Tactics,
    Valuation,
};
use crate::picture::{Grid, Picture, letters, numbers_from_top};
use crate::player::Player;

/// Bits from a square to the one below it.
const DOWN: usize = 8;
/// Columns to the right of each plane of actions: a step to the left, straight, to the right.
const STEPS: [isize; 3] = [-1, 0, 1];

/// The rules.
#[derive(Debug)]
pub struct Breakthrough {
    spec: GameSpec,
    size: usize,
    /// The squares of the leftmost column.
    left_column: u64,
    /// The squares of the top row.
    top_row: u64,
}

/// A position, seen from the player to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    own: u64,
    opponent: u64,
    player: Player,
}

impl Breakthrough {
    /// The pieces in the other side's view.
    #[inline]
    fn flip(&self, pieces: u64) -> u64 {
        pieces.swap_bytes() >> (DOWN * (8 - self.size))
    }

    /// The pieces that can make each of the steps.
    #[inline]
    fn movers(&self, state: &State) -> [u64; 3] {
        let State { own, opponent, .. } = *state;
        let right_column = self.left_column << (self.size - 1);
        [
            own & !self.left_column & !own << (DOWN + 1),
            own & !(own | opponent) << DOWN,
            own & !right_column & !own << (DOWN - 1),
        ]
    }

    /// A side's word as a plane: without the unused bits of each row.
    #[inline]
    fn plane(&self, pieces: u64) -> u64 {
        (0..self.size).fold(0, |plane, row| plane | (pieces >> (row * DOWN) & self.top_row) << (row * self.size))
    }

    /// The owner of the piece on a square of the first player's view, numbered row by row.
    fn owner(&self, state: &State, square: usize) -> Option<Player> {
        let row = square / self.size;
        let row = if state.player == Player::First { row } else { self.size - 1 - row };
        let bit = row * DOWN + square % self.size;
        let side = (state.own >> bit & 1 == 1).then_some(state.player);
        side.or_else(|| (state.opponent >> bit & 1 == 1).then(|| state.player.opponent()))
    }

    fn check_pieces(&self, state: &State) -> Result<(), String> {
        let sides = ['X', 'O'];
        let (mover, other) = (sides[state.player.index()], sides[state.player.opponent().index()]);
        let most = 2 * self.size as u32;
        if let Some((side, pieces)) =
            [(mover, state.own), (other, state.opponent)].into_iter().find(|(_, pieces)| pieces.count_ones() > most)
        {
            return Err(format!("{side} has {} pieces, expected at most {most}", pieces.count_ones()));
        }
        if state.opponent == 0 {
            return Err(format!("{mover} is to move and {other} has no piece"));
        }
        if state.own & self.top_row != 0 {
            return Err(format!("{mover} is to move and has reached the last row already"));
        }
        Ok(())
    }
}

impl CoreGame for Breakthrough {
    fn from_options(mut options: Options) -> Result<Self, String> {
        let size = options.number("size", 8, 4..=8)?;
        // A piece makes size − 2 or size − 3 moves until it is next to the last row; one more move ends the game.
        let max_plies = options.max_plies((2 * size * (2 * size - 5) + 1) as u32)?;
        let planes = super::bit_planes(["own pieces", "opponent pieces"]);
        let squares = size * size;
        let mirrored = (0..3 * squares).map(|action| {
            let (plane, row, column) = (action / squares, action / size % size, action % size);
            ((2 - plane) * squares + row * size + size - 1 - column) as Action
        });
        let spec = GameSpec::new("breakthrough", 1, 3 * squares, (size, size), planes, max_plies)?
            .with_options(options.canonical()?)
            .with_action_planes()
            .with_symmetries(vec![mirrored.collect()])?;
        let left_column = (0..size).fold(0, |column, row| column | 1 << (row * DOWN));
        Ok(Self { spec, size, left_column, top_row: (1 << size) - 1 })
    }
}

impl Game for Breakthrough {
    type State = State;

    fn spec(&self) -> &GameSpec {
        &self.spec
    }

    fn initial_state(&self) -> State {
        let opponent = self.top_row | self.top_row << DOWN;
        State { own: self.flip(opponent), opponent, player: Player::First }
    }

    #[inline]
    fn player(&self, state: &State) -> Player {
        state.player
    }

    #[inline]
    fn legal_actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (plane, movers) in self.movers(state).into_iter().enumerate() {
            for bit in set_bits(movers) {
                actions.push(((plane * self.size + bit / DOWN) * self.size + bit % DOWN) as Action);
            }
        }
    }

    #[inline]
    fn play(&self, state: &mut State, action: Action) {
        let (row, column) = (usize::from(action) / self.size, usize::from(action) % self.size);
        let from = row % self.size * DOWN + column;
        let to = 1 << (from - DOWN).wrapping_add_signed(STEPS[row / self.size]);
        *state = State {
            own: self.flip(state.opponent & !to),
            opponent: self.flip(state.own & !(1 << from) | to),
            player: state.player.opponent(),
        };
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        let winner = state.player.opponent();
        if state.opponent & self.flip(self.top_row) != 0 {
            return Some(Outcome::win(winner, "last row reached"));
        }
        (state.own == 0).then(|| Outcome::win(winner, "all pieces captured"))
    }

    #[inline]
    fn encode(&self, state: &State, planes: &mut Planes<'_>) {
        planes.mask(self.plane(state.own));
        planes.mask(self.plane(state.opponent));
    }

    fn action_text(&self, state: &State, action: Action) -> String {
        let (row, column) = (usize::from(action) / self.size, usize::from(action) % self.size);
        // Row numbers count from the bottom of the first player's view and from the top of the second player's.
        let number = |row: usize| if state.player == Player::First { self.size - row } else { row + 1 };
        let (from, to) = (row % self.size, column.wrapping_add_signed(STEPS[row / self.size]));
        super::square_text(column, number(from)) + &super::square_text(to, number(from - 1))
    }

    fn picture(&self, state: &State) -> Option<Picture> {
        let (columns, rows) = (letters(self.size), numbers_from_top(self.size));
        let picture = Picture::of_stones(Grid::Chequered, columns, rows, |square| self.owner(state, square));
        Some(picture.with_mover(state.player))
    }

    fn description(&self) -> Description {
        Description {
            board: "8 columns and 8 rows (`size=4` to `8`). Each side begins with two full rows: the first player's \
                    pieces are X, on the two rows at the bottom, the second's O."
                .into(),
            rules: "In turn, one piece one square forwards, straight or diagonally; straight only to an empty square, \
                    diagonally also onto a piece of the opponent's, which is captured. The first piece on the far row \
                    wins, and so does who captures the last piece of the opponent's. Somebody always can move, and \
                    there are no draws."
                .into(),
            planes:
                "Seen from the player to move, who walks upwards: for the second player the board is flipped top to \
                    bottom, and the columns keep their side."
                    .into(),
            actions:
                "Three planes of squares of the mover's view: the piece's square, row by row from the top left, for \
                    a step to the left, straight on and to the right. Written as the squares it leaves and reaches, \
                    `a2a3`, where `a1` is at the first player's bottom left."
                    .into(),
            material: "Pieces.".into(),
        }
    }

    #[inline]
    fn passed(&self, state: &State) -> Option<State> {
        let [own, opponent] = [state.opponent, state.own].map(|pieces| self.flip(pieces));
        Some(State { own, opponent, player: state.player.opponent() })
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

    fn tactics(&self) -> Option<&impl Tactics<State>> {
        Some(self)
    }
}

impl Notation<State> for Breakthrough {
    fn position_text(&self, state: &State) -> String {
        write_stones(self.size, self.size, |square| self.owner(state, square), state.player)
    }

    fn parse_position(&self, text: &str) -> Result<State, String> {
        let (pieces, player) = parse_stones(text, self.size, self.size)?;
        let word = |side| {
            let squares = (0..pieces.len()).filter(|square| pieces[*square] == Some(side));
            let word = squares.fold(0, |word, square| word | 1 << (square / self.size * DOWN + square % self.size));
            if player == Player::First { word } else { self.flip(word) }
        };
        let state = State { own: word(player), opponent: word(player.opponent()), player };
        self.check_pieces(&state)?;
        Ok(state)
    }
}

impl Valuation<State> for Breakthrough {
    fn material(&self, state: &State) -> f32 {
        (state.own.count_ones() as f32 - state.opponent.count_ones() as f32) * state.player.sign()
    }
}

impl PositionKeys<State> for Breakthrough {
    #[inline]
    fn table_key(&self, state: &State) -> PositionKey {
        PositionKey::of(mixed([state.own, state.opponent], state.player))
    }
}

impl Tactics<State> for Breakthrough {
    /// Captures, and steps to the row before the last: the next one wins.
    #[inline]
    fn tactical_move(&self, state: &State, action: Action) -> Option<TacticalMove> {
        let squares = self.size * self.size;
        let (plane, row, column) =
            (usize::from(action) / squares, usize::from(action) % squares / self.size, usize::from(action) % self.size);
        let target = (row * DOWN + column).wrapping_add_signed(STEPS[plane] - DOWN as isize);
        let is_capture = state.opponent >> target & 1 == 1;
        (is_capture || row <= 2).then(|| TacticalMove { moved: 0, taken: is_capture.then_some(0), promotes: row <= 2 })
    }
}
