#!/bin/sh
# test_inspect.sh: `shunt inspect`: kinds of entries, picture, estimates, words.
# SHUNT: the binary; srcdir: the source tree.  Needs no GPU.
SHUNT=${SHUNT:-./shunt}
srcdir=${srcdir:-.}
case $SHUNT in /*) ;; *) SHUNT=$(pwd)/$SHUNT ;; esac
srcdir=$(cd "$srcdir" && pwd)
. "$srcdir/tests/unit/tool/check.sh"
unset SHUNT_ROUTES SHUNT_MATH
if ! python3 -c 'import json' 2>/dev/null; then
  skip "python3 is not installed"
  finish
fi

# matrix FILE ROWS COLUMNS: reads the places "row column" from 0, one a line.
matrix() {
  sort -u | awk -v rows="$2" -v cols="$3" '{ place[NR] = $1 + 1 " " $2 + 1 }
    END { print "%%MatrixMarket matrix coordinate pattern general"
          print rows, cols, NR
          for (i = 1; i <= NR; i++) print place[i] }' >"$1"
}
# compare TEXT FILE: counts and pictures against a computation in Python.
compare() {
  "$SHUNT" inspect --json --picture "$2.svg" "$2" >"$2.json" 2>err &&
    "$SHUNT" inspect --picture "$2.png" "$2" >out 2>err &&
    python3 "$srcdir/tests/unit/tool/check_inspect.py" "$2" "$2.json" "$2.svg" "$2.png" >out 2>&1
  ok $? "$1"
}

# ---- kinds of entries, and where they are drawn --------------------------------------------------
awk 'BEGIN { for (r = 0; r < 8; r++) print r, 3          # 8 x 1
             for (r = 12; r < 16; r++) print r, 40       # 4 x 1
             print 2, 70; print 3, 70                    # 2 x 1
             print 3, 71; print 4, 71                    # shared, no aligned pair
             print 20, 100                               # alone
             print 20, 101; print 20, 102 }' | matrix small.mtx 24 128
compare "one entry of each kind" small.mtx
awk 'BEGIN { srand(7); for (i = 0; i < 3000; i++) print int(rand() * 100), int(rand() * 60) }' |
  matrix dense.mtx 100 60
compare "a random matrix, half full" dense.mtx
awk 'BEGIN { srand(8); for (i = 0; i < 200; i++) print int(rand() * 37), int(rand() * 125) }' |
  matrix ragged.mtx 37 125
compare "sizes that are multiples of nothing" ragged.mtx
awk 'BEGIN { for (i = 0; i < 128; i++) print i, i % 64 }' | matrix strip.mtx 128 128
compare "an empty strip" strip.mtx
cp small.mtx 'a<b>&c.mtx'
compare "a file name with marks of XML" 'a<b>&c.mtx'
long=matrix_of_a_name_that_is_longer_than_any_picture_of_a_thousand_pixels_could_show_at_once
cp small.mtx "Größe_$long$long.mtx"
compare "a long file name, in letters of the world" "Größe_$long$long.mtx"
awk 'BEGIN { print 0, 0 }' | matrix one.mtx 1 1
compare "one entry" one.mtx

# ---- the table -----------------------------------------------------------------------------------
says() { grep -q -F -e "$1" out; ok $? "... says '$1'"; }
"$SHUNT" inspect small.mtx >out 2>err
ok $? "a table"
says "8 x 1 vectors"
says "strips without an entry"
says "what would change that"
"$SHUNT" inspect dense.mtx >out 2>err
says "the last 4 rows are no group of 8: add 4 empty rows"
printf '%%%%MatrixMarket matrix coordinate pattern general\n0 0 0\n' >empty.mtx
"$SHUNT" inspect empty.mtx >out 2>err
ok $? "a matrix of no rows"
says "what would change that"

# ---- estimates -----------------------------------------------------------------------------------
"$SHUNT" inspect -n 64,100 -t f16,f64 --gpu h200,a100 --json random:4096x4096:0.1:8 >estimates 2>err
ok $? "estimates of types, widths and GPUs"
if grep -q '"estimates": \[\]' estimates; then
  skip "estimates: a build without CUDA has no routes"
else
  cat >estimates.py <<'PYTHON'
import json
x = json.load(open("estimates"))["estimates"]
assert [(e["gpu"], e["type"], e["n"]) for e in x] == [
    (g, t, n) for g in ("H200", "A100") for t in ("f16", "f64") for n in (64, 100)]
for e in x:
    assert 0 < e["us"] <= e["cusparse_us"] and e["cublas_us"] > 0, e
    assert (e["route"] == "original") == (e["us"] == e["cusparse_us"]), e
assert x[0]["route"] in ("vector", "dense"), x[0]  # 8 x 1 vectors, a tenth full
assert [e["scaled"] for e in x] == [False] * 4 + [True] * 4
assert x[4]["us"] > x[0]["us"], "fewer multiprocessors take longer"
PYTHON
  python3 estimates.py >out 2>&1
  ok $? "... are what was asked for, and no worse than cuSPARSE's"
  "$SHUNT" inspect -n 64 -t i8,c32,c64 --gpu h200,a40,l40s,rtx5090 --json random:4096x4096:0.1:8 \
    >estimates 2>err
  python3 -c 'import json; x = json.load(open("estimates"))["estimates"]
assert [(e["gpu"], e["type"]) for e in x] == [
    (g, t) for g in ("H200", "A40", "L40S", "RTX5090") for t in ("i8", "c32", "c64")], x
assert x[0]["route"] == "srbcrs" and x[1]["route"] != "srbcrs", x
assert all(0 < e["us"] <= e["cusparse_us"] and e["cublas_us"] == 0 for e in x), x' >out 2>&1
  ok $? "... also of int8 and complex, and for one GPU of each compute capability"
  "$SHUNT" inspect -n 64 -t f16 --gpu h200,l40s random:512x512:0.1 >out 2>err
  [ "$(grep -c ' scaled$' out)" -eq 1 ] && grep -q 'L40S .* scaled$' out &&
    grep -q '^  scaled: ' out &&
    grep -q '^  H200: by the table of NVIDIA H200, .* built in; .* cuSPARSE is of 12\.6$' out &&
    grep -q '^  L40S: by the table of NVIDIA H200, .* carried over to L40S by multipro' out
  ok $? "... those not measured are marked, and the table is named"
  "$SHUNT" inspect -n 64 -t f16,f32 --gpu h100 --json random:4096x4096:0.1:8 \
    random:65536x65536:0.0003 >estimates 2>err
  python3 -c 'import json
x = [e for line in open("estimates") for e in json.loads(line)["estimates"]]
marked = {e["route"]: e["scaled"] for e in x}
assert any(marked.values()) and not all(marked.values()), marked
assert all(e["scaled"] == (e["route"] not in ("csr", "bundle", "original")) for e in x), marked
assert all(e["cusparse"] == "12.6" for e in x), x' >out 2>&1
  ok $? "... on an H100 those of the routes that were not timed there"
  "$SHUNT" inspect -n 256 -t f16 --json shuffled:2048x2048:0.1:8 >estimates 2>err
  python3 -c 'import json; x = json.load(open("estimates")); e = x["estimates"][0]
assert x["order"]["fill_ordered"] > 0.9 > 0.3 > x["order"]["fill_now"], x["order"]
assert e["ordered_us"] < e["us"], e' >out 2>&1
  ok $? "shuffled vectors: another order of the rows is found, and is expected to pay"
fi

# ---- words ---------------------------------------------------------------------------------------
"$SHUNT" inspect --explain >words 2>err
ok $? "--explain needs no file"
missing=
for word in $(grep -o '&shunt_route_[a-z0-9]*,' "$srcdir/backend/routes/table.c" |
  sed 's/.*route_//; s/,//') 2:4 tile strip entropy SSF density fill original scaled; do
  grep -q -e "^$word" words || missing="$missing $word"
done
[ -z "$missing" ]
ok $? "... and knows every route and word$missing"

# ---- usage ---------------------------------------------------------------------------------------
refuses() {
  want=$1 text=$2
  shift 2
  "$SHUNT" inspect "$@" >out 2>err
  [ $? -eq "$want" ] && [ -s err ]
  ok $? "$text"
}
ln -s /dev/full full.png
refuses 2 "a picture of two files" --picture x.svg small.mtx dense.mtx
refuses 2 "an unknown GPU" --gpu h300 small.mtx
refuses 2 "an unknown type" -t f8 small.mtx
refuses 2 "--explain as JSON" --explain --json small.mtx
refuses 1 "a picture in a folder that is not there" --picture nowhere/x.svg small.mtx
refuses 1 "a PNG in a folder that is not there" --picture nowhere/x.png small.mtx
refuses 1 "a picture of nothing" --picture x.svg empty.mtx
[ ! -w /dev/full ] || refuses 1 "a PNG where there is no room" --picture full.png small.mtx
"$SHUNT" inspect --help >out 2>err
[ "$(wc -l <out)" -le 24 ] && ! grep -q '.\{81\}' out
ok $? "--help fits a screen"
finish
