"""python -m shunt SCRIPT...: this Python runs SCRIPT under `shunt run`.  Where the first word is a
command of shunt's (python -m shunt run -- ...) it is the same as the command shunt."""
import os
import sys

from . import program as program_path
from .kernelspec import main as kernelspec

HELP = """\
Usage: python -m shunt SCRIPT [ARGUMENT]...
       python -m shunt -m MODULE [ARGUMENT]...
       python -m shunt -c CODE [ARGUMENT]...
       python -m shunt COMMAND [OPTION]... [ARGUMENT]...
The first three run this Python under `shunt run`.  A word without a dot or a slash is a command of
shunt's; a script of such a name is called with its folder: ./train
"""


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
    return become(["run", "--", sys.executable] + (words[1:] if first == "--" else words))


if __name__ == "__main__":
    sys.exit(module())
