"""The Rust core: rules, encodings and tree search. `zerosum.games` and `zerosum.search` are the doors to it.

Perspectives: a `value` is in [-1, 1] for the player to move at its position; an `outcome` is in [-1, 1] for the first
player (player 0). Actions are integers in [0, num_actions).
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from zerosum.search import SearchConfig

__all__ = [
    "CENTIPAWNS_PER_LOGIT",
    "DEEPENING_PARTS",
    "MAX_ALPHA_BETA_DEPTH",
    "MIN_TREE_KIB",
    "UNLIMITED_SIMULATIONS",
    "AlphaBeta",
    "DeepeningSearch",
    "Description",
    "Game",
    "GameSpec",
    "GamesInFlight",
    "Iteration",
    "Leaves",
    "LinearEvaluation",
    "OptionSpec",
    "Picture",
    "PlaneSpec",
    "PlayedMoves",
    "ResultTable",
    "Root",
    "Search",
    "State",
    "Syzygy",
    "TreeErrors",
    "UpdatableNetwork",
    "__version__",
    "core_game_names",
    "dirichlet_noise",
    "gumbel_noise",
    "has_int8_products",
    "ply_columns",
    "ply_entries",
    "round_prior",
    "uniform",
]

__version__: str
MIN_TREE_KIB: int
"""Minimum memory per tree, in KiB."""
UNLIMITED_SIMULATIONS: int
"""Maximum number of simulations of a tree; the budget of a search that a clock or a person ends."""
MAX_ALPHA_BETA_DEPTH: int
"""Maximum depth of `Game.alpha_beta`, in plies."""
CENTIPAWNS_PER_LOGIT: int
"""Centipawns of an alpha-beta search for one of the logit of the expected result."""
DEEPENING_PARTS: list[str]
"""Names of the parts of a `DeepeningSearch` that can be switched off."""

def core_game_names() -> list[str]:
    """Names of the games in the core, as `Game(name)` takes them; each may have its options in brackets behind it."""

def has_int8_products() -> bool:
    """True if this CPU has instructions for sums of 8-bit products (AVX512-VNNI, AVX-VNNI); false if unknown."""

def uniform(seed: int, game: int, ply: int, purpose: str) -> float:
    """A number in [0, 1), a pure function of its arguments: the counter-based generator behind every draw.

    `purpose` is any short text ("move", "opening", ...): different purposes give independent draws.
    """

def ply_columns(plies: Sequence[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int64]]:
    """A game's packed plies as columns: rows of `PLY` and of `TARGET` as bytes, the offsets of the plies' targets.

    Raises ValueError if a ply is missing or too short.
    """

def ply_entries(magic: bytes, kind: int, plies: Sequence[bytes]) -> bytes:
    """The journal's entries of packed plies, one after the other, with its `magic` and the `kind` of a ply."""

def dirichlet_noise(seed: int, game: int, ply: int, alpha: float, size: int) -> NDArray[np.float32]:
    """Dir(alpha) of `size` entries that sum to 1: the root noise that a search keyed (seed, game, ply) mixes in."""

def gumbel_noise(seed: int, game: int, ply: int, size: int) -> NDArray[np.float32]:
    """`size` standard Gumbel numbers: the noise of a Gumbel root in a search keyed (seed, game, ply)."""

