#!/bin/sh
# The tables of the README say what the committed results say.
exec python3 "$SHUNT_SRCDIR/tests/bench/readme_table.py" --check "$SHUNT_SRCDIR/README.md" \
  "$SHUNT_SRCDIR/tests/bench/results"
