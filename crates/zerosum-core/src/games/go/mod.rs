//! Go on boards of 5×5 to 25×25: area or territory scoring, superko or simple ko, two passes end the game.
//!
//! `board` has stones and chains, `superko` the earlier positions, `state` the rules of a move, `territory` its count,
//! `playout` the random games that find dead stones, `points` and `notation` the texts; options and the papers' planes are
//! here, other planes in `sized` and `katago`. `mixed` is a game on boards of several sizes.

mod board;
mod geometry;
mod katago;
mod ladder;
pub mod mixed;
mod notation;
mod pass_alive;
mod playout;
mod points;
mod sized;
mod state;
mod superko;
mod territory;

use self::geometry::Geometry;
pub use self::state::State;
use super::history::{MAX_HISTORY, ago};
use super::options::Options;
use super::{AnyGameResult, CoreGame, erased};
use crate::game::{Action, Description, Game, GameSpec, Notation, Outcome, PlaneSpec, Planes, Points, Valuation};
use crate::picture::{Grid, Picture, numbers_from_top};
use crate::player::{Player, ValueForFirst};
use crate::random::RandomStream;

/// The earlier positions that a move may not repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Superko {
    /// Any position.
    Positional,
    /// Any position with the same side to move.
    Situational,
    /// The position two plies ago, by recapturing a single stone.
    Simple,
    /// None: a ko may be taken back at once.
    None,
}

impl Superko {
    /// True if all earlier positions of the game count.
    #[inline]
    pub fn is_of_all_positions(self) -> bool {
        matches!(self, Self::Positional | Self::Situational)
    }
}

/// The points that count at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scoring {
    /// Stones and the points that they surround.
    Area,
    /// The points that stones surround, except in seki, and prisoners.
    Territory,
}

/// What a network sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Stones of the latest positions, as in the papers, and stones by liberties.
    Paper,
    /// The same, with the board's size and komi.
    Sized,
    /// The inputs of KataGo's networks.
    Katago,
}

/// The options for which the values of `rules` stand.
const RULES: &[(&str, &[(&str, &str)])] =
    &[("tromp-taylor", &[("suicide", "true")]), ("japanese", &[("scoring", "territory"), ("superko", "simple")])];

/// The rules and the board of a game of Go.
#[derive(Clone, Debug)]
pub struct Variant {
    spec: GameSpec,
    /// Length of a side.
    pub size: usize,
    /// The points that count at the end.
    pub scoring: Scoring,
    /// The points that White receives.
    pub komi: f32,
    /// The points of Black's handicap stones; with handicap White begins.
    pub handicap: Vec<usize>,
    /// True if suicide is allowed.
    pub suicide: bool,
    /// The positions that may not occur again.
    pub superko: Superko,
    /// What a network sees.
    pub input: Input,
    /// Number of positions in the planes, the present one included.
    pub history: usize,
    /// True if the planes of a position that was set up repeat it as all earlier ones.
    pub repeats_history: bool,
    /// The largest number of liberties for which there is a plane, at most [`board::MAX_LIBERTIES`].
    pub liberties: usize,
}

impl Variant {
    /// The variant with these options.
    ///
    /// # Errors
    /// A sentence, if an option is unknown or out of range.
    pub fn from_options(mut options: Options) -> Result<Self, String> {
        options.replace("rules", RULES)?;
        let size = options.number("size", 19_usize, 5..=25)?;
        let scoring = match options.choice("scoring", &["area", "territory"])? {
            "area" => Scoring::Area,
            _ => Scoring::Territory,
        };
        let usual_komi = match scoring {
            Scoring::Territory => 6.5,
            Scoring::Area if size == 9 => 7.0,
            Scoring::Area => 7.5,
        };
        let komi = options.number("komi", usual_komi, -1000.0..=1000.0)?;
        let handicap = points::handicap_points(size, options.number("handicap", 0, 0..=9)?)?;
        let suicide = options.flag("suicide", false)?;
        let superko = match options.choice("superko", &["positional", "situational", "simple", "none"])? {
            "positional" => Superko::Positional,
            "situational" => Superko::Situational,
            "simple" => Superko::Simple,
            _ => Superko::None,
        };
        let (history, repeats_history) = options.history(MAX_HISTORY)?;
        let liberties = options.number("liberties", 0, 0..=board::MAX_LIBERTIES)?;
        let input = match options.choice("planes", &["paper", "sized", "katago"])? {
            "paper" => Input::Paper,
            "sized" => Input::Sized,
            _ => Input::Katago,
        };
        if input == Input::Katago {
            katago::require_fitting(size, history, repeats_history, liberties)?;
        }
        let max_plies = options.max_plies((2 * size * size) as u32)?;
        let planes = match input {
            Input::Paper => {
                stone_planes(history, liberties).chain([PlaneSpec::constant("1 if Black is to move")]).collect()
            }
            Input::Sized => sized::planes(history, liberties, false),
            Input::Katago => katago::planes(),
        };
        let spec = GameSpec::new("go", 1, size * size + 1, (size, size), planes, max_plies)?
            .with_options(options.canonical()?)
            .with_action_planes()
            .with_symmetries(symmetries(size, &handicap))?;
        Ok(Self { spec, size, scoring, komi, handicap, suicide, superko, input, history, repeats_history, liberties })
    }

