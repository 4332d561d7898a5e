//! Go on boards of several sizes and with several komis as one game, for one network. The board and komi are drawn before
//! the first move.
//!
//! A smaller board lies in the middle of the largest one, the *frame*, so that the symmetries of the frame are those of
//! the board:
//!
//! ```text
//!   frame 9    · · · · · · · · ·    actions: the frame's points, row by row, then the pass
//!   board 7    · + + + + + + + ·    planes:  those of `go(planes=sized)`; the first has the
//!              · + + + + + + + ·             points of the board
//!                  …
//! ```

use super::state::State;
use super::{AnyGameResult, CoreGame, Go, RULES, Variant, erased, sized};
use crate::game::{Action, Description, Game, GameSpec, Notation, Outcome, Planes, Points, Starts, Valuation};
use crate::games::options::{OptionValues, Options};
use crate::games::{history::MAX_HISTORY, square_symmetries, squares::SquareSet};
use crate::picture::Picture;
use crate::player::Player;
use crate::random::RandomStream;

/// A point of the frame beside the board.
const OUTSIDE: Action = Action::MAX;

/// The options of the game.
#[derive(Debug)]
struct Choices {
    options: OptionValues,
    sizes: Vec<u8>,
    komi_spread: u8,
    max_plies: u32,
    /// The options of each board's rules.
    rules: String,
}

impl Choices {
    fn of(mut options: Options) -> Result<Self, String> {
        options.replace("rules", &RULES[..1])?;
        let sizes = options.numbers("sizes", "7-9-11-13", 5..=25, 1..=8)?;
        let is_ascending = sizes.windows(2).all(|pair| pair[0] < pair[1] && (pair[1] - pair[0]).is_multiple_of(2));
        if !is_ascending {
            let sizes: Vec<_> = sizes.iter().map(u8::to_string).collect();
            return Err(format!(
                "mixedgo: sizes is {}, expected ascending sizes that are all odd or all even, since smaller boards lie \
                 in the middle of the largest",
                sizes.join("-")
            ));
        }
        let komi_spread = options.number("komi_spread", 3, 0..=20)?;
        let suicide = options.flag("suicide", false)?;
        let superko = options.choice("superko", &["positional", "situational", "simple", "none"])?;
        let (history, repeats_history) = options.history(MAX_HISTORY)?;
        let liberties = options.number("liberties", 3, 0..=super::board::MAX_LIBERTIES)?;
        let side = u32::from(*sizes.last().expect("at least one"));
        let max_plies = options.max_plies(2 * side * side)?;
        let fill = if repeats_history { "repeat" } else { "zero" };
        let rules = format!(
            "planes=sized, suicide={suicide}, superko={superko}, history={history}, history_fill={fill}, \
             liberties={liberties}"
        );
        Ok(Self { options: options.canonical()?, sizes, komi_spread, max_plies, rules })
    }

    /// The rules of a board with its usual komi and so much more.
    fn variant(&self, size: u8, more: f32) -> Result<Variant, String> {
        let make = |rules: &str| Variant::from_options(Options::parse(&format!("go(size={size}, {rules})"))?.1);
        let usual = make(&self.rules)?;
        make(&format!("komi={}, {}", usual.komi + more, self.rules))
    }

    /// What is added to the usual komi, in steps of half a point.
    fn komis(&self) -> impl Iterator<Item = f32> {
        let spread = 2 * i32::from(self.komi_spread);
        (-spread..=spread).map(|half_points| 0.5 * half_points as f32)
    }

    fn frame(&self) -> usize {
        usize::from(*self.sizes.last().expect("at least one"))
    }
}

/// The game with these options: of the types for frames of different sizes, the smallest that holds the frame.
///
/// # Errors
/// A sentence, if an option is unknown or its value is not allowed.
pub fn make(options: Options) -> AnyGameResult {
    let choices = Choices::of(options)?;
    Ok(match choices.frame() {
        ..=9 => erased(MixedGo::<2, 82>::new(choices)?),
        10..=13 => erased(MixedGo::<3, 170>::new(choices)?),
        14..=19 => erased(MixedGo::<6, 362>::new(choices)?),
        _ => erased(MixedGo::<10, 626>::new(choices)?),
    })
}

/// Go on one board with one komi, and its place in the frame.
#[derive(Debug)]
struct Board<const W: usize, const P: usize> {
    go: Go<W, P>,
    /// The frame's action of each action of the board.
    framed: Vec<Action>,
    /// The board's action of each action of the frame, or [`OUTSIDE`].
    native: Vec<Action>,
}

