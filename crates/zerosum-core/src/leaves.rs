//! Positions on their way to an evaluator: packed planes and legal actions, in flat buffers.

use crate::game::{Action, Game, GameSpec, PlaneKind, Player, Position, ValueForFirst, ValueForMover};
use crate::lines::Pulse;
use crate::random::Draws;

/// B positions as an evaluator takes them. Immutable once it has left the search.
pub struct Leaves<G: Game> {
    ticket: u64,
    trees: Vec<u32>,
    players: Vec<Player>,
    packed_planes: Vec<u8>,
    constant_planes: Vec<f32>,
    legal_actions: Vec<Action>,
    legal_offsets: Vec<i64>,
    positions: Vec<Position<G::State>>,
    budget_spent: bool,
    num_bit_planes: usize,
    num_constant_planes: usize,
}

impl<G: Game> Leaves<G> {
    /// No positions yet. The `ticket` is what a search knows them by.
    pub fn new(spec: &GameSpec, ticket: u64) -> Self {
        Self {
            ticket,
            trees: Vec::new(),
            players: Vec::new(),
            packed_planes: Vec::new(),
            constant_planes: Vec::new(),
            legal_actions: Vec::new(),
            legal_offsets: vec![0],
            positions: Vec::new(),
            budget_spent: false,
            num_bit_planes: spec.num_planes(PlaneKind::Bits),
            num_constant_planes: spec.num_planes(PlaneKind::Constant),
        }
    }

    /// No positions any more, in the memory that is there.
    pub fn clear(&mut self, ticket: u64) {
        self.ticket = ticket;
        self.trees.clear();
        self.players.clear();
        self.packed_planes.clear();
        self.constant_planes.clear();
        self.legal_actions.clear();
        self.legal_offsets.truncate(1);
        self.positions.clear();
        self.budget_spent = false;
    }

    /// Encodes one more position. Past a soft ending its legal actions are those that are left; where there are none, no
    /// search asks.
    pub fn push(&mut self, game: &G, tree: u32, position: Position<G::State>) {
        let bytes_per_plane = game.spec().bytes_per_plane();
        let (bits, constants) = (self.packed_planes.len(), self.constant_planes.len());
        self.packed_planes.resize(bits + self.num_bit_planes * bytes_per_plane, 0);
        self.constant_planes.resize(constants + self.num_constant_planes, 0.0);
        let mut planes = crate::game::Planes::new(
            &mut self.packed_planes[bits..],
            &mut self.constant_planes[constants..],
            bytes_per_plane,
        );
        game.encode(&position.state, &mut planes);
        debug_assert!(planes.is_complete(), "{}: encode() left a plane out", game.spec().name());
        if position.has_move(game) {
            game.legal_actions(&position.state, &mut self.legal_actions);
        }
        self.legal_offsets.push(self.legal_actions.len() as i64);
        self.players.push(game.player(&position.state));
        self.trees.push(tree);
        self.positions.push(position);
    }

    /// Takes the latest position back.
    pub fn pop(&mut self, game: &G) {
        let left = self.len() - 1;
        self.trees.truncate(left);
        self.players.truncate(left);
        self.packed_planes.truncate(left * self.num_bit_planes * game.spec().bytes_per_plane());
        self.constant_planes.truncate(left * self.num_constant_planes);
        self.legal_offsets.truncate(left + 1);
        self.legal_actions.truncate(self.legal_offsets[left] as usize);
        self.positions.truncate(left);
    }

    /// What an evaluator is asked about the latest position, as words: planes and legal actions.
    pub fn latest_words(&self) -> impl Iterator<Item = u64> {
        let latest = self.len() - 1;
        let bytes = self.packed_planes.len() / self.len();
        let bits = self.packed_planes[latest * bytes..].chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        let constants = &self.constant_planes[latest * self.num_constant_planes..];
        let constants = constants.iter().map(|constant| u64::from(constant.to_bits()));
        let actions = &self.legal_actions[self.legal_range(latest)];
        let packed =
            actions.chunks(4).map(|chunk| chunk.iter().fold(0, |word, action| word << 16 | u64::from(*action)));
        bits.chain(constants).chain(packed).chain(std::iter::once(actions.len() as u64))
    }

