#!/bin/sh
# test_solvers.sh: tests/clients/solvers_client.py on the host: its solvers against dense algebra,
# with the products of SciPy and with its own, which must agree; and what it says of bad input.
set -u
client=${SHUNT_SRCDIR:?}/tests/clients/solvers_client.py
. "$SHUNT_SRCDIR/tests/unit/tool/check.sh"
export PYTHONDONTWRITEBYTECODE=1

# says STATUS TEXT COMMAND...: ends with this status, and with this text among its lines.
says() {
  want=$1 text=$2
  shift 2
  "$@" >said 2>&1
  got=$?
  cat said
  [ $got = "$want" ] && grep -q -e "$text" said
}
solve() { python3 "$client" --numpy --repeats 1 "$@"; }
without_scipy() { PYTHONPATH=$work/hidden solve "$@"; }

if ! python3 -c 'import numpy' 2>out; then
  skip "the solvers: NumPy is missing"
  finish
fi
mkdir -p hidden/scipy
echo 'raise ImportError("hidden")' >hidden/scipy/__init__.py
# A path through 399 nodes with random links and a loop, and a node alone.
{
  echo '%%MatrixMarket matrix coordinate pattern general'
  echo '% a comment'
  echo 400 400 1999
  awk 'BEGIN {
    for (i = 1; i < 399; i++) print i, i + 1
    print 8, 8
    for (s = i = 1; i <= 1600; i++) { s = s * 1103 % 159199; print s % 399 + 1, int(s / 399) + 1 }
  }'
} >graph.mtx
printf '6, 7, 5\n0 2 3 3 4 5 5\n1 3 0 6 2\n' >small.smtx
gzip -c graph.mtx >graph.mtx.gz

check "solvers agree with dense algebra, a mesh" \
  'says 0 "^12 passed, 0 failed" without_scipy --mesh 5x2 --blocks 5,8 --dense -o own.json'
check "solvers agree with dense algebra, a file" \
  'says 0 "^8 passed, 0 failed" without_scipy graph.mtx.gz --blocks 8 --dense -o file.json'
check "an .smtx file, and blocks too large for it are skipped" \
  'says 0 "^2 passed, 0 failed, 2 skipped" without_scipy small.smtx --blocks 8 --dense \
    --solvers lobpcg,lobpcg-cheb,pagerank'
if python3 -c 'import scipy.sparse' 2>out; then
  check "products of SciPy, the same iterations and residuals" \
    'says 0 "^13 passed, 0 failed" solve --mesh 5x2 --blocks 5,8 --compare own.json -o scipy.json'
else
  skip "products of SciPy: it is missing"
fi

# The Laplacian alone has the eigenvalue 0, of the square roots of the degrees.
check "the least eigenvalue is the shift" 'python3 -c "import json
rows = json.load(open(\"own.json\"))[\"results\"]
assert all(abs(row[\"answer\"][0] - 2**-10) < 1e-9 for row in rows if \"lobpcg\" in row[\"name\"])"'

# changed FILE EXPRESSION: file.json with something else in its first row.
changed() {
  python3 -c 'import json, sys
data = json.load(open("file.json")); row = data["results"][0]; exec(sys.argv[2])
json.dump(data, open(sys.argv[1], "w"))' "$1" "$2"
}
compare() { python3 "$client" --compare "$@"; }
changed more.json 'row["iterations"] += 1'
changed worse.json 'row["residual"] *= 1.02'
changed other.json 'row["answer"][0] *= 1 + 1e-6'
changed none.json 'data["results"].pop()'
check "a file equals itself" 'says 0 "^5 passed, 0 failed" compare file.json file.json'
check "another iteration count is found" 'says 1 "^4 passed, 1 failed" compare file.json more.json'
check "another residual is found" 'says 1 "^4 passed, 1 failed" compare file.json worse.json'
check "unless allowed" 'says 0 "^5 passed" compare file.json worse.json --tolerance 0.05'
check "another eigenvalue is found" 'says 1 "^4 passed, 1 failed" compare file.json other.json'
check "a missing result is found" 'says 1 "^3 passed, 1 failed" compare file.json none.json'
check "speed-ups are printed" \
  'says 0 "^speed-up block-cg: geometric mean 1.00 of 1" compare file.json file.json'

check "too few iterations fail" 'says 1 "^0 passed, 4 failed" solve --mesh 5x2 --blocks 8 --limit 3'
# bad NAME TEXT CONTENT
bad() {
  printf "$3" >"$1"
  says 1 "$1: $2" solve "$1"
}
head='%%%%MatrixMarket matrix coordinate pattern general\n'
check "no such file" 'says 1 "none.mtx: .*No such file" solve none.mtx'
check "not Matrix Market" 'bad a.mtx "not a coordinate" "hello\n"'
check "a bad size line" 'bad b.mtx "bad size" "${head}3 3\n"'
check "entries missing" 'bad c.mtx "1 entries where 2" "${head}3 3 2\n1 1\n"'
check "an index out of range" 'bad d.mtx "an index is out of range" "${head}3 3 1\n1 4\n"'
check "a row out of range" 'bad h.mtx "an index is out of range" "${head}3 5 1\n4 1\n"'
check "an index below 1" 'bad e.mtx "an index is out of range" "${head}3 3 1\n0 1\n"'
check "offsets that descend" 'bad f.smtx "bad row offsets" "2, 2, 1\n0 2 1\n0\n"'
check "offsets missing" 'bad g.smtx "bad sizes" "2, 2, 1\n0 1\n0\n"'
check "not a mesh" 'says 1 "3: a mesh is" solve --mesh 3'
check "an unknown solver" 'says 2 "solvers are" solve --mesh 2x1 --solvers gmres'
check "nothing to do" 'says 2 "a matrix, or two files" solve'

finish
