"""python -m shunt [OPTION]... SCRIPT...: this Python runs SCRIPT under `shunt run`.  Where the
first word is a command of shunt's (python -m shunt run -- ...) it is the same as the command
shunt."""
import os
import sys

from . import program as program_path
from .kernelspec import main as kernelspec

HELP = """\
Usage: python -m shunt [OPTION]... SCRIPT [ARGUMENT]...
       python -m shunt [OPTION]... -m MODULE [ARGUMENT]...
       python -m shunt [OPTION]... -c CODE [ARGUMENT]...
       python -m shunt COMMAND [OPTION]... [ARGUMENT]...
       python -m shunt kernelspec install|remove [OPTION]...
The first three run this Python under `shunt run`, whose options come first: --report FILE,
--json FILE, --explain, --measure, --strict and the others of `shunt run --help`.  Options of
Python's (-u, -W) come behind them.  A word without a dot or a slash is a command of shunt's; a
script of such a name is called with its folder: ./train.  kernelspec makes a Jupyter kernel that
runs this Python under Shunt, or removes it.
"""
# Of `shunt run`'s options: those that take the next word, and those of one letter that do not.
WITH_ARGUMENT = ("--report", "--json", "--routes", "--require")
LETTER_WITH_ARGUMENT, LETTER = "-r", "-x"


def split_options(words):
    """The words that are for `shunt run`, and those for Python."""
    i = 0
    while i < len(words):
        name = words[i]
        if name == "--":
            return words[:i], words[i + 1:]
        if name.startswith("--"):
            # As getopt, which knows beginnings of names, and "--name=value".
            takes_next = any(o.startswith(name) for o in WITH_ARGUMENT)
        elif name.startswith((LETTER_WITH_ARGUMENT, LETTER)):
            takes_next = name == LETTER_WITH_ARGUMENT
        else:
            break
        i += 2 if takes_next else 1
    return words[:i], words[i:]


def become(words):
    """Turns this process into the program shunt."""
    path = program_path()
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execv(path, [path] + words)
    except OSError as error:
        print(f"shunt: {path}: {error.strerror}", file=sys.stderr)
        return 125


def program():
    """The command shunt."""
    words = sys.argv[1:]
    if words[:1] == ["kernelspec"]:
        return kernelspec(words[1:])
    return become(words)


def module():
    """python -m shunt."""
    words = sys.argv[1:]
    first = words[0] if words else ""
    if not first:
        print(HELP, file=sys.stderr)
        return 2
    if first in ("-h", "--help"):
        print(HELP)
        return become(["--help"])
    is_command = not set(first) & set("./-")
    if is_command or first in ("--version", "-V"):
        return program()
    options, rest = split_options(words)
    if not rest:
        return become(["run"] + options)  # which says that there is no program
    return become(["run"] + options + ["--", sys.executable] + rest)


if __name__ == "__main__":
    sys.exit(module())
