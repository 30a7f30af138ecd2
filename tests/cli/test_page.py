"""docs/commands.md shows what the commands print."""

import doctest
import re
import shlex

from certus.cli import main
from tests.house.source import REPOSITORY

PAGE = REPOSITORY / "docs" / "commands.md"
EXIT_1 = ("stopped.certus", "stopped.skops", "--stale")  # not certified, and stale


def test_commands_print_what_the_page_shows(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    assert doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8").failed == 0
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    commands = [
        part for block in blocks for part in re.split(r"^\$ certus ", block, flags=re.M)[1:]
    ]
    assert len(commands) > 5
    for command in commands:
        line, _, shown = command.partition("\n")
        capfd.readouterr()
        assert main(shlex.split(line)) == int(any(word in line for word in EXIT_1))
        out, err = capfd.readouterr()
        for text in shown.splitlines():
            assert text.removesuffix("...") in err + out
