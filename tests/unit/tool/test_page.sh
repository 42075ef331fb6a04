#!/bin/sh
# test_page.sh: the page and the object of `shunt run --report FILE.html --json FILE`.
# SHUNT: the binary; srcdir: the source tree.  Needs no GPU: a stand-in for the library leaves the
# lines of the file LINES, and, where there is one, the library for GraphBLAS leaves its own.
SHUNT=${SHUNT:-./shunt}
srcdir=${srcdir:-.}
case $SHUNT in /*) ;; *) SHUNT=$(pwd)/$SHUNT ;; esac
srcdir=$(cd "$srcdir" && pwd)
. "$srcdir/tests/unit/tool/check.sh"
unset SHUNT_ROUTES SHUNT_REPORT SHUNT_DISABLE SHUNT_STRICT
if ! python3 -c 'import html.parser, json' 2>/dev/null; then
  skip "python3 is not installed"
  finish
fi
valid() { python3 "$srcdir/tests/unit/tool/check_page.py" page.html object.json; }
# json EXPRESSION: is it true of the object, a?
json() {
  python3 -c 'import json, sys; a = json.load(open("object.json")); sys.exit(not ('"$1"'))'
}
on_page() { grep -q -F -e "$1" page.html; }

# ---- what a stand-in leaves ----------------------------------------------------------------------
mkdir lib
if ! ${CC:-cc} -shared -fPIC -o lib/libshunt-cusparse.so \
  "$srcdir/tests/unit/tool/report_stand_in.c" 2>err; then
  skip "no C compiler for the stand-in library"
  finish
fi
libraries=$work/lib
tab=$(printf '\t')
# run COMMAND...: page.html and object.json of a run whose lines are in the file lines.
run() {
  rm -f page.html object.json
  env SHUNT_LIBDIR="$libraries" LINES="$work/lines" "$SHUNT" run --report page.html \
    --json object.json -- "$@" </dev/null
}
spmm=spmm:csr:f16.f16.f16.f32:i64b0:m4096n1024k4096z1677721:NN:rr:ld1024.1024:a1b0:alg0

cat >lines <<EOF
# shunt report 2 pid=PID prog=cat
# faults seen 0
# process${tab}started=1790000000.250${tab}seconds=12.5${tab}rank=1${tab}host=node7${tab}new=x
cusparseSpMM${tab}vector${tab}fits${tab}1200${tab}3000.5${tab}$spmm${tab}us=6000\
${tab}clock=table${tab}off=1.31
cusparseSpMM${tab}original${tab}transposed${tab}34${tab}0.0${tab}$spmm
cusparseSpMM${tab}original${tab}a-new-reason${tab}1${tab}0.0${tab}-
GrB_mxm${tab}host${tab}fits${tab}7${tab}-\
${tab}mxm:plus_times:fp32:m20000n64k20000w25612544:sr.fr.fc:NT:am:t2\
${tab}us=700${tab}from=a <b>.py:3 in f${tab}other=x
# time${tab}vector${tab}1790000000.250${tab}1790000001.250${tab}1200${tab}6000.0
# time${tab}host${tab}1790000001.250${tab}1790000002.250${tab}7${tab}700.0
# time${tab}original${tab}1790000000.250${tab}1790000006.250${tab}35${tab}0.0
# an unknown remark
# SHUNT_ASSUME=frozen was broken: a matrix changed
# costs${tab}NVIDIA H200, cuSPARSE 12.6; built in
EOF
check "a run of two processes" 'run sh -c "cat; cat"'
check "the page is well formed, self-contained and tells all" 'valid'
check "its colours can be told apart: text 4.5, graphics 3, light, dark and print" \
  'python3 "$srcdir/tests/unit/tool/check_contrast.py" page.html'
sed 's/--r2:#ffd75e/--r2:#404040/' page.html >dull.html
check "... and one that cannot is told" \
  '! python3 "$srcdir/tests/unit/tool/check_contrast.py" dull.html >told &&
   [ "$(cat told)" = "$(printf "dark: r2 on ground: 1.74\ndark: r2 on card: 1.49")" ]'
check "what was saved" 'on_page "<dd class=\"gain\">6.00 ms</dd>"'
check "... by both together, and by the one that saved most" \
  'on_page "sum over 2 processes" &&
   on_page "Saved by one process, at most</dt><dd class=\"gain\">3.00 ms</dd>" &&
   json "a[\"saved_us_of_one\"] == 3000.5" &&
   json "[p[\"saved_us\"] for p in a[\"processes\"]] == [3000.5] * 2"'
check "... on the terminal, too" \
  'run sh -c "cat; cat" >said 2>&1 &&
   grep -q "6.00 ms saved (estimated), the sum over processes; one saved 3.00 ms at most" said'
check "and of which calls that is not known" 'on_page "Of 14 taken calls it is not known"'
check "how it is known" 'on_page "What is called estimated is not measured" &&
  on_page "up to a factor of 1.31 off" && on_page "original known to a factor of 1.31" &&
  json "a[\"gain\"] == \"estimated\" and a[\"measured_us\"] == 0"'
words="4,096 × 4,096 csr, f16, 1,677,721 entries (10 %), times a dense matrix of 1,024 columns"
check "the problem in words" 'on_page "$words"'
check "one of GraphBLAS in words" \
  'on_page "20,000 × 20,000 times 20,000 × 64, plus_times, fp32, 25,612,544 multiplications"'
check "the reason, and what to do" \
  'on_page "op(A) transposes the sparse matrix" &&
   on_page "What you can do: Store the transpose as CSR once"'
check "a reason of a newer library by its word" 'on_page "<h3>a-new-reason</h3>"'
check "time of a call, estimated or measured" 'on_page "5.0 us, estimated" && on_page ">100.0 us<"'
check "where it was called" 'on_page "First called from a &lt;b&gt;.py:3 in f<" &&
  json "sorted(d[\"from\"] for d in a[\"decisions\"])[-1] == \"a <b>.py:3 in f\""'
check "the timeline: routes, calls, time" 'on_page "highest column: 242" &&
  on_page "<i class=\"left\"></i>original" &&
  [ "$(grep -o "<rect" page.html | wc -l)" -eq 100 ]'
check "... and in the object" 'json "[(s[\"route\"], s[\"calls\"]) for s in a[\"timeline\"]][:3] ==
  [(\"vector\", 1200), (\"host\", 7), (\"original\", 35)] and len(a[\"timeline\"]) == 6"'
check "a promise that was broken" \
  'on_page "in spite of SHUNT_ASSUME=frozen" && json "a[\"frozen_broken\"]"'
check "the table of costs" 'json "a[\"costs\"] == \"NVIDIA H200, cuSPARSE 12.6; built in\""'
check "ranks and hosts" '[ "$(grep -c "data-name=\"Rank\">1<.*node7.*12.5 s" page.html)" -eq 2 ]'
check "the object: sums" 'json "a[\"calls\"] == 2484 and a[\"taken\"] == 2414 and
  a[\"saved_us\"] == 6001 and a[\"saved_unknown\"] == 14"'
check "... what is not known is null" \
  'json "[d[\"saved_us\"] for d in a[\"decisions\"] if d[\"route\"] == \"host\"] == [None]"'
check "... processes" 'json "[(p[\"rank\"], p[\"host\"], p[\"seconds\"])
  for p in a[\"processes\"]] == [(1, \"node7\", 12.5)] * 2"'
check "... and the clock of each time" \
  'json "sorted(d[\"clock\"] for d in a[\"decisions\"]) ==
   [\"host\", \"none\", \"none\", \"table\"]"'

cat >lines <<EOF
# shunt report 2 pid=PID prog=cat
cusparseSpMM${tab}vector${tab}fits${tab}1000${tab}90000${tab}$spmm${tab}us=6000\
${tab}clock=table${tab}samples=9${tab}original=100${tab}ours=10${tab}error=4000
cusparseSpMM${tab}csr${tab}fits${tab}10${tab}-500${tab}a${tab}off=1.2
cusparseSpMM${tab}csr${tab}fits${tab}10${tab}-${tab}b
cusparseSpMM${tab}csr${tab}fits${tab}10${tab}1${tab}c${tab}samples=0
cusparseSpMM${tab}csr${tab}fits${tab}10${tab}1${tab}c${tab}off=0.5
EOF
# 32 lines of 32 cells: the picture of that matrix, and of no other.
line() { printf '%-32s' "$1" | tr ' ' .; }
picture=$(line eeffjj && line ' t' && for i in 1 2 3 4 5; do printf '%192s' '' | tr ' ' .; done)
wrong=$(echo "$picture" | tr f z)
cat >>lines <<EOF
# time${tab}vector${tab}1790000000${tab}1790000002${tab}1000${tab}6000
# upkeep${tab}conversions=2${tab}bytes=3000000${tab}us=400${tab}proofs=998${tab}proof_us=1800
# memory${tab}1790000000.5${tab}0${tab}-1
# memory${tab}1790000001${tab}3000000${tab}5000000000
# memory${tab}1790000001${tab}x${tab}1
# matrix${tab}rows=4096${tab}cols=2048${tab}nnz=83886${tab}longest=50${tab}empty=1024\
${tab}alike8=0.5${tab}alike4=0.75${tab}alike2=1${tab}two_of_four=0.25${tab}squares=2e6${tab}new=1
# matrix${tab}rows=4096${tab}cols=2048${tab}nnz=83886${tab}longest=50${tab}empty=1024\
${tab}alike8=0.5${tab}alike4=0.75${tab}alike2=1${tab}two_of_four=0.25${tab}squares=2e6
# matrix${tab}rows=4096${tab}cols=2048${tab}nnz=83886${tab}longest=50${tab}empty=1024\
${tab}alike8=0.5${tab}alike4=0.75${tab}alike2=1${tab}two_of_four=0.25${tab}squares=2e6\
${tab}densest=0.125${tab}density=$picture
# matrix${tab}rows=31${tab}cols=2048${tab}nnz=5${tab}densest=0.5${tab}density=$picture
# matrix${tab}rows=4096${tab}cols=2047${tab}nnz=5${tab}densest=0.5${tab}density=$wrong
# matrix${tab}rows=0${tab}cols=1
# matrix${tab}rows=4096${tab}cols=4096${tab}nnz=99${tab}densest=0.5${tab}density=$picture
EOF
check "a run of which a part was measured" 'run cat && valid &&
  json "a[\"gain\"] == \"partly measured\" and a[\"measured_us\"] == 90000 and
  a[\"saved_us\"] == 89500"'
check "... how each is known" 'json "sorted((d[\"gain\"], d[\"samples\"])
  for d in a[\"decisions\"]) == [(\"estimated\", 0), (\"measured\", 9), (\"unknown\", 0)]"'
check "... and how far it may be off" 'json "a[\"error_us\"] == 4000 and
  4000 in [d[\"error_us\"] for d in a[\"decisions\"]]" && on_page "measured to ± 4.00 ms" &&
  on_page "± 4.00 ms</span>"'
check "... what was lost, too" \
  'json "-500 in [d[\"saved_us\"] for d in a[\"decisions\"]]" && on_page "-500.0 us"'
check "... what is strange" 'json "a[\"not_understood\"] == 4"'
check "conversions and proofs, with their share" 'on_page "3.0 MB were converted" &&
  on_page "data-name=\"Share\">28.1 %<" && json "a[\"upkeep\"][\"proofs\"] == 998"'
check "memory over the run" 'on_page "highest: 3.0 MB" && on_page "highest: 5000.0 MB" &&
  json "len(a[\"memory\"]) == 2 and a[\"memory\"][1][2:] == [3000000, 5000000000]"'
check "... whose line is which" \
  'grep -q "<svg viewBox=\"0 0 24 8\".*class=\"l0 d0\".*</svg>cat [0-9]*</span></div>" page.html &&
   grep -q "<path class=\"l0 d0\" d=\"M[0-9]" page.html'
check "each matrix" '[ "$(grep -c "<figure>" page.html)" -eq 4 ] &&
  on_page "4,096 × 2,048, 83,886 entries (1 %)" && on_page "8 rows alike 50 %" &&
  on_page "25.0 % are empty" && json "len(a[\"matrices\"]) == 4"'
check "... with its picture" 'on_page "the densest cell: 12.5 % filled" && grep -q \
    "^<path class=\"r1\" fill-opacity=\"1.00\" d=\"M9.9 0.5h4.7v4.7h-4.7z\"></path>" page.html &&
  json "[m.get(\"density\", \"\") for m in a[\"matrices\"]] ==
    [\"$picture\", \"\", \"\", \"$picture\"]"'
check "... but not with one of another size, or of unknown letters" \
  '[ "$(grep -c "the densest cell" page.html)" -eq 2 ] && on_page "A matrix without cells"'
check "... without a profile, with what is known" \
  'on_page "4,096 × 4,096, 99 entries (0.00059 %)" && json "a[\"matrices\"][3].keys() ==
    {\"rows\", \"cols\", \"nnz\", \"densest\", \"density\"}"'
check "... on the page" 'on_page "Saved, partly measured" && on_page "90.00 ms, measured" &&
  on_page "comes from 9 of 1,000 calls"'
check "... and on the terminal" 'run cat 2>&1 |
  grep -q "89.50 ms saved (partly measured, to +- 4.00 ms)"'

# ---- ranks ---------------------------------------------------------------------------------------
# block RANK US PID STARTED SECONDS BLOCK: one of a rank's; every pid and host is the same.
block() {
  printf '# shunt report 2 pid=%s prog=python3\n' "$3"
  printf '# process\tstarted=%s\tseconds=%s\trank=%s\tus=%s\t' "$4" "$5" "$1" "$2"
  printf 'first=1790000001\tlast=17900000%s\tspace=%s\tblock=%s\thost=node\n' \
    "$5" "${SPACE:-1}" "$6"
  printf 'cusparseSpMM\tcsr\tfits\t10\t100\t%s\tus=%s\tclock=table\n' "$spmm" "$2"
}
{
  block 1 1000 7 1790000000 11.5 b1
  block 0 1000 7 1790000000 11.5 b0
  block 2 9999 7 1790000000 5 b2 # an earlier report of the same library
  block 2 1800 7 1790000000 11.5 b2
  block 3 500 7 1790000000 11.5 b3 # two libraries of one process
  block 3 500 7 1790000000.01 11.5 b3x
} >lines
check "ranks of one pid and host" 'run cat 2>said && valid &&
  json "[p[\"rank\"] for p in a[\"processes\"]] == [0, 1, 2, 3]"'
check "the last report of a library counts, two libraries are added up" \
  'json "[p[\"us\"] for p in a[\"processes\"]] == [1000, 1000, 1800, 1000] and
   a[\"calls\"] == 50 and [p[\"calls\"] for p in a[\"processes\"]] == [10, 10, 10, 20]"'
check "decisions apart by rank, and merged" 'json "len(a[\"decisions\"]) == 1 and
   [[d[\"us\"] for d in p[\"decisions\"]] for p in a[\"processes\"]] ==
   [[1000], [1000], [1800], [1000]]"'
check "the slowest against the median, in the object" \
  'json "a[\"slowest\"] == {\"process\": 2, \"us\": 1800, \"median_us\": 1000}"'
check "... on the terminal" \
  'grep -q "longest in rank 2 (node): 1.80 ms (estimated), 1.80 times the median of 1.00 ms" said &&
  grep -q -E "^  rank 2 \(node\) +10 +1.80 ms +10.5 s +1.80$" said'
check "... and on the page" 'on_page "<h2 id=\"ranks\">" &&
  on_page "Calls took longest in rank 2 (node): 1.80 times the median, 1.00 ms." &&
  on_page "data-name=\"Of the median\">1.80<"'
check "the span of a process" \
  'json "a[\"processes\"][0][\"last\"] - a[\"processes\"][0][\"first\"] == 10.5"'
{
  SPACE=1 block 0 1 7 1790000000 11 b0
  SPACE=2 block 0 1 7 1790000000 11 b1
  SPACE=2 block 0 1 7 1790000100 11 b2
} >lines
check "two containers, and a pid that came again, are processes of their own" \
  'run cat && valid && json "len(a[\"processes\"]) == 3"'
check "a process alone is no straggler" 'block 0 5 7 1790000000 11 b >lines && run cat && valid &&
  json "a[\"slowest\"] is None" && ! on_page "id=\"ranks\""'

# ---- what must be escaped, or is strange ---------------------------------------------------------
cat >lines <<EOF
# shunt report 2 pid=PID prog=<script>
# process${tab}host=a"b<i>&
# time${tab}<i>&"${tab}1${tab}2${tab}3${tab}4
# time${tab}csr${tab}2${tab}1${tab}3${tab}4
# time${tab}csr${tab}1${tab}2${tab}-3${tab}4
# time${tab}csr${tab}1${tab}2
cusparseSpMM${tab}ve<b>ctor${tab}<fits&${tab}2${tab}1.5${tab}"><script>alert(1)</script>
cusparseSpMM${tab}original${tab}"><i>${tab}3${tab}0${tab}a&b
cusparseSpMM${tab}csr${tab}fits${tab}1${tab}nan${tab}-
cusparseSpMM${tab}csr${tab}fits${tab}1${tab}1${tab}-${tab}us=-3
cusparseSpMM${tab}csr${tab}fits${tab}1${tab}1${tab}-${tab}us=x
cusparseSpMM${tab}csr${tab}fits${tab}8888888888888888888${tab}1${tab}-
EOF
printf 'cusparseSpMM\tcsr\tfits\t1\t1\tcut \303 short\001\n' >>lines
check "a command and lines that would be markup" \
  'run sh -c "cat; exit 0 # <script>alert(2)</script> & \"\""'
check "are text" 'valid && ! grep -q -i "<script" page.html'
check "what is not UTF-8 is replaced" 'on_page "cut ? short?"'
check "strange lines are counted" \
  'on_page "7 lines of the library" && json "a[\"not_understood\"] == 7"'
: >lines
check "a run without a call" 'run cat && valid && on_page "No calls were seen" &&
  on_page "shunt doctor" && on_page "GrB_mxv"'
check "a run that a signal ended" \
  '! run sh -c "kill -TERM \$\$" && valid && on_page "ended by signal 15"'
check "a page that cannot be written" \
  'env SHUNT_LIBDIR="$libraries" "$SHUNT" run --report no/page.html true; [ $? -eq 125 ]'
check "an object that cannot be written" \
  'env SHUNT_LIBDIR="$libraries" "$SHUNT" run --json no/object.json true; [ $? -eq 125 ]'
echo "# mine" >lines
check "a file of another name keeps the lines" \
  'env SHUNT_LIBDIR="$libraries" LINES="$work/lines" "$SHUNT" run --report kept cat </dev/null &&
   grep -q -x "# mine" kept'

# ---- every reason has its advice -----------------------------------------------------------------
python3 - "$srcdir" >lines <<'EOF'
import re, sys
text = open(sys.argv[1] + "/backend/plan/reason.c").read()
print("# shunt report 2 pid=1 prog=all")
for word, sentence in re.findall(r'\{"([a-z-]+)", "([^"]*)"\}', text):
    if not sentence.startswith("taken"):
        print("cusparseSpMM\toriginal\t%s\t1\t0.0\t-" % word)
EOF
check "every reason has its advice" '[ "$(wc -l <lines)" -gt 25 ] && run cat && valid &&
  json "all(d[\"advice\"] for d in a[\"decisions\"])"'

# ---- a program that uses GraphBLAS ---------------------------------------------------------------
product=$srcdir/tests/unit/tool/graphblas_product.c
cat >thread.py <<'EOF'
import ctypes
raise SystemExit(ctypes.CDLL("./product.so").run_in_thread())
EOF
mkdir site-packages
echo 'def call(function): return function()' >site-packages/installed.py
cat >product.py <<'EOF'
import ctypes, sys
sys.path.insert(0, "site-packages")
import installed
library = ctypes.CDLL("./product.so")  # its functions run without the interpreter's lock


def step():
    return installed.call(library.run)


raise SystemExit(step())
EOF
# In a generator, in a thread of Python's.
cat >generator.py <<'EOF'
import ctypes, threading
library = ctypes.CDLL("./product.so")


def results():
    yield library.run(
        )


found = []
thread = threading.Thread(target=lambda: found.extend(results()))
thread.start()
thread.join()
raise SystemExit(found[0])
EOF
cat >readable.py <<'EOF'
import ctypes, sys
names = ctypes.CDLL(None)
table = sys.version_info[:2] in ((3, 13), (3, 14)) and sys._is_gil_enabled()
raise SystemExit(not (hasattr(names, "_Py_DumpTraceback") or
                      hasattr(names, "PyUnstable_DumpTraceback") or table))
EOF
# shellcheck disable=SC2086
if [ ! -e "${SHUNT_GRAPHBLAS_SO:-}" ]; then
  skip "the library for GraphBLAS was not built"
elif ! ${CC:-cc} ${GRAPHBLAS_CPPFLAGS:-} -rdynamic -o product "$product" \
  ${GRAPHBLAS_LIBS:--lgraphblas} 2>err; then
  skip "GraphBLAS' headers are not installed"
else
  mkdir graphblas && cp "$SHUNT_GRAPHBLAS_SO" graphblas/libshunt-graphblas.so
  libraries=$work/graphblas
  check "a GraphBLAS program" 'RANK=3 SHUNT_ROUTES=host run ./product && valid'
  check "its calls are on the page" \
    'json "a[\"taken\"] == 3 and a[\"processes\"][0][\"program\"] == \"product\""'
  check "what they took is measured, what they saved is estimated" \
    'json "a[\"gain\"] == \"estimated\" and a[\"saved_us\"] > 0 and
     a[\"decisions\"][0][\"off\"] > 1 and a[\"decisions\"][0][\"clock\"] == \"host\" and
     0 < a[\"decisions\"][0][\"us\"] < 1e6 * a[\"seconds\"]" && on_page "Saved, estimated"'
  check "their times are on the timeline" \
    'json "sum(s[\"calls\"] for s in a[\"timeline\"]) == 3 and
     abs(sum(s[\"us\"] for s in a[\"timeline\"]) - sum(d[\"us\"] for d in a[\"decisions\"])) < 2" &&
     on_page "Over the run"'
  check "the terminal tells the same" \
    'SHUNT_ROUTES=host run ./product 2>&1 | grep -q " host .* estimated "'
  measured() { SHUNT_MEASURE=1 SHUNT_ROUTES=host TIMES=$1 WAY=$2 run ./product && valid; }
  check "measured, where there is time for it: 1 %" 'measured 2000 - && json "any(
     d[\"gain\"] == \"measured\" and d[\"samples\"] >= 1 and d[\"saved_us\"] is not None
     for d in a[\"decisions\"])" || { cat object.json; false; }'
  check "... and not of a call that is the only one" \
    'measured 1 - && json "a[\"gain\"] == \"estimated\""'
  check "... nor where GraphBLAS tells what it does" \
    'measured 2000 burble >out && json "a[\"gain\"] == \"estimated\""'
  check "... nor where memory is the program's own" \
    'measured 2000 malloc && json "a[\"gain\"] == \"estimated\""'
  check "its rank, host and time" 'RANK=3 SHUNT_ROUTES=host run ./product && json "
     a[\"processes\"][0][\"rank\"] == 3 and a[\"processes\"][0][\"host\"] and
     0 <= a[\"processes\"][0][\"seconds\"] < a[\"seconds\"] + 0.5 and
     -1 <= a[\"processes\"][0][\"started\"] - a[\"started\"] <= a[\"seconds\"] + 1"'
  check "a C program: its object and function" \
    'json "a[\"decisions\"][0][\"from\"].startswith(\"product: multiply+0x\")"'
  # shellcheck disable=SC2086
  ${CC:-cc} ${GRAPHBLAS_CPPFLAGS:-} -shared -fPIC -o product.so "$product" \
    ${GRAPHBLAS_LIBS:--lgraphblas}
  for python in python3 python3.12 python3.13 python3.14 python3.15; do
    version=$("$python" --version 2>err) || continue
    if ! "$python" readable.py 2>err; then
      skip "$version: its stack cannot be read, or it has no ctypes (backend/log/log_python.c)"
      continue
    fi
    check "a program of $version: file, line and function" '
      SHUNT_ROUTES=host run $python product.py && valid &&
      json "all(d[\"from\"].endswith(\"product.py:8 in step\") for d in a[\"decisions\"])"'
    check "... of a generator in a thread" '
      SHUNT_ROUTES=host run $python generator.py && valid &&
      json "all(d[\"from\"].endswith(\"generator.py:6 in results\") for d in a[\"decisions\"])"'
    check "... a thread that Python does not know" \
      'SHUNT_ROUTES=host run $python thread.py &&
       json "a[\"decisions\"][0][\"from\"].startswith(\"product.so: \")"'
  done
  check "calls that are left are timed, too" 'SHUNT_ROUTES=none run ./product && valid &&
    json "[(d[\"route\"], d[\"calls\"], d[\"clock\"]) for d in a[\"decisions\"]] ==
     [(\"original\", 3, \"host\")]"'
fi

finish
