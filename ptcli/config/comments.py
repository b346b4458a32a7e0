"""The comments of a YAML file, which are the help of the command line: what the file is, what each key means."""

import re

_KEY = re.compile(r"""^(?P<indent>\s*)(?P<key>[\w.]+)\s*:(?=\s|$)(?P<rest>.*)$""")
_TRAILING = re.compile(r"""^(?:"[^"]*"|'[^']*'|[^#"'])*?(?:^|\s)#\s?(?P<comment>.*)$""")


def description(text: str) -> str:
    """The first comment line of a file, its `# @package` line aside."""
    for line in text.splitlines():
        if not line.startswith("#"):
            if line.strip():
                return ""
            continue
        comment = line.lstrip("# ").rstrip()
        if comment and not comment.startswith("@"):
            return comment
    return ""


def key_comments(text: str) -> dict[str, str]:
    """Comment of each key by its dotted name: behind the key, or on the lines right above it, or going on below it."""
    found: dict[str, str] = {}
    above: list[str] = []
    open_keys: list[tuple[int, str]] = []  # (indent, key) from the root to the last key seen
    last = ""
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("#"):
            comment = stripped.lstrip("#").strip()
            deep = len(line) - len(line.lstrip()) > 20  # a trailing comment that goes on in the next line
            if deep and found.get(last):
                found[last] += " " + comment
            else:
                above.append(comment)
            continue
        match = _KEY.match(line)
        if match is None:
            above = []
            continue
        indent = len(match["indent"])
        while open_keys and open_keys[-1][0] >= indent:
            open_keys.pop()
        open_keys.append((indent, match["key"]))
        last = ".".join(key for _, key in open_keys)
        trailing = _TRAILING.match(match["rest"])
        found[last] = trailing["comment"].strip() if trailing else " ".join(above)
        above = []
    return found
