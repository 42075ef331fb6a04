"""Shunt: runs programs with their calls of cuSPARSE and GraphBLAS rerouted.

The work is done by the program and the libraries in this folder; Python only finds them.
"""
import os

from .version import version as __version__

__all__ = ["__version__", "preload", "program"]

_HERE = os.path.dirname(os.path.abspath(__file__))


def program():
    """The path of the program `shunt`."""
    return os.path.join(_HERE, "bin", "shunt")


def preload():
    """The value of LD_PRELOAD that `shunt run` sets; what this build lacks is left out.

    ValueError: the path holds a space or a colon, which LD_PRELOAD cannot.
    """
    folder = os.path.join(_HERE, "lib", "shunt")
    if set(folder) & set(": \t"):
        raise ValueError(f"{folder}: LD_PRELOAD cannot hold a path with a space or a colon")
    names = ("cusparse", "dlsym", "graphblas")
    paths = (os.path.join(folder, f"libshunt-{name}.so") for name in names)
    return ":".join(path for path in paths if os.path.exists(path))