    /// The action of the pass.
    #[inline]
    pub fn pass(&self) -> usize {
        self.size * self.size
    }
}

/// The game with these options: of the types for boards of different sizes, the smallest that holds the board.
///
/// # Errors
/// A sentence, if an option is unknown or its value is not allowed.
pub fn make(options: Options) -> AnyGameResult {
    let variant = Variant::from_options(options)?;
    Ok(match variant.size {
        ..=9 => erased(Go::<2, 82>::new(variant)),
        10..=13 => erased(Go::<3, 170>::new(variant)),
        14..=19 => erased(Go::<6, 362>::new(variant)),
        _ => erased(Go::<10, 626>::new(variant)),
    })
}

/// The planes of the stones: of the latest positions, and by liberties.
fn stone_planes(history: usize, liberties: usize) -> impl Iterator<Item = PlaneSpec> {
    let stones = |age| ["own", "opponent"].map(|side| PlaneSpec::bits(format!("{side} stones{}", ago(age))));
    let chains = (1..=liberties).map(|count| {
        PlaneSpec::bits(format!("stones of chains with {count} {}", if count == 1 { "liberty" } else { "liberties" }))
    });
    (0..history).flat_map(stones).chain(chains)
}

/// The symmetries of the board that keep the handicap points; all keep the pass.
fn symmetries(size: usize, handicap: &[usize]) -> Vec<Vec<Action>> {
    let mut symmetries = super::square_symmetries(size);
    symmetries.retain(|image| handicap.iter().all(|point| handicap.contains(&image[*point].into())));
    for image in &mut symmetries {
        image.push((size * size) as Action);
    }
    symmetries
}

/// The rules, for boards with at most 64 `W` points; `P` is the largest number of points plus one.
#[derive(Debug)]
pub struct Go<const W: usize, const P: usize> {
    variant: Variant,
    geometry: Geometry<W>,
}

impl<const W: usize, const P: usize> Go<W, P> {
    /// The rules of a variant whose board fits.
    pub fn new(variant: Variant) -> Self {
        assert!(variant.pass() < P && P <= 64 * W + 1, "{0}×{0} points are more than {P} - 1", variant.size);
        let geometry = Geometry::new(variant.size);
        Self { variant, geometry }
    }

    /// Black's points less White's and komi.
    fn margin(&self, state: &State<W, P>) -> f32 {
        let [black, white] = match self.variant.scoring {
            Scoring::Area => state.board.areas(&self.geometry),
            Scoring::Territory => {
                let [black, white] = state.board.territories(&self.geometry);
                [black + usize::from(state.prisoners[0]), white + usize::from(state.prisoners[1])]
            }
        };
        black as f32 - white as f32 - self.variant.komi
    }

    fn scored(&self, state: &State<W, P>, ending: &'static str) -> Outcome {
        let margin = self.margin(state);
        let result = if margin == 0.0 { 0.0 } else { margin.signum() };
        Outcome { result: ValueForFirst(result), ending: ending.into(), is_soft: true }
    }
}

impl<const W: usize, const P: usize> CoreGame for Go<W, P> {
    fn from_options(options: Options) -> Result<Self, String> {
        Variant::from_options(options).map(Self::new)
    }
}

impl<const W: usize, const P: usize> Game for Go<W, P> {
    type State = State<W, P>;

    fn spec(&self) -> &GameSpec {
        &self.variant.spec
    }

    fn initial_state(&self) -> State<W, P> {
        let mut stones = vec![None; self.variant.pass()];
        self.variant.handicap.iter().for_each(|point| stones[*point] = Some(Player::First));
        let player = if self.variant.handicap.is_empty() { Player::First } else { Player::Second };
        State::set_up(self, &stones, player, &[]).expect("handicap stones stand apart")
    }

