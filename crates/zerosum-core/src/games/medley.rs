//! A medley: Hex, four in a row and Breakthrough on boards of one size, as one game for one network. Which of them is
//! played is drawn before the first move.
//!
//! Constant planes name the game. The other planes, and the rules, are those of the games themselves:
//!
//! ```text
//!   plane of actions    0        1             2               3
//!   Hex, four in a row  a stone
//!   Breakthrough                 step left     step straight   step right
//! ```

use super::CoreGame;
use super::breakthrough::{self, Breakthrough};
use super::gomoku::{self, Gomoku};
use super::hex::{self, Hex};
use super::options::Options;
use crate::game::{
    Action, Description, Game, GameSpec, Notation, Outcome, PlaneSpec, Planes, PositionKey, PositionKeys, Starts,
};
use crate::picture::Picture;
use crate::player::Player;
use crate::random::mix;

/// The names of the games, in the order of their planes.
const NAMES: [&str; 3] = ["hex", "gomoku", "breakthrough"];
/// The games of a medley, in the order of their starts; the first choice is the default.
const CHOICES: [&str; 7] = [
    "hex-gomoku-breakthrough",
    "hex-gomoku",
    "hex-breakthrough",
    "gomoku-breakthrough",
    "hex",
    "gomoku",
    "breakthrough",
];

/// The rules. Each game is there, whether it is drawn or not, so that networks and states of all medleys of one size fit.
#[derive(Debug)]
pub struct Medley {
    spec: GameSpec,
    hex: Hex,
    gomoku: Gomoku,
    breakthrough: Breakthrough,
    /// The games that are drawn, as places in [`NAMES`].
    drawn: Vec<usize>,
}

/// A position of one of the games.
#[allow(clippy::large_enum_variant)] // states are copied, so a box is out of the question
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// A position of Hex.
    Hex(hex::State),
    /// A position of four in a row.
    Gomoku(gomoku::State),
    /// A position of Breakthrough.
    Breakthrough(breakthrough::State),
}

impl State {
    /// The place of its game in [`NAMES`].
    #[inline]
    const fn place(&self) -> usize {
        match self {
            Self::Hex(_) => 0,
            Self::Gomoku(_) => 1,
            Self::Breakthrough(_) => 2,
        }
    }
}

/// An expression on the game of a position and that game's own position.
macro_rules! of_its_game {
    ($medley:expr, $state:expr, |$game:ident, $own:ident| $value:expr) => {
        match $state {
            State::Hex($own) => {
                let $game = &$medley.hex;
                $value
            }
            State::Gomoku($own) => {
                let $game = &$medley.gomoku;
                $value
            }
            State::Breakthrough($own) => {
                let $game = &$medley.breakthrough;
                $value
            }
        }
    };
}

impl Medley {
    /// The first of the actions that are those of a position's game.
    #[inline]
    fn first_action(&self, state: &State) -> Action {
        let first = if matches!(state, State::Breakthrough(_)) { self.spec.num_squares() } else { 0 };
        first as Action
    }

    fn start_of(&self, place: usize) -> State {
        match place {
            0 => State::Hex(self.hex.initial_state()),
            1 => State::Gomoku(self.gomoku.initial_state()),
            _ => State::Breakthrough(self.breakthrough.initial_state()),
        }
    }
}

