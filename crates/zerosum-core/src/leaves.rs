//! Positions on their way to an evaluator: packed planes and legal actions, in flat buffers.

use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::error::UsageError;
use crate::evaluation::{Evaluation, Material};
use crate::game::{Action, Game, GameSpec, PlaneKind, Planes, Points, Position};
use crate::hidden_move::{HiddenMove, NO_SLOT};
use crate::interrupt::InterruptCheck;
use crate::line_evaluation::{LineEvaluation, disturbance};
use crate::player::{Player, ValueForFirst, ValueForMover};
use crate::pool::{LEAVES_PER_PART, Pool, Work};
use crate::random::RandomStream;

use crate::updatable::{Accumulators, Network};

/// B positions as an evaluator takes them. Immutable once they have left the search. All but the positions themselves are
/// [`LeafArrays`].
pub struct Leaves<G: Game> {
    arrays: LeafArrays,
    positions: Vec<Position<G::State>>,
}

/// Where a network's output has the logits of a position's actions.
pub struct LogitLayout<'a> {
    /// The place of each action in its position's row.
    pub place_of_action: &'a [i32],
    /// The number of logits of a position.
    pub row_width: usize,
}

/// Memory for [`LeafArrays::write_input`].
pub struct InputBuffers<'a> {
    /// `[B, bit planes, bytes a plane]`.
    pub bits: &'a mut [u8],
    /// `[B, constant planes]`.
    pub numbers: &'a mut [f32],
    /// One place for each legal action, among the logits of all positions.
    pub places: &'a mut [i32],
}

/// The planes and legal actions of B positions.
pub struct LeafArrays {
    ticket: u64,
    trees: Vec<u32>,
    players: Vec<Player>,
    packed_planes: Vec<u8>,
    constant_planes: Vec<f32>,
    legal_actions: Vec<Action>,
    /// Empty if the logits have the actions' own numbers.
    logit_actions: Vec<Action>,
    legal_offsets: Vec<i64>,
    /// A leaf's hidden states, where the rules are learned; else empty.
    hidden: Vec<HiddenMove>,
    budget_spent: bool,
    num_bit_planes: usize,
    num_constant_planes: usize,
    bytes_per_plane: usize,
}

impl<G: Game> Deref for Leaves<G> {
    type Target = LeafArrays;

    #[inline]
    fn deref(&self) -> &LeafArrays {
        &self.arrays
    }
}

