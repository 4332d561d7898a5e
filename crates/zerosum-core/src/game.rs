//! The interface of a game: the [`Game`] trait, and the values in its methods.

use std::borrow::Cow;

use crate::games::options::{OptionSpec, OptionValues};
use crate::men::Men;
use crate::picture::Picture;
use crate::player::{Player, ValueForFirst};
use crate::random::RandomStream;

/// An action's index in `0..num_actions`; the same number is the network's policy output.
pub type Action = u16;

/// The end of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The result in [−1, 1].
    pub result: ValueForFirst,
    /// The ending in the words of the game's federation, such as "four in a row".
    pub ending: Cow<'static, str>,
    /// False if no legal move is left (mate, a full board). True if the rules stop a game that could go on (repetition,
    /// fifty moves, two passes, the ply cap). People's records go on past such an end, so moves past it are legal.
    pub is_soft: bool,
}

impl Outcome {
    /// A win of `winner` by `ending`, without a legal move.
    pub fn win(winner: Player, ending: &'static str) -> Self {
        Self { result: ValueForFirst(winner.sign()), ending: ending.into(), is_soft: false }
    }

    /// A draw by `ending`, without a legal move.
    pub fn draw(ending: &'static str) -> Self {
        Self { result: ValueForFirst(0.0), ending: ending.into(), is_soft: false }
    }

    /// The same outcome of a game that could go on.
    pub fn softly(self) -> Self {
        Self { is_soft: true, ..self }
    }
}

/// The kind of a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaneKind {
    /// A zero or a one for each square.
    Bits,
    /// One number for all squares.
    Constant,
}

/// One input plane of a game's encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaneSpec {
    /// The meaning of the plane, seen from the player to move.
    pub name: String,
    /// The kind of the plane.
    pub kind: PlaneKind,
}

impl PlaneSpec {
    /// A plane of bits.
    pub fn bits(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: PlaneKind::Bits }
    }

    /// A plane of one number.
    pub fn constant(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: PlaneKind::Constant }
    }
}

/// The description of a game besides its rules.
#[derive(Clone, Debug)]
pub struct GameSpec {
    name: String,
    options: OptionValues,
    version: u32,
    num_actions: usize,
    board_shape: (usize, usize),
    planes: Vec<PlaneSpec>,
    max_plies: u32,
    symmetries: Vec<Vec<Action>>,
    has_action_planes: bool,
}

impl GameSpec {
    /// A game's description. `planes` are in channel order; `version` rises whenever rules, actions or planes change.
    ///
    /// # Errors
    /// A sentence, if a size is zero or wider than the tree's 16-bit actions.
    pub fn new(
        name: &str,
        version: u32,
        num_actions: usize,
        board_shape: (usize, usize),
        planes: Vec<PlaneSpec>,
        max_plies: u32,
    ) -> Result<Self, String> {
        if !(1..=usize::from(Action::MAX)).contains(&num_actions) {
            return Err(format!("{name}: num_actions is {num_actions}, but must be between 1 and {}", Action::MAX));
        }
        if board_shape.0 * board_shape.1 == 0 || board_shape.0.max(board_shape.1) > 255 {
            return Err(format!("{name}: board_shape is {board_shape:?}, each side must be 1 to 255"));
        }
        if planes.is_empty() {
            return Err(format!("{name}: planes is empty, the network needs at least one"));
        }
        if !(1..=u32::from(u16::MAX)).contains(&max_plies) {
            return Err(format!("{name}: max_plies is {max_plies}, but must be between 1 and {}", u16::MAX));
        }
        Ok(Self {
            name: name.to_owned(),
            options: OptionValues::default(),
            version,
            num_actions,
            board_shape,
            planes,
            max_plies,
            symmetries: Vec::new(),
            has_action_planes: false,
        })
    }

    /// The same for a game whose actions are planes of squares: action = plane · squares + square, in the orientation
    /// of [`Game::encode`]. Actions beyond the last whole plane (a pass) have no square. The policy head of a network
    /// can then be a convolution.
    pub fn with_action_planes(mut self) -> Self {
        self.has_action_planes = true;
        self
    }

    /// See [`Self::with_action_planes`].
    pub fn has_action_planes(&self) -> bool {
        self.has_action_planes
    }

    /// The same with its options, from [`crate::games::options::Options::canonical`].
    pub fn with_options(mut self, options: OptionValues) -> Self {
        self.options = options;
        self
    }

