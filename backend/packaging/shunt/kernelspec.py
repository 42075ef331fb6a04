"""shunt kernelspec: a Jupyter kernel that runs this Python with Shunt preloaded."""
import argparse
import json
import os
import shutil
import sys

from . import preload


def kernels_folder(o):
    """Where Jupyter looks for kernels: of a prefix, of this environment, of the user."""
    prefix = o.prefix
    in_environment = sys.prefix != sys.base_prefix or "CONDA_PREFIX" in os.environ
    if not prefix and (o.sys_prefix or (in_environment and not o.user)):
        prefix = sys.prefix
    if prefix:
        return os.path.join(os.path.abspath(prefix), "share", "jupyter", "kernels")
    data = os.environ.get("JUPYTER_DATA_DIR")
    if not data:
        base = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
        data = os.path.join(base, "jupyter")
    return os.path.join(data, "kernels")


def kernel():
    version = sys.version_info[0]
    return {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": f"Python {version} (Shunt)",
        "language": "python",
        "env": {"LD_PRELOAD": preload()},
        "metadata": {"debugger": True},
    }


def install(folder):
    try:
        spec = kernel()
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "kernel.json"), "w") as file:
            json.dump(spec, file, indent=1)
            file.write("\n")
    except (OSError, ValueError) as error:
        print(f"shunt: {error}", file=sys.stderr)
        return 1
    print(f"installed: {folder}")
    try:
        import ipykernel  # noqa: F401
    except ImportError:
        print("shunt: this Python has no ipykernel, which the kernel needs: pip install ipykernel",
              file=sys.stderr)
    return 0


def remove(folder):
    if not os.path.exists(os.path.join(folder, "kernel.json")):
        print(f"shunt: there is no kernel in {folder}", file=sys.stderr)
        return 1
    shutil.rmtree(folder)
    print(f"removed: {folder}")
    return 0


def parse(words):
    parser = argparse.ArgumentParser(
        prog="shunt kernelspec",
        description="Install or remove a Jupyter kernel that runs this Python with Shunt "
        "preloaded; in a virtual environment for it alone, else for the user.")
    parser.add_argument("action", choices=["install", "remove"])
    parser.add_argument("--name", default="shunt", help="the kernel's name [shunt]")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="for the user")
    where.add_argument("--sys-prefix", action="store_true", help="for this environment")
    where.add_argument("--prefix", help="below another folder's share/jupyter")
    o = parser.parse_args(words)
    if not o.name or o.name.startswith(".") or set(o.name) & set("/ \t"):
        parser.error(f"--name '{o.name}' is not a name for a folder")
    return o


def main(words):
    o = parse(words)
    folder = os.path.join(kernels_folder(o), o.name)
    return install(folder) if o.action == "install" else remove(folder)
