"""Games that end early, by hand and against a slow twin that counts runs of scores one report after the other."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerosum.base.errors import SettingsError
from zerosum.contest.adjudication import AdjudicationRules, DrawRule, ResignRule, Score, ScoredMove, Verdict, adjudicate
from zerosum.notation.record import ENDINGS

STOCKFISH = ResignRule(centipawns=-650, num_moves=4)


def reports(*scores: Score | None, first: int = 0) -> list[ScoredMove]:
    """Reports of players that move in turns."""
    return [ScoredMove((first + number) % 2, score) for number, score in enumerate(scores)]


def centipawns(*scores: int) -> list[ScoredMove]:
    return reports(*(Score(centipawns=score) for score in scores))


def verdict(rules: AdjudicationRules, played: list[ScoredMove]) -> Verdict | None:
    return adjudicate(rules, played, plies=len(played))


def ends(rules: AdjudicationRules, played: list[ScoredMove]) -> tuple[int, Verdict] | None:
    """The first verdict of a game, and after how many reports it fell."""
    for plies in range(1, len(played) + 1):
        if (found := verdict(rules, played[:plies])) is not None:
            return plies, found
    return None


def test_four_moves_in_a_row() -> None:
    rules = AdjudicationRules(resign=(None, STOCKFISH))
    lost = centipawns(900, -650, 900, -700, 900, -800, 900, -650)
    assert ends(rules, lost) == (8, Verdict(1.0, "resignation", "-650 centipawns or less for 4 moves in a row"))
    assert ends(rules, centipawns(900, -650, 900, -649, 900, -800, 900, -650, 900, -650)) is None
    assert ends(AdjudicationRules(resign=(STOCKFISH, None)), lost) is None
    assert ends(AdjudicationRules(resign=(STOCKFISH, None)), lost[1:]) is None


def test_a_win_rate_under_five_percent() -> None:
    rules = AdjudicationRules(resign=(ResignRule(win_rate=0.05), None))
    assert ends(rules, reports(Score(win_rate=0.05), None)) is None
    assert ends(rules, reports(Score(win_rate=0.049))) == (1, Verdict(-1.0, "resignation", "a win rate under 0.05"))
    assert ends(rules, reports(Score(centipawns=-3000))) is None


def test_points_behind() -> None:
    rule = ResignRule.parse("lead=20 movecount=2 twosided=true")
    behind, ahead, near = (Score(win_rate=rate, lead=lead) for rate, lead in ((0.2, -20), (0.8, 25), (0.4, -19.5)))
    rules = AdjudicationRules(resign=(rule, rule))
    reason = "20 points behind or more for 2 moves in a row, and the opponent agrees"
    assert ends(rules, reports(behind, ahead, behind, ahead, behind)) == (5, Verdict(-1.0, "resignation", reason))
    assert ends(rules, reports(behind, ahead, near, ahead, behind, ahead)) is None
    assert ends(rules, reports(behind, Score(win_rate=0.99), behind, Score(win_rate=0.99))) is None, (
        "no lead, no accord"
    )
    alone = AdjudicationRules(resign=(ResignRule(lead=-20), None))
    assert ends(alone, reports(Score(win_rate=0.01))) is None
    assert ends(alone, reports(Score(mate=-3))) is not None
    assert ends(AdjudicationRules(resign=(ResignRule(lead=-20, win_rate=0.3), None)), reports(Score(win_rate=0.2)))


def test_no_score_breaks_a_row() -> None:
    rules = AdjudicationRules(resign=(ResignRule(centipawns=-100, num_moves=2), None))
    bad = Score(centipawns=-500)
    assert ends(rules, reports(bad, None, None, None, bad)) is None
    assert ends(rules, reports(bad, None, None, None, bad, None, bad)) is not None


def test_mates_count_in_any_unit() -> None:
    for rule in (ResignRule(centipawns=-900), ResignRule(win_rate=0.01)):
        rules = AdjudicationRules(resign=(rule, None))
        assert ends(rules, reports(Score(mate=-9))) is not None
        assert ends(rules, reports(Score(mate=0))) is not None
        assert ends(rules, reports(Score(mate=3))) is None
    assert ends(AdjudicationRules(draw=DrawRule(1, win_rate=0.5)), reports(Score(mate=9), Score(mate=-9))) is None


def test_both_agree() -> None:
    rules = AdjudicationRules(resign=(None, replace(STOCKFISH, win_rate=0.05, num_moves=2, both=True)))
    bad = Score(centipawns=-700)
    for other, agrees in (
        (Score(centipawns=650), True),
        (Score(centipawns=649), False),
        (Score(win_rate=0.97), True),
        (Score(win_rate=0.94), False),
        (Score(mate=5), True),
        (Score(mate=-5), False),
        (None, False),
    ):
        assert (ends(rules, reports(other, bad, other, bad)) is not None) == agrees, other
    assert ends(rules, reports(Score(centipawns=100), bad, Score(centipawns=700), bad)) is None


def test_draws_need_both_players_and_the_ply() -> None:
    rules = AdjudicationRules(draw=DrawRule(2, centipawns=10, min_plies=6))
    assert ends(rules, centipawns(0, 5, -10, 10, 11, 0, 0, 0, 0)) == (
        9,
        Verdict(0.0, "agreement", "scores within 10 centipawns for 2 moves in a row of both players"),
    )
    assert ends(rules, centipawns(0, 0, 0, 0)) is None
    assert ends(rules, centipawns(*[0] * 6)) is not None
    assert adjudicate(rules, centipawns(0, 0, 0, 0), plies=12) is not None
    assert ends(rules, reports(*[Score(centipawns=0), None] * 9)) is None
    wide = AdjudicationRules(draw=DrawRule(1, win_rate=0.05))
    assert ends(wide, reports(Score(win_rate=0.45), Score(win_rate=0.55))) is not None
    assert ends(wide, reports(Score(win_rate=0.44), Score(win_rate=0.55))) is None
    assert ends(wide, reports(Score(win_rate=0.45), Score(win_rate=0.56))) is None


def test_the_longest_game() -> None:
    rules = AdjudicationRules(max_plies=3)
    assert ends(rules, reports(None, None, None)) == (3, Verdict(0.0, "ply cap", "3 plies"))
    assert adjudicate(rules, [], plies=3) is not None and adjudicate(rules, [], plies=2) is None
    both = AdjudicationRules(resign=(ResignRule(centipawns=-1), None), max_plies=1)
    found = ends(both, centipawns(-5))
    assert found is not None and found[1].ending == "resignation"


def test_a_side_that_moves_twice() -> None:
    rules = AdjudicationRules(resign=(None, ResignRule(centipawns=-100, num_moves=2)))
    bad, good = Score(centipawns=-200), Score(centipawns=200)
    assert ends(rules, [ScoredMove(0, good), ScoredMove(1, bad), ScoredMove(1, bad)]) is not None


SCORES = st.one_of(
    st.none(),
    st.builds(lambda value: Score(centipawns=value), st.sampled_from([-900, -100, -20, 0, 20, 100, 900])),
    st.builds(
        lambda value, lead: Score(win_rate=value, lead=lead),
        st.sampled_from([0.0, 0.02, 0.45, 0.5, 0.55, 0.98, 1.0]),
        st.sampled_from([None, -30.0, -20.0, 0.0, 20.0, 30.0]),
    ),
    st.builds(lambda value: Score(mate=value), st.integers(-2, 2)),
)
RESIGN_RULES = st.builds(
    ResignRule,
    win_rate=st.sampled_from([None, 0.05, 0.5]),
    centipawns=st.sampled_from([-100, 0]),
    lead=st.sampled_from([None, -20.0, 0.0]),
    num_moves=st.integers(1, 3),
    both=st.booleans(),
)
DRAW_RULES = st.builds(
    DrawRule,
    st.integers(1, 3),
    win_rate=st.sampled_from([None, 0.05]),
    centipawns=st.sampled_from([0, 20]),
    min_plies=st.integers(0, 8),
)
RULES = st.builds(
    AdjudicationRules,
    resign=st.tuples(st.none() | RESIGN_RULES, st.none() | RESIGN_RULES),
    draw=st.none() | DRAW_RULES,
    max_plies=st.none() | st.integers(1, 12),
)
GAMES = st.lists(st.builds(ScoredMove, st.integers(0, 1), SCORES), max_size=14)


def points(score: Score) -> tuple[str, float]:
    """The unit of a score, and how good it is in it: 0 even, 1 as good as can be."""
    if score.mate is not None:
        return "mate", 1.0 if score.mate > 0 else -1.0
    if score.centipawns is not None:
        return "centipawns", float(score.centipawns)
    assert score.win_rate is not None
    return "win_rate", score.win_rate


def is_hopeless(rule: ResignRule, score: Score | None, *, for_opponent: bool) -> bool:
    """Whether a score says that its player (or that player's opponent) is lost."""
    if score is None:
        return False
    unit, value = points(score)
    if unit == "win_rate":
        if (
            rule.lead is not None
            and score.lead is not None
            and (score.lead if for_opponent else -score.lead) >= -rule.lead
        ):
            return True
        return rule.win_rate is not None and ((1 - value) if for_opponent else value) < rule.win_rate
    value = -value if for_opponent else value
    return value < 0 if unit == "mate" else rule.centipawns is not None and value <= rule.centipawns


def twin(rules: AdjudicationRules, played: list[ScoredMove]) -> tuple[int, float] | None:
    """After how many reports the game ends, and the result: by counters, as a match program would keep them."""
    hopeless, winning, even = [0, 0], [0, 0], [0, 0]
    for plies, report in enumerate(played, start=1):
        me, score = report.player, report.score
        own, other = rules.resign[me], rules.resign[1 - me]
        hopeless[me] = hopeless[me] + 1 if own and is_hopeless(own, score, for_opponent=False) else 0
        winning[me] = winning[me] + 1 if other and is_hopeless(other, score, for_opponent=True) else 0
        unit, value = points(score) if score else ("none", 0.0)
        limit = {"centipawns": rules.draw and rules.draw.centipawns, "win_rate": rules.draw and rules.draw.win_rate}
        bound = limit.get(unit)
        middle = 0.5 if unit == "win_rate" else 0.0
        even[me] = even[me] + 1 if bound is not None and middle - bound <= value <= middle + bound else 0
        if own and hopeless[me] >= own.num_moves and (not own.both or winning[1 - me] >= own.num_moves):
            return plies, -1.0 if me == 0 else 1.0
        if rules.draw and plies >= rules.draw.min_plies and min(even) >= rules.draw.num_moves:
            return plies, 0.0
        if rules.max_plies is not None and plies >= rules.max_plies:
            return plies, 0.0
    return None


@given(RULES, GAMES)
def test_counters_agree(rules: AdjudicationRules, played: list[ScoredMove]) -> None:
    found = ends(rules, played)
    assert (found and (found[0], found[1].result)) == twin(rules, played)


@given(RULES, GAMES)
def test_with_the_players_exchanged_the_result_is_the_opposite(
    rules: AdjudicationRules, played: list[ScoredMove]
) -> None:
    exchanged = replace(rules, resign=(rules.resign[1], rules.resign[0]))
    found = ends(rules, played)
    other = ends(exchanged, [replace(report, player=1 - report.player) for report in played])
    assert (found is None) == (other is None)
    if found and other:
        assert (other[0], other[1]) == (found[0], replace(found[1], result=-found[1].result))


@given(RULES, GAMES)
def test_asking_for_both_only_delays(rules: AdjudicationRules, played: list[ScoredMove]) -> None:
    alone, both = (
        replace(rules, draw=None, resign=tuple(rule and replace(rule, both=is_both) for rule in rules.resign))
        for is_both in (False, True)
    )
    first, second = ends(alone, played), ends(both, played)
    assert second is None or (first is not None and first[0] <= second[0])


@given(RULES, GAMES)
def test_endings_are_words_of_records(rules: AdjudicationRules, played: list[ScoredMove]) -> None:
    found = ends(rules, played)
    assert found is None or found[1].ending in ENDINGS


def test_numbers_out_of_range() -> None:
    for make, message in (
        (lambda: Score(), "expected exactly one of win_rate, centipawns and mate"),
        (lambda: Score(centipawns=1, mate=1), "expected exactly one of"),
        (lambda: Score(win_rate=1.1), "win_rate is 1.1, but must be between 0 and 1"),
        (lambda: Score(win_rate=float("nan")), "win_rate is nan"),
        (lambda: Score(mate=1, lead=3.0), "a lead stands beside a win rate"),
        (lambda: ResignRule(), "no win_rate, centipawns or lead"),
        (lambda: ResignRule(lead=20), "resigning at a lead of 20 points: it must be at most 0, such as -20"),
        (lambda: ResignRule(lead=float("nan")), "resigning at a lead of nan points"),
        (lambda: ResignRule(win_rate=0.6), "resigning under a win rate of 0.6: it must be between 0 and 0.5"),
        (lambda: ResignRule(centipawns=650), "resigning at 650 centipawns: it must be at most 0"),
        (lambda: ResignRule(centipawns=-1, num_moves=0), "num_moves is 0, but must be at least 1"),
        (lambda: DrawRule(3), "neither win_rate nor centipawns"),
        (lambda: DrawRule(3, win_rate=0.7), "must be between 0 and 0.5"),
        (lambda: DrawRule(3, centipawns=-1), "centipawns is -1, but must be at least 0"),
        (lambda: DrawRule(0, centipawns=1), "num_moves is 0"),
        (lambda: DrawRule(1, centipawns=1, min_plies=-1), "min_plies is -1"),
        (lambda: AdjudicationRules(max_plies=0), "max_plies is 0, but must be at least 1"),
    ):
        with pytest.raises(SettingsError, match=message):
            make()


def test_rules_in_words() -> None:
    parsed = ResignRule.parse("score=650 movecount=4")
    assert parsed == STOCKFISH
    assert ResignRule.parse("winrate=5 score=600 twosided=true") == ResignRule(0.05, -600, both=True)
    assert DrawRule.parse("winrate=2.5 movecount=8 movenumber=40") == DrawRule(8, 0.025, min_plies=80)


@pytest.mark.parametrize("rule", [ResignRule, DrawRule])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("600", "'600' in a rule .*: expected words such as score=600"),
        ("score=1 score=2", "each once"),
        ("movecount=2", "has (no win_rate, centipawns or lead|neither win_rate nor centipawns)"),
        ("score=-600", "score is '-600', expected an integer of at least 0"),
        ("winrate=51", "win rate of 0.51"),
        ("winrate=x", "winrate is 'x', expected percent such as 5"),
        ("score=1 movecount=0", "num_moves is 0"),
    ],
)
def test_words_that_are_no_rule(rule: type[ResignRule | DrawRule], text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        rule.parse(text)