impl<G: Game> Leaves<G> {
    /// An empty batch. A search finds it again by its `ticket`.
    pub fn new(spec: &GameSpec, ticket: u64) -> Self {
        Self { arrays: LeafArrays::new(spec, ticket), positions: Vec::new() }
    }

    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self, ticket: u64) {
        self.arrays.ticket = ticket;
        self.arrays.budget_spent = false;
        self.truncate(0);
    }

    /// Adds a position and encodes it.
    pub fn push(&mut self, game: &G, tree: u32, position: Position<G::State>) {
        self.positions.push(position);
        self.note_last(game, tree);
        self.complete(game);
    }

    /// The positions. What is added at the end belongs to the leaves once [`Self::note_last`] or [`Self::note_root`] was called.
    pub(crate) fn positions_mut(&mut self) -> &mut Vec<Position<G::State>> {
        &mut self.positions
    }

    /// Makes the position that was added last a leaf. Its planes and legal actions are missing until [`Self::complete`].
    pub(crate) fn note_last(&mut self, game: &G, tree: u32) {
        let position = self.positions.last().expect("it was added");
        self.arrays.players.push(game.player(&position.state));
        self.arrays.trees.push(tree);
    }

    /// Makes the position that was added last, which is not kept, a leaf: the root of a search by learned rules, whose hidden state
    /// belongs into `slot`.
    pub(crate) fn note_root(&mut self, game: &G, tree: u32, slot: u32) {
        let position = self.positions.pop().expect("it was added");
        self.arrays.trees.push(tree);
        self.arrays.players.push(game.player(&position.state));
        self.arrays.complete(game, std::slice::from_ref(&position));
        self.arrays.hidden.push(HiddenMove { parent: NO_SLOT, action: 0, slot });
    }

    /// Adds a move from a hidden state, after which `player` is to move. Its planes are zeros, and all actions count as legal;
    /// `has_logit_places` is whether the game tells the places of their logits.
    pub(crate) fn push_move(
        &mut self,
        spec: &GameSpec,
        tree: u32,
        hidden: HiddenMove,
        player: Player,
        has_logit_places: bool,
    ) {
        let arrays = &mut self.arrays;
        arrays.trees.push(tree);
        arrays.players.push(player);
        arrays.packed_planes.resize(arrays.packed_planes.len() + arrays.num_bit_planes * arrays.bytes_per_plane, 0);
        arrays.constant_planes.resize(arrays.constant_planes.len() + arrays.num_constant_planes, 0.0);
        let actions = 0..=(spec.num_actions() - 1) as Action;
        if has_logit_places {
            arrays.logit_actions.extend(actions.clone());
        }
        arrays.legal_actions.extend(actions);
        arrays.legal_offsets.push(arrays.legal_actions.len() as i64);
        arrays.hidden.push(hidden);
    }

    /// Encodes the positions that were added, and writes their legal actions. At a soft ending these are the actions that lead
    /// past it; no search asks about an ending without a legal action.
    pub(crate) fn complete(&mut self, game: &G) {
        let first = self.arrays.legal_offsets.len() - 1;
        self.arrays.complete(game, &self.positions[first..]);
    }

    /// Does the same on the pool's threads.
    pub(crate) fn complete_by(&mut self, pool: &Pool, game: &Arc<G>) {
        let first = self.arrays.legal_offsets.len() - 1;
        let num_new = self.positions.len() - first;
        if num_new <= LEAVES_PER_PART {
            return self.complete(game);
        }
        let positions = std::mem::take(&mut self.positions);
        let work = Completion { game: Arc::clone(game), positions, first };
        let (Completion { positions, .. }, parts) = pool.share(work, num_new.div_ceil(LEAVES_PER_PART));
        self.positions = positions;
        for part in &parts {
            self.arrays.append(part);
        }
    }

    /// Removes positions, and keeps the others in their order. `is_removed` has a flag for each position from `first` on.
    pub(crate) fn remove(&mut self, first: usize, is_removed: &[bool]) {
        let mut kept = first;
        for leaf in (first..self.len()).filter(|leaf| !is_removed[leaf - first]) {
            self.arrays.move_leaf(leaf, kept);
            self.positions.swap(kept, leaf);
            kept += 1;
        }
        self.truncate(kept);
    }

    fn truncate(&mut self, num_leaves: usize) {
        self.arrays.truncate(num_leaves);
        self.positions.truncate(num_leaves);
    }

    /// Notes that a search stopped because its budget was spent.
    pub fn spend_budget(&mut self) {
        self.arrays.budget_spent = true;
    }

    /// `[B, squares]`, the owner of each square, as [`Points::owners`] has it for the leaf's player to move, after the moves
    /// `actions[offsets[leaf]..offsets[leaf + 1]]`; `None` if squares have no owners.
    ///
    /// # Errors
    /// If the offsets do not fit the leaves and actions, or a move is illegal.
    pub fn owners_after(&self, game: &G, actions: &[Action], offsets: &[i64]) -> Result<Option<Vec<i8>>, String> {
        if offsets.len() != self.len() + 1 {
            return Err(format!(
                "{} offsets for {} positions, expected one more than positions",
                offsets.len(),
                self.len()
            ));
        }
        let Some(points) = game.points() else { return Ok(None) };
        let mut owners = Vec::new();
        for (leaf, position) in self.positions.iter().enumerate() {
            let moves = actions.get(offsets[leaf] as usize..offsets[leaf + 1] as usize);
            let moves =
                moves.ok_or_else(|| format!("position {leaf}: its moves are beyond the last of {}", actions.len()))?;
            let mut position = position.clone();
            for action in moves {
                let ply = position.plies;
                if !position.play_if_legal(game, *action) {
                    return Err(format!("position {leaf}, ply {ply}: action {action} is illegal"));
                }
            }
            owners.extend(points.owners(&position.state, self.players[leaf]));
        }
        Ok(Some(owners))
    }

    /// `[B]`, the material, as [`Valuation::material`](crate::game::Valuation::material) has it but for the leaf's player to move.
    pub fn material(&self, game: &G) -> Vec<f32> {
        let of_leaf = |(position, player): (&Position<G::State>, &Player)| {
            Material.evaluate(game, &position.state) * player.sign()
        };
        self.positions.iter().zip(&self.players).map(of_leaf).collect()
    }

    /// `[B]`, for each leaf a standard normal number that is a function of position and seed.
    pub fn disturbances(&self, game: &G, seed: u64) -> Vec<f32> {
        self.positions.iter().map(|position| disturbance(game, &position.state, seed)).collect()
    }

    /// `[B]`, the evaluation by an updatable network for the leaf's player to move, in centipawns.
    pub fn evaluations(&self, game: &G, network: &Arc<Network>) -> Vec<i32> {
        let mut accumulators = Accumulators::new(Arc::clone(network));
        let of_leaf = |position: &Position<G::State>| {
            LineEvaluation::<G>::begin(&mut accumulators);
            accumulators.evaluate(game, &position.state, 0)
        };
        self.positions.iter().map(of_leaf).collect()
    }

    /// For each leaf, the mean result for its player to move of `num_rollouts` uniformly random games. `check_interrupt` is
    /// called now and then; it may unwind.
    pub fn rollout_values(&self, game: &G, num_rollouts: u32, seed: u64, check_interrupt: &dyn Fn()) -> Vec<f32> {
        let mut actions = Vec::new();
        let mut interrupt = InterruptCheck::new(check_interrupt);
        self.positions
            .iter()
            .enumerate()
            .map(|(leaf, position)| {
                let mut random = RandomStream::new(seed, leaf as u64, 0, "rollout");
                let start = || Position { state: game.scratch(&position.state), plies: position.plies };
                let results =
                    (0..num_rollouts).map(|_| rollout(game, start(), &mut random, &mut actions, &mut interrupt).0);
                let mean = ValueForFirst(results.sum::<f32>() / num_rollouts.max(1) as f32);
                let ValueForMover(value) = mean.for_mover(self.players[leaf]);
                value
            })
            .collect()
    }
}

