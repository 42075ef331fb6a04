#!/bin/sh
# house.sh: the rules of the tree.
#
#   one format, one word    each row of backend/routes/table.c has kernels/<word>/,
#                           tests/gpu/<word>/, backend/routes/<word>.c and a column <word> in
#                           `shunt bench`; device code in kernels/<word>, dcsr and guard is in the
#                           namespace of that name
#   a bare top level        nothing but what Autotools and people look for there
#   small folders           no folder has more than 40 files
#   small functions         none is longer than a screen: 60 lines, 80 in tests
#   short lines             none has more than 100 columns, but for addresses, files that a program
#                           makes, and device code
#   one way                 no include goes from kernels or conv to backend, from kernels to conv
#                           (but for formats that tests' twins need), and none goes in a circle
#   a short way             from an exported function to a launcher are at most 9 functions, and
#                           backend/README.md names them
#   instructions            no inline PTX but in kernels/ptx
#   one wait                backend asks shunt_guard_wait_cycles how long blocks of a repair wait
#   real names              functions, kernels and files that comments and pages name exist, also by
#                           names such as csr_spmm_*.cu
#   merged                  no file has the marks of a merge that was left half done
#   short pages             those of tests/bench have at most 115 lines, RESULTS.md aside
#   results with a reader   each file of tests/bench/results is named by a page or a test
set -u
cd "${SHUNT_SRCDIR:-.}" || exit 2
passed=0
failed=0
# rule TEXT BROKEN: holds if nothing is broken.
rule() {
  if [ -z "$2" ]; then
    passed=$((passed + 1))
    echo "ok - $1"
  else
    failed=$((failed + 1))
    echo "not ok - $1"
    echo "$2" | sed 's/^/#   /'
  fi
}
sources() { find backend conv kernels tests -type f; }

# ---- one format, one word ---------------------------------------------------------------------
words=$(grep -o '&shunt_route_[a-z0-9]*,' backend/routes/table.c | sed 's/.*route_//; s/,//')
rule "the table of routes has rows" "$([ -n "$words" ] || echo none)"
for word in $words; do
  missing=
  [ -d "kernels/$word" ] || missing="$missing kernels/$word"
  [ -d "tests/gpu/$word" ] || missing="$missing tests/gpu/$word"
  [ -f "backend/routes/$word.c" ] || missing="$missing backend/routes/$word.c"
  grep -q "\.name = \"$word\"" "backend/routes/$word.c" || missing="$missing its-name"
  grep -q "{\"$word\", \"$word\"}" backend/tool/bench/report.c || missing="$missing column"
  rule "route $word: its folders, its file, its column" "$missing"
done
for word in $words dcsr guard; do
  rule "kernels/$word: its namespace" "$(find "kernels/$word" -name '*.cu*' -exec \
    grep -LE "namespace $word\\b" {} +)"
done

# Without what was built here, or came along.
files=$(git ls-files 2>/dev/null) || files=
[ -n "$files" ] || files=$(sources)

# ---- a bare top level ---------------------------------------------------------------------------
rule "nothing stands at the top level that has no reason to" "$(echo "$files" | cut -d / -f 1 |
  sort -u | grep -vxE '\.(ci|clang-format|clang-tidy|gitignore)|LICENSE|NEWS|README\.md|m4' |
  grep -vxE 'bootstrap|configure\.ac|Makefile\.am|backend|conv|kernels|tests')"

# ---- small folders ------------------------------------------------------------------------------
rule "no folder has more than 40 files" "$(echo "$files" | sed -n 's,/[^/]*$,,p' | sort |
  uniq -c | awk '$1 > 40 { print $2 ": " $1 }')"

# ---- small functions ----------------------------------------------------------------------------
long_functions() { python3 tests/function_lengths.py "$@"; }
rule "the functions are found" \
  "$([ "$(long_functions 0 kernels/guard | wc -l)" -gt 50 ] || echo not)"
rule "no function of kernels, conv and backend has more than 60 lines" \
  "$(long_functions 60 kernels conv backend)"