    fn player(&self, state: &State<W, P>) -> Player {
        state.player
    }

    fn legal_actions(&self, state: &State<W, P>, actions: &mut Vec<Action>) {
        let legal = state.moves(self).legal;
        let first = actions.len();
        // All are passes until they are written, the last for good. A `push` for each would ask for its room each time.
        actions.resize(first + legal.len() + 1, self.variant.pass() as Action);
        let mut places = actions[first..].iter_mut();
        legal.for_each(|point| {
            if let Some(place) = places.next() {
                *place = point as Action;
            }
        });
    }

    fn is_legal(&self, state: &State<W, P>, action: Action) -> bool {
        let (point, pass) = (usize::from(action), self.variant.pass());
        point == pass || point < pass && state.may_play_on(self, point)
    }

    fn play_if_legal(&self, state: &mut State<W, P>, action: Action) -> bool {
        state.play_if_legal(self, action)
    }

    fn play(&self, state: &mut State<W, P>, action: Action) {
        state.play(self, action);
    }

    fn outcome(&self, state: &State<W, P>) -> Option<Outcome> {
        (state.passes == 2).then(|| self.scored(state, "two passes"))
    }

    fn outcome_at_cap(&self, state: &State<W, P>) -> Outcome {
        self.scored(state, "ply cap")
    }

    fn encode(&self, state: &State<W, P>, planes: &mut Planes<'_>) {
        match self.variant.input {
            Input::Paper => {}
            Input::Sized => return sized::encode(self, state, planes, false, |points| points.0),
            Input::Katago => return katago::encode(self, state, planes),
        }
        let own = state.player.index();
        for age in 0..self.variant.history {
            let stones = state.boards.get(age);
            planes.words(&stones[own].0);
            planes.words(&stones[1 - own].0);
        }
        if self.variant.liberties > 0 {
            let counted = state.board.stones_by_liberties(&self.geometry, self.variant.liberties);
            counted[..self.variant.liberties].iter().for_each(|stones| planes.words(&stones.0));
        }
        planes.constant(if state.player == Player::First { 1.0 } else { 0.0 });
    }

    fn action_text(&self, _state: &State<W, P>, action: Action) -> String {
        points::gtp(self.variant.size, action.into())
    }

    fn parse_action(&self, _state: &State<W, P>, legal: &[Action], text: &str) -> Option<Action> {
        points::parse_action(self.variant.size, legal, text)
    }

    fn picture(&self, state: &State<W, P>) -> Option<Picture> {
        let size = self.variant.size;
        let (columns, rows) = (points::column_labels(size), numbers_from_top(size));
        let last = state.latest[0].map(usize::from).filter(|point| *point < self.variant.pass());
        let passed = (state.passes > 0).then(|| format!("{} passed", ["X", "O"][state.player.opponent().index()]));
        let picture = Picture {
            last_move: last.into_iter().collect(),
            captions: passed.into_iter().collect(),
            ..Picture::of_stones(Grid::Points, columns, rows, |point| state.board.owner(point))
        };
        Some(picture.with_mover(state.player))
    }

    fn description(&self) -> Description {
        describe(&self.variant)
    }

    fn notation(&self) -> Option<&impl Notation<State<W, P>>> {
        Some(self)
    }

    fn points(&self) -> Option<&impl Points<State<W, P>>> {
        Some(self)
    }

    fn valuation(&self) -> Option<&impl Valuation<State<W, P>>> {
        Some(self)
    }
}

impl<const W: usize, const P: usize> Notation<State<W, P>> for Go<W, P> {
    fn position_text(&self, state: &State<W, P>) -> String {
        notation::position_text(self, state)
    }

    fn parse_position(&self, text: &str) -> Result<State<W, P>, String> {
        notation::parse_position(self, text)
    }

    fn notations(&self) -> &'static [&'static str] {
        &["sgf"]
    }

    fn action_text_in(&self, _state: &State<W, P>, action: Action, _notation: &str) -> Option<String> {
        Some(points::sgf(self.variant.size, action.into()))
    }
}

impl<const W: usize, const P: usize> Points<State<W, P>> for Go<W, P> {
    fn score(&self, state: &State<W, P>) -> f32 {
        self.margin(state)
    }

