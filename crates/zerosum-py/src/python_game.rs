//! A user's Python game as a game of the core.
//!
//! Each of the user's methods is called at most once for a position: the answer is kept with the position, and a position
//! keeps the positions after it. A descent through a known tree does not enter Python.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use numpy::{PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::sync::OnceLockExt;
use zerosum_core::game::{Action, Description, Game, GameSpec, Outcome, PlaneKind, Planes, Valuation};
use zerosum_core::picture;
use zerosum_core::player::{Player, ValueForFirst};

use crate::failure::{game_error, raise};
use crate::picture::Picture;

/// The positions after a position, by action.
type Children = Vec<(Action, Arc<Node>)>;

/// One position and the answers of the user's methods about it.
pub struct Node {
    object: Py<PyAny>,
    player: OnceLock<Player>,
    outcome: OnceLock<Option<Outcome>>,
    legal: OnceLock<Vec<Action>>,
    /// None in random games, which would otherwise be kept for as long as the tree.
    children: Option<Mutex<Children>>,
}

impl Node {
    fn new(object: Py<PyAny>, keeps_children: bool) -> Arc<Self> {
        Arc::new(Self {
            object,
            player: OnceLock::new(),
            outcome: OnceLock::new(),
            legal: OnceLock::new(),
            children: keeps_children.then(Mutex::default),
        })
    }

    fn children(&self) -> Option<MutexGuard<'_, Children>> {
        self.children.as_ref().map(|children| children.lock().expect("no call panics with this lock"))
    }
}

/// Equality of the user's states in Python.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        Python::attach(|py| self.object.bind(py).eq(&other.object)).unwrap_or_else(|error| raise(error))
    }
}

/// The user's object, its methods looked up once.
pub struct PythonGame {
    spec: GameSpec,
    initial_state: Py<PyAny>,
    player: Py<PyAny>,
    legal_actions: Py<PyAny>,
    play: Py<PyAny>,
    outcome: Py<PyAny>,
    planes: Py<PyAny>,
    action_text: Py<PyAny>,
    draw: Py<PyAny>,
    /// None if the user's class does not define it.
    material: Option<Py<PyAny>>,
    /// None if the user's class does not define it.
    picture: Option<Py<PyAny>>,
    as_planes: Py<PyAny>,
    place_error: Py<PyAny>,
    start_error: Py<PyAny>,
}

impl PythonGame {
    pub fn new(game: &Bound<'_, PyAny>, spec: GameSpec) -> PyResult<Self> {
        let seen = game.py().import("zerosum.games.python_game")?;
        let method = |name: &str| Ok::<_, PyErr>(game.getattr(name)?.unbind());
        Ok(Self {
            spec,
            initial_state: method("initial_state")?,
            player: method("player")?,
            legal_actions: method("legal_actions")?,
            play: method("play")?,
            outcome: method("outcome")?,
            planes: method("planes")?,
            action_text: method("action_text")?,
            draw: method("draw")?,
            material: game.getattr_opt("material")?.map(Bound::unbind),
            picture: game.getattr_opt("picture")?.map(Bound::unbind),
            as_planes: seen.getattr("as_planes")?.unbind(),
            place_error: seen.getattr("place_error")?.unbind(),
            start_error: seen.getattr("start_error")?.unbind(),
        })
    }

    /// Calls into Python; an error there unwinds to the edge of the binding.
    fn with<T>(&self, node: &Node, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> T {
        Python::attach(|py| call(py).map_err(|error| self.place(py, node, error))).unwrap_or_else(|error| raise(error))
    }

    /// An answer that is asked for once per position; other threads wait for it without the interpreter lock.
    fn ask<'a, T>(&self, node: &Node, answer: &'a OnceLock<T>, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> &'a T {
        answer
            .get()
            .unwrap_or_else(|| Python::attach(|py| answer.get_or_init_py_attached(py, || self.with(node, call))))
    }

