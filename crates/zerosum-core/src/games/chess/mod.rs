//! Chess and Chess960, each a game of its own: they differ in the actions, planes and texts of castling, and in their
//! starts. Chess with `rules=chess960` has the rules, starts and texts of Chess960 with the planes and actions of
//! chess.
//!
//! Moves come from the crate `cozy-chess`; repetition, endings, FEN, planes and actions are here.

mod description;
mod encoding;
mod exchange;
mod fen;
mod lc0;
mod notation;
mod pieces;

use cozy_chess::{BitBoard, Board, Color, Piece, Rank, Square, get_pawn_attacks};

use self::encoding::{NUM_ACTIONS, NUM_FLAT_ACTIONS};
use self::pieces::Pieces;
use super::CoreGame;
use super::fide::{self, MAX_HALFMOVES, MAX_REPETITIONS, PIECE_VALUES};
use super::history::{History, MAX_HISTORY};
use super::options::Options;
use super::policy::Policy;
use crate::game::{
    Action, Description, Endings, Game, GameSpec, Notation, Outcome, Planes, PositionKey, PositionKeys, Starts,
    TacticalMove, Tactics, Valuation,
};
use crate::men::{MAX_MEN, Men};
use crate::picture::Picture;
use crate::player::Player;

/// One of the two games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The king castles by moving two squares, from e1 with the rook on a1 or h1.
    Chess,
    /// The king castles by taking its rook, from any square.
    Chess960,
}

/// What a network sees, and where its output has the logits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The planes of the AlphaZero paper; a logit has the number of its action.
    Paper,
    /// The 112 planes of Lc0, and its order of moves.
    Lc0(lc0::Format),
}

/// The number of the usual start among those of Chess960 (Scharnagl's).
const USUAL_START: u32 = 518;

/// The rules.
#[derive(Debug)]
pub struct Chess {
    spec: GameSpec,
    /// The game whose rules are played.
    variant: Variant,
    /// The game whose planes and action indices are used.
    encoding: Variant,
    input: Input,
    policy: Policy,
    history: usize,
    repeats_history: bool,
}

/// A position with its history.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    board: Board,
    /// Plies since a capture or a pawn's move. The board's own count ends at 100.
    halfmoves: u32,
    /// Plies since the game began, as FEN's move number counts them.
    plies: u32,
    history: History<Pieces>,
    /// Kept for planes of Lc0 that need it.
    past: lc0::Past,
}

impl Chess {
    /// The game with these options and the planes and actions of `encoding`. With those of chess the option `rules` chooses
    /// the rules, so that networks of chess can play Chess960.
    ///
    /// # Errors
    /// A sentence, if an option is unknown or its value is not allowed.
    pub fn with_encoding(mut options: Options, encoding: Variant) -> Result<Self, String> {
        let variant = match encoding {
            Variant::Chess if options.choice("rules", &["chess", "chess960"])? == "chess" => Variant::Chess,
            _ => Variant::Chess960,
        };
        let policy = Policy::from_options(&mut options)?;
        let names: Vec<_> = std::iter::once("paper").chain(lc0::Format::NAMES.map(|(name, _)| name)).collect();
        let chosen = options.choice("planes", &names)?;
        let format = lc0::Format::NAMES.into_iter().find(|(name, _)| *name == chosen);
        let input = format.map_or(Input::Paper, |(_, format)| Input::Lc0(format));
        if input != Input::Paper && policy == Policy::Flat {
            return Err("policy=flat has no order of Lc0's moves: leave out policy=flat or planes=lc0".into());
        }
        let (history, repeats_history) = options.history(MAX_HISTORY)?;
        let max_plies = options.max_plies(512)?;
        let (name, planes) = (encoding.name(), encoding::planes(input, encoding, history));
        let spec = policy.spec(name, [NUM_ACTIONS, NUM_FLAT_ACTIONS], 8, planes, max_plies)?;
        let spec = spec.with_options(options.canonical()?);
        Ok(Self { spec, variant, encoding, input, policy, history, repeats_history })
    }

    /// The rules without options.
    pub fn new(variant: Variant) -> Self {
        Self::with_encoding(Options::default(), variant).expect("the defaults are allowed")
    }