impl<const W: usize, const P: usize> Board<W, P> {
    fn new(variant: Variant, frame: usize) -> Self {
        let (size, margin) = (variant.size, (frame - variant.size) / 2);
        let place = |point: usize| ((point / size + margin) * frame + point % size + margin) as Action;
        let framed: Vec<Action> = (0..size * size).map(place).chain([(frame * frame) as Action]).collect();
        let mut native = vec![OUTSIDE; frame * frame + 1];
        framed.iter().enumerate().for_each(|(own, action)| native[usize::from(*action)] = own as Action);
        Self { go: Go::new(variant), framed, native }
    }

    /// The words of the planes that have these points of the board.
    fn words(&self, points: SquareSet<W>, frame: usize) -> [u64; W] {
        let size = self.go.variant.size;
        if size == frame {
            return points.0;
        }
        let margin = (frame - size) / 2;
        let mut words = [0; W];
        for row in 0..size {
            let (word, low) = (row * size / 64, row * size % 64);
            let mut bits = points.0[word] >> low;
            if low + size > 64 {
                bits |= points.0[word + 1] << (64 - low);
            }
            bits &= (1 << size) - 1;
            let at = (row + margin) * frame + margin;
            words[at / 64] |= bits << (at % 64);
            if at % 64 + size > 64 {
                words[at / 64 + 1] |= bits >> (64 - at % 64);
            }
        }
        words
    }

    /// Numbers of the board's points in the frame; 0 for points beside the board.
    fn on_frame<T: Copy + Default>(&self, numbers: &[T]) -> Vec<T> {
        let points = &self.native[..self.native.len() - 1];
        points.iter().map(|own| numbers.get(usize::from(*own)).copied().unwrap_or_default()).collect()
    }
}

/// The rules, for frames with at most 64 `W` points; `P` is the largest number of points plus one.
#[derive(Debug)]
pub struct MixedGo<const W: usize, const P: usize> {
    spec: GameSpec,
    frame: usize,
    /// The boards in the order of their starts.
    boards: Vec<Board<W, P>>,
    /// The start that people see first: the largest board with its usual komi.
    initial: usize,
}

/// A position on one of the boards.
#[derive(Clone, Debug, PartialEq)]
pub struct MixedState<const W: usize, const P: usize> {
    /// The board, by the number of its start.
    board: u16,
    /// Moves since the start.
    plies: u16,
    own: State<W, P>,
}

impl<const W: usize, const P: usize> MixedGo<W, P> {
    fn new(choices: Choices) -> Result<Self, String> {
        let frame = choices.frame();
        let mut boards = Vec::new();
        for size in &choices.sizes {
            for more in choices.komis() {
                boards.push(Board::new(choices.variant(*size, more)?, frame));
            }
        }
        let initial = boards.len() - 1 - 2 * usize::from(choices.komi_spread);
        let Variant { history, liberties, .. } = boards[0].go.variant;
        let planes = sized::planes(history, liberties, true);
        let mut symmetries = square_symmetries(frame);
        for image in &mut symmetries {
            image.push((frame * frame) as Action);
        }
        let spec = GameSpec::new("mixedgo", 1, frame * frame + 1, (frame, frame), planes, choices.max_plies)?
            .with_options(choices.options)
            .with_action_planes()
            .with_symmetries(symmetries)?;
        Ok(Self { spec, frame, boards, initial })
    }

    fn board(&self, state: &MixedState<W, P>) -> &Board<W, P> {
        &self.boards[usize::from(state.board)]
    }

    /// True if as many plies have been made as end a game on this board, twice the number of its points.
    fn is_at_cap(&self, state: &MixedState<W, P>) -> bool {
        usize::from(state.plies) >= 2 * self.board(state).go.variant.pass()
    }
}

impl<const W: usize, const P: usize> CoreGame for MixedGo<W, P> {
    fn from_options(options: Options) -> Result<Self, String> {
        Self::new(Choices::of(options)?)
    }
}

impl<const W: usize, const P: usize> Game for MixedGo<W, P> {
    type State = MixedState<W, P>;

    fn spec(&self) -> &GameSpec {
        &self.spec
    }

    fn initial_state(&self) -> Self::State {
        self.start(self.initial as u32)
    }

    fn player(&self, state: &Self::State) -> Player {
        state.own.player
    }

    fn legal_actions(&self, state: &Self::State, actions: &mut Vec<Action>) {
        let (board, num_before) = (self.board(state), actions.len());
        board.go.legal_actions(&state.own, actions);
        actions[num_before..].iter_mut().for_each(|action| *action = board.framed[usize::from(*action)]);
    }