    /// The error with the game and position in which it happened, by `zerosum.games.python_game.place_error`.
    fn place(&self, py: Python<'_>, node: &Node, error: PyErr) -> PyErr {
        if error.is_instance_of::<PyKeyboardInterrupt>(py) {
            return error; // Ctrl-C is not a mistake of the game
        }
        let placed = self.place_error.bind(py).call1((self.spec.name(), &self.draw, &node.object, error));
        placed.map_or_else(|error| error, PyErr::from_value)
    }

    fn check_planes(&self, py: Python<'_>, array: &PyReadonlyArray3<'_, f32>) -> PyResult<()> {
        let (height, width) = self.spec.board_shape();
        let expected = [self.spec.planes().len(), height, width];
        if array.shape() != expected {
            let message = format!("planes(state) has shape {:?}, expected {expected:?}", array.shape());
            return Err(game_error(py, message));
        }
        for (plane, spec) in array.as_array().outer_iter().zip(self.spec.planes()) {
            let first = plane[[0, 0]];
            let is_valid = |number: f32| match spec.kind {
                PlaneKind::Bits => number == 0.0 || number == 1.0,
                PlaneKind::Constant => first.is_finite() && number == first,
            };
            if let Some(number) = plane.iter().find(|number| !is_valid(**number)) {
                let rule = match spec.kind {
                    PlaneKind::Bits => "zeros and ones (name it in constant_planes if it holds one number everywhere)",
                    PlaneKind::Constant => "one finite number everywhere, because constant_planes names it",
                };
                let message = format!("planes(state): the plane {:?} holds {number}, expected {rule}", spec.name);
                return Err(game_error(py, message));
            }
        }
        Ok(())
    }
}

impl Game for PythonGame {
    type State = Arc<Node>;

    fn spec(&self) -> &GameSpec {
        &self.spec
    }

    fn initial_state(&self) -> Arc<Node> {
        let object = Python::attach(|py| {
            self.initial_state.call0(py).map_err(|error| {
                if error.is_instance_of::<PyKeyboardInterrupt>(py) {
                    return error;
                }
                self.start_error.bind(py).call1((self.spec.name(), error)).map_or_else(|error| error, PyErr::from_value)
            })
        });
        Node::new(object.unwrap_or_else(|error| raise(error)), true)
    }

    fn player(&self, state: &Arc<Node>) -> Player {
        *self.ask(state, &state.player, |py| {
            let answer = self.player.bind(py).call1((&state.object,))?;
            match answer.extract::<i64>() {
                Ok(0) => Ok(Player::First),
                Ok(1) => Ok(Player::Second),
                _ => Err(game_error(py, format!("player(state) is {}, expected 0 or 1", answer.repr()?))),
            }
        })
    }

