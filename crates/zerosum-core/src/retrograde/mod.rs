//! Retrograde analysis of a small game, or of endings with few men: the exact result of each position, and the plies to the end.
//!
//! | module | subject |
//! |---|---|
//! | `graph` | positions and the moves between them, solved from the ends of games backwards |
//!
//! [`crate::men`] has endings: their names, symmetries and positions. Start with [`solve_game`] and [`solve_endings`]. Positions are told apart without counters of moves and repetition; a table's
//! user looks at them ([`ResultTable::plies`]). Where a game goes in circles nobody wins, so it is a draw.

mod graph;

use crate::game::{Action, Endings, Game, Notation, Position, PositionKeys, Starts};
use crate::men::{Ending, Men};
use graph::Graph;

/// Bytes of an entry while tables are put together.
const BYTES_PER_ENTRY: u64 = 26;
/// Ways to place the men of an ending from which the numbers of its positions and moves are estimated.
const SAMPLE: u64 = 2000;

/// How a table knows positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// All positions of a game, by [`PositionKeys::table_key`], a hash.
    Game,
    /// Positions of endings, by [`crate::men::Men::key`].
    Endings,
}

/// The results of positions that are not over.
#[derive(Debug, PartialEq, Eq)]
pub struct ResultTable {
    kind: Keys,
    /// Ascending.
    keys: Vec<u64>,
    /// Plies to the end with best play: positive if the player to move wins, negative if it loses, 0 for a draw.
    plies: Vec<i16>,
}

impl ResultTable {
    /// A table from its two columns.
    ///
    /// # Errors
    /// The rest of a sentence, if they differ in length or the keys do not ascend.
    pub fn new(kind: Keys, keys: Vec<u64>, plies: Vec<i16>) -> Result<Self, String> {
        if keys.len() != plies.len() {
            return Err(format!("there are {} keys and {} results", keys.len(), plies.len()));
        }
        if let Some(place) = keys.windows(2).position(|pair| pair[0] >= pair[1]) {
            return Err(format!("key {} is not above the one before it", place + 1));
        }
        Ok(Self { kind, keys, plies })
    }

    fn of_entries(kind: Keys, mut entries: Vec<(u64, i16)>) -> Self {
        #[expect(clippy::stable_sort_primitive, reason = "it merges sorted runs")]
        entries.sort();
        let (keys, plies) = entries.into_iter().unzip();
        Self { kind, keys, plies }
    }

    /// How positions are known.
    pub fn kind(&self) -> Keys {
        self.kind
    }

    /// The keys, ascending.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// The results, in the order of the keys.
    pub fn results(&self) -> &[i16] {
        &self.plies
    }

    /// Plies to the end with best play from a position that is not over: positive if the player to move wins, negative if it loses, 0
    /// for a draw. `None` if the table does not have the position.
    #[inline]
    pub fn get<G: Game>(&self, game: &G, state: &G::State) -> Option<i16> {
        let key = match self.kind {
            Keys::Game => game.keys()?.table_key(state).key,
            Keys::Endings => men(game, state)?.key(game.spec().board_shape()),
        };
        self.find(key)
    }

    #[inline]
    fn find(&self, key: u64) -> Option<i16> {
        self.keys.binary_search(&key).ok().map(|place| self.plies[place])
    }

    /// As [`Self::get`], but `None` also if a counter of moves or the ply cap may come before the end.
    #[inline]
    pub fn plies<G: Game>(&self, game: &G, position: &Position<G::State>) -> Option<i16> {
        let plies = self.get(game, &position.state)?;
        let left = game.keys()?.table_key(&position.state).plies_left;
        let to_cap = game.spec().max_plies().saturating_sub(position.plies);
        (u32::from(plies.unsigned_abs()) <= left.min(to_cap)).then_some(plies)
    }
}

/// The table of a whole game.
///
/// # Errors
/// The rest of a sentence that begins with the game's name: it has no keys of positions, results between win and draw, or positions
/// that can occur again; or it needs more than `max_bytes`, which shows while its positions are counted.
pub fn solve_game<G: Game>(game: &G, max_bytes: u64, check_interrupt: &dyn Fn()) -> Result<ResultTable, String> {
    let key = |state: &G::State| game.keys().map(|keys| keys.table_key(state).key);
    let mut graph = Graph::new(max_bytes, 0);
    let mut waiting = Vec::new();
    let starts = game.starts().map_or_else(
        || vec![game.initial_state()],
        |starts| (0..starts.num_starts()).map(|number| starts.start(number)).collect(),
    );
    for start in starts {
        let key = key(&start).ok_or("has no keys of positions, by which a table knows them")?;
        if game.outcome(&start).is_none() && graph.add(key).1 {
            waiting.push((key, start));
        }
    }
    while let Some((from, state)) = waiting.pop() {
        graph.expand(game, from, &state, &key, &|_| None, &mut |key, next| waiting.push((key, next)))?;
        graph.check(waiting.len() * size_of::<(u64, G::State)>(), check_interrupt)?;
    }
    graph.go_back(check_interrupt);
    if !graph.are_draws_final() {
        return Err(
            "has positions that can occur again, and then the game so far counts: make tables of its endings".into()
        );
    }
    Ok(ResultTable::of_entries(Keys::Game, graph.into_entries()))
}

