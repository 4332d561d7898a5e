//! Nim: take any number of objects from one heap; taking the last object wins, or with the option `misere` loses.
//!
//! ```text
//!   squares and actions of 1-3-5-7, a heap a row: an action is the leftmost object that is taken
//!        0  .  .  .  .  .  .
//!        7  8  9  .  .  .  .
//!       14 15 16 17 18  .  .          16, written 3:3, takes the last three of the third heap
//!       21 22 23 24 25 26 27
//! ```

use super::CoreGame;
use super::options::Options;
use super::rows::{counted, parse_side};
use super::squares::mixed;
use crate::game::{Action, Description, Game, GameSpec, Notation, Outcome, Planes, PositionKey, PositionKeys};
use crate::picture::{Grid, Picture, Piece};
use crate::player::Player;

const MAX_HEAPS: usize = 16;

/// The rules.
#[derive(Debug)]
pub struct Nim {
    spec: GameSpec,
    start: State,
    num_heaps: usize,
    /// Objects in the largest heap.
    width: usize,
    is_misere: bool,
}

/// A position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Objects in each heap; heaps beyond the last are empty.
    heaps: [u8; MAX_HEAPS],
    player: Player,
}

impl Nim {
    /// The squares of the objects, ascending: those of a heap are the first of its row.
    fn squares(&self, state: &State) -> impl Iterator<Item = usize> + use<> {
        let (heaps, width) = (state.heaps, self.width);
        (0..self.num_heaps).flat_map(move |heap| heap * width..heap * width + usize::from(heaps[heap]))
    }
}

impl State {
    fn new(sizes: &[u8], player: Player) -> Self {
        let mut heaps = [0; MAX_HEAPS];
        heaps[..sizes.len()].copy_from_slice(sizes);
        Self { heaps, player }
    }
}

impl CoreGame for Nim {
    fn from_options(mut options: Options) -> Result<Self, String> {
        let sizes = options.numbers("heaps", "1-3-5-7", 1..=255, 1..=MAX_HEAPS)?;
        let is_misere = options.flag("misere", false)?;
        let (num_heaps, width) = (sizes.len(), usize::from(*sizes.iter().max().expect("there is a heap")));
        let max_plies = options.max_plies(sizes.iter().copied().map(u32::from).sum())?;
        let planes = super::bit_planes(["objects"]);
        let spec = GameSpec::new("nim", 1, num_heaps * width, (num_heaps, width), planes, max_plies)?
            .with_options(options.canonical()?)
            .with_action_planes();
        Ok(Self { spec, start: State::new(&sizes, Player::First), num_heaps, width, is_misere })
    }
}

impl Game for Nim {
    type State = State;

    fn spec(&self) -> &GameSpec {
        &self.spec
    }

    fn initial_state(&self) -> State {
        self.start
    }

    #[inline]
    fn player(&self, state: &State) -> Player {
        state.player
    }

    #[inline]
    fn legal_actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.extend(self.squares(state).map(|square| square as Action));
    }

    #[inline]
    fn play(&self, state: &mut State, action: Action) {
        let action = usize::from(action);
        state.heaps[action / self.width] = (action % self.width) as u8;
        state.player = state.player.opponent();
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        let winner = if self.is_misere { state.player } else { state.player.opponent() };
        (state.heaps == [0; MAX_HEAPS]).then(|| Outcome::win(winner, "last object taken"))
    }

    #[inline]
    fn encode(&self, state: &State, planes: &mut Planes<'_>) {
        planes.squares(self.squares(state));
    }

    fn action_text(&self, state: &State, action: Action) -> String {
        let (heap, left) = (usize::from(action) / self.width, usize::from(action) % self.width);
        format!("{}:{}", heap + 1, usize::from(state.heaps[heap]) - left)
    }

    fn picture(&self, state: &State) -> Option<Picture> {
        let labels = |count| (1..=count).map(|number| number.to_string()).collect();
        let object = Piece { owner: Player::First, text: "*".into(), glyph: "●".into() };
        let mut cells = vec![None; self.num_heaps * self.width];
        self.squares(state).for_each(|square| cells[square] = Some(object.clone()));
        let picture = Picture::of_stones(Grid::Squares, labels(self.width), labels(self.num_heaps), |_| None);
        Some(Picture { cells, ..picture }.with_mover(state.player))
    }

    fn description(&self) -> Description {
        Description {
            board:
                "Heaps of 1, 3, 5 and 7 objects, or others by an option such as `heaps=3-4-5` (up to 16 heaps of up to \
                    255)."
                    .into(),
            rules: "In turn, any number of objects, at least one, from one heap. The player who takes the last \
                    object wins, or loses with `misere=true`. There are no draws."
                .into(),
            planes: "A row for each heap, filled from the left. Both sides see the same.".into(),
            actions:
                "The squares, row by row: the object there and all to the right of it are taken, so that the legal \
                    actions are the squares with an object. Written as heap and number: `2:3` takes three from the \
                    second heap."
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

impl Notation<State> for Nim {
    fn position_text(&self, state: &State) -> String {
        let heaps: Vec<_> = state.heaps[..self.num_heaps].iter().map(u8::to_string).collect();
        format!("{} {}", heaps.join("-"), ['X', 'O'][state.player.index()])
    }

    fn parse_position(&self, text: &str) -> Result<State, String> {
        let (rows, mover) =
            text.trim().split_once(' ').ok_or_else(|| format!("{text:?} lacks the side to move, X or O"))?;
        let player = parse_side(mover)?;
        let width = self.width;
        let sizes: Vec<u8> = rows
            .split('-')
            .map(|heap| {
                let size = heap.parse().ok().filter(|size| usize::from(*size) <= width);
                size.ok_or_else(|| format!("{heap:?} is not a heap, expected a number from 0 to {width}"))
            })
            .collect::<Result<_, _>>()?;
        if sizes.len() != self.num_heaps {
            return Err(format!("{rows:?} has {}, expected {}", counted(sizes.len(), "heap"), self.num_heaps));
        }
        Ok(State::new(&sizes, player))
    }
}

impl PositionKeys<State> for Nim {
    #[inline]
    fn table_key(&self, state: &State) -> PositionKey {
        PositionKey::of(mixed(
            state.heaps.chunks_exact(8).map(|heaps| u64::from_le_bytes(heaps.try_into().expect("eight heaps"))),
            state.player,
        ))
    }
}