    /// The same with symmetries: permutations of the actions, without the identity, that map games to games with the
    /// same outcome. Action `a` of a game is action `permutation[a]` of its image.
    ///
    /// # Errors
    /// A sentence, if one is not a permutation of all actions.
    pub fn with_symmetries(mut self, symmetries: Vec<Vec<Action>>) -> Result<Self, String> {
        for (index, permutation) in symmetries.iter().enumerate() {
            let mut sorted = permutation.clone();
            sorted.sort_unstable();
            if !sorted.iter().map(|action| usize::from(*action)).eq(0..self.num_actions) {
                let (name, last) = (&self.name, self.num_actions - 1);
                return Err(format!("{name}: symmetry {index} is {permutation:?}, expected each of 0 to {last} once"));
            }
        }
        self.symmetries = symmetries;
        Ok(self)
    }

    /// See [`Self::with_symmetries`].
    pub fn symmetries(&self) -> &[Vec<Action>] {
        &self.symmetries
    }

    /// The game's name without its options.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The options with other values than their defaults, such as `size=9, komi=5.5`; "" if there are none.
    pub fn options(&self) -> &str {
        &self.options.text
    }

    /// All options that the game has.
    pub fn known_options(&self) -> &[OptionSpec] {
        &self.options.known
    }

    /// The game as commands take it: `go(size=9, komi=5.5)`.
    pub fn full_name(&self) -> String {
        if self.options().is_empty() { self.name.clone() } else { format!("{}({})", self.name, self.options) }
    }

    /// The version of rules, actions and planes.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Size of the policy.
    pub fn num_actions(&self) -> usize {
        self.num_actions
    }

    /// (height, width) of every plane.
    pub fn board_shape(&self) -> (usize, usize) {
        self.board_shape
    }

    /// The planes in channel order.
    pub fn planes(&self) -> &[PlaneSpec] {
        &self.planes
    }

    /// The ply cap: a game that is not over after this many plies ends by [`Game::outcome_at_cap`].
    pub fn max_plies(&self) -> u32 {
        self.max_plies
    }

    /// Height times width.
    pub fn num_squares(&self) -> usize {
        self.board_shape.0 * self.board_shape.1
    }

    /// Number of planes of this kind.
    pub fn num_planes(&self, kind: PlaneKind) -> usize {
        self.planes.iter().filter(|plane| plane.kind == kind).count()
    }

    /// Bytes of one packed bit plane.
    pub fn bytes_per_plane(&self) -> usize {
        self.num_squares().div_ceil(8)
    }

    /// True if each of two games can go on from states of the other: name, version, board and numbering of actions are
    /// equal. Options that change none of these (komi, the ply cap, the history in the planes) may differ.
    pub fn shares_states_with(&self, other: &Self) -> bool {
        let size = |spec: &Self| (spec.version, spec.num_actions, spec.board_shape);
        size(self) == size(other) && self.name == other.name
    }

    /// The name of the encoding: equal for two games if and only if they can share a network. Options that change
    /// neither planes nor actions (komi) do not change it.
    pub fn encoder_id(&self) -> String {
        let planes: Vec<_> = self.planes.iter().map(|plane| (&plane.name, plane.kind)).collect();
        let text = format!("{}\n{}\n{}\n{:?}\n{planes:?}", self.name, self.version, self.num_actions, self.board_shape);
        format!("{}-{}-{:016x}", self.name, self.version, crate::random::hash_text(&text))
    }
}

/// The memory into which [`Game::encode`] writes the planes of one position, one call for each plane, in channel order.
#[derive(Debug)]
pub struct Planes<'a> {
    bits: &'a mut [u8],
    constants: &'a mut [f32],
    bytes_per_plane: usize,
}

impl<'a> Planes<'a> {
    /// `bits` has whole planes of `bytes_per_plane` zeroed bytes, `constants` one number for each constant plane.
    pub fn new(bits: &'a mut [u8], constants: &'a mut [f32], bytes_per_plane: usize) -> Self {
        Self { bits, constants, bytes_per_plane }
    }

    /// The next bit plane, for boards of at most 64 squares: bit i is square i, counted row by row from the top left.
    #[inline]
    pub fn mask(&mut self, mask: u64) {
        let (plane, rest) = std::mem::take(&mut self.bits).split_at_mut(self.bytes_per_plane);
        plane.copy_from_slice(&mask.to_le_bytes()[..self.bytes_per_plane]);
        self.bits = rest;
    }

    /// The next bit plane, for boards of at most 128 squares.
    #[inline]
    pub fn mask128(&mut self, mask: u128) {
        let (plane, rest) = std::mem::take(&mut self.bits).split_at_mut(self.bytes_per_plane);
        plane.copy_from_slice(&mask.to_le_bytes()[..self.bytes_per_plane]);
        self.bits = rest;
    }