impl LeafArrays {
    fn new(spec: &GameSpec, ticket: u64) -> Self {
        Self {
            ticket,
            trees: Vec::new(),
            players: Vec::new(),
            packed_planes: Vec::new(),
            constant_planes: Vec::new(),
            legal_actions: Vec::new(),
            logit_actions: Vec::new(),
            legal_offsets: vec![0],
            hidden: Vec::new(),
            budget_spent: false,
            num_bit_planes: spec.num_planes(PlaneKind::Bits),
            num_constant_planes: spec.num_planes(PlaneKind::Constant),
            bytes_per_plane: spec.bytes_per_plane(),
        }
    }

    /// Adds the planes and legal actions of positions.
    fn complete<G: Game>(&mut self, game: &G, positions: &[Position<G::State>]) {
        let bits = self.num_bit_planes * self.bytes_per_plane;
        let (old_bits, old_constants) = (self.packed_planes.len(), self.constant_planes.len());
        self.packed_planes.resize(old_bits + positions.len() * bits, 0);
        self.constant_planes.resize(old_constants + positions.len() * self.num_constant_planes, 0.0);
        for (leaf, position) in positions.iter().enumerate() {
            let (bits_at, constants_at) = (old_bits + leaf * bits, old_constants + leaf * self.num_constant_planes);
            let mut planes = Planes::new(
                &mut self.packed_planes[bits_at..bits_at + bits],
                &mut self.constant_planes[constants_at..constants_at + self.num_constant_planes],
                self.bytes_per_plane,
            );
            game.encode(&position.state, &mut planes);
            debug_assert!(planes.is_complete(), "{}: encode() left a plane out", game.spec().name());
            if position.has_move(game) {
                let first = self.legal_actions.len();
                game.legal_actions(&position.state, &mut self.legal_actions);
                game.logit_actions(&position.state, &self.legal_actions[first..], &mut self.logit_actions);
            }
            self.legal_offsets.push(self.legal_actions.len() as i64);
        }
    }

