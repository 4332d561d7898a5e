//! What a game is besides its rules: name, options, sizes, planes.

use super::Action;
use crate::games::options::{OptionSpec, OptionValues};

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
    /// of [`Game::encode`](super::Game::encode). Actions beyond the last whole plane (a pass) have no square. The policy head of a network
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
    /// same outcome, from each of the starts. Action `a` of a game is action `permutation[a]` of its image.
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

    /// The ply cap: a game that is not over after this many plies ends by [`Game::outcome_at_cap`](super::Game::outcome_at_cap).
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