    /// The next bit plane, for boards of any size: word i has the squares from 64 i on.
    #[inline]
    pub fn words(&mut self, words: &[u64]) {
        let (plane, rest) = std::mem::take(&mut self.bits).split_at_mut(self.bytes_per_plane);
        for (bytes, word) in plane.chunks_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
        }
        self.bits = rest;
    }

    /// The next bit plane from the squares that are set, for boards of any size.
    pub fn squares(&mut self, squares: impl IntoIterator<Item = usize>) {
        let (plane, rest) = std::mem::take(&mut self.bits).split_at_mut(self.bytes_per_plane);
        for square in squares {
            plane[square / 8] |= 1 << (square % 8);
        }
        self.bits = rest;
    }

    /// The next constant plane.
    pub fn constant(&mut self, number: f32) {
        let (first, rest) = std::mem::take(&mut self.constants).split_at_mut(1);
        first[0] = number;
        self.constants = rest;
    }

    /// True once every plane has been written.
    pub fn is_complete(&self) -> bool {
        self.bits.is_empty() && self.constants.is_empty()
    }
}

/// The documentation of a game, a paragraph in each field: all domain knowledge of the program besides the planes, the
/// typical number of legal moves and the ply cap. Material is for opponents that learn nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The board and the pieces.
    pub board: String,
    /// The rules and their source, with every choice in which federations differ.
    pub rules: String,
    /// The planes: orientation, history, scale of the counts.
    pub planes: String,
    /// The numbering of actions and how people write them.
    pub actions: String,
    /// The count behind [`Game::material`]; empty if it is always 0.
    pub material: String,
}

