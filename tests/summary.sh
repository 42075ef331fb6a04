#!/bin/sh
# summary.sh BUILD: adds up the last lines of the test logs below BUILD and closes with the lines
# "N skipped", where any were, and "N passed, N failed".  A test that died without such a line, or
# whose exit status was not 0, counts as one failure.
cd "${1:-.}" || exit 1
find . -name '*.trs' | sort | while read -r result; do
  log=${result%.trs}.log
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -1)
  bad=$(grep -c -E '^:test-result: (FAIL|ERROR)' "$result")
  echo "${line:-0 passed, 0 failed}, status $bad, ${log#./}"
  grep -E '^not ok' "$log" | head -20 | sed "s|^|  |" >&2
done >summary.lines
awk -F'[ ,]+' '
  { p += $1; f += $3; s += ($6 == "skipped") ? $5 : 0; bad = 0
    for (i = 1; i < NF; i++) if ($i == "status") bad = $(i + 1)
    if (bad && !$3) { f++; print "  " $NF ": ended badly" > "/dev/stderr" }
    if (!bad && $1 + $3 == 0 && $6 != "skipped") {
      f++; print "  " $NF ": no result line" > "/dev/stderr" } }
  END { if (s) printf "%d skipped\n", s
    printf "%d passed, %d failed\n", p, f; exit f > 0 }' summary.lines