def round_prior(priors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Priors as the tree keeps them below the root: float32 rounded to nearest even at 16 bits. Shape kept."""

@final
class PlaneSpec:
    """One input plane of a game's encoding."""

    @property
    def name(self) -> str: ...
    @property
    def is_constant(self) -> bool:
        """True if the plane holds one number everywhere; else it holds zeros and ones."""

@final
class OptionSpec:
    """One option that a game has."""

    @property
    def name(self) -> str: ...
    @property
    def default(self) -> str:
        """The value if none is given."""
    @property
    def expected(self) -> str:
        """The allowed values, in words."""

@final
class GameSpec:
    """A game's description besides its rules. Two games with equal `encoder_id` share networks."""

    @property
    def name(self) -> str:
        """The name without options."""
    @property
    def options(self) -> str:
        """Options with other values than their defaults, `size=9, komi=5.5`; "" if there are none."""
    @property
    def known_options(self) -> list[OptionSpec]:
        """All options that the game has."""
    @property
    def full_name(self) -> str:
        """Name and options as commands take them: `go(size=9, komi=5.5)`."""
    @property
    def version(self) -> int:
        """Increased with every change of the rules, the action indices or the planes."""
    @property
    def num_actions(self) -> int: ...
    @property
    def board_shape(self) -> tuple[int, int]:
        """(height, width) of every plane."""
    @property
    def planes(self) -> list[PlaneSpec]:
        """The input planes in channel order."""
    @property
    def max_plies(self) -> int:
        """Plies after which a game ends: a draw, or the result that the rules give its last position."""
    @property
    def symmetries(self) -> list[list[int]]:
        """Permutations of the actions, the identity left out: with its actions permuted, a game is the same game.

        Action `a` of a game is action `permutation[a]` of its image.
        """
    @property
    def has_action_planes(self) -> bool:
        """True if actions are planes of squares, plane * H * W + square as planes are oriented, and a few beyond.

        A network may then answer by a convolution (`network.policy_head` = "planes").
        """
    @property
    def encoder_id(self) -> str:
        """The encoding's name: a hash of game, version, plane list, board shape and number of actions."""

@final
class Description:
    """The documentation of a game, a paragraph in each attribute."""

    @property
    def board(self) -> str:
        """The board and the pieces."""
    @property
    def rules(self) -> str:
        """The rules, with every choice in which federations differ."""
    @property
    def planes(self) -> str:
        """The planes: orientation, history, scale of the counts."""
    @property
    def actions(self) -> str:
        """The numbering of actions and how people write them."""
    @property
    def material(self) -> str:
        """The count behind `Game.material`; "" if it is always 0."""

@final
class Picture:
    """A position for a drawing program. A game of one's own may return one from `picture(state)`."""

    def __new__(
        cls,
        grid: str,
        cells: Sequence[tuple[int, str, str] | None],
        column_labels: Sequence[str],
        row_labels: Sequence[str],
        last_move: Sequence[int] = ...,
        captions: Sequence[str] = ...,
    ) -> Picture:
        """A position; arguments are as the properties below. Raises GameError if they do not fit together."""
    @property
    def grid(self) -> str:
        """Kind of cells: "chequered", "squares", "points" or "hexagons" (each row half a cell further right)."""
    @property
    def cells(self) -> list[tuple[int, str, str] | None]:
        """Row by row from the top left: None, or (owner, text, glyph); a stone's glyph is empty."""
    @property
    def column_labels(self) -> list[str]:
        """Column labels from the left."""
    @property
    def row_labels(self) -> list[str]:
        """Row labels from the top; empty texts if people do not number the rows."""
    @property
    def last_move(self) -> list[int]:
        """Cells of the last move."""
    @property
    def captions(self) -> list[str]:
        """Lines of text below the board."""

@final
class LinearEvaluation:
    """A weighted sum of a game's planes as the player to move sees them, for `Game.alpha_beta`.

    `squares` [bit planes * H * W] has a weight for each square of each bit plane, `numbers` [constant planes] one for
    the number of each constant plane; the sum begins at `bias`. It is in units of its own, positive for the player to
    move.

    Raises GameError if the game has no bit planes, a number of weights is not the game's, or a weight is not finite.
    """

    def __new__(
        cls, game: Game, squares: NDArray[np.float32], numbers: NDArray[np.float32], *, bias: float = 0.0
    ) -> LinearEvaluation: ...

@final
class UpdatableNetwork:
    """An efficiently updatable network as a search evaluates it: in whole numbers.

    A feature is a square of a bit plane or a step of a constant plane's number. For each bit plane `bits` has the
    number of its first square's feature in the view of the player to move and in the other side's view, or -1 twice if
    it has none; `turned` has each square's place in the other side's view. For each constant plane `numbers` has the
    same two features of its first step, the number of steps and the count that the plane's number 1 stands for.
    Weights are `input` [features * units], `input_bias` [units], `output` [2 * units] and `output_bias`. For each line
    of squares `lines` has its squares, the first feature of its contents in the view of the player to move and in the
    other side's view, and whether that side reads it in the opposite order; `line_weights` are [line features * units].

    Raises GameError if a number of planes, features or weights is not the game's, or a weight is out of range.
    """

    def __new__(
        cls,
        game: Game,
        bits: Sequence[tuple[int, int]],
        numbers: Sequence[tuple[int, int, int, float]],
        turned: Sequence[int],
        num_features: int,
        *,
        input: NDArray[np.float32],
        input_bias: NDArray[np.float32],
        output: NDArray[np.float32],
        output_bias: float,
        lines: Sequence[tuple[Sequence[int], int, int, bool]] | None = None,
        line_weights: NDArray[np.float32] | None = None,
    ) -> UpdatableNetwork: ...
    def evaluations(self, leaves: Leaves) -> NDArray[np.int32]:
        """The evaluation of each position for its player to move, in centipawns: 400 are one of the logit.

        Raises GameError if the network is of another game.
        """

@final
class Iteration:
    """What an iteration of a `DeepeningSearch` has found; `value` is for the player to move."""

    @property
    def depth(self) -> int:
        """Depth in plies."""
    @property
    def line(self) -> list[int]:
        """The best line, at least one move."""
    @property
    def value(self) -> int:
        """The value in centipawns; of results only the order counts."""
    @property
    def plies_to_end(self) -> int | None:
        """Plies to a decided end on the best line: positive for a win, negative for a loss, None for neither."""
    @property
    def num_nodes(self) -> int:
        """Positions visited since `begin`."""
    @property
    def is_complete(self) -> bool:
        """Whether the iteration was finished; the line of one that was not is the best so far."""
    @property
    def is_quiet(self) -> bool:
        """Whether the player to move is not in check and the best move is neither a capture nor a promotion."""

@final
class DeepeningSearch:
    """An alpha-beta search that is deepened a ply at a time: `begin`, then `deepen` until the answer is good enough.

    The evaluation is a `LinearEvaluation`, an `UpdatableNetwork`, a function that returns the expected result of one
    position (leaves of size 1) for its player to move, or, without one, `Game.material`. `parts` names the parts of the
    search that are switched on (`DEEPENING_PARTS`), all if it is None. `piece_values` are in centipawns, in the order
    of the planes; they order captures. `table_entries` bounds the transposition table, 24 bytes each. With
    `disturbance` each position's evaluation is off by a fixed, normally distributed amount in the expected result with
    this standard deviation, a function of position and `seed`. `syzygy` and `results` are tables as those of `Search`.
    Equal calls since `clear` have equal answers. Calls from
    several threads wait for one another, except `stop`.

    Raises GameError if the evaluation or a table is of another game, or a part is unknown.
    """

    def __new__(
        cls,
        game: Game,
        evaluation: LinearEvaluation | UpdatableNetwork | Callable[[Leaves], float] | None = None,
        *,
        parts: Sequence[str] | None = None,
        piece_values: Sequence[int] | None = None,
        table_entries: int = 1048576,
        disturbance: float = 0.0,
        seed: int = 0,
        syzygy: Syzygy | None = None,
        results: Sequence[ResultTable] = ...,
    ) -> DeepeningSearch: ...
    @property
    def num_table_hits(self) -> int:
        """Number of positions whose result tables knew."""
    def begin(self, state: State, allowed: Sequence[int] | None = None) -> None:
        """Take a position as the root, with all legal moves or those of `allowed`. Soft endings end the game below it.

        Raises GameError if no move is left, ValueError if the state is of another game.
        """
    def deepen(self, *, nodes: int | None = None, seconds: float | None = None) -> Iteration | None:
        """Search the root a ply deeper, until `nodes` positions were visited since `begin` or `seconds` have passed.

        None if it was stopped before a move was searched, or the largest depth is reached.
        """
    def think(
        self,
        state: State,
        *,
        nodes: int | None = None,
        seconds: float | None = None,
        depth: int | None = None,
        allowed: Sequence[int] | None = None,
    ) -> Iteration | None:
        """Begin at a position and deepen until a limit is reached or the result is certain, at least by a ply.

        None if it was stopped before a move was searched. Raises as `begin`.
        """
    def stop(self) -> None:
        """End the iteration under way, from another thread; the next `begin` takes it back."""
    def hold(self) -> None:
        """Let a call in another thread stand still, within about a thousand positions, until `release` or `stop`.

        What it finds is the same as without.
        """
    def release(self) -> None:
        """Let a call that is held go on."""
    def clear(self) -> None:
        """Forget all positions."""

@final
class AlphaBeta:
    """The result of an alpha-beta search; `result`, `delay` and `evaluation` are for the player to move.

    One position is better than another if its `result` is greater; if that is the same, its `delay`; then its
    `evaluation`.
    """

    @property
    def action(self) -> int:
        """The best move."""
    @property
    def result(self) -> float:
        """In [-1, 1]; 0 if the game is drawn or goes on beyond the depth."""
    @property
    def delay(self) -> int:
        """Plies until a win, negative, or until a loss; 0 if `result` is 0."""
    @property
    def evaluation(self) -> float:
        """The search's evaluation at the full depth, for the player to move; 0 if the game ends earlier."""
    @property
    def num_nodes(self) -> int:
        """Number of moves tried."""

@final
class TreeErrors:
    """What the inner nodes of an alpha-beta search say of its evaluation (`Game.tree_errors`).

    The error of a node is its search value less its evaluation, both as an expected result (1 + result) / 2: an
    evaluation is a logit of it. `squares` [bit planes * H * W], `numbers` [constant planes] and `bias` are sums over
    the nodes of the error times what a `LinearEvaluation`'s weights are multiplied with: the steepest way down of the
    evaluations' cross-entropy.
    """

    @property
    def action(self) -> int:
        """The best move."""
    @property
    def num_nodes(self) -> int:
        """Number of moves tried."""
    @property
    def num_wrong(self) -> int:
        """Number of nodes in the sums."""
    @property
    def squares(self) -> NDArray[np.float64]: ...
    @property
    def numbers(self) -> NDArray[np.float64]: ...
    @property
    def bias(self) -> float: ...

@final
class State:
    """An immutable position with the history its rules need. Made by `Game.initial_state` and `Game.play`.

    Games of the same name, version, board and numbering of actions share their states: options such as komi may differ.
    Any other game, and a search of one, refuses the state with a ValueError that names both.

    States are equal if their games have the same name, options and encoding, and their positions, plies and whatever
    history rules and planes need are equal; states of a Python game compare as the user's states do. Equal states have
    equal hashes. A pickle holds the game, the start and the moves.
    """

    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
    def _repr_svg_(self) -> str:
        """The board as the text of an SVG file, which notebooks show."""
    @property
    def plies(self) -> int:
        """Moves made since the initial state."""

@final
class Game:
    """The rules of one game. A user's Python game, adopted by `adopt`, is seen through the same methods."""

    def __new__(cls, name: str) -> Game:
        """A game of the core with its options, `go(size=9)`. Raises GameError for an unknown name or option."""
    @staticmethod
    def adopt(
        game: object,
        name: str,
        version: int,
        num_actions: int,
        board_shape: tuple[int, int],
        planes: Sequence[tuple[str, bool]],
        max_plies: int,
        symmetries: Sequence[Sequence[int]],
        has_action_planes: bool,
        *,
        source: str | None = None,
    ) -> Game:
        """See a Python object that keeps the `zerosum.games.Game` protocol as a game of the core.

        `planes` is (name, is_constant) in channel order. `source` is the name that makes the game again where a pickle
        is read; None puts the object itself into the pickle.
        """
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
    @property
    def spec(self) -> GameSpec: ...
    @property
    def is_python(self) -> bool:
        """True if the rules are Python: then only one thread at a time can search."""
    def initial_state(self) -> State: ...
    @property
    def num_starts(self) -> int:
        """Number of positions that a game may begin with (960 in Chess960); the initial state is one of them."""
    def start(self, number: int) -> State:
        """The start with this number. Raises GameError if there is none."""
    def parse_position(self, text: str) -> State:
        """Read a position as people write it (FEN, SFEN, rows of stones); its `plies` is 0.

        Raises GameError, with the wrong token, if the text cannot be read or the game has no notation for positions.
        """
    def position_text(self, state: State, notation: str | None = None) -> str | None:
        """The position as people write it; None if the game has no notation for positions.

        `notation` is one of `position_notations`; None is the game's own. Raises GameError if it is unknown.
        """
    @property
    def position_notations(self) -> list[str]:
        """Names of notations, besides the game's own, that `position_text` can write."""
    def num_repetitions(self, state: State) -> int:
        """Number of earlier occurrences of the position in its game, counted as far as the rules need it."""
    def player(self, state: State) -> int:
        """The player to move: 0 (first) or 1 (second)."""
    def legal_actions(self, state: State, *, past_soft_endings: bool = False) -> list[int]:
        """Legal actions, ascending; empty if and only if the game is over.

        `past_soft_endings` adds the moves that are left when the rules stop a game that could go on.
        """
    def play(self, state: State, action: int) -> State:
        """The position after `action`, also past a soft ending. Raises GameError if the action is illegal."""
    def outcome(self, state: State) -> float | None:
        """The first player's result in [-1, 1], or None while the game goes on."""
    def ending(self, state: State) -> str | None:
        """The ending in the words of the game's federation ("four in a row"), or None while the game goes on."""
    def is_soft_ending(self, state: State) -> bool:
        """True if the game is over although a legal move is left: repetition, fifty moves, two passes, the ply cap."""
    def score(self, state: State) -> float | None:
        """The first player's margin in points if the game ended here, komi included; None in other games."""
    def ownership(self, state: State, num_games: int, seed: int) -> NDArray[np.float32] | None:
        """[squares] in [-1, 1]: share of random games in which the first player owns a square, less the second's share.

        `num_games` random games (0 to 2^32 - 1) are played from the state; in Go they keep eyes. None if squares have
        no owners.
        """
    def material(self, state: State) -> float:
        """A plain count of pieces, discs or area, the first player's less the second's; 0 if the game has none."""
    def draw_opening(self, state: State, num_plies: int, seed: int, game_id: int) -> tuple[State, list[bytes]]:
        """Begin a game with up to `num_plies` random moves: the state after them, and the moves, packed.

        Each is drawn uniformly among the moves that do not end the game; there are fewer if all would. The key of the
        draws is (seed, game_id, number of the move).
        """
    def alpha_beta(
        self,
        state: State,
        *,
        depth: int,
        seed: int,
        game: int = 0,
        evaluation: LinearEvaluation | None = None,
        noise: float = 0.0,
    ) -> AlphaBeta:
        """The best move by looking `depth` plies ahead (1 to MAX_ALPHA_BETA_DEPTH), with an evaluation there.

        Without an `evaluation` it is `Game.material`. Equally good moves are ordered by their evaluation at once, then
        by a draw keyed (seed, game, plies). With `noise` each move's evaluation is first raised by a random number
        below it, in units of the evaluation.
        Raises GameError if the depth is out of range, the game is over or the evaluation is of another encoding.
        """
    def tree_errors(
        self, state: State, *, depth: int, seed: int, game: int = 0, evaluation: LinearEvaluation
    ) -> TreeErrors:
        """The best move as by `alpha_beta` with this evaluation, and the errors of the evaluation in the search's tree.

        The tree's nodes are the positions that are neither over nor at the full depth. Where the search has only a
        bound on a node's value, its evaluation is wrong if it is beyond the bound. Raises as `alpha_beta`.
        """
    def planes(self, state: State) -> NDArray[np.float32]:
        """[C, H, W], seen from the player to move."""
    @property
    def notations(self) -> list[str]:
        """Names of notations, besides the game's own, that `action_text` can write."""
    def action_text(self, state: State, action: int, notation: str | None = None) -> str:
        """A legal action as people write it, in the game's own notation or one of `notations`.

        Raises GameError if the action is illegal or the notation unknown.
        """
    def parse_action(self, state: State, text: str) -> int | None:
        """The legal action that a text means in any of the game's notations, also past a soft ending.

        None if no action or more than one is written so.
        """
    @property
    def description(self) -> Description:
        """The documentation of the game."""
    def draw(self, state: State) -> str:
        """The board as text, several lines."""
    def picture(self, state: State) -> Picture | None:
        """The board for a drawing program; None if there is only its text."""
    def perft(self, state: State, depth: int) -> int:
        """Number of lines of play of `depth` plies, 0 to 255; lines that end earlier do not count.

        Ctrl-C ends it, as it ends every long call here.

        Raises:
            GameError: `depth` is out of range.
        """
    def random_plies(self, num_plies: int, seed: int) -> int:
        """Play `num_plies` plies of random games as a search does: copy, move, outcome, legal moves. For timing.

        The answer is the sum of the numbers of legal moves.
        """
    def encode_again(self, states: Sequence[State], times: int) -> None:
        """Write the planes of all positions `times` times. For timing."""
    def encode(self, states: Sequence[State]) -> Leaves:
        """Positions as an evaluator takes them, outside any search (`ticket` is None)."""
    def encode_plies(
        self,
        actions: NDArray[np.uint16],
        offsets: NDArray[np.int64],
        games: NDArray[np.int64],
        plies: NDArray[np.int64],
        *,
        starts: Sequence[State | None] | None = None,
    ) -> Leaves:
        """Positions of recorded games: N samples, the i-th after `plies[i]` moves of game `games[i]`.

        Game g's moves are `actions[offsets[g]:offsets[g + 1]]`, played from `starts[g]`, or from the initial state
        where that is None or missing. `ticket` is None.
        Raises GameError if there is no such ply or a recorded move is illegal.
        """

@final
class Leaves:
    """B positions that `Search.gather` wants evaluated. Frozen."""

    def __len__(self) -> int:
        """B."""
    @property
    def ticket(self) -> int | None:
        """The key of these leaves for `Search.apply`; None if no search waits for them."""
    @property
    def memory(self) -> dict[Any, Any] | None:
        """A dictionary of the search that asked, for an evaluator's hidden states; None outside a search."""
    @property
    def budget_spent(self) -> bool:
        """True if `Search.gather` stopped because its budget was spent: it may be called again at once.

        An empty batch means that nothing is left to ask about (False) or that nothing was found so far (True).
        """
    @property
    def trees(self) -> NDArray[np.uint32]:
        """[B], the tree of the search that asked."""
    @property
    def players(self) -> NDArray[np.uint8]:
        """[B], the player to move (0 or 1)."""
    @property
    def packed_planes(self) -> NDArray[np.uint8]:
        """[B, number of bit planes, ceil(H*W/8)], bit i%8 (little endian) of byte i//8 is square i, row by row."""
    @property
    def constant_planes(self) -> NDArray[np.float32]:
        """[B, number of constant planes], one number a plane."""
    @property
    def legal_actions(self) -> NDArray[np.uint16]:
        """[sum L], the legal actions of each position, ascending, one position after the other."""
    @property
    def logit_actions(self) -> NDArray[np.uint16]:
        """[sum L], the place of each legal action's logit in a network's row: `legal_actions`, but for `planes=lc0`."""
    @property
    def legal_offsets(self) -> NDArray[np.int64]:
        """[B + 1], position b's are legal_actions[legal_offsets[b]:legal_offsets[b + 1]]."""
    def hidden(self) -> tuple[NDArray[np.uint32], NDArray[np.uint16], NDArray[np.uint32]] | None:
        """The hidden states of leaves whose search has learned rules; None where the rules are known.

        Three arrays [B]: the slot of the hidden state that a leaf starts from, 0 for a root, whose position is in the
        planes; the move from there, by the place of its logit; and the slot of the hidden state to come.
        """
    def planes(self) -> NDArray[np.float32]:
        """[B, C, H, W], expanded, in channel order."""
    def write_planes(self, out: NDArray[np.float32]) -> None:
        """Expand into the first B rows of a C-contiguous `out` [>= B, C, H, W]; further rows stay as they are."""
    def write_input(
        self,
        start: int,
        stop: int,
        *,
        bits: NDArray[np.uint8],
        numbers: NDArray[np.float32],
        places: NDArray[np.int32],
        place_of_action: NDArray[np.int32],
        row_width: int,
    ) -> None:
        """Write what a device reads of the positions start to stop, without their planes being expanded.

        Into `bits` their `packed_planes`, into `numbers` their `constant_planes` and into `places` [>= number of legal
        actions] where a network's output has the logit of each legal action: for action a of the b-th position,
        b * row_width + place_of_action[a]. All arrays are flat, and written from their beginnings. The interpreter lock
        is released meanwhile.

        Raises ValueError if an array is too short or a place does not fit 32 bits.
        """
    def select_legal(self, logits: NDArray[np.float32]) -> NDArray[np.float32]:
        """The logits of the legal actions, [sum L], from C-contiguous logits [>= B, num_actions]."""
    def legal_mask(self) -> NDArray[np.bool_]:
        """[B, num_actions], True where a network has the logit of a legal action."""
    def rollout_values(self, num_rollouts: int, seed: int) -> NDArray[np.float32]:
        """[B], the mean result for the player to move of uniformly random games from each position."""
    def disturbances(self, seed: int) -> NDArray[np.float32]:
        """[B], for each position a standard normal number that is a function of position and seed.

        A `DeepeningSearch` with a `disturbance` adds the same numbers, times the disturbance.
        """
    def material(self) -> NDArray[np.float32]:
        """[B], `Game.material` for the player to move."""
    def owners_after(self, actions: NDArray[np.uint16], offsets: NDArray[np.int64]) -> NDArray[np.int8] | None:
        """[B, squares], the owner of each square after some moves from each position; None if squares have no owners.

        It is 1 for the position's player to move, -1 for the other and 0 for neither; squares are in the order of the
        planes. The moves from position i are actions[offsets[i]:offsets[i + 1]], to the end of a game.

        Raises GameError if a move is illegal or the offsets do not fit.
        """

@final
class GamesInFlight:
    """The games of self-play at the trees of a search, whose moves it plays. `zerosum.selfplay.worker` makes one.

    `settings` is (seed, temperature, temperature_plies, has_noise, reuse_tree). A `next` is
    (num_simulations, fast_simulations, full_search_share, network_step): what the searches that begin now are given.
    """

    def __new__(cls, search: Search, settings: tuple[int, float, int, bool, bool]) -> GamesInFlight: ...
    def start(self, tree: int, game_id: int, num_opening_plies: int, next: tuple[int, int, float, int]) -> None:
        """Begin the first search of a game, from the state at a tree's root."""
    def play(
        self,
        first_tree: int,
        next: tuple[int, int, float, int],
        *,
        resigning: tuple[float | None, float] | None = None,
    ) -> PlayedMoves:
        """Make the moves of finished searches, from a tree on in order, and begin the next searches.

        `resigning` is (threshold, share of games that are played out), the threshold None while nobody resigns. With it
        the call returns after the first game that ends.
        """

@final
class PlayedMoves:
    """What finished searches have decided, in the order of trees."""

    @property
    def game_ids(self) -> list[int]:
        """The game of each move."""
    @property
    def plies(self) -> list[bytes]:
        """The moves, packed."""
    @property
    def ended(self) -> list[tuple[int, float, str | None]]:
        """(tree, first player's result, ending) of each game that ended; the ending is None for a resignation."""
    @property
    def num_simulations(self) -> int:
        """Simulations of the finished searches, without reused ones."""
    @property
    def num_short(self) -> int:
        """Searches that ended early because their trees were full."""
    @property
    def next_tree(self) -> int:
        """The first tree that was not looked at; the number of trees if all were."""

@final
class Syzygy:
    """Tables of chess endings, for `Search` and to be asked. `zerosum.search.syzygy.open_syzygy` opens them."""

    def __new__(cls, folders: Sequence[Path]) -> Syzygy: ...
    @property
    def num_files(self) -> int:
        """Number of files."""
    @property
    def max_men(self) -> int:
        """Men of the largest ending, the kings included."""
    @property
    def endings(self) -> list[tuple[str, bool, bool]]:
        """The endings, sorted by name, each with whether its tables of results and of distances are there."""
    def wdl(self, game: Game, state: State) -> int | None:
        """The result of a position of `game` for the player to move, just after a capture or a pawn's move.

        2 is a win, 1 a win that the fifty-move rule makes a draw, 0 a draw, -1 and -2 losses. None if no table has the
        position: there are too many men, castling is possible, or it is of another game.
        """
    def dtz(self, game: Game, state: State) -> int | None:
        """Plies to the next capture or pawn's move with the result kept: above 0 for a win of the player to move.

        Beyond 100 the fifty-move rule makes it a draw; 0 is a draw. It may be wrong by one ply, but not where the rule
        decides. None as for `wdl`, or if the table of distances is missing.
        """

@final
class ResultTable:
    """Exact results of a small game, or of endings with few men, by retrograde analysis: for `Search`, and to be asked.

    `zerosum.search.result_tables` makes, writes and reads them.
    """

    def __new__(cls, keys: NDArray[np.uint64], plies: NDArray[np.int16], *, is_of_endings: bool) -> ResultTable: ...
    @staticmethod
    def solve(game: Game, *, endings: Sequence[str], max_bytes: int) -> ResultTable:
        """The results of all positions of `game` or, with names such as KQvKR, of endings and of all they lead to.

        Raises ValueError with a sentence if more than `max_bytes` would be needed, or the game has no such table.
        """
    def __len__(self) -> int: ...
    @property
    def is_of_endings(self) -> bool:
        """Whether the positions are those of endings, and not those of a whole game."""
    @property
    def keys(self) -> NDArray[np.uint64]:
        """The positions' numbers [N], ascending."""
    @property
    def plies(self) -> NDArray[np.int16]:
        """Plies to the end [N]: above 0 if the player to move wins, below if it loses, 0 for a draw."""
    def get(self, game: Game, state: State) -> int | None:
        """Plies to the end of a position of `game` with best play: above 0 if the player to move wins, 0 for a draw.

        Counters of moves and repetition do not count. None if the table does not have the position: it is over, or of
        another kind.
        """

@final
class Search:
    """Searches of many positions of one game side by side. `zerosum.search.new_search` makes one from a `SearchConfig`.

    Each tree runs `reset` or `advance`, then `begin`; all trees share `gather` and `apply`. Calls from several
    threads wait for one another. After an exception of a Python game the search refuses further calls with a
    RuntimeError that says what ended it.
    """

    def __new__(
        cls,
        game: Game,
        config: SearchConfig,
        num_trees: int,
        *,
        noise_alpha: float,
        syzygy: Syzygy | None = None,
        results: Sequence[ResultTable] = ...,
    ) -> Search: ...
    @property
    def game(self) -> Game: ...
    @property
    def num_trees(self) -> int: ...
    @property
    def num_bytes(self) -> int:
        """Bytes of the trees and the cache."""
    @property
    def num_leaves(self) -> int:
        """Number of leaves handed out; none is handed out twice, however many are in flight."""
    @property
    def num_collisions(self) -> int:
        """Number of simulations that met a leaf in flight and were put off; the next ones go elsewhere."""
    @property
    def num_table_hits(self) -> int:
        """Number of positions that tables have settled."""
    def reset(self, tree: int, state: State) -> None:
        """Put a position at the tree's root and forget the tree's contents."""
    def advance(self, tree: int, action: int, *, keep: bool) -> None:
        """Make a legal move at the root; with `keep` the subtree below it stays."""
    def begin(self, tree: int, num_simulations: int, *, noise: tuple[int, int, int] | None = None) -> None:
        """Begin a search of the root; `noise` is (seed, game, ply), the key of its Dirichlet or Gumbel noise.

        Raises ValueError if `num_simulations` is not in 0 to `UNLIMITED_SIMULATIONS`.
        """
    def gather(self, max_leaves: int, *, max_settled: int | None = None) -> Leaves:
        """Run simulations until `max_leaves` positions wait for an evaluation, or no tree finds another one.

        Simulations that end in a settled position (end of a game, proof, cached evaluation) need none; there may
        be millions of them. A tree waits for the next call once they have walked through `max_settled` of its nodes, by
        default a few milliseconds.
        """
    def apply(
        self,
        ticket: int,
        logits: NDArray[np.float32],
        values: NDArray[np.float32],
        *,
        draw_shares: NDArray[np.float32] | None = None,
    ) -> None:
        """Back up the evaluations of the leaves with this ticket.

        `logits` [sum L], one for each legal action; `values` [B] in [-1, 1] for the player to move; `draw_shares` [B],
        probabilities of a draw.
        The arrays are read before the interpreter lock is released: other threads may overwrite them then.
        """
    def clear_cache(self) -> None:
        """Empty the evaluation cache: call this when the network changes.

        Evaluations in flight are not kept either.
        """
    def finished(self) -> NDArray[np.uint32]:
        """The trees whose search is over, ascending."""
    def root(self, tree: int) -> Root:
        """The result of the tree's search so far."""
    def best_line(self, tree: int, first: int | None = None) -> list[int]:
        """The tree's line of best play as far as it was searched, from the best move or from `first`."""
    def most_visited(self, tree: int, count: int) -> list[tuple[int, int, int, float]]:
        """The `count` most visited nodes of the tree, the root first, each after its parent.

        A node is (place of its parent in the list, move, visits, value for the first player); the root names itself and
        the move 0. Raises ValueError if the rules are learned: nothing below the root is a position then.
        """
    def restrict(self, tree: int, actions: Sequence[int]) -> None:
        """Restrict search and play to these legal moves of the root; an empty list allows all.

        The search ends once the best of them is proven. The restriction ends when the root changes, and may change with
        leaves in flight. A Gumbel root ignores it.
        """
    def favour(self, tree: int, actions: Sequence[int]) -> None:
        """Make simulations begin with these legal moves of the root; an empty list ends this.

        The search goes on until all of them that are allowed are proven, even if the root is proven before. The favour
        ends when the root changes, and may change with leaves in flight. A Gumbel root ignores it.
        """
    def prove(self, tree: int, max_nodes: int, *, max_edges: int = 0) -> int:
        """Search for forced results of the root beside the tree, through about `max_nodes` positions.

        Each call goes on where the last one ended. Results become exact bounds of the root's moves once a
        simulation was made, and end the search. A forced win is played by the shortest line known. Without exact
        bounds in the settings they change nothing but `forced`. A game in Python searches through a sixteenth of
        `max_nodes`. With `max_edges` a table of all positions that can be reached grows by up to so many moves, if
        there are few. Returns the number of positions of this call, without those of the table: 0 if nothing is
        left to search.
        """
    def builds_table(self, tree: int) -> bool:
        """Whether `prove` builds a table of all positions that can be reached from the root, which may be small."""
    def forced(self, tree: int) -> tuple[int, list[int]] | None:
        """The forced result of the root that `prove` has found, with its line to the end of the game; None if unknown.

        The result is 1 for a win of the player to move and -1 for a loss.
        """
    def state(self, tree: int) -> State:
        """The position at the tree's root."""

@final
class Root:
    """Statistics of a searched root. Values are for the player to move; arrays [L] in the order of `actions`."""

    @staticmethod
    def of_moves(
        game: Game,
        state: State,
        searched: Sequence[tuple[int, int, float, bool]],
        *,
        net_value: float,
        depth: int,
    ) -> Root:
        """The statistics of a position as another kind of search has them: of some legal moves, the best first.

        `searched` has moves with their nodes, which count as visits, their values and whether they certainly win. All
        moves have the same prior. Raises ValueError if the state is of another game.
        """
    @property
    def actions(self) -> NDArray[np.uint16]:
        """The legal actions, ascending; empty before the root's evaluation."""
    @property
    def visits(self) -> NDArray[np.uint32]: ...
    @property
    def q(self) -> NDArray[np.float32]:
        """Mean or exact result of each move, NaN where it has no visits."""
    @property
    def draw_shares(self) -> NDArray[np.float32] | None:
        """Mean probability of a draw below each move, NaN where it has no visits; None unless a setting needs it."""
    @property
    def draw_share(self) -> float | None:
        """Mean probability of a draw at the root; None unless a setting needs it."""
    @property
    def priors(self) -> NDArray[np.float32]:
        """The network's priors, without noise."""
    @property
    def net_values(self) -> NDArray[np.float32]:
        """The network's value of the position after each move, exact where that ends the game.

        NaN where the network was not asked.
        """
    @property
    def lower(self) -> NDArray[np.float32]:
        """Lower bound of each move's exact result."""
    @property
    def upper(self) -> NDArray[np.float32]:
        """Upper bound of each move's exact result."""
    @property
    def value(self) -> float:
        """Mean of the values backed up, or the exact result."""
    @property
    def net_value(self) -> float:
        """The network's value of the root."""
    @property
    def proven(self) -> float | None:
        """The exact result, if it is proven."""
    @property
    def player(self) -> int:
        """The player to move."""
    @property
    def num_simulations(self) -> int:
        """Simulations in the tree, reused ones included."""
    @property
    def num_reused(self) -> int:
        """Simulations that were reused from an earlier search."""
    @property
    def deepest(self) -> int:
        """Plies of the longest simulation of this search."""
    @property
    def stop_reason(self) -> str | None:
        """Why the search ended ("simulations", "proven", "memory", "game over"); None while it goes on."""
    def visit_policy(self) -> NDArray[np.float32]:
        """The shares of the visits, [L], sums to 1: uniform over proven wins if any, else without the proven losses.

        If every move loses, it is the priors.
        """
    def move_policy(self) -> NDArray[np.float32]:
        """The policy to sample moves from, [L], sums to 1: `visit_policy`; at a Gumbel root softmax(logit + sigma(q)).

        Visits of sequential halving follow its schedule, however good the moves are.
        """
    def policy_target(self) -> NDArray[np.float32]:
        """The policy to learn, [L], sums to 1: `visit_policy`, or softmax(logit + sigma(completed q)).

        The latter (`policy_target` = "completed-q" in the settings) is uniform over proven wins if there are any, and
        has no share for a proven loss while another move exists.
        """
    @property
    def best_action(self) -> int | None:
        """The move to play: a proven win first, a proven loss last, else the most visited, or as `move_choice` says.

        At a root with a proven result it is a move that is certain to reach it.
        At a Gumbel root it is the survivor of the halving with the largest g + logit + sigma(q).
        """