/// The rules of one game with its options. States are values: a copy of a state can be played on.
///
/// The contract, for every reachable state `s` (tested by `tests/games.rs` and `zerosum check-game`):
/// - `legal_actions(s)` is ascending and below `num_actions`;
/// - `legal_actions(s)` is empty if and only if `outcome(s)` is an outcome that is not soft;
/// - `outcome(s).result` is in [−1, 1];
/// - `encode(s)` writes every plane of the spec once, seen from `player(s)`;
/// - `action_text(s, ·)` is different for different legal actions, and `parse_action` reads it back;
/// - `parse_position(position_text(s))` is `s` without its moves, if the game writes positions;
/// - equal sequences of actions lead to equal states.
pub trait Game: Send + Sync + 'static {
    /// A position with the history that rules and planes need.
    type State: Clone + PartialEq + Send + Sync + 'static;

    /// The game's description.
    fn spec(&self) -> &GameSpec;

    /// The position before the first move.
    fn initial_state(&self) -> Self::State;

    /// The player to move; unspecified once the game is over.
    fn player(&self, state: &Self::State) -> Player;

    /// Appends the legal actions, ascending. Not called if the game is over without a legal move.
    fn legal_actions(&self, state: &Self::State, actions: &mut Vec<Action>);

    /// True if an action of any number is legal, also past a soft ending. A game overrides this if it can tell without
    /// generating all legal actions: each move of a recorded game is checked before it is replayed.
    fn is_legal(&self, state: &Self::State, action: Action) -> bool {
        if self.outcome(state).is_some_and(|outcome| !outcome.is_soft) {
            return false;
        }
        let mut actions = Vec::new();
        self.legal_actions(state, &mut actions);
        actions.contains(&action)
    }

    /// Makes a legal action.
    fn play(&self, state: &mut Self::State, action: Action);

    /// The outcome by the rules, or `None` while the game goes on.
    fn outcome(&self, state: &Self::State) -> Option<Outcome>;

    /// Writes the planes, seen from the player to move.
    fn encode(&self, state: &Self::State, planes: &mut Planes<'_>);

    /// Writes the place of each legal action's logit in a network's output, for encodings in which it is not the action's
    /// own number. The default writes nothing: the places are the numbers.
    fn logit_actions(&self, _state: &Self::State, _legal: &[Action], _places: &mut Vec<Action>) {}

    /// A legal action as people write it.
    fn action_text(&self, state: &Self::State, action: Action) -> String;

    /// The board as text, several lines.
    fn board_text(&self, state: &Self::State) -> String {
        self.picture(state).map_or_else(String::new, |picture| picture.to_string())
    }

    /// The board for a drawing program; `None` if there is only [`Self::board_text`]. Each game overrides one of the
    /// two.
    fn picture(&self, _state: &Self::State) -> Option<Picture> {
        None
    }

    /// The documentation.
    fn description(&self) -> Description;

    /// The same position for random games, which are not searched again. A game that caches its answers need not cache
    /// them here.
    fn scratch(&self, state: &Self::State) -> Self::State {
        state.clone()
    }

    /// The outcome at the ply cap: a draw, unless the game scores its last position.
    fn outcome_at_cap(&self, _state: &Self::State) -> Outcome {
        Outcome::draw("ply cap")
    }

    /// The first player's margin in points if the game ended here; `None` if the game has no points.
    fn score(&self, _state: &Self::State) -> Option<f32> {
        None
    }

    /// For each square, in [−1, 1], the share of random games from here in which the first player owns it at the end,
    /// less the second player's share. Random games keep what is safe by the rules (eyes). `None` if squares have no
    /// owners.
    fn ownership(&self, _state: &Self::State, _num_games: u32, _random: &mut RandomStream) -> Option<Vec<f32>> {
        None
    }

    /// For each square, in the order of [`Self::encode`] for a position with `seen_by` to move: 1 if that side owns it when the
    /// game ends here, −1 if the other side does, 0 if neither; `None` if squares have no owners.
    fn owners(&self, _state: &Self::State, _seen_by: Player) -> Option<Vec<i8>> {
        None
    }

    /// The material (pieces by customary values, discs, area) of the first player less the second player's. The default
    /// is the score, or 0 without one. It is for alpha-beta players; no training uses it.
    fn material(&self, state: &Self::State) -> f32 {
        self.score(state).unwrap_or(0.0)
    }

    /// The value of each kind of piece behind [`Self::material`], in the order of the planes; empty without kinds.
    fn piece_values(&self) -> &[f32] {
        &[]
    }

    /// Number of earlier occurrences of the position in its game, counted as far as the rules need it; 0 if the rules
    /// do not count.
    fn num_repetitions(&self, _state: &Self::State) -> u32 {
        0
    }

    /// The identity of a position for [`proof`](crate::proof): what its future depends on, without the history. `None`, for
    /// all positions, if the game's endings depend on more than the position, repetition and a counter of plies.
    fn position_key(&self, _state: &Self::State) -> Option<PositionKey> {
        None
    }

    /// The identity of a position for the table of [`deepening`](crate::deepening), which does not use it after a repetition: as
    /// [`Self::position_key`], and also for games in which a repetition may lose.
    #[inline]
    fn table_key(&self, state: &Self::State) -> Option<PositionKey> {
        self.position_key(state)
    }

    /// True if [`Self::tactics`] may be anything but `None`.
    #[inline]
    fn has_tactics(&self) -> bool {
        false
    }

    /// What a legal action takes, if it takes or promotes a piece: such moves are searched on where a position would otherwise
    /// be evaluated in the middle of an exchange. `None` for all other moves, which are quiet.
    #[inline]
    fn tactics(&self, _state: &Self::State, _action: Action) -> Option<Tactics> {
        None
    }

    /// True if the player to move must answer a threat to end the game at once (a check).
    #[inline]
    fn is_check(&self, _state: &Self::State) -> bool {
        false
    }

    /// The position if the player to move could pass, for the null moves of [`deepening`](crate::deepening); `None` where a
    /// pass is impossible, as in check, or may be better than any move.
    #[inline]
    fn passed(&self, _state: &Self::State) -> Option<Self::State> {
        None
    }

    /// What an action wins for its player by captures on its target square, each side taking with its least valuable piece and
    /// stopping when that is better (static exchange evaluation); `values` by kind as in [`Tactics`]. `None` if the game does
    /// not tell.
    #[inline]
    fn exchange(&self, _state: &Self::State, _action: Action, _values: &[i32]) -> Option<i32> {
        None
    }

    /// True if [`Self::syzygy_board`] may be anything but `None`.
    fn has_syzygy(&self) -> bool {
        false
    }

    /// The board for tables of chess endings, and the plies since a capture or a pawn's move; `None` in games with other rules.
    #[inline]
    fn syzygy_board<'a>(&self, _state: &'a Self::State) -> Option<(&'a cozy_chess::Board, u32)> {
        None
    }

    /// The men of a position with at most [`MAX_MEN`](crate::retrograde::MAX_MEN) of them, for tables of endings, in games like chess:
    /// FENs, one king each, the same rules for both colours and for mirror images. `None` in other games, and where more counts
    /// than men, side to move and en passant, as castling rights do.
    #[inline]
    fn men(&self, _state: &Self::State) -> Option<Men> {
        None
    }

    /// Number of positions that a game may begin with (960 in Chess960); [`Self::initial_state`] is one of them.
    fn num_starts(&self) -> u32 {
        1
    }

    /// The start with this number, which is below [`Self::num_starts`].
    fn start(&self, _number: u32) -> Self::State {
        self.initial_state()
    }

    /// A position as text (FEN, SFEN, rows of stones); `None` if the game has no notation for positions.
    fn position_text(&self, _state: &Self::State) -> Option<String> {
        None
    }

    /// Names of notations for [`Self::position_text_in`], besides that of [`Self::position_text`].
    fn position_notations(&self) -> &'static [&'static str] {
        &[]
    }

    /// A position in one of [`Self::position_notations`].
    fn position_text_in(&self, state: &Self::State, _notation: &str) -> Option<String> {
        self.position_text(state)
    }

    /// The position of a text. Its earlier moves are unknown; the game defines the planes of earlier positions.
    ///
    /// # Errors
    /// A sentence: which token is wrong, and what was expected.
    fn parse_position(&self, _text: &str) -> Result<Self::State, String> {
        Err(format!("{} has no notation for positions: give the moves from the start", self.spec().name()))
    }

    /// Names of notations for [`Self::action_text_in`], besides that of [`Self::action_text`].
    fn notations(&self) -> &'static [&'static str] {
        &[]
    }

    /// A legal action in one of [`Self::notations`].
    fn action_text_in(&self, state: &Self::State, action: Action, _notation: &str) -> String {
        self.action_text(state, action)
    }

    /// The legal action that a text means in any of the game's notations; `None` if no action or more than one is
    /// written so.
    fn parse_action(&self, state: &Self::State, legal: &[Action], text: &str) -> Option<Action> {
        find_action(legal, text, |action| self.action_text(state, action))
    }
}