    /// A position without its moves.
    fn set_up(&self, board: Board, halfmoves: u32, plies: u32) -> State {
        let is_start = halfmoves == 0 && plies == 0 && self.is_start(&board);
        let older = if is_start || !self.repeats_history { Pieces::default() } else { before_double_push(&board) };
        let past = lc0::Past::before(&board, halfmoves, self.repeats_history);
        State { history: History::new(Pieces::of(&board), key(&board), |_| older), past, board, halfmoves, plies }
    }

    /// True if the planes show one form of symmetric positions, and less of the past.
    fn is_canonical(&self) -> bool {
        matches!(self.input, Input::Lc0(format) if format.is_canonical())
    }

    /// True if a game may begin with this board.
    fn is_start(&self, board: &Board) -> bool {
        match self.variant {
            Variant::Chess => *board == Board::startpos(),
            Variant::Chess960 => is_chess960_start(board),
        }
    }
}

impl CoreGame for Chess {
    fn from_options(options: Options) -> Result<Self, String> {
        Self::with_encoding(options, Variant::Chess)
    }
}

impl Variant {
    fn name(self) -> &'static str {
        match self {
            Self::Chess => "chess",
            Self::Chess960 => "chess960",
        }
    }
}

fn player_of(color: Color) -> Player {
    match color {
        Color::White => Player::First,
        Color::Black => Player::Second,
    }
}

/// The square behind the pawn that has just made a double step, if a capture there is legal.
fn en_passant_square(board: &Board) -> Option<Square> {
    let side = board.side_to_move();
    let square = Square::new(board.en_passant()?, Rank::Sixth.relative_to(side));
    let pawns = get_pawn_attacks(square, !side) & board.colored_pieces(side, Piece::Pawn);
    // Most often there is no pawn beside it, and no moves have to be generated.
    let can_take = !pawns.is_empty() && board.generate_moves_for(pawns, |moves| moves.to.has(square));
    can_take.then_some(square)
}

/// The key for repetition. It depends on pieces, side to move, castling rights and, if a capture is legal, en passant
/// (FIDE Laws, article 9.2.2); the board's own hash depends on every double step.
fn key(board: &Board) -> u64 {
    if en_passant_square(board).is_some() { board.hash() } else { board.hash_without_ep() }
}

/// The position before the pawn's double step that the en passant square implies; without one, the position itself.
fn before_double_push(board: &Board) -> Pieces {
    let Some(file) = board.en_passant() else { return Pieces::of(board) };
    let side = !board.side_to_move();
    let [from, to] = [Rank::Second, Rank::Fourth].map(|rank| Square::new(file, rank.relative_to(side)));
    Pieces::of(board).taken_back(Piece::Pawn, side, from, to)
}

/// True if Black's pieces mirror White's, both sides may castle on both wings, and the back ranks are legal.
fn is_chess960_start(board: &Board) -> bool {
    let side = |color| Piece::ALL.map(|piece| board.colored_pieces(color, piece));
    let (white, black) = (side(Color::White), side(Color::Black));
    let [pawns, knights, bishops, rooks, queens, king] = white;
    let count = |pieces: BitBoard| (pieces & Rank::First.bitboard()).len();
    let may_castle = |color| {
        let rights = board.castle_rights(color);
        rights.short.is_some() && rights.long.is_some()
    };
    board.side_to_move() == Color::White
        && pawns == Rank::Second.bitboard()
        && [knights, bishops, rooks, queens, king].map(count) == [2, 2, 2, 1, 1]
        && count(bishops & BitBoard::DARK_SQUARES) == 1
        && board.occupied().len() == 32
        && white.iter().zip(black).all(|(white, black)| white.flip_ranks() == black)
        && may_castle(Color::White)
        && may_castle(Color::Black)
}

impl Game for Chess {
    type State = State;

    fn spec(&self) -> &GameSpec {
        &self.spec
    }

    fn initial_state(&self) -> State {
        self.start(if self.variant == Variant::Chess { 0 } else { USUAL_START })
    }