impl CoreGame for Medley {
    fn from_options(mut options: Options) -> Result<Self, String> {
        let size = options.number("size", 6, 4..=8)?;
        let games = options.choice("games", &CHOICES)?;
        let own = |text: String| Options::parse(&text).map(|(_, own)| own);
        let hex = Hex::from_options(own(format!("hex(size={size})"))?)?;
        let gomoku = Gomoku::from_options(own(format!("gomoku(size={size}, length=4)"))?)?;
        let breakthrough = Breakthrough::from_options(own(format!("breakthrough(size={size})"))?)?;
        let longest = [hex.spec(), gomoku.spec(), breakthrough.spec()].map(GameSpec::max_plies);
        let max_plies = options.max_plies(longest.into_iter().max().expect("three games"))?;
        let mut planes = super::bit_planes(["own pieces", "opponent pieces"]);
        planes.extend(NAMES.map(|name| PlaneSpec::constant(format!("1 in {name}"))));
        let spec = GameSpec::new("medley", 1, 4 * size * size, (size, size), planes, max_plies)?
            .with_options(options.canonical()?)
            .with_action_planes();
        let drawn = (0..NAMES.len()).filter(|place| games.split('-').any(|name| name == NAMES[*place])).collect();
        Ok(Self { spec, hex, gomoku, breakthrough, drawn })
    }
}

impl Game for Medley {
    type State = State;

    fn spec(&self) -> &GameSpec {
        &self.spec
    }

    fn initial_state(&self) -> State {
        self.start(0)
    }

    #[inline]
    fn player(&self, state: &State) -> Player {
        of_its_game!(self, state, |game, own| game.player(own))
    }

    #[inline]
    fn passed(&self, state: &State) -> Option<State> {
        match state {
            State::Hex(own) => self.hex.passed(own).map(State::Hex),
            State::Gomoku(own) => self.gomoku.passed(own).map(State::Gomoku),
            State::Breakthrough(own) => self.breakthrough.passed(own).map(State::Breakthrough),
        }
    }

    #[inline]
    fn legal_actions(&self, state: &State, actions: &mut Vec<Action>) {
        let num_before = actions.len();
        of_its_game!(self, state, |game, own| game.legal_actions(own, actions));
        let first = self.first_action(state);
        for action in &mut actions[num_before..] {
            *action += first;
        }
    }

    #[inline]
    fn play(&self, state: &mut State, action: Action) {
        let own_action = action - self.first_action(state);
        of_its_game!(self, state, |game, own| game.play(own, own_action));
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        of_its_game!(self, state, |game, own| game.outcome(own))
    }

    #[inline]
    fn encode(&self, state: &State, planes: &mut Planes<'_>) {
        of_its_game!(self, state, |game, own| game.encode(own, planes));
        for place in 0..NAMES.len() {
            planes.constant((place == state.place()).into());
        }
    }

    fn action_text(&self, state: &State, action: Action) -> String {
        let own_action = action - self.first_action(state);
        of_its_game!(self, state, |game, own| game.action_text(own, own_action))
    }

    fn picture(&self, state: &State) -> Option<Picture> {
        let mut picture = of_its_game!(self, state, |game, own| game.picture(own))?;
        picture.captions.insert(0, ["Hex", "Four in a row", "Breakthrough"][state.place()].to_owned());
        Some(picture)
    }

    fn description(&self) -> Description {
        Description {
            board: "6 columns and 6 rows (`size=4` to `8`), as in the game that is played.".into(),
            rules: "One of three games is drawn before the first move: `hex`, `gomoku` with lines of four (five in a row is \
                    hardly ever reached on so small a board) and `breakthrough`, with their rules above. \
                    `games=hex-gomoku` and so on leaves games out, `games=hex` plays one alone; the planes stay, so \
                    one network plays all of them."
                .into(),
            planes: "Those of the game that is played, and a constant plane for each game.".into(),
            actions: "A plane of squares for a stone (`hex`, `gomoku`), then the three planes of `breakthrough`. Written as \
                      in the game that is played. A position begins with the game's name: `hex:6/6/6/6/6/6 X`."
                .into(),
            material: String::new(),
        }
    }

    fn notation(&self) -> Option<&impl Notation<State>> {
        Some(self)
    }

    fn starts(&self) -> Option<&impl Starts<State>> {
        Some(self)
    }

    fn keys(&self) -> Option<&impl PositionKeys<State>> {
        Some(self)
    }
}

impl Notation<State> for Medley {
    fn position_text(&self, state: &State) -> String {
        let own_text = of_its_game!(self, state, |game, own| game.position_text(own));
        format!("{}:{own_text}", NAMES[state.place()])
    }