    fn legal_actions(&self, state: &Arc<Node>, actions: &mut Vec<Action>) {
        let legal = self.ask(state, &state.legal, |py| {
            let answer = self.legal_actions.bind(py).call1((&state.object,))?;
            let mut legal = Vec::new();
            for action in answer.try_iter()? {
                let action = action?;
                match action.extract::<Action>() {
                    Ok(index) if usize::from(index) < self.spec.num_actions() => legal.push(index),
                    _ => {
                        let (action, bound) = (action.repr()?, self.spec.num_actions());
                        let message = format!(
                            "legal_actions(state) holds {action}, expected whole numbers from 0 to {}",
                            bound - 1
                        );
                        return Err(game_error(py, message));
                    }
                }
            }
            legal.sort_unstable();
            if let Some(&[action, _]) = legal.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(game_error(py, format!("legal_actions(state) holds {action} twice")));
            }
            if legal.is_empty() {
                let message =
                    "legal_actions(state) is empty but outcome(state) is None: a game that goes on has a move";
                return Err(game_error(py, message.into()));
            }
            Ok(legal)
        });
        actions.extend_from_slice(legal);
    }

    fn play(&self, state: &mut Arc<Node>, action: Action) {
        let known = state.children().and_then(|children| {
            children.iter().find_map(|(other, child)| (*other == action).then(|| Arc::clone(child)))
        });
        *state = known.unwrap_or_else(|| {
            let object = self.with(state, |py| self.play.call1(py, (&state.object, action)));
            let child = Node::new(object, state.children.is_some());
            if let Some(mut children) = state.children() {
                children.push((action, Arc::clone(&child)));
            }
            child
        });
    }

    fn scratch(&self, state: &Arc<Node>) -> Arc<Node> {
        Node::new(Python::attach(|py| state.object.clone_ref(py)), false)
    }

    fn outcome(&self, state: &Arc<Node>) -> Option<Outcome> {
        let outcome = self.ask(state, &state.outcome, |py| {
            let answer = self.outcome.bind(py).call1((&state.object,))?;
            if answer.is_none() {
                return Ok(None);
            }
            match answer.extract::<f32>() {
                Ok(result) if (-1.0..=1.0).contains(&result) => {
                    let ending = "by the rules".into();
                    Ok(Some(Outcome { result: ValueForFirst(result), ending, is_soft: false }))
                }
                _ => {
                    let message = format!("outcome(state) is {}, expected None or a number in [-1, 1]", answer.repr()?);
                    Err(game_error(py, message))
                }
            }
        });
        outcome.clone()
    }

    fn encode(&self, state: &Arc<Node>, planes: &mut Planes<'_>) {
        self.with(state, |py| {
            let answer = self.planes.bind(py).call1((&state.object,))?;
            let array: PyReadonlyArray3<'_, f32> = match answer.extract() {
                Ok(array) => array,
                Err(_) => self.as_planes.bind(py).call1((&answer,))?.extract()?,
            };
            self.check_planes(py, &array)?;
            for (plane, spec) in array.as_array().outer_iter().zip(self.spec.planes()) {
                match spec.kind {
                    PlaneKind::Bits => {
                        let set = plane.iter().enumerate().filter(|(_, number)| **number == 1.0);
                        planes.squares(set.map(|(square, _)| square));
                    }
                    PlaneKind::Constant => planes.constant(plane[[0, 0]]),
                }
            }
            Ok(())
        });
    }

    fn action_text(&self, state: &Arc<Node>, action: Action) -> String {
        self.with(state, |py| Ok(self.action_text.bind(py).call1((&state.object, action))?.str()?.to_string()))
    }

    fn description(&self) -> Description {
        Description {
            board: format!("{} rows and {} columns.", self.spec.board_shape().0, self.spec.board_shape().1),
            rules: "Written in Python.".into(),
            planes: "As the game's `planes` method gives them, seen from the player to move.".into(),
            actions: "As the game's `action_text` method writes them.".into(),
            material: if self.material.is_some() { "As the game's `material` method counts it." } else { "" }.into(),
        }
    }

    fn board_text(&self, state: &Arc<Node>) -> String {
        self.with(state, |py| Ok(self.draw.bind(py).call1((&state.object,))?.str()?.to_string()))
    }

    fn picture(&self, state: &Arc<Node>) -> Option<picture::Picture> {
        let picture = self.picture.as_ref()?;
        self.with(state, |py| {
            let answer = picture.bind(py).call1((&state.object,))?;
            if answer.is_none() {
                return Ok(None);
            }
            match answer.cast::<Picture>() {
                Ok(found) => Ok(Some(found.get().inner().clone())),
                Err(_) => {
                    Err(game_error(py, format!("picture(state) is {}, expected a zerosum.Picture", answer.repr()?)))
                }
            }
        })
    }

    fn valuation(&self) -> Option<&impl Valuation<Arc<Node>>> {
        Some(self)
    }
}

impl Valuation<Arc<Node>> for PythonGame {
    fn material(&self, state: &Arc<Node>) -> f32 {
        let Some(material) = &self.material else { return 0.0 };
        self.with(state, |py| {
            let answer = material.bind(py).call1((&state.object,))?;
            match answer.extract::<f32>() {
                Ok(number) if number.is_finite() => Ok(number),
                _ => Err(game_error(py, format!("material(state) is {}, expected a finite number", answer.repr()?))),
            }
        })
    }
}
