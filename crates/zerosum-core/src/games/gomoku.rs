//! Gomoku: five in a row win. Options change the size of the board and the length of the line.
//!
//! ```text
//!   squares and actions          as people write them (size 15)
//!        0   1   2 …                 a15 b15 c15 …
//!       15  16  17 …                 a14 b14 c14 …
//! ```

use super::CoreGame;
use super::options::Options;
use super::rows::{check_turn, parse_stones, write_stones};
use super::squares::{LargeSquareSet, MAX_SIDE, mixed};
use crate::game::{Action, Description, Game, GameSpec, Notation, Outcome, Planes, PositionKey, PositionKeys};
use crate::picture::{Grid, Picture, letters, numbers_from_top};
use crate::player::Player;

/// The shortest line that may win.
const SHORTEST: usize = 3;
/// Endings by length, from the shortest on.
const ENDINGS: [&str; 6] =
    ["three in a row", "four in a row", "five in a row", "six in a row", "seven in a row", "eight in a row"];
/// (rows down, columns to the right) of the directions of lines.
const DIRECTIONS: [(isize, isize); 4] = [(0, 1), (1, 0), (1, 1), (1, -1)];

/// The rules.
#[derive(Debug)]
pub struct Gomoku {
    spec: GameSpec,
    size: usize,
    board: LargeSquareSet,
    length: usize,
    is_exact: bool,
}

/// A position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The stones of the first and of the second player.
    stones: [LargeSquareSet; 2],
    num_stones: u16,
    player: Player,
    /// True if the player who moved last has won.
    is_won: bool,
}

impl Gomoku {
    /// True if the stone on a square is part of a line that wins.
    fn wins(&self, stones: &LargeSquareSet, square: usize) -> bool {
        DIRECTIONS.iter().any(|(down, right)| {
            let run = 1 + self.run(stones, square, *down, *right) + self.run(stones, square, -down, -right);
            if self.is_exact { run == self.length } else { run >= self.length }
        })
    }

    /// Number of consecutive stones from a square, without it, in a direction.
    #[inline]
    fn run(&self, stones: &LargeSquareSet, square: usize, down: isize, right: isize) -> usize {
        let size = self.size as isize;
        let (mut row, mut column) = (square as isize / size, square as isize % size);
        let mut run = 0;
        loop {
            (row, column) = (row + down, column + right);
            let is_on_board = (0..size).contains(&row) && (0..size).contains(&column);
            if !is_on_board || !stones.contains((row * size + column) as usize) {
                return run;
            }
            run += 1;
        }
    }
}

impl State {
    fn owner(&self, square: usize) -> Option<Player> {
        [Player::First, Player::Second].into_iter().find(|player| self.stones[player.index()].contains(square))
    }
}

impl CoreGame for Gomoku {
    fn from_options(mut options: Options) -> Result<Self, String> {
        let size = options.number("size", 15, SHORTEST..=MAX_SIDE)?;
        let longest = size.min(SHORTEST + ENDINGS.len() - 1);
        let length = options.number("length", size.min(5), SHORTEST..=longest)?;
        let is_exact = options.flag("exact_five", false)?;
        let max_plies = options.max_plies((size * size) as u32)?;
        let planes = super::bit_planes(["own stones", "opponent stones"]);
        let spec = GameSpec::new("gomoku", 1, size * size, (size, size), planes, max_plies)?
            .with_options(options.canonical()?)
            .with_action_planes()
            .with_symmetries(super::square_symmetries(size))?;
        Ok(Self { spec, size, board: LargeSquareSet::first(size * size), length, is_exact })
    }
}

impl Game for Gomoku {
    type State = State;

    fn spec(&self) -> &GameSpec {
        &self.spec
    }

    fn initial_state(&self) -> State {
        State { stones: [LargeSquareSet::EMPTY; 2], num_stones: 0, player: Player::First, is_won: false }
    }

    #[inline]
    fn player(&self, state: &State) -> Player {
        state.player
    }

    /// A stone more is never worse.
    #[inline]
    fn passed(&self, state: &State) -> Option<State> {
        Some(State { player: state.player.opponent(), ..*state })
    }

    #[inline]
    fn legal_actions(&self, state: &State, actions: &mut Vec<Action>) {
        let free = self.board & !(state.stones[0] | state.stones[1]);
        actions.reserve(free.len());
        free.for_each(|square| actions.push(square as Action));
    }

    #[inline]
    fn play(&self, state: &mut State, action: Action) {
        let stones = &mut state.stones[state.player.index()];
        stones.insert(action.into());
        state.is_won = self.wins(stones, action.into());
        state.num_stones += 1;
        state.player = state.player.opponent();
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        if state.is_won {
            return Some(Outcome::win(state.player.opponent(), ENDINGS[self.length - SHORTEST]));
        }
        (usize::from(state.num_stones) == self.size * self.size).then(|| Outcome::draw("board full"))
    }

    #[inline]
    fn encode(&self, state: &State, planes: &mut Planes<'_>) {
        planes.words(&state.stones[state.player.index()].0);
        planes.words(&state.stones[state.player.opponent().index()].0);
    }

    fn action_text(&self, _state: &State, action: Action) -> String {
        super::square_text(usize::from(action) % self.size, self.size - usize::from(action) / self.size)
    }

    fn picture(&self, state: &State) -> Option<Picture> {
        let size = self.size;
        Some(Picture::of_stones(Grid::Points, letters(size), numbers_from_top(size), |square| state.owner(square)))
    }

    fn description(&self) -> Description {
        Description {
            board: "15 columns and 15 rows of points (`size=3` to `25`). The first player's stones are X (black), the \
                    second's O (white)."
                .into(),
            rules: "In turn, a stone on an empty point. Five or more in a row, in any direction, win; with \
                    `exact_five=true` exactly five, and a longer line counts for neither side. `length=3` to `8` asks \
                    for another length (by default 5, or the side of a smaller board), and `exact_five` then for \
                    exactly that. A full board is a draw. No opening rule, and none of Renju's bans."
                .into(),
            planes: "Both sides see the board the same way up.".into(),
            actions: "The points, row by row from the top left. Written as column and row: `a1` is at the bottom left."
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

impl Notation<State> for Gomoku {
    fn position_text(&self, state: &State) -> String {
        write_stones(self.size, self.size, |square| state.owner(square), state.player)
    }

    fn parse_position(&self, text: &str) -> Result<State, String> {
        let (board, player) = parse_stones(text, self.size, self.size)?;
        check_turn(&board, player)?;
        let of = |side| (0..board.len()).filter(|square| board[*square] == Some(side)).collect();
        let stones: [LargeSquareSet; 2] = [of(Player::First), of(Player::Second)];
        let has_won = |side: Player| {
            let stones = &stones[side.index()];
            stones.iter().any(|square| self.wins(stones, square))
        };
        if has_won(player) {
            let side = ['X', 'O'][player.index()];
            return Err(format!("{side} is to move and has {} already", ENDINGS[self.length - SHORTEST]));
        }
        let num_stones = board.iter().flatten().count() as u16;
        Ok(State { stones, num_stones, player, is_won: has_won(player.opponent()) })
    }
}

impl PositionKeys<State> for Gomoku {
    #[inline]
    fn table_key(&self, state: &State) -> PositionKey {
        PositionKey::of(mixed(state.stones.iter().flat_map(|stones| stones.0), state.player))
    }
}
