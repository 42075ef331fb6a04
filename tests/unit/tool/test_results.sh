#!/bin/sh
# The tables of README.md and of the pages of tests/bench say what the committed results say, and a
# figure that does not is found.
set -u
sources=$(cd "${SHUNT_SRCDIR:?}" && pwd) || exit 2
. "$sources/tests/unit/tool/check.sh"
tables=$sources/tests/bench/results_table.py

check "the tables equal the results" 'python3 "$tables" --check "$sources"'
lines=$sources/tests/bench/fits/layer_lines.py
sorted_lines=$sources/tests/bench/fits/sorted_lines.py
check "the lines of layers are the fit to their timings" 'python3 "$lines" "$sources"'
check "and those by lengths" 'python3 "$sorted_lines" "$sources"'
mkdir -p copy/tests
cp -R "$sources/tests/bench" copy/tests/ && cp "$sources/README.md" copy/ && chmod -R u+w copy

# wrong FILE SED-SCRIPT: with the file so changed, its tables differ; written anew, they do not.
wrong() {
  cp "copy/$1" whole
  sed "$2" whole >"copy/$1"
  ! cmp -s whole "copy/$1" && ! python3 "$tables" --check copy >out 2>err &&
    grep -q -F "not ok - the tables of $1" out
  ok $? "a wrong figure in $1 is found"
  python3 "$tables" copy && cmp -s whole "copy/$1"
  ok $? "... and put right"
}
mkdir -p copy/kernels/csr copy/kernels/sorted
sed 's/{2\.09, 0\.341/{2.09, 0.342/' "$sources/kernels/csr/csr_layers.h" \
  >copy/kernels/csr/csr_layers.h
check "and others are found" '! python3 "$lines" copy'
sed 's/{2\.33, 0\.319,/{2.33, 0.33,/' "$sources/kernels/sorted/sorted_layers.c" \
  >copy/kernels/sorted/sorted_layers.c
check "of both" '! python3 "$sorted_lines" copy'
wrong README.md '/BSR, fp16/s/8\./9./'
wrong tests/bench/RESULTS.md '/random, 50 %, 1024/s/4833/3833/'
wrong tests/bench/sparse24.md '/4096 x 4096/s/24\.1/14.1/'
# What is not measured yet gets its table with its results.
way() { printf '{"way": "%s", "us": %s}' "$1" "$2"; }
case_of() { # TYPE WAY...
  printf '{"matrix": "random:4096x4096:0.1:8", "width": 256, "v": 8,'
  printf '"problem": "spmm:csr:%s.x:b:m:NN:rr", "ways": [%s]}' "$1" "$2"
}
{
  printf '{"cases": ['
  case_of i8 "$(way srbcrs 10), $(way cublaslt-i8 15), $(way cusparse-default 90)"
  printf ','
  case_of f16 "$(way cublas 20), $(way vector 32), $(way vector-packed 31)"
  printf ']}'
} >copy/tests/bench/results/srbcrs/peers.json
row='| 4096 | 10 % | 256 | 10.0 | refused | 15.0 | refused | 20.0 | 31.0 | 90.0 | 90.0'
python3 "$tables" copy && grep -q -x -F "$row | refused | 1.50 |" copy/tests/bench/RESULTS.md
ok $? "int8 and what it is compared with stand in one row"

sed -i 's/<!-- table: host -->/<!-- table: none -->/' copy/tests/bench/RESULTS.md
check "a table that nobody knows is an error" \
  '! python3 "$tables" --check copy 2>err && grep "no table is called .none.;" err'
check "wrong usage is an error" '! python3 "$tables" --check'

finish
