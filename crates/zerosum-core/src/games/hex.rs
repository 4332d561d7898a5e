//! Hex: the first player joins the top edge to the bottom edge, the second the left edge to the right edge.
//!
//! Each side sees its own edges at the top and the bottom: the second player's board is transposed. Planes and actions
//! are in the view of the player to move, so a network cannot distinguish a position from its transpose with changed
//! colours. States store both views.
//!
//! ```text
//!   squares, as the first player        as people write them
//!   sees and numbers them (size 3)
//!       0 1 2                               a1 b1 c1
//!        3 4 5                               a2 b2 c2
//!         6 7 8                               a3 b3 c3
//! ```

use super::CoreGame;
use super::options::Options;
use super::rows::{check_turn, parse_stones, write_stones};
use super::squares::{LargeSquareSet, MAX_SIDE, mixed};
use crate::game::{
    Action, Description, Game, GameSpec, Notation, Outcome, PlaneSpec, Planes, PositionKey, PositionKeys,
};
use crate::picture::{Grid, Picture, letters};
use crate::player::Player;

/// (rows down, columns to the right) of the six neighbours.
const NEIGHBOURS: [(isize, isize); 6] = [(-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0)];

/// The rules.
#[derive(Debug)]
pub struct Hex {
    spec: GameSpec,
    size: usize,
    board: LargeSquareSet,
    has_swap: bool,
}

/// A position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// `views[v][p]`: the stones of player p as player v sees the board.
    views: [[LargeSquareSet; 2]; 2],
    /// For each player, in their own view, the stones that are joined to the top edge.
    joined: [LargeSquareSet; 2],
    player: Player,
    /// True if the player who moved last has won.
    is_won: bool,
}

impl Hex {
    /// A square of one side's view in the other side's.
    #[inline]
    fn transposed(&self, square: usize) -> usize {
        square % self.size * self.size + square / self.size
    }

    /// A square of a side's view on the board as people see it, or the reverse.
    fn on_board(&self, square: usize, player: Player) -> usize {
        if player == Player::First { square } else { self.transposed(square) }
    }

    fn can_swap(&self, state: &State) -> bool {
        let [first, second] = &state.views[0];
        self.has_swap && state.player == Player::Second && second.is_empty() && first.len() == 1
    }

    /// Puts a player's stone on a square of that player's view. Returns true if the player's edges are joined now.
    #[inline]
    fn put(&self, state: &mut State, player: Player, square: usize) -> bool {
        state.views[player.index()][player.index()].insert(square);
        state.views[player.opponent().index()][player.index()].insert(self.transposed(square));
        let joined = &state.joined[player.index()];
        let touches = square < self.size || self.neighbours(square).any(|neighbour| joined.contains(neighbour));
        touches && self.join(state, player, square)
    }

    /// Joins a stone, and all stones connected to it, to the top edge. Returns true if one of them is at the bottom
    /// edge.
    fn join(&self, state: &mut State, player: Player, square: usize) -> bool {
        let stones = &state.views[player.index()][player.index()];
        let joined = &mut state.joined[player.index()];
        let mut ahead = [0; MAX_SIDE * MAX_SIDE];
        let mut num_ahead = 1;
        ahead[0] = square;
        joined.insert(square);
        let mut is_at_bottom = false;
        while num_ahead > 0 {
            num_ahead -= 1;
            let square = ahead[num_ahead];
            is_at_bottom |= square >= self.size * (self.size - 1);
            for neighbour in self.neighbours(square) {
                if stones.contains(neighbour) && !joined.contains(neighbour) {
                    joined.insert(neighbour);
                    ahead[num_ahead] = neighbour;
                    num_ahead += 1;
                }
            }
        }
        is_at_bottom
    }

    #[inline]
    fn neighbours(&self, square: usize) -> impl Iterator<Item = usize> + use<> {
        let size = self.size as isize;
        let (row, column) = (square as isize / size, square as isize % size);
        NEIGHBOURS
            .iter()
            .map(move |(down, right)| (row + down, column + right))
            .filter(move |(row, column)| (0..size).contains(row) && (0..size).contains(column))
            .map(move |(row, column)| (row * size + column) as usize)
    }

    /// Checks the numbers of stones; after a swap there is one X less.
    fn check_turn(&self, board: &[Option<Player>], player: Player) -> Result<(), String> {
        check_turn(board, player).or_else(|error| {
            let count = |side| board.iter().filter(|owner| **owner == Some(side)).count();
            let (first, second) = (count(Player::First), count(Player::Second));
            let is_swapped = self.has_swap && second > 0 && first + 1 == second + player.index();
            if is_swapped { Ok(()) } else { Err(error) }
        })
    }

    fn owner(state: &State, square: usize) -> Option<Player> {
        [Player::First, Player::Second].into_iter().find(|player| state.views[0][player.index()].contains(square))
    }
}