    fn parse_position(&self, text: &str) -> Result<State, String> {
        let (name, own) = text.trim().split_once(':').unwrap_or(("", text));
        match name {
            "hex" => self.hex.parse_position(own).map(State::Hex),
            "gomoku" => self.gomoku.parse_position(own).map(State::Gomoku),
            "breakthrough" => self.breakthrough.parse_position(own).map(State::Breakthrough),
            _ => Err(format!("{text:?} begins with no game's name, expected {}: and a position", NAMES.join(":, "))),
        }
    }
}

impl Starts<State> for Medley {
    fn num_starts(&self) -> u32 {
        self.drawn.len() as u32
    }

    fn start(&self, number: u32) -> State {
        self.start_of(self.drawn[number as usize])
    }
}

impl PositionKeys<State> for Medley {
    #[inline]
    fn table_key(&self, state: &State) -> PositionKey {
        let PositionKey { key, plies_left } = of_its_game!(self, state, |game, own| game.table_key(own));
        PositionKey { key: mix(key ^ state.place() as u64), plies_left }
    }
}

#[cfg(test)]
mod tests {
    use super::{CHOICES, Medley, NAMES, State};
    use crate::game::{Game, Notation, PositionKeys, Starts};
    use crate::games::{CoreGame, by_name, options::Options};
    use crate::perft::perft;

    fn medley(text: &str) -> Medley {
        Medley::from_options(Options::parse(text).expect("well formed").1).expect("allowed")
    }

    #[test]
    fn starts_are_those_of_the_games_that_are_named() {
        for games in CHOICES {
            let medley = medley(&format!("medley(games={games})"));
            let names: Vec<_> = (0..medley.num_starts()).map(|start| NAMES[medley.start(start).place()]).collect();
            assert_eq!(names.join("-"), games);
            assert_eq!(medley.initial_state(), medley.start(0));
        }
    }

    #[test]
    fn each_game_has_as_many_lines_of_play_as_alone() {
        for (name, alone) in
            [("hex", "hex(size=4)"), ("gomoku", "gomoku(size=4, length=4)"), ("breakthrough", "breakthrough(size=4)")]
        {
            let medley = medley(&format!("medley(size=4, games={name})"));
            let alone = by_name(alone).expect("allowed").expect("a game of the core");
            for depth in 1..=4 {
                let state = alone.initial_state();
                let expected = alone.position(&state).expect("its own").perft(depth, &|| ());
                assert_eq!(perft(&medley, &medley.initial_state(), depth, &|| ()), expected, "{name}, depth {depth}");
            }
        }
    }

    #[test]
    fn equal_boards_of_two_games_have_different_keys() {
        let medley = medley("medley");
        let keys = [medley.start(0), medley.start(1)].map(|state| medley.table_key(&state).key);
        assert_ne!(keys[0], keys[1]);
    }

    #[test]
    fn all_medleys_of_one_size_share_states_and_networks() {
        let all = medley("medley");
        for games in &CHOICES[1..] {
            let other = medley(&format!("medley(games={games})"));
            assert!(all.spec().shares_states_with(other.spec()));
            assert_eq!(all.spec().encoder_id(), other.spec().encoder_id());
        }
    }

    #[test]
    fn a_position_names_its_game() {
        let medley = medley("medley(size=4)");
        assert_eq!(medley.position_text(&medley.start(1)), "gomoku:4/4/4/4 X");
        assert!(matches!(medley.parse_position("breakthrough:OOOO/OOOO/XXXX/XXXX X"), Ok(State::Breakthrough(_))));
        for text in ["4/4/4/4 X", "chess:4/4/4/4 X", ""] {
            let error = medley.parse_position(text).expect_err(text);
            assert_eq!(
                error,
                format!("{text:?} begins with no game's name, expected hex:, gomoku:, breakthrough: and a position")
            );
        }
    }
}