    /// The position after a pass; `None` with pawns only, when a pass may be better than any move.
    fn passed(&self, state: &State) -> Option<State> {
        let board = &state.board;
        let officers = board.colors(board.side_to_move()) & !(board.pieces(Piece::Pawn) | board.pieces(Piece::King));
        let board = if officers.is_empty() { None } else { board.null_move() }?;
        let mut passed = state.clone();
        passed.plies += 1;
        passed.halfmoves += 1;
        passed.history.push(Pieces::of(&board), key(&board), MAX_REPETITIONS);
        passed.board = board;
        Some(passed)
    }

    #[inline]
    fn player(&self, state: &State) -> Player {
        player_of(state.board.side_to_move())
    }

    #[inline]
    fn legal_actions(&self, state: &State, actions: &mut Vec<Action>) {
        encoding::legal_actions(&state.board, self.encoding, self.policy, actions);
    }

    #[inline]
    fn is_legal(&self, state: &State, action: Action) -> bool {
        encoding::is_legal(&state.board, self.encoding, self.policy, action)
    }

    #[inline]
    fn play(&self, state: &mut State, action: Action) {
        let State { board, halfmoves, plies, history, past } = state;
        let before = self.is_canonical().then(|| (board.clone(), *history.get(0)));
        let rights = [Color::White, Color::Black].map(|color| *board.castle_rights(color));
        board.play_unchecked(encoding::move_of(board, self.encoding, self.policy, action));
        *plies += 1;
        *halfmoves = if board.halfmove_clock() == 0 { 0 } else { *halfmoves + 1 };
        let is_final =
            *halfmoves == 0 || [Color::White, Color::Black].map(|color| *board.castle_rights(color)) != rights;
        if is_final {
            history.forget_keys();
        }
        if let Some((before, entry)) = before {
            past.push(&before, entry, is_final);
        }
        history.push(Pieces::of(board), key(board), MAX_REPETITIONS);
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        let board = &state.board;
        if !board.generate_moves(|_| true) {
            return Some(fide::outcome_without_move(self.player(state), !board.checkers().is_empty()));
        }
        let pieces = Piece::ALL.map(|piece| board.pieces(piece).0);
        let is_insufficient = fide::is_insufficient_material(pieces, BitBoard::DARK_SQUARES.0);
        fide::soft_draw(is_insufficient, state.history.repetitions(), state.halfmoves)
    }

    #[inline]
    fn encode(&self, state: &State, planes: &mut Planes<'_>) {
        encoding::encode(state, self.input, self.encoding, self.history, planes);
    }

    #[inline]
    fn logit_actions(&self, state: &State, legal: &[Action], places: &mut Vec<Action>) {
        if let Input::Lc0(format) = self.input {
            let form = format.form(&state.board);
            places.extend(legal.iter().map(|action| lc0::place(&state.board, form, self.encoding, *action)));
        }
    }

    fn action_text(&self, state: &State, action: Action) -> String {
        let chosen = encoding::move_of(&state.board, self.encoding, self.policy, action);
        notation::uci(&state.board, self.variant, chosen)
    }

    fn parse_action(&self, state: &State, legal: &[Action], text: &str) -> Option<Action> {
        let moves: Vec<_> =
            legal.iter().map(|action| encoding::move_of(&state.board, self.encoding, self.policy, *action)).collect();
        notation::parse(&state.board, self.variant, &moves, text).map(|index| legal[index])
    }

    fn picture(&self, state: &State) -> Option<Picture> {
        let before = state.history.get(1).item;
        let changed = before.difference(state.history.newest());
        // There is no position before a start.
        let last_move = if before.is_empty() { BitBoard::EMPTY } else { changed };
        let square = |cell: usize| Square::index(cell).flip_rank();
        let piece = |cell| {
            let (kind, color) = (state.board.piece_on(square(cell))?, state.board.color_on(square(cell))?);
            Some((kind as usize, player_of(color)))
        };
        let last_move = (0..64).filter(|cell| last_move.has(square(*cell))).collect();
        Some(super::fen::picture(8, piece, self.player(state), last_move))
    }

    fn description(&self) -> Description {
        description::of(self.encoding)
    }

    fn notation(&self) -> Option<&impl Notation<State>> {
        Some(self)
    }

    fn starts(&self) -> Option<&impl Starts<State>> {
        Some(self)
    }

    fn valuation(&self) -> Option<&impl Valuation<State>> {
        Some(self)
    }