rule "no function of tests has more than 80 lines" "$(long_functions 80 tests)"

# ---- short lines ---------------------------------------------------------------------------------
# Device code (kernels, conv and tests/gpu) is left as it is until it is next touched; mutators.h is
# made by a program.
long_lines() {
  echo "$files" | grep -E '\.(c|h|cpp|py|sh|mk|am|m4)$|^bootstrap$' | grep -v '^tests/gpu/' |
    grep -vx 'backend/graphblas/epoch/mutators\.h' | xargs python3 -c 'import sys
for path in sys.argv[1:]:
    with open(path, encoding="utf-8", errors="replace") as file:
        for at, line in enumerate(file, 1):
            if len(line.rstrip("\n")) > 100 and "://" not in line:
                print("%s:%d" % (path, at))'
}
rule "no line has more than 100 columns" "$(long_lines)"

# ---- merged --------------------------------------------------------------------------------------
rule "no merge was left half done" "$(echo "$files" | xargs grep -nE '^(<<<<<<<|>>>>>>>) ')"

# ---- one way -------------------------------------------------------------------------------------
rule "kernels and conv include nothing of backend" \
  "$(grep -rn '#include "backend/' kernels conv)"
rule "kernels include nothing of conv" "$(grep -rn '#include "conv/' kernels)"
circles() {
  python3 - <<'PYTHON'
import os, re
graph = {}
for top in ("backend", "conv", "kernels"):
    for where, _, names in os.walk(top):
        for name in names:
            if name.endswith((".h", ".cuh", ".c", ".cu")):
                path = os.path.join(where, name)
                text = open(path, errors="replace").read()
                graph[path] = re.findall(r'^\s*#\s*include "([^"]+)"', text, re.M)
state = {}
def walk(path, way):
    if state.get(path) == 2 or path not in graph:
        return
    if path in way:
        print(" -> ".join(way[way.index(path):] + [path]))
        return
    for other in graph[path]:
        walk(other, way + [path])
    state[path] = 2
for path in sorted(graph):
    walk(path, [])
PYTHON
}
rule "no include goes in a circle" "$(circles)"

# ---- a short way ---------------------------------------------------------------------------------
rule "at most 9 functions lead from a call to a launcher, as backend/README.md has them" \
  "$(python3 tests/call_way.py 9 backend/README.md)"

# ---- instructions --------------------------------------------------------------------------------
rule "no inline PTX but in kernels/ptx" "$(grep -rnE '\basm( volatile)?[ (]' kernels conv \
  --include='*.cu' --include='*.cuh' | grep -v '^kernels/ptx/' | grep -v 'asm("" :')"

# ---- one wait ------------------------------------------------------------------------------------
# So `shunt bench` times what programs get.
rule "how long blocks of a repair wait is asked of kernels/guard/guard.h" \
  "$(grep -rn 'SHUNT_GUARD_WAIT_CYCLES' backend)"

# ---- real names ----------------------------------------------------------------------------------
rule "the functions, kernels and files that comments and pages name exist" \
  "$(echo "$files" | xargs python3 tests/named_things.py)"

# ---- short pages ---------------------------------------------------------------------------------
rule "no page of tests/bench has more than 115 lines" "$(wc -l tests/bench/*.md |
  awk '$1 > 115 && $2 !~ /RESULTS|^total$/ { print $2 ": " $1 }')"

# ---- results with a reader -----------------------------------------------------------------------
unread() {
  (cd tests/bench/results && find . -type f) | sed 's,^\./,,' | while read -r file; do
    name=$(echo "$file" | sed 's/\./\\./g')
    grep -qE "(^|[^A-Za-z0-9_-])$name([^A-Za-z0-9_-]|\$)" README.md tests/bench/*.md \
      tests/bench/*.py tests/unit/*/*.sh tests/unit/*/*.c tests/unit/*/*.py || echo "$file"
  done
}
rule "each file of tests/bench/results is named by a page or a test" "$(unread)"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
