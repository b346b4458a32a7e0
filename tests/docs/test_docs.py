"""What README and docs/ say is what the code does."""

import re
from pathlib import Path

import pytest
from writers.tables import with_table

from ptcli.config.choices import find, groups
from ptcli.config.command import commands

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = [README, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_table_of_options_is_up_to_date():
    text = README.read_text(encoding="utf-8")
    assert text == with_table(text), "run: make docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_commands_and_choices_that_are_shown_exist(page):
    names = {command.name for command in commands()}
    own = re.findall(r"^`(?:conf|mine)/(\S+)/(\w+)\.(?:yaml|py)`", page.read_text(encoding="utf-8"), flags=re.M)
    names |= {name for group, name in own if group == "command"}
    for line in re.findall(r"^ {4}(ptcli .*)$", page.read_text(encoding="utf-8"), flags=re.M):
        words = line.split("#")[0].split()[1:]
        if words[0] in ("-sc", "--help"):
            continue
        assert words[0] in names, line
        for word in words[1:]:
            group, equals, choice = word.partition("=")
            if equals and group in groups():
                for each in choice.strip("[]").split(","):  # of several tasks, NAME:CHOICE
                    name = each.rpartition(":")[2]
                    assert find(group, name) is not None or (group, name) in own, word