    /// Adds the planes and legal actions of other arrays.
    fn append(&mut self, other: &Self) {
        let before = self.legal_actions.len() as i64;
        self.packed_planes.extend_from_slice(&other.packed_planes);
        self.constant_planes.extend_from_slice(&other.constant_planes);
        self.legal_actions.extend_from_slice(&other.legal_actions);
        self.logit_actions.extend_from_slice(&other.logit_actions);
        self.legal_offsets.extend(other.legal_offsets[1..].iter().map(|offset| before + offset));
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.trees.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    /// For each leaf its hidden states, where a search has learned rules; else empty. Of such leaves only roots have positions.
    pub fn hidden(&self) -> &[HiddenMove] {
        &self.hidden
    }

    /// True if the search stopped because its budget of simulations without a question was spent.
    pub fn budget_spent(&self) -> bool {
        self.budget_spent
    }

    /// The key of these leaves in the search that asked.
    pub fn ticket(&self) -> u64 {
        self.ticket
    }

    /// For each leaf, the tree that asked.
    pub fn trees(&self) -> &[u32] {
        &self.trees
    }

    /// For each leaf, the player to move.
    pub fn players(&self) -> &[Player] {
        &self.players
    }

    /// `[B, bit planes, bytes a plane]`, flat.
    pub fn packed_planes(&self) -> &[u8] {
        &self.packed_planes
    }

    /// Shape of [`Self::packed_planes`].
    pub fn packed_shape(&self) -> [usize; 3] {
        [self.len(), self.num_bit_planes, self.bytes_per_plane]
    }

    /// `[B, constant planes]`, flat.
    pub fn constant_planes(&self) -> &[f32] {
        &self.constant_planes
    }

    /// Shape of [`Self::constant_planes`].
    pub fn constant_shape(&self) -> [usize; 2] {
        [self.len(), self.num_constant_planes]
    }

    /// The legal actions of all leaves, one leaf after the other, each ascending.
    pub fn legal_actions(&self) -> &[Action] {
        &self.legal_actions
    }

    /// The place of each legal action's logit among those of its position, in the order of [`Self::legal_actions`].
    pub fn logit_actions(&self) -> &[Action] {
        if self.logit_actions.is_empty() { &self.legal_actions } else { &self.logit_actions }
    }

    /// `[B + 1]` offsets into [`Self::legal_actions`].
    pub fn legal_offsets(&self) -> &[i64] {
        &self.legal_offsets
    }

    /// The range of one leaf's legal actions.
    pub fn legal_range(&self, leaf: usize) -> std::ops::Range<usize> {
        self.legal_offsets[leaf] as usize..self.legal_offsets[leaf + 1] as usize
    }

    /// The planes and legal actions of a leaf as words, for a hash.
    pub(crate) fn words(&self, leaf: usize) -> impl Iterator<Item = u64> {
        let bytes = self.num_bit_planes * self.bytes_per_plane;
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

    /// Expands the planes into the first B rows of `out`, `[B, C, H, W]`, channels in the order of the spec.
    pub fn write_planes(&self, spec: &GameSpec, out: &mut [f32]) {
        let squares = spec.num_squares();
        let mut bit_planes = self.packed_planes.chunks_exact(self.bytes_per_plane);
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

    /// Writes the positions of `range` as a device reads them, into the beginnings of `out`.
    ///
    /// # Errors
    /// If a buffer is too short, `layout` lacks an action, or a place does not fit 32 bits.
    pub fn write_input(
        &self,
        range: Range<usize>,
        layout: &LogitLayout<'_>,
        out: &mut InputBuffers<'_>,
    ) -> Result<(), UsageError> {
        let (bytes, width) = (self.num_bit_planes * self.bytes_per_plane, self.num_constant_planes);
        let actions = self.legal_offsets[range.start] as usize..self.legal_offsets[range.end] as usize;
        let too_short = |name: &str| UsageError(format!("the array of {name} is too short for {} leaves", range.len()));
        out.bits
            .get_mut(..range.len() * bytes)
            .ok_or_else(|| too_short("bits"))?
            .copy_from_slice(&self.packed_planes[range.start * bytes..range.end * bytes]);
        out.numbers
            .get_mut(..range.len() * width)
            .ok_or_else(|| too_short("numbers"))?
            .copy_from_slice(&self.constant_planes[range.start * width..range.end * width]);
        let mut places = out.places.get_mut(..actions.len()).ok_or_else(|| too_short("places"))?;
        if i32::try_from(range.len() * layout.row_width).is_err() {
            return Err(UsageError(format!(
                "{} rows of {} logits have places beyond 32 bits: evaluate fewer positions at once",
                range.len(),
                layout.row_width
            )));
        }
        for (row, leaf) in range.enumerate() {
            let legal = &self.logit_actions()[self.legal_range(leaf)];
            let (of_leaf, others) = places.split_at_mut(legal.len());
            for (place, action) in of_leaf.iter_mut().zip(legal) {
                let in_row = layout.place_of_action.get(usize::from(*action));
                let in_row = in_row.ok_or_else(|| UsageError(format!("action {action} has no place in a row")))?;
                *place = (row * layout.row_width) as i32 + in_row;
            }
            places = others;
        }
        Ok(())
    }

    /// Moves a leaf to an index that is not above its own.
    fn move_leaf(&mut self, from: usize, to: usize) {
        let legal = self.legal_range(from);
        let start = self.legal_offsets[to] as usize;
        self.legal_offsets[to + 1] = (start + legal.len()) as i64;
        if !self.logit_actions.is_empty() {
            self.logit_actions.copy_within(legal.clone(), start);
        }
        self.legal_actions.copy_within(legal, start);
        let (bytes, width) = (self.num_bit_planes * self.bytes_per_plane, self.num_constant_planes);
        self.packed_planes.copy_within(from * bytes..(from + 1) * bytes, to * bytes);
        self.constant_planes.copy_within(from * width..(from + 1) * width, to * width);
        self.trees[to] = self.trees[from];
        self.players[to] = self.players[from];
    }

    fn truncate(&mut self, num_leaves: usize) {
        self.trees.truncate(num_leaves);
        self.players.truncate(num_leaves);
        self.hidden.truncate(num_leaves);
        self.packed_planes.truncate(num_leaves * self.num_bit_planes * self.bytes_per_plane);
        self.constant_planes.truncate(num_leaves * self.num_constant_planes);
        self.legal_offsets.truncate(num_leaves + 1);
        self.legal_actions.truncate(self.legal_offsets[num_leaves] as usize);
        self.logit_actions.truncate(self.legal_offsets[num_leaves] as usize);
    }
}

/// The positions of a batch, of which those from `first` on have neither planes nor legal actions yet.
struct Completion<G: Game> {
    game: Arc<G>,
    positions: Vec<Position<G::State>>,
    first: usize,
}

impl<G: Game> Work for Completion<G> {
    type Part = LeafArrays;

    fn part(&self, index: usize) -> LeafArrays {
        let start = self.first + index * LEAVES_PER_PART;
        let end = (start + LEAVES_PER_PART).min(self.positions.len());
        let mut arrays = LeafArrays::new(self.game.spec(), 0);
        arrays.complete(&*self.game, &self.positions[start..end]);
        arrays
    }
}

/// The result of a game of uniformly random legal moves.
fn rollout<G: Game>(
    game: &G,
    mut position: Position<G::State>,
    random: &mut RandomStream,
    actions: &mut Vec<Action>,
    interrupt: &mut InterruptCheck<'_>,
) -> ValueForFirst {
    loop {
        if let Some(outcome) = position.outcome(game) {
            return outcome.result;
        }
        actions.clear();
        game.legal_actions(&position.state, actions);
        position.play(game, actions[random.below(actions.len())]);
        interrupt.count();
    }
}
