//! `GameSpec`, `PlaneSpec`, `OptionSpec` and `Description`.

use pyo3::prelude::*;
use zerosum_core::game::{self, Action, PlaneKind};
use zerosum_core::games::options;

/// One input plane of a game's encoding.
#[pyclass(frozen, module = "zerosum._core")]
pub struct PlaneSpec {
    #[pyo3(get)]
    name: String,
    /// True if the plane holds one number everywhere; else it holds zeros and ones.
    #[pyo3(get)]
    is_constant: bool,
}

/// One option that a game has.
#[pyclass(frozen, get_all, module = "zerosum._core")]
pub struct OptionSpec {
    name: &'static str,
    /// The value if none is given.
    default: String,
    /// The allowed values, in words.
    expected: String,
}

/// A game's description besides its rules. Two games with equal `encoder_id` share networks.
#[pyclass(frozen, module = "zerosum._core")]
pub struct GameSpec {
    pub spec: game::GameSpec,
}

#[pymethods]
impl GameSpec {
    /// The name without options.
    #[getter]
    fn name(&self) -> &str {
        self.spec.name()
    }
    /// Options with other values than their defaults, `size=9, komi=5.5`; "" if there are none.
    #[getter]
    fn options(&self) -> &str {
        self.spec.options()
    }
    /// All options that the game has.
    #[getter]
    fn known_options(&self) -> Vec<OptionSpec> {
        let spec = |option: &options::OptionSpec| OptionSpec {
            name: option.name,
            default: option.default.clone(),
            expected: option.expected.clone(),
        };
        self.spec.known_options().iter().map(spec).collect()
    }
    /// Name and options as commands take them: `go(size=9, komi=5.5)`.
    #[getter]
    fn full_name(&self) -> String {
        self.spec.full_name()
    }
    /// Increased with every change of the rules, the action indices or the planes.
    #[getter]
    fn version(&self) -> u32 {
        self.spec.version()
    }
    #[getter]
    fn num_actions(&self) -> usize {
        self.spec.num_actions()
    }
    /// (height, width) of every plane.
    #[getter]
    fn board_shape(&self) -> (usize, usize) {
        self.spec.board_shape()
    }
    /// The input planes in channel order.
    #[getter]
    fn planes(&self) -> Vec<PlaneSpec> {
        let plane = |plane: &game::PlaneSpec| PlaneSpec {
            name: plane.name.clone(),
            is_constant: plane.kind == PlaneKind::Constant,
        };
        self.spec.planes().iter().map(plane).collect()
    }
    /// Plies after which a game ends: a draw, or the result that the rules give its last position.
    #[getter]
    fn max_plies(&self) -> u32 {
        self.spec.max_plies()
    }
    /// Permutations of the actions, the identity left out: with its actions permuted, a game is the same game.
    ///
    /// Action `a` of a game is action `permutation[a]` of its image.
    #[getter]
    fn symmetries(&self) -> Vec<Vec<Action>> {
        self.spec.symmetries().to_vec()
    }
    /// True if actions are planes of squares, plane * H * W + square as planes are oriented, and a few beyond.
    ///
    /// A network may then answer by a convolution (`network.policy_head` = "planes").
    #[getter]
    fn has_action_planes(&self) -> bool {
        self.spec.has_action_planes()
    }
    /// The encoding's name: a hash of game, version, plane list, board shape and number of actions.
    #[getter]
    fn encoder_id(&self) -> String {
        self.spec.encoder_id()
    }
    fn __repr__(&self) -> String {
        format!("GameSpec({})", self.spec.encoder_id())
    }
}

/// The documentation of a game, a paragraph in each attribute.
#[pyclass(frozen, get_all, module = "zerosum._core")]
pub struct Description {
    /// The board and the pieces.
    board: String,
    /// The rules, with every choice in which federations differ.
    rules: String,
    /// The planes: orientation, history, scale of the counts.
    planes: String,
    /// The numbering of actions and how people write them.
    actions: String,
    /// The count behind `Game.material`; "" if it is always 0.
    material: String,
}

impl From<game::Description> for Description {
    fn from(description: game::Description) -> Self {
        let game::Description { board, rules, planes, actions, material } = description;
        Self { board, rules, planes, actions, material }
    }
}