    fn ownership(&self, state: &State<W, P>, num_games: u32, random: &mut RandomStream) -> Vec<f32> {
        playout::ownership(self, state, num_games, random)
    }

    fn owners(&self, state: &State<W, P>, seen_by: Player) -> Vec<i8> {
        let mut owners = vec![0; self.variant.pass()];
        let areas = state.board.areas_owned(&self.geometry);
        for (area, owner) in [(areas[seen_by.index()], 1), (areas[seen_by.opponent().index()], -1)] {
            area.for_each(|point| owners[point] = owner);
        }
        owners
    }
}

impl<const W: usize, const P: usize> Valuation<State<W, P>> for Go<W, P> {
    fn material(&self, state: &State<W, P>) -> f32 {
        self.margin(state)
    }
}

fn describe(variant: &Variant) -> Description {
    let Variant { size, komi, history, .. } = variant;
    let superko = match variant.superko {
        Superko::Positional => "no move may repeat any earlier position of the board (positional superko)",
        Superko::Situational => {
            "no move may repeat any earlier position of the board with the same side to move (situational superko)"
        }
        Superko::Simple => {
            "a stone that has just taken one stone, and has no liberty but that point, may not be taken back at once \
             (simple ko)"
        }
        Superko::None => "every position may be repeated, also a ko at once, as some people's games do",
    };
    let counted = match variant.scoring {
        Scoring::Area => {
            "a side has its stones and the empty points from which only its stones are reached (Tromp and Taylor's area \
             scoring)"
        }
        Scoring::Territory => {
            "a side has the empty points from which only its stones are reached, and the stones that it has taken \
             (territory scoring); points of a group in seki do not count. Such a group is beside a point that \
             neither side can fill without putting itself in atari, and has neither two eyes nor seven points of \
             its own. With simple ko a long cycle lasts until the ply cap"
        }
    };
    let suicide = if variant.suicide { "allowed" } else { "not allowed" };
    let first = if variant.handicap.is_empty() {
        "Black begins.".to_owned()
    } else {
        format!("Black has {} stones on GTP's fixed handicap points, and White begins.", variant.handicap.len())
    };
    let fill = if variant.repeats_history { "repeated as its own past" } else { "shown with an empty past" };
    Description {
        board: format!(
            "{size}×{size} points (`size`, 5 to 25). Black's stones are X, White's O; Black is the first player, also \
             where White begins (`handicap`, positions set up). {first}"
        ),
        rules: format!(
            "A stone on an empty point takes the opponent's chains that it leaves without a liberty. Superko \
             (`superko`, positional, situational, simple or none): {superko}; a pass never repeats one, and a position \
             set up counts as one position. Suicide is {suicide} (`suicide`; `rules=tromp-taylor` is \
             `suicide=true`). Two passes in a row end the game, and so does the ply cap, twice the number of points \
             unless `max_plies` is given. The score counts without removing stones: {counted} (`scoring`, area or \
             territory; `rules=japanese` is `scoring=territory, superko=simple`). White has komi {komi} besides \
             (`komi`; 7.5, 7 on 9×9, and 6.5 with territory scoring). With a whole komi there are draws."
        ),
        planes: format!(
            "Both sides see the board the same way up. For each of the last {history} positions (`history`, 1 to \
             8), the newest first, there are the stones of the player to move and those of the opponent. A pass \
             makes a position, too; positions before the game began have no stones. A position that was set up is \
             {fill} (`history_fill`, repeat or zero). With `liberties=3` three more planes mark the stones of both \
             sides whose chains have one, two and three liberties (0 to 8; the paper: none; KataGo, arXiv \
             1902.10565: 3). The last plane is 1 everywhere if Black is to move. `planes=sized` have no such plane; they have the \
             points of the board (all of them, but in `mixedgo`), and numbers: whether the last move was a pass, komi, and the side of \
             the board. A network with them can play on boards of all sizes. `planes=katago` are the inputs of KataGo's \
             networks (version 7), for boards up to 19×19: 22 planes of points, with liberties, ko, the last five moves, \
             ladders and areas, and 19 numbers, with passes, komi and rules."
        ),
        actions: format!(
            "0 to {} are the points, row by row from the top left, {} is the pass. Written as in GTP: a column's \
             letter, without I, and the row's number from below, `D4`, and `pass`. SGF's `dp` is read, too; its passes \
             are an empty text, and `tt` on boards up to 19×19.",
            size * size - 1,
            size * size
        ),
        material: "The score, komi included, as if the game ended here.".into(),
    }
}