/// The table of endings such as `KQvKR` and of all to which they lead, solved one by one from the fewest men on.
///
/// # Errors
/// A sentence: a name is not an ending, the game has no positions with its men, all are drawn, or more than `max_bytes` would be
/// needed, which is told before they are taken.
pub fn solve_endings<G: Game>(
    game: &G,
    names: &[String],
    max_bytes: u64,
    check_interrupt: &dyn Fn(),
) -> Result<ResultTable, String> {
    let board = game.spec().board_shape();
    let mut endings: Vec<Ending> = Vec::new();
    for name in names {
        add_after_next(&mut endings, Ending::parse(name)?);
    }
    require_memory(game, &endings, names, max_bytes)?;
    let mut table = ResultTable::of_entries(Keys::Endings, Vec::new());
    for ending in &endings {
        let key = |state: &G::State| men(game, state).map(|men| men.key(board));
        let known = |key| table.find(key);
        let mut graph = Graph::new(u64::MAX, ending.num_positions(board) as usize);
        let mut waiting: Vec<(u64, G::State)> = Vec::new();
        for (text, from) in ending.positions(board, 1) {
            let Some(state) = open_position(game, &text) else { continue };
            waiting.push((from, state));
            while let Some((from, state)) = waiting.pop() {
                graph.expand(game, from, &state, &key, &known, &mut |key, next| {
                    // All other positions have their turn, as their men are placed.
                    if men(game, &next).is_some_and(|men| men.has_en_passant()) {
                        waiting.push((key, next));
                    }
                })?;
            }
            graph.check(0, check_interrupt)?;
        }
        graph.go_back(check_interrupt);
        let mut entries = graph.into_entries();
        entries.extend(table.keys.iter().copied().zip(table.plies.iter().copied()));
        table = ResultTable::of_entries(Keys::Endings, entries);
    }
    if table.keys.is_empty() {
        let name = game.spec().full_name();
        return Err(format!("{name} has no positions of {}, or all are drawn by its rules", names.join(", ")));
    }
    Ok(table)
}

/// Adds an ending behind all endings to which it leads.
fn add_after_next(endings: &mut Vec<Ending>, ending: Ending) {
    if !endings.contains(&ending) {
        ending.next().into_iter().for_each(|next| add_after_next(endings, next));
        endings.push(ending);
    }
}

fn open_position<G: Game>(game: &G, text: &str) -> Option<G::State> {
    let state = game.notation()?.parse_position(text).ok()?;
    (game.outcome(&state).is_none() && men(game, &state).is_some()).then_some(state)
}

/// The men of a position whose ending can have a table.
#[inline]
fn men<G: Game>(game: &G, state: &G::State) -> Option<Men> {
    game.endings()?.men(state)
}

fn require_memory<G: Game>(game: &G, endings: &[Ending], names: &[String], max_bytes: u64) -> Result<(), String> {
    let board = game.spec().board_shape();
    let (mut most, mut total) = (0, 0);
    for ending in endings {
        let step = (ending.num_positions(board) / SAMPLE) | 1;
        let (mut num_moves, mut number, mut actions): (_, _, Vec<Action>) = (0, 0, Vec::new());
        for state in ending.positions(board, step).filter_map(|(text, _)| open_position(game, &text)) {
            actions.clear();
            game.legal_actions(&state, &mut actions);
            num_moves += actions.len() as u64;
            number += 1;
        }
        // A sample errs by a few per cent.
        most = most.max(graph::num_bytes(number * step, num_moves * step) * 11 / 10);
        total += number * step;
    }
    let bytes = most + total * BYTES_PER_ENTRY;
    if bytes <= max_bytes {
        return Ok(());
    }
    let (needed, allowed) = (bytes.div_ceil(1 << 20), max_bytes >> 20);
    let with = endings.len() - 1;
    Err(format!(
        "{} with the {with} endings below may need {needed} MiB, and {allowed} MiB are allowed",
        names.join(", ")
    ))
}