    fn keys(&self) -> Option<&impl PositionKeys<State>> {
        Some(self)
    }

    fn tactics(&self) -> Option<&impl Tactics<State>> {
        Some(self)
    }

    fn endings(&self) -> Option<&impl Endings<State>> {
        Some(self)
    }
}

impl Notation<State> for Chess {
    fn position_text(&self, state: &State) -> String {
        fen::write(state, fen::Castling::Xfen)
    }

    fn parse_position(&self, text: &str) -> Result<State, String> {
        let (board, halfmoves, plies) = fen::parse(text, self.variant)?;
        Ok(self.set_up(board, halfmoves, plies))
    }

    fn position_notations(&self) -> &'static [&'static str] {
        &["shredder-fen"]
    }

    fn position_text_in(&self, state: &State, _notation: &str) -> String {
        fen::write(state, fen::Castling::Shredder)
    }

    fn notations(&self) -> &'static [&'static str] {
        &["san"]
    }

    fn action_text_in(&self, state: &State, action: Action, _notation: &str) -> Option<String> {
        Some(notation::san(&state.board, encoding::move_of(&state.board, self.encoding, self.policy, action)))
    }
}

impl Starts<State> for Chess {
    fn num_starts(&self) -> u32 {
        if self.variant == Variant::Chess { 1 } else { 960 }
    }

    fn start(&self, number: u32) -> State {
        let number = if self.variant == Variant::Chess { USUAL_START } else { number };
        self.set_up(Board::chess960_startpos(number), 0, 0)
    }
}

impl Valuation<State> for Chess {
    #[inline]
    fn material(&self, state: &State) -> f32 {
        let [white, black] = [Color::White, Color::Black].map(|color| state.board.colors(color));
        let counts = Piece::ALL.map(|piece| {
            let pieces = state.board.pieces(piece);
            (pieces & white).len() as f32 - (pieces & black).len() as f32
        });
        counts.iter().zip(PIECE_VALUES).map(|(count, value)| count * value).sum()
    }

    fn piece_values(&self) -> &[f32] {
        &PIECE_VALUES
    }
}

impl PositionKeys<State> for Chess {
    #[inline]
    fn table_key(&self, state: &State) -> PositionKey {
        PositionKey { key: key(&state.board), plies_left: MAX_HALFMOVES.saturating_sub(state.halfmoves) }
    }

    fn position_key(&self, state: &State) -> Option<PositionKey> {
        Some(self.table_key(state))
    }

    fn num_repetitions(&self, state: &State) -> u32 {
        state.history.repetitions().into()
    }
}

impl Tactics<State> for Chess {
    #[inline]
    fn tactical_move(&self, state: &State, action: Action) -> Option<TacticalMove> {
        exchange::tactics(&state.board, encoding::move_of(&state.board, self.encoding, self.policy, action))
    }

    #[inline]
    fn is_check(&self, state: &State) -> bool {
        !state.board.checkers().is_empty()
    }

    #[inline]
    fn exchange(&self, state: &State, action: Action, values: &[i32]) -> Option<i32> {
        let chosen = encoding::move_of(&state.board, self.encoding, self.policy, action);
        Some(exchange::static_exchange(&state.board, chosen, values))
    }
}

impl Endings<State> for Chess {
    #[inline]
    fn men(&self, state: &State) -> Option<Men> {
        let board = &state.board;
        let has_rights = |color| {
            let rights = board.castle_rights(color);
            rights.short.is_some() || rights.long.is_some()
        };
        if board.occupied().len() as usize > MAX_MEN || has_rights(Color::White) || has_rights(Color::Black) {
            return None;
        }
        let side = board.side_to_move();
        let seen = |square: Square| if side == Color::White { square.flip_rank() } else { square } as usize;
        let man = |square| Some((board.piece_on(square)? as usize, board.color_on(square)? != side, seen(square)));
        Men::of(board.occupied().into_iter().filter_map(man), en_passant_square(board).map(seen))
    }

    fn has_syzygy(&self) -> bool {
        true
    }

    #[inline]
    fn syzygy_board<'a>(&self, state: &'a State) -> Option<(&'a Board, u32)> {
        Some((&state.board, state.halfmoves))
    }
}