/// What a tactical move does. Kinds of pieces are numbered in the order of their planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tactics {
    /// The kind that moves.
    pub moved: u8,
    /// The kind that is taken.
    pub taken: Option<u8>,
    /// True if the piece becomes another.
    pub promotes: bool,
}

/// The identity of a position, without its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PositionKey {
    /// A hash that is equal for positions with the same future, apart from repetition and counters.
    pub key: u64,
    /// Plies until a counter ends the game, at least, if no move resets it; an end of another kind on the last of them counts.
    pub plies_left: u32,
}

impl PositionKey {
    /// The identity of a position whose game no counter ends.
    pub const fn of(key: u64) -> Self {
        Self { key, plies_left: u32::MAX }
    }
}

/// The action of a text or, if there is none, the only action of the text in other upper and lower case.
pub fn find_action(actions: &[Action], text: &str, write: impl Fn(Action) -> String) -> Option<Action> {
    let text = text.trim();
    actions.iter().copied().find(|action| write(*action) == text).or_else(|| {
        let mut near = actions.iter().copied().filter(|action| write(*action).to_lowercase() == text.to_lowercase());
        near.next().filter(|_| near.next().is_none())
    })
}

/// A state and its number of plies, for the ply cap.
#[derive(Clone, Debug, PartialEq)]
pub struct Position<S> {
    /// The game's own state.
    pub state: S,
    /// Moves since the initial state.
    pub plies: u32,
}

impl<S> Position<S> {
    /// The initial position of a game.
    pub fn initial<G: Game<State = S>>(game: &G) -> Self {
        Self { state: game.initial_state(), plies: 0 }
    }

    /// Makes a legal action.
    #[inline]
    pub fn play<G: Game<State = S>>(&mut self, game: &G, action: Action) {
        game.play(&mut self.state, action);
        self.plies += 1;
    }

    /// The outcome by the rules or, if there is none, by the ply cap.
    #[inline]
    pub fn outcome<G: Game<State = S>>(&self, game: &G) -> Option<Outcome> {
        game.outcome(&self.state)
            .or_else(|| (self.plies >= game.spec().max_plies()).then(|| game.outcome_at_cap(&self.state).softly()))
    }

    /// The legal actions, ascending; empty if the game is over. `past_soft_endings` adds the actions at the end of a
    /// game that could go on.
    pub fn legal_actions<G: Game<State = S>>(&self, game: &G, past_soft_endings: bool) -> Vec<Action> {
        let mut actions = Vec::new();
        let goes_on = if past_soft_endings { self.has_move(game) } else { self.outcome(game).is_none() };
        if goes_on {
            game.legal_actions(&self.state, &mut actions);
        }
        actions
    }

    /// True if there is a legal move, also past a soft ending.
    pub fn has_move<G: Game<State = S>>(&self, game: &G) -> bool {
        game.outcome(&self.state).is_none_or(|outcome| outcome.is_soft)
    }
}