    fn is_legal(&self, state: &Self::State, action: Action) -> bool {
        let board = self.board(state);
        let own = board.native.get(usize::from(action)).copied().unwrap_or(OUTSIDE);
        own != OUTSIDE && board.go.is_legal(&state.own, own)
    }

    fn play_if_legal(&self, state: &mut Self::State, action: Action) -> bool {
        let board = self.board(state);
        let own = board.native.get(usize::from(action)).copied().unwrap_or(OUTSIDE);
        state.plies = state.plies.saturating_add(1);
        own != OUTSIDE && board.go.play_if_legal(&mut state.own, own)
    }

    fn play(&self, state: &mut Self::State, action: Action) {
        let board = self.board(state);
        board.go.play(&mut state.own, board.native[usize::from(action)]);
        state.plies = state.plies.saturating_add(1);
    }

    fn outcome(&self, state: &Self::State) -> Option<Outcome> {
        let go = &self.board(state).go;
        go.outcome(&state.own).or_else(|| self.is_at_cap(state).then(|| go.outcome_at_cap(&state.own)))
    }

    fn outcome_at_cap(&self, state: &Self::State) -> Outcome {
        self.board(state).go.outcome_at_cap(&state.own)
    }

    fn encode(&self, state: &Self::State, planes: &mut Planes<'_>) {
        let board = self.board(state);
        sized::encode(&board.go, &state.own, planes, true, |points| board.words(points, self.frame));
    }

    fn action_text(&self, state: &Self::State, action: Action) -> String {
        let board = self.board(state);
        board.go.action_text(&state.own, board.native[usize::from(action)])
    }

    fn picture(&self, state: &Self::State) -> Option<Picture> {
        let go = &self.board(state).go;
        let mut picture = go.picture(&state.own)?;
        picture.captions.insert(0, format!("komi {}", go.variant.komi));
        Some(picture)
    }

    fn description(&self) -> Description {
        Description {
            board: "Square boards of several sizes (`sizes=7-9-11-13`, 5 to 25, all odd or all even). A smaller board lies \
                    in the middle of the largest."
                .into(),
            rules: "Those of `go` with area scoring. The size and komi are drawn before the first move: komi is the usual \
                    one of the size, up to `komi_spread` points (3) more or less, in steps of half a point. Superko and \
                    suicide are options as in `go`. Two passes end the game, and so do twice as many plies as the board has \
                    points."
                .into(),
            planes: format!(
                "Those of `go(planes=sized)` on the largest board: the points of the board, the stones of the last {} positions \
                 (`history`), stones by liberties (`liberties`, 3), and numbers for a pass, komi and the board's side. \
                 Beside the board all planes of points are empty. A network that learns this game plays `go` on any board \
                 with any komi.",
                self.boards[0].go.variant.history
            ),
            actions: "The points of the largest board, row by row from the top left, then the pass. Written as on the board \
                      that is played. A position begins with its board: `size=7 komi=9 7/7/7/7/7/7/7 X`."
                .into(),
            material: "The score, komi included, as if the game ended here.".into(),
        }
    }

    fn notation(&self) -> Option<&impl Notation<Self::State>> {
        Some(self)
    }

    fn starts(&self) -> Option<&impl Starts<Self::State>> {
        Some(self)
    }

    fn points(&self) -> Option<&impl Points<Self::State>> {
        Some(self)
    }

    fn valuation(&self) -> Option<&impl Valuation<Self::State>> {
        Some(self)
    }
}

impl<const W: usize, const P: usize> Notation<MixedState<W, P>> for MixedGo<W, P> {
    fn position_text(&self, state: &MixedState<W, P>) -> String {
        let go = &self.board(state).go;
        format!("size={} komi={} {}", go.variant.size, go.variant.komi, go.position_text(&state.own))
    }

    fn parse_position(&self, text: &str) -> Result<MixedState<W, P>, String> {
        let expected = || format!("{text:?} does not begin with a size and a komi of this game, such as size=9 komi=7");
        let mut words = text.trim().splitn(3, ' ');
        let (size, komi, own) = (words.next(), words.next(), words.next().unwrap_or_default());
        let number = |word: Option<&str>, name| word?.strip_prefix(name)?.parse::<f32>().ok();
        let (size, komi) = number(size, "size=").zip(number(komi, "komi=")).ok_or_else(expected)?;
        let is_meant = |board: &Board<W, P>| board.go.variant.size as f32 == size && board.go.variant.komi == komi;
        let board = self.boards.iter().position(is_meant).ok_or_else(expected)?;
        let own = self.boards[board].go.parse_position(own)?;
        Ok(MixedState { board: board as u16, plies: 0, own })
    }
}