impl CoreGame for Hex {
    fn from_options(mut options: Options) -> Result<Self, String> {
        let size = options.number("size", 11, 2..=MAX_SIDE)?;
        let has_swap = options.flag("swap", false)?;
        let num_actions = size * size + usize::from(has_swap);
        let max_plies = options.max_plies(num_actions as u32)?;
        let mut planes = super::bit_planes(["own stones", "opponent stones"]);
        if has_swap {
            planes.push(PlaneSpec::constant("1 if swap is legal"));
        }
        let mut turned: Vec<Action> = (0..(size * size) as Action).rev().collect();
        turned.extend(turned.len() as Action..num_actions as Action);
        let spec = GameSpec::new("hex", 1, num_actions, (size, size), planes, max_plies)?
            .with_options(options.canonical()?)
            .with_action_planes()
            .with_symmetries(vec![turned])?;
        Ok(Self { spec, size, board: LargeSquareSet::first(size * size), has_swap })
    }
}

impl Game for Hex {
    type State = State;

    fn spec(&self) -> &GameSpec {
        &self.spec
    }

    fn initial_state(&self) -> State {
        let none = [LargeSquareSet::EMPTY; 2];
        State { views: [none; 2], joined: none, player: Player::First, is_won: false }
    }

    #[inline]
    fn player(&self, state: &State) -> Player {
        state.player
    }

    /// A stone more is never worse.
    #[inline]
    fn passed(&self, state: &State) -> Option<State> {
        (!self.has_swap).then(|| State { player: state.player.opponent(), ..*state })
    }

    #[inline]
    fn legal_actions(&self, state: &State, actions: &mut Vec<Action>) {
        let [first, second] = state.views[state.player.index()];
        let free = self.board & !(first | second);
        actions.reserve(free.len() + 1);
        free.for_each(|square| actions.push(square as Action));
        actions.extend(self.can_swap(state).then_some((self.size * self.size) as Action));
    }

    #[inline]
    fn play(&self, state: &mut State, action: Action) {
        let mover = state.player;
        let mut square = usize::from(action);
        if square == self.size * self.size {
            // The stone becomes the second player's on the transposed square; in the new owner's view it stays on its
            // square.
            square = state.views[0][0].iter().next().expect("swap is legal once there is a stone");
            *state = self.initial_state();
        }
        state.is_won = self.put(state, mover, square);
        state.player = mover.opponent();
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        state.is_won.then(|| Outcome::win(state.player.opponent(), "edges joined"))
    }

    #[inline]
    fn encode(&self, state: &State, planes: &mut Planes<'_>) {
        let view = &state.views[state.player.index()];
        planes.words(&view[state.player.index()].0);
        planes.words(&view[state.player.opponent().index()].0);
        if self.has_swap {
            planes.constant(self.can_swap(state).into());
        }
    }

    fn action_text(&self, state: &State, action: Action) -> String {
        if usize::from(action) == self.size * self.size {
            return "swap".into();
        }
        let square = self.on_board(action.into(), state.player);
        super::square_text(square % self.size, square / self.size + 1)
    }

    fn picture(&self, state: &State) -> Option<Picture> {
        let rows = (1..=self.size).map(|row| row.to_string()).collect();
        Some(Picture {
            // The board does not show the owners of the edges.
            captions: vec!["X joins top and bottom, O left and right".into()],
            ..Picture::of_stones(Grid::Hexagons, letters(self.size), rows, |square| Self::owner(state, square))
        })
    }

    fn description(&self) -> Description {
        Description {
            board: "A rhombus of 11 rows of 11 hexagons (`size=2` to `25`). The first player's stones are X, the \
                    second's O."
                .into(),
            rules: "In turn, a stone on an empty cell. The first player wins by joining the top edge to the bottom \
                    edge, the second by joining the left edge to the right edge; there are no draws. With `swap=true` \
                    the second player may answer the first move by taking it over: the stone becomes an O on the \
                    mirrored cell, column for row (`b1` becomes `a2`), and the first player is to move."
                .into(),
            planes: "Seen from the player to move, whose own edges are always the top and the bottom: for the second \
                    player the board is transposed, rows for columns."
                .into(),
            actions: "The cells, row by row from the top left of the mover's view (so transposed for the second \
                    player), then `swap` where there is one. Written as column and row of the board as the first \
                    player sees it: `a1` is at the top left."
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

impl Notation<State> for Hex {
    fn position_text(&self, state: &State) -> String {
        write_stones(self.size, self.size, |square| Self::owner(state, square), state.player)
    }

    fn parse_position(&self, text: &str) -> Result<State, String> {
        let (board, player) = parse_stones(text, self.size, self.size)?;
        self.check_turn(&board, player)?;
        let mut state = State { player, ..self.initial_state() };
        let mut has_won = [false; 2];
        for (square, owner) in board.iter().enumerate() {
            if let Some(owner) = owner {
                has_won[owner.index()] |= self.put(&mut state, *owner, self.on_board(square, *owner));
            }
        }
        if has_won[player.index()] {
            return Err(format!("{} is to move and has joined its edges already", ['X', 'O'][player.index()]));
        }
        state.is_won = has_won[player.opponent().index()];
        Ok(state)
    }
}

impl PositionKeys<State> for Hex {
    #[inline]
    fn table_key(&self, state: &State) -> PositionKey {
        PositionKey::of(mixed(state.views[0].iter().flat_map(|stones| stones.0), state.player))
    }
}
