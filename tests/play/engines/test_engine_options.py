"""External engines' options, commands and limits: what is wrong is refused and named."""

from pathlib import Path
from typing import Any

import pytest

from engines_for_tests import MOVE_TIME, fake, first_move
from zerosum.base.errors import SettingsError
from zerosum.games import make
from zerosum.play.engines.engine import EngineCommand, EngineTimeouts, ExternalEngine
from zerosum.play.engines.uci_client import EngineOption


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("Skil Level", "3", "fake has no option 'Skil Level': did you mean 'Skill Level'. Available: Book File, "),
        ("Skill Level", "21", "option Skill Level of fake is '21', expected an integer from -20 to 20."),
        ("Skill Level", "high", "option Skill Level of fake is 'high', expected an integer from -20 to 20."),
        ("Style", "Solid", "option Style of fake is 'Solid', expected one of Very Solid, Wild."),
        ("OwnBook", "no", "option OwnBook of fake is 'no', expected true or false."),
        ("Clear Hash", "now", "option Clear Hash of fake is 'now', expected no value, because it is a button."),
        ("USI_Hash", "64", "fake has no option 'USI_Hash'"),
    ],
)
def test_an_option_has_to_be_there_and_to_take_the_value(name: str, value: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        ExternalEngine(fake("uci", options=((name, value),)), make("chess"))
    assert str(caught.value).replace("?", ".").startswith(message)


def test_usi_is_for_shogi() -> None:
    with pytest.raises(SettingsError, match="fake speaks USI, which is for shogi and minishogi, not for chess"):
        ExternalEngine(fake("usi"), make("chess"))


def test_gtp_has_no_options_and_is_for_go() -> None:
    with pytest.raises(SettingsError, match="GTP, which has no options"):
        ExternalEngine(fake("gtp", options=(("level", "3"),)), make("go9"))
    with pytest.raises(SettingsError, match="GTP, which is for Go, not for chess"):
        ExternalEngine(fake("gtp"), make("chess"))
    with pytest.raises(SettingsError, match="has no time_settings"):
        first_move(fake("gtp", {"list_commands": ["=# play", ""]}), limits=MOVE_TIME)


def test_option_lines() -> None:
    line = "option name Analysis Contempt type combo default Both var Both var Very Black"
    assert EngineOption.parse(line) == EngineOption(
        "Analysis Contempt", "combo", "Both", choices=("Both", "Very Black")
    )
    assert EngineOption.parse("option name H type spin default 1 min 0 max 9") == EngineOption(
        "H", "spin", "1", "0", "9"
    )
    assert EngineOption.parse("option") == EngineOption("")


@pytest.mark.parametrize(
    ("make_it", "message"),
    [
        (lambda: EngineCommand((), "uci"), "command is empty"),
        (lambda: EngineCommand(("x",), "cecp"), "protocol is 'cecp'"),
        (lambda: EngineCommand.parse("a 'b", protocol="uci"), "cannot be read: No closing quotation"),
        (lambda: EngineCommand(("x",), "uci", (("a", "b\nquit"),)), "expected one line"),
        (lambda: EngineTimeouts(quit_s=-1.0), "engine.quit_s is -1.0"),
    ],
)
def test_a_setting_that_is_wrong_is_named(make_it: Any, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        make_it()


def test_a_command_line_and_where_it_runs(tmp_path: Path) -> None:
    command = EngineCommand.parse("gnugo --mode 'g tp'", protocol="gtp")
    assert (command.argv, command.label) == (("gnugo", "--mode", "g tp"), "gnugo")
    (tmp_path / "its home").mkdir()
    script = {"uci": ["!directory", "uciok"]}
    with ExternalEngine(fake("uci", script, directory=str(tmp_path / "its home")), make("chess")) as engine:
        assert engine.reported_name == "its home"