impl<const W: usize, const P: usize> Starts<MixedState<W, P>> for MixedGo<W, P> {
    fn num_starts(&self) -> u32 {
        self.boards.len() as u32
    }

    fn start(&self, number: u32) -> MixedState<W, P> {
        MixedState { board: number as u16, plies: 0, own: self.boards[number as usize].go.initial_state() }
    }
}

impl<const W: usize, const P: usize> Points<MixedState<W, P>> for MixedGo<W, P> {
    fn score(&self, state: &MixedState<W, P>) -> f32 {
        self.board(state).go.margin(&state.own)
    }

    fn ownership(&self, state: &MixedState<W, P>, num_games: u32, random: &mut RandomStream) -> Vec<f32> {
        let board = self.board(state);
        board.on_frame(&board.go.ownership(&state.own, num_games, random))
    }

    fn owners(&self, state: &MixedState<W, P>, seen_by: Player) -> Vec<i8> {
        let board = self.board(state);
        board.on_frame(&board.go.owners(&state.own, seen_by))
    }
}

impl<const W: usize, const P: usize> Valuation<MixedState<W, P>> for MixedGo<W, P> {
    fn material(&self, state: &MixedState<W, P>) -> f32 {
        self.score(state)
    }
}

#[cfg(test)]
mod tests {
    use super::{Choices, MixedGo, Variant};
    use crate::game::{Game, Notation, PlaneKind, Planes, Points, Position, Starts};
    use crate::games::go::Go;
    use crate::games::options::Options;
    use crate::player::Player;
    use crate::random::RandomStream;

    type Mixed = MixedGo<3, 170>;

    fn mixed(text: &str) -> Result<Mixed, String> {
        MixedGo::new(Choices::of(Options::parse(text)?.1)?)
    }

    fn go(text: &str) -> Go<3, 170> {
        let (_, options) = Options::parse(text).expect("well formed");
        Go::new(Variant::from_options(options).expect("allowed"))
    }

    fn encoded<G: Game>(game: &G, state: &G::State) -> (Vec<u8>, Vec<f32>, usize) {
        let (spec, bytes) = (game.spec(), game.spec().bytes_per_plane());
        let mut bits = vec![0; spec.num_planes(PlaneKind::Bits) * bytes];
        let mut constants = vec![0.0; spec.num_planes(PlaneKind::Constant)];
        let mut planes = Planes::new(&mut bits, &mut constants, bytes);
        game.encode(state, &mut planes);
        assert!(planes.is_complete());
        (bits, constants, bytes)
    }

    fn squares(plane: &[u8], count: usize) -> Vec<bool> {
        (0..count).map(|square| plane[square / 8] >> (square % 8) & 1 == 1).collect()
    }

