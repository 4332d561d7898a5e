//! Positions on their way to an evaluator: packed planes and legal actions, in flat buffers.

use crate::game::{Action, Game, GameSpec, PlaneKind, Planes, Player, Position, ValueForFirst, ValueForMover};
use crate::lines::Pulse;
use crate::pool::{LEAVES_A_PART, Pool};
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

    /// Encodes one more position.
    pub fn push(&mut self, game: &G, tree: u32, position: Position<G::State>) {
        self.add(game, tree, position);
        self.complete(game, None);
    }

    /// Takes one more position, of which nobody can ask anything before [`Self::complete`].
    pub(crate) fn add(&mut self, game: &G, tree: u32, position: Position<G::State>) {
        self.players.push(game.player(&position.state));
        self.trees.push(tree);
        self.positions.push(position);
    }

    /// Encodes the positions that were added, and asks for their legal actions: past a soft ending for those that are left; where
    /// there are none, no search asks.
    pub(crate) fn complete(&mut self, game: &G, pool: Option<&Pool>) {
        let done = self.legal_offsets.len() - 1;
        let num_bytes = self.num_bit_planes * game.spec().bytes_per_plane();
        self.packed_planes.resize(self.len() * num_bytes, 0);
        self.constant_planes.resize(self.len() * self.num_constant_planes, 0.0);
        let (positions, actions, offsets) = (&self.positions[done..], &mut self.legal_actions, &mut self.legal_offsets);
        let bits = &mut self.packed_planes[done * num_bytes..];
        let constants = &mut self.constant_planes[done * self.num_constant_planes..];
        match pool {
            Some(pool) if positions.len() > LEAVES_A_PART => {
                let mut parts = Part { positions, bits, constants }.split();
                pool.share(parts.iter_mut(), |(part, legal)| {
                    part.complete(game, &mut legal.actions, &mut legal.offsets);
                });
                for (_, legal) in parts {
                    let before = actions.len() as i64;
                    offsets.extend(legal.offsets.iter().map(|offset| before + offset));
                    actions.extend_from_slice(&legal.actions);
                }
            }
            _ => {
                let mut part = Part { positions, bits, constants };
                part.complete(game, actions, offsets);
            }
        }
    }

    /// Takes those of the positions from `first` on back that are named, in their order.
    pub(crate) fn remove(&mut self, game: &G, first: usize, is_removed: &[bool]) {
        let num_bytes = self.num_bit_planes * game.spec().bytes_per_plane();
        let mut kept = first;
        for leaf in (first..self.len()).filter(|leaf| !is_removed[leaf - first]) {
            let legal = self.legal_range(leaf);
            let start = self.legal_offsets[kept] as usize;
            self.legal_offsets[kept + 1] = (start + legal.len()) as i64;
            self.legal_actions.copy_within(legal, start);
            self.packed_planes.copy_within(leaf * num_bytes..(leaf + 1) * num_bytes, kept * num_bytes);
            let width = self.num_constant_planes;
            self.constant_planes.copy_within(leaf * width..(leaf + 1) * width, kept * width);
            self.trees[kept] = self.trees[leaf];
            self.players[kept] = self.players[leaf];
            self.positions.swap(kept, leaf);
            kept += 1;
        }
        self.trees.truncate(kept);
        self.players.truncate(kept);
        self.positions.truncate(kept);
        self.packed_planes.truncate(kept * num_bytes);
        self.constant_planes.truncate(kept * self.num_constant_planes);
        self.legal_offsets.truncate(kept + 1);
        self.legal_actions.truncate(self.legal_offsets[kept] as usize);
    }

    /// What an evaluator is asked about a position, as words: planes and legal actions.
    pub(crate) fn words(&self, leaf: usize) -> impl Iterator<Item = u64> {
        let bytes = self.packed_planes.len() / self.len();
        let bits = self.packed_planes[leaf * bytes..(leaf + 1) * bytes].chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        let constants = &self.constant_planes[leaf * self.num_constant_planes..(leaf + 1) * self.num_constant_planes];
        let constants = constants.iter().map(|constant| u64::from(constant.to_bits()));
        let actions = &self.legal_actions[self.legal_range(leaf)];
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

    /// `[B, squares]`, for each leaf who owns each square after the moves `actions[offsets[leaf]..offsets[leaf + 1]]`, as
    /// [`Game::owners`] tells its player to move; `None` if squares have no owners.
    ///
    /// # Errors
    /// If there are not as many runs of moves as leaves, or a move is illegal.
    pub fn owners_after(&self, game: &G, actions: &[Action], offsets: &[i64]) -> Result<Option<Vec<i8>>, String> {
        if offsets.len() != self.len() + 1 {
            return Err(format!(
                "{} offsets for {} positions, expected one more than positions",
                offsets.len(),
                self.len()
            ));
        }
        let mut owners = Vec::new();
        for (leaf, position) in self.positions.iter().enumerate() {
            let moves = actions.get(offsets[leaf] as usize..offsets[leaf + 1] as usize);
            let moves =
                moves.ok_or_else(|| format!("position {leaf}: its moves are beyond the last of {}", actions.len()))?;
            let mut position = position.clone();
            for action in moves {
                if !game.is_legal(&position.state, *action) {
                    return Err(format!("position {leaf}, ply {}: action {action} is illegal", position.plies));
                }
                position.play(game, *action);
            }
            match game.owners(&position.state, self.players[leaf]) {
                Some(of_squares) => owners.extend(of_squares),
                None => return Ok(None),
            }
        }
        Ok(Some(owners))
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

/// Some positions of a batch, and where their planes go.
struct Part<'a, S> {
    positions: &'a [Position<S>],
    bits: &'a mut [u8],
    constants: &'a mut [f32],
}

/// The legal actions of a part, and where those of each position end.
#[derive(Default)]
struct Legal {
    actions: Vec<Action>,
    offsets: Vec<i64>,
}

impl<S> Part<'_, S> {
    /// Parts of [`LEAVES_A_PART`] positions each.
    fn split(self) -> Vec<(Self, Legal)> {
        let Self { mut positions, mut bits, mut constants } = self;
        let mut parts = Vec::new();
        while !positions.is_empty() {
            let size = LEAVES_A_PART.min(positions.len());
            let share = |length: usize| length / positions.len() * size;
            let (bits_here, bits_left) = bits.split_at_mut(share(bits.len()));
            let (constants_here, constants_left) = constants.split_at_mut(share(constants.len()));
            let (here, left) = positions.split_at(size);
            parts.push((Self { positions: here, bits: bits_here, constants: constants_here }, Legal::default()));
            (positions, bits, constants) = (left, bits_left, constants_left);
        }
        parts
    }

    fn complete<G: Game<State = S>>(&mut self, game: &G, actions: &mut Vec<Action>, offsets: &mut Vec<i64>) {
        let (bits, constants) =
            (self.bits.len() / self.positions.len().max(1), self.constants.len() / self.positions.len().max(1));
        for (leaf, position) in self.positions.iter().enumerate() {
            let mut planes = Planes::new(
                &mut self.bits[leaf * bits..(leaf + 1) * bits],
                &mut self.constants[leaf * constants..(leaf + 1) * constants],
                game.spec().bytes_per_plane(),
            );
            game.encode(&position.state, &mut planes);
            debug_assert!(planes.is_complete(), "{}: encode() left a plane out", game.spec().name());
            if position.has_move(game) {
                game.legal_actions(&position.state, actions);
            }
            offsets.push(actions.len() as i64);
        }
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