    /// How many positions.
    pub fn len(&self) -> usize {
        self.trees.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    /// There would have been more, had the search not spent its budget of simulations that ask nothing.
    pub fn budget_spent(&self) -> bool {
        self.budget_spent
    }

    /// See [`Self::budget_spent`].
    pub fn spend_budget(&mut self) {
        self.budget_spent = true;
    }

    /// What the search that asked knows these leaves by.
    pub fn ticket(&self) -> u64 {
        self.ticket
    }

    /// For each leaf, which tree asked.
    pub fn trees(&self) -> &[u32] {
        &self.trees
    }

    /// For each leaf, who is to move.
    pub fn players(&self) -> &[Player] {
        &self.players
    }

    /// `[B, bit planes, bytes a plane]`.
    pub fn packed_planes(&self) -> &[u8] {
        &self.packed_planes
    }

    /// `[B, constant planes]`.
    pub fn constant_planes(&self) -> &[f32] {
        &self.constant_planes
    }

    /// The legal actions of all leaves, one leaf after the other, each ascending.
    pub fn legal_actions(&self) -> &[Action] {
        &self.legal_actions
    }

    /// `[B + 1]` offsets into [`Self::legal_actions`].
    pub fn legal_offsets(&self) -> &[i64] {
        &self.legal_offsets
    }

    /// The range of one leaf's legal actions.
    pub fn legal_range(&self, leaf: usize) -> std::ops::Range<usize> {
        self.legal_offsets[leaf] as usize..self.legal_offsets[leaf + 1] as usize
    }

    /// Expands the planes into the first B rows of `out`, `[B, C, H, W]`, channels in the order of the spec.
    pub fn write_planes(&self, spec: &GameSpec, out: &mut [f32]) {
        let (squares, bytes_per_plane) = (spec.num_squares(), spec.bytes_per_plane());
        let mut bit_planes = self.packed_planes.chunks_exact(bytes_per_plane);
        let mut constants = self.constant_planes.iter();
        for row in out.chunks_exact_mut(squares * spec.planes().len()).take(self.len()) {
            for (plane, plane_spec) in row.chunks_exact_mut(squares).zip(spec.planes()) {
                match plane_spec.kind {
                    PlaneKind::Bits => {
                        let bits = bit_planes.next().expect("a bit plane for each in the spec");
                        for (byte, eight) in bits.iter().zip(plane.chunks_mut(8)) {
                            for (bit, square) in eight.iter_mut().enumerate() {
                                *square = f32::from(byte >> bit & 1);
                            }
                        }
                    }
                    PlaneKind::Constant => plane.fill(*constants.next().expect("a number for each in the spec")),
                }
            }
        }
    }

    /// For each leaf, the mean result for its player to move of `num_rollouts` uniformly random games. `pulse` is called now
    /// and then, and may unwind.
    pub fn rollout_values(&self, game: &G, num_rollouts: u32, seed: u64, pulse: &dyn Fn()) -> Vec<f32> {
        let mut actions = Vec::new();
        let mut pulse = Pulse::new(pulse);
        self.positions
            .iter()
            .enumerate()
            .map(|(leaf, position)| {
                let mut draws = Draws::new(seed, leaf as u64, 0, "rollout");
                let start = || Position { state: game.scratch(&position.state), plies: position.plies };
                let sum: f32 =
                    (0..num_rollouts).map(|_| rollout(game, start(), &mut draws, &mut actions, &mut pulse).0).sum();
                let ValueForMover(value) =
                    ValueForFirst(sum / num_rollouts.max(1) as f32).for_mover(self.players[leaf]);
                value
            })
            .collect()
    }
}

/// The result of a game of uniformly random legal moves.
fn rollout<G: Game>(
    game: &G,
    mut position: Position<G::State>,
    draws: &mut Draws,
    actions: &mut Vec<Action>,
    pulse: &mut Pulse<'_>,
) -> ValueForFirst {
    loop {
        if let Some(outcome) = position.outcome(game) {
            return outcome.result;
        }
        actions.clear();
        game.legal_actions(&position.state, actions);
        position.play(game, actions[draws.below(actions.len())]);
        pulse.count();
    }
}