    /// Random games on each board are games of `go` on it: moves, texts, ends, points, and planes in the middle of the frame.
    #[test]
    fn each_board_is_played_as_alone() {
        let (mixed, frame) = (mixed("mixedgo(komi_spread=1, history=2)").expect("allowed"), 13);
        for start in 0..mixed.num_starts() {
            let mut state = mixed.start(start);
            let variant = &mixed.board(&state).go.variant;
            let (size, komi, margin) = (variant.size, variant.komi, (frame - variant.size) / 2);
            let text = format!("go(size={size}, komi={komi}, planes=sized, history=2, liberties=3)");
            let alone = go(&text);
            let mut own = Position::initial(&alone);
            let mut random = RandomStream::new(3, u64::from(start), 0, "moves");
            loop {
                assert_eq!(mixed.outcome(&state), own.outcome(&alone), "{text}");
                assert_eq!(mixed.score(&state), alone.score(&own.state));
                assert_eq!(
                    mixed.position_text(&state),
                    format!("size={size} komi={komi} {}", alone.position_text(&own.state))
                );
                let ((bits, numbers, bytes), (own_bits, own_numbers, own_bytes)) =
                    (encoded(&mixed, &state), encoded(&alone, &own.state));
                assert_eq!(numbers, own_numbers[1..], "the board is a plane of points in the frame");
                let on_frame = |plane: &[bool]| -> Vec<bool> {
                    let place = |square: usize| {
                        let (row, column) = (square / frame, square % frame);
                        let is_inside = |at: usize| (margin..margin + size).contains(&at);
                        is_inside(row) && is_inside(column) && plane[(row - margin) * size + column - margin]
                    };
                    (0..frame * frame).map(place).collect()
                };
                let all = on_frame(&vec![true; size * size]);
                let expected = std::iter::once(all)
                    .chain(own_bits.chunks(own_bytes).map(|plane| on_frame(&squares(plane, size * size))));
                assert!(expected.eq(bits.chunks(bytes).map(|plane| squares(plane, frame * frame))), "{text}");
                let (legal, own_legal) = (
                    Position { state: state.clone(), plies: 0 }.legal_actions(&mixed, false),
                    own.legal_actions(&alone, false),
                );
                let texts = |count: usize| legal[..count].iter().map(|action| mixed.action_text(&state, *action));
                assert!(texts(legal.len()).eq(own_legal.iter().map(|action| alone.action_text(&own.state, *action))));
                let Some(chosen) = (!legal.is_empty()).then(|| random.below(legal.len())) else { break };
                let mut same = state.clone();
                assert!(mixed.play_if_legal(&mut same, legal[chosen]) && mixed.is_legal(&state, legal[chosen]));
                mixed.play(&mut state, legal[chosen]);
                assert_eq!(state, same);
                own.play(&alone, own_legal[chosen]);
            }
            let on_board = |numbers: Vec<i8>| numbers.into_iter().filter(|owner| *owner != 0).collect::<Vec<_>>();
            assert_eq!(
                on_board(mixed.owners(&state, Player::Second)),
                on_board(alone.owners(&own.state, Player::Second))
            );
        }
    }

    #[test]
    fn points_beside_the_board_are_not_legal() {
        let mixed = mixed("mixedgo").expect("allowed");
        let mut state = mixed.start(0);
        for action in [0, 12, 13 * 13 - 1, 13 * 13 + 1, u16::MAX] {
            assert!(!mixed.is_legal(&state, action));
            assert!(!mixed.play_if_legal(&mut state.clone(), action));
        }
        assert!(mixed.is_legal(&state, 13 * 13) && mixed.is_legal(&state, 6 * 13 + 6));
        mixed.play(&mut state, 6 * 13 + 6);
        assert!(!mixed.is_legal(&state, 6 * 13 + 6));
    }

    #[test]
    fn the_initial_position_is_the_largest_board_with_its_usual_komi() {
        for (text, start) in [
            ("mixedgo", "size=13 komi=7.5 13/13/13/13/13/13/13/13/13/13/13/13/13 X"),
            ("mixedgo(sizes=7-9, komi_spread=0)", "size=9 komi=7 9/9/9/9/9/9/9/9/9 X"),
            ("mixedgo(sizes=6-8, komi_spread=20)", "size=8 komi=7.5 8/8/8/8/8/8/8/8 X"),
        ] {
            let game = mixed(text).expect("allowed");
            assert_eq!(game.position_text(&game.initial_state()), start);
            for number in 0..game.num_starts() {
                let state = game.start(number);
                assert_eq!(game.parse_position(&game.position_text(&state)).as_ref(), Ok(&state));
            }
        }
        assert_eq!(mixed("mixedgo").expect("allowed").num_starts(), 4 * 13);
    }

    #[test]
    fn malformed_options_and_positions_are_named() {
        for (text, sentence) in [
            ("mixedgo(sizes=9-7)", "sizes is 9-7, expected ascending sizes that are all odd or all even"),
            ("mixedgo(sizes=7-8)", "sizes is 7-8, expected ascending sizes that are all odd or all even"),
            ("mixedgo(sizes=3-5)", "sizes is \"3-5\", expected 1 to 8 numbers from 5 to 25"),
            ("mixedgo(komi=7)", "mixedgo has no option \"komi\""),
            ("mixedgo(rules=japanese)", "rules is \"japanese\", expected tromp-taylor"),
        ] {
            let error = mixed(text).expect_err(text);
            assert!(error.contains(sentence), "{error}");
        }
        let game = mixed("mixedgo(sizes=7-9)").expect("allowed");
        for text in ["", "7/7/7/7/7/7/7 X", "size=11 komi=7 X", "size=7 komi=99 7/7/7/7/7/7/7 X", "komi=7 size=7 X"] {
            let error = game.parse_position(text).expect_err(text);
            assert!(error.ends_with("does not begin with a size and a komi of this game, such as size=9 komi=7"));
        }
        assert!(game.parse_position("size=7 komi=7 7/7/7/7/7/7 X").is_err());
    }
}
