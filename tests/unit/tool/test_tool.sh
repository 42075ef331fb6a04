#!/bin/sh
# test_tool.sh: the shunt command from outside.  SHUNT: the binary; srcdir: the source tree.
# Needs no GPU.  Prints "ok - ..." / "not ok - ..." / "skip - ..." and a closing count.
SHUNT=${SHUNT:-./shunt}
srcdir=${srcdir:-.}
case $SHUNT in /*) ;; *) SHUNT=$(pwd)/$SHUNT ;; esac
man_page=$(cd "$srcdir" && pwd)/backend/tool/man/shunt.1
. "$srcdir/tests/unit/tool/check.sh"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset LD_PRELOAD SHUNT_LIBDIR SHUNT_ROUTES SHUNT_LOG SHUNT_REPORT SHUNT_CONFIG SHUNT_STRICT \
  SHUNT_DISABLE

# expect STATUS TEXT COMMAND...: the command's output goes to the files out and err.
expect() {
  want=$1 text=$2
  shift 2
  "$@" >out 2>err </dev/null
  got=$?
  [ $got -eq "$want" ]
  ok $? "$text (status $got)"
}
# has FILE TEXT: the last command's out or err holds the fixed string.
has() { grep -q -F -e "$2" "$1"; ok $? "... says '$2' on $1"; }
lacks() { ! grep -q -F -e "$2" "$1"; ok $? "... does not say '$2' on $1"; }

# ---- help, version, usage ---------------------------------------------------------
expect 0 "--version" "$SHUNT" --version
has out "shunt "
expect 0 "--help" "$SHUNT" --help
has out "Usage: shunt COMMAND"
[ "$(wc -l <out)" -le 24 ] && ! grep -q '.\{81\}' out
ok $? "... on a screen of 24 lines of 80"
expect 2 "no command" "$SHUNT"
for command in run bench inspect model options demo doctor support calibrate; do
  expect 0 "$command --help" "$SHUNT" $command --help
  has out "Usage: shunt $command"
  cp out help.$command
  [ "$(wc -l <out)" -le 24 ] && ! grep -q '.\{81\}' out
  ok $? "... on a screen of 24 lines of 80"
  expect 0 "$command -h" "$SHUNT" $command -h
  expect 2 "$command with an unknown option" "$SHUNT" $command --no-such
  has err "the options are --"
  has err "--no-such"
done
expect 0 "--help after other options" "$SHUNT" bench -n 3 --help
has out "Usage: shunt bench"
expect 2 "unknown command" "$SHUNT" frobnicate
has err "run, bench, inspect, model, options, demo"
expect 2 "option without its argument" "$SHUNT" bench -n
has err "needs an argument"
for command in run bench inspect model; do
  expect 2 "$command with nothing to work on" "$SHUNT" $command
  has err "no "
done
expect 2 "demo with two files" "$SHUNT" demo a b

if [ -f "$man_page" ]; then
  sed 's/\\-/-/g; s/\\f[BIR]//g' "$man_page" >man.txt
  for command in run bench inspect model options demo doctor support calibrate; do
    section=$(echo "$command" | tr '[:lower:]' '[:upper:]')
    sed -n "/^\\.SH SHUNT $section\$/,/^\\.SH EXIT/p" man.txt |
      awk '/^\.SH/ { n++ } n < 2' >section
    grep -o -E '^ +(-[a-z], )?--[a-z-]+' help.$command | grep -o -E -e '-{1,2}[a-z-]+' >options
    for option in $(cat options); do
      grep -E -e "^\\.(B|BR) .*$option( |\$|\")" section >/dev/null
      ok $? "man page describes $option of $command"
    done
    grep -o -E '^\.(B|BR) .*--[a-z-]+' section | grep -o -E -e '--[a-z-]+' | sort -u >described
    for option in $(cat described); do
      grep -q -e "^--*$option\$" -e "^$option\$" options
      ok $? "$command --help mentions $option of the man page"
    done
  done
else
  skip "the man page is not in $srcdir"
fi

# ---- words and numbers ---------------------------------------------------------------
expect 2 "unknown type" "$SHUNT" bench -t f8 random:4x4:1
has err "f16, bf16, f32, f64, i8"
expect 2 "unknown layout" "$SHUNT" bench --layout rx random:4x4:1
has err "rr, rc, cr, cc"
expect 2 "unknown operation" "$SHUNT" bench --op spmv random:4x4:1
has err "spmm, sddmm"
expect 2 "unknown operation on A" "$SHUNT" bench --op-a X random:4x4:1
has err "N, T, H"
expect 2 "SDDMM of a transpose" "$SHUNT" bench --op sddmm --op-a T random:4x4:1
has err "for spmm"
expect 2 "unknown index type" "$SHUNT" bench --index i16 random:4x4:1
expect 2 "unknown route" "$SHUNT" run --routes csr,fast -- true
has err "all, none, csr, bundle, sorted, vector, sparse24, srbcrs, tile, dense, bsr"
for number in 0 -1 x 1e3 '' 99999999999999999999 16,,3; do
  expect 2 "columns '$number'" "$SHUNT" bench -n "$number" random:4x4:1
done
expect 2 "vector 65" "$SHUNT" bench -v 65 random:4x4:1

# ---- malformed input: a message, status 1, never a crash ---------------------------------
# malformed NAME LINE: file NAME is declined, with the line number when LINE is not -.
malformed() {
  expect 1 "malformed $1: inspect" "$SHUNT" inspect "$1"
  if [ "$2" != - ]; then
    grep -q -E "(line |:)$2([^0-9]|\$)" err
    ok $? "... with line number $2"
  fi
  expect 1 "malformed $1: bench" "$SHUNT" bench --host --quick -n 4 "$1"
}
banner='%%MatrixMarket matrix coordinate real general'
: >empty.mtx
malformed empty.mtx -
echo 'hello' >banner.mtx
malformed banner.mtx 1
printf '%s\n2 2 2\n1 1 1.0\n' "$banner" >short.mtx
malformed short.mtx -
printf '%s\n2 2 2\n1 1 1.0\n3 1 1.0\n' "$banner" >range.mtx
malformed range.mtx 4
printf '%s\n2 2 2\n1 1 1.0\n0 1 1.0\n' "$banner" >zero.mtx
malformed zero.mtx 4
printf '%s\n2 2 2\n1 1 1.0\n1 b 1.0\n' "$banner" >word.mtx
malformed word.mtx 4
printf '%s\n2 2\n1 1 1.0\n' "$banner" >sizes.mtx
malformed sizes.mtx 2
printf '%s\n-2 2 1\n1 1 1.0\n' "$banner" >negative.mtx
malformed negative.mtx 2
printf '%s\n99999999999999999999 2 1\n1 1 1.0\n' "$banner" >huge.mtx
malformed huge.mtx 2
printf '%s\n2 2 9000000000000000000\n1 1 1.0\n' "$banner" >entries.mtx
malformed entries.mtx -
printf '%%%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1.0 0.0\n' >complex.mtx
malformed complex.mtx 1
printf '%%%%MatrixMarket matrix coordinate real lopsided\n1 1 1\n1 1 1.0\n' >symmetry.mtx
malformed symmetry.mtx 1
head -c 4096 /dev/urandom >noise.mtx
malformed noise.mtx -
head -c 4096 /dev/zero >zeros.smtx
malformed zeros.smtx -
printf '2, 2, 2\n0 1 2\n0 2\n' >range.smtx
malformed range.smtx 3
printf '2, 2, 2\n0 2 1\n0 1\n' >offsets.smtx
malformed offsets.smtx 2
printf '2, 2\n' >sizes.smtx
malformed sizes.smtx 1
printf '%s\n2 2 1\n1 1 1.0\n' "$banner" | gzip -c 2>/dev/null | head -c 20 >cut.mtx.gz
malformed cut.mtx.gz -
malformed missing.mtx -
malformed "$work" -
for source in rmat:5 rmat:0:1 rmat:5:6 rmat:5:3x band:5:5:1 band:9:1:2 mesh:0x1x1:1 mesh:9x9:1 \
  mesh:2000x2000x2000:1 tiles:4x4:0.1 tiles:4x4:0.9:0.2 tiles:4x4:-1:0 \
  skewed:4x4:0.1 skewed:4x4:0:1 skewed:4x4:1.1:1 skewed:4x4:nan:1 skewed:4x4:0.1:0 \
  skewed:4x4:0.1:3.1 skewed:4x4:0.1:1x skewed:0x4:0.1:1 skewed:16385x16384:0.1:1 \
  window:9:1 window:9:9:0 window:9:-1:0 window:9:1:9 window:9:1:-1 window:9:1:1x window:0:0:0 \
  random: random:4 random:4x4 random:4x4:2 random:4x4:nan random:0x4:1 random:4x4:1:0 \
  random:4x4:1:65 random:4x4:1:2x random:2000000000x2000000000:1 spmm: spmm:csr:x sddmm:csr: \
  spmm:bsr:f16.f16.f16.f32:i32b0:m8n8k8z8:NN:rr:ld8.8:a1b0:alg0 \
  spmm:bsr:f16.f16.f16.f32:i32b0:m8n8k8z16:TN:rr:ld8.8:a1b0:alg0:v4 \
  spmm:csr:f16.f16.f16.f32:i32b0:m8n8k8z80:NN:rr:ld8.8:a1b0:alg0 \
  spmm:csr:f16.f16.f16.f32:i32b0:m8n8k8z8:NN:rr:ld4.8:a1b0:alg0 \
  spmm:csr:f16.f16.f16.f32:i32b0:m8n0k8z8:NN:rr:ld8.8:a1b0:alg0 \
  spmm:csr:f16.f16.f16.f32:i32b0:m8n8k8z8:NN:rr:ld8.8:a1b0; do
  expect 1 "source '$source'" "$SHUNT" bench --host --quick -n 4 "$source"
  has err "$source"
done

# ---- made-up patterns -----------------------------------------------------------------
# entries SOURCE NUMBER: so many, in rows that no entry stands in twice.
entries() {
  expect 0 "inspect $1" "$SHUNT" inspect "$1"
  [ "$(awk '$1 == "nonzeros" { gsub(",", "", $2); print $2 }' out)" = "$2" ]
  ok $? "... with $2 entries"
}
entries mesh:5x4x3:2 3640 # (3x5 - 2)(3x4 - 2)(3x3 - 2) couplings of 2 x 2
entries mesh:1x1x1:3 9
entries band:100:3:1 688
entries band:100:3:0 100
entries tiles:64x128:0.25:0.5 4096 # 4 of 512, 8 of 256
entries tiles:20x40:1:0 800
entries rmat:1:1 1
"$SHUNT" inspect rmat:4096:8 >out
awk '$1 == "nonzeros" { gsub(",", "", $2); n = $2 } $1 == "longest" { gsub(",", "", $2); l = $2 }
  END { exit !(n > 20000 && n <= 32768 && l > 200) }' out
ok $? "rmat: few repeated edges, and rows far above the mean"
entries window:10:0:2 44 # 2 full rows, and 8 of the diagonal and 2 full columns
grep -q -E 'longest +10$' out
ok $? "... and a full row"
entries window:100:3:0 688 # 100 x 7 less 2 (3 + 2 + 1)
grep -q -E 'longest +7$' out
ok $? "... and no full row"
entries window:5:4:4 25
# A full row and column add 93 entries each, and up to 3 more at an edge.
"$SHUNT" inspect window:100:3:1 >out
awk '$1 == "nonzeros" { n = $2 } $1 == "longest" { l = $2 }
  END { exit !(n >= 874 && n <= 880 && l == 100) }' out
ok $? "window: what lies in a full column and beside the diagonal counts once"
entries skewed:40x30:1:2 1200
for source in skewed:512x600:0.2:0.7 skewed:2000x1000:0.01:2; do
  "$SHUNT" inspect $source >out
  awk -v source=$source 'BEGIN { split(source, part, "[:x]"); cells = part[2] * part[3] }
    $1 == "nonzeros" { gsub(",", "", $2); n = $2 } $1 == "longest" { gsub(",", "", $2); l = $2 }
    END { wanted = cells * part[4]
      exit !(n > 0.98 * wanted && n < 1.02 * wanted && l > 3 * n / part[2]) }' out
  ok $? "$source: as dense as asked for, and rows well above the mean"
done
# lengths SEED SOURCE: nonzeros, and what the rows' lengths are like.
lengths() {
  "$SHUNT" bench --host --quick -n 1 -t f32 --csv --seed "$1" "$2" 2>err | tail -1 |
    cut -d , -f 6-10
}
for source in skewed:300x200:0.1:0.7 window:200:3:5; do
  [ "$(lengths 7 $source)" = "$(export OMP_NUM_THREADS=1; lengths 7 $source)" ]
  ok $? "$source: one seed, one matrix, by one thread, too"
  [ "$(lengths 7 $source)" != "$(lengths 8 $source)" ]
  ok $? "$source: another seed, another matrix"
done

# ---- suites ---------------------------------------------------------------------------
expect 2 "unknown suite" "$SHUNT" bench --suite nope
has err "calibrate, dlmc, integers, mtx, tiles"
expect 2 "a suite and a matrix" "$SHUNT" bench --suite dlmc random:4x4:1
expect 2 "a suite and columns" "$SHUNT" bench --suite dlmc -n 64
has err "its own types, columns and vectors"
expect 1 "a suite without a folder" env -u SHUNT_DATA "$SHUNT" bench --suite mtx
has err "SHUNT_DATA"
expect 1 "a suite without its files" "$SHUNT" bench --suite mtx --data "$work/none"
has err "--data"
expect 0 "a suite that needs no files" env -u SHUNT_DATA "$SHUNT" bench --suite calibrate --list
# 8 layers in 3 types and widths, 24 patterns in 3 types and 6 widths
[ "$(wc -l <out)" -eq 536 ]
ok $? "... all of it: $(wc -l <out)"
mkdir -p data/dlmc
printf '2, 2, 2\n0 1 2\n0 1\n' >data/dlmc/a_2x2_0.5.smtx
gzip -f data/dlmc/a_2x2_0.5.smtx
expect 0 "the cases of a suite" "$SHUNT" bench --suite dlmc --data data --list
# 9 of SpMM and of SDDMM on the file, 16 patterns in 3 heights and 6 widths
[ "$(wc -l <out)" -eq 306 ] && [ "$(grep -c sddmm: out)" -eq 9 ] && grep -q 'm16n256k2z16:' out
ok $? "... all of them"
mkdir -p data/mtx
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 1.0\n' | gzip >data/mtx/b.mtx.gz
expect 0 "the cases of integers" "$SHUNT" bench --suite integers --data data --list
# 18 of SpMM on the file; 16 patterns in 3 heights, 4 widths, i8 and f16, and 3 of SDDMM of f16;
# 2 widths with B by columns; 2 of the scattered matrix
[ "$(wc -l <out)" -eq 580 ] && [ "$(grep -c sddmm: out)" -eq 144 ]
ok $? "... SpMM, SDDMM, and scattered matrices: $(wc -l <out)"

# ---- the ablation: a program of the build tree ------------------------------------------
mkdir -p tree/tests/bench
cp "$SHUNT" tree/shunt
expect 2 "--ablation and a suite" tree/shunt bench --ablation --suite dlmc
expect 1 "no ablation program" tree/shunt bench --ablation
has err "tests/bench/ablation_bench is not there"
printf '#!/bin/sh\necho "$#: $*"\nexit 2\n' >tree/tests/bench/ablation_bench
chmod +x tree/tests/bench/ablation_bench
expect 2 "the ablation program's status" tree/shunt bench -o a.json --ablation -- -v 8 -n 64
has out "6: -o a.json -v 8 -n 64"
printf '#!/bin/sh\nkill -9 $$\n' >tree/tests/bench/ablation_bench
expect 1 "an ablation program that is killed" tree/shunt bench --ablation
has err "ended by signal 9"
echo 'no program' >tree/tests/bench/ablation_bench
chmod +x tree/tests/bench/ablation_bench
expect 1 "an ablation program that cannot be run" tree/shunt bench --ablation

# ---- inspect --------------------------------------------------------------------------
printf '%s\n%% a comment\n3 4 4\n1 1 1.5\n1 4 2\n3 2 -1\n3 3 1e3\n' "$banner" >good.mtx
expect 0 "inspect" "$SHUNT" inspect good.mtx
has out "good.mtx"
grep -q -E 'nonzeros +4$' out && grep -q -E 'longest +2$' out && grep -q -E 'empty rows +1$' out
ok $? "... with the right counts"
grep -q -E 'SSF \(same\) .* C-stationary \([0-9]+ % right\)' out
ok $? "... and the traversal by SSF"
expect 0 "inspect --json" "$SHUNT" inspect --json good.mtx good.mtx
[ "$(wc -l <out)" -eq 2 ]
ok $? "... one line per file"
if command -v python3 >/dev/null 2>&1; then
  python3 -c 'import json, sys
for line in open("out"):
    d = json.loads(line)
    assert (d["rows"], d["columns"], d["nonzeros"]) == (3, 4, 4), d
    assert d["faster_by_ssf"] == "c_stationary" and d["entropy"] < 1, d
    assert d["row_length"]["empty_rows"] == 1 and not d["pattern_only"], d' 2>err
  ok $? "... that parses, with the right counts"
else
  skip "no python3 to parse JSON"
fi
gzip -c good.mtx >good.mtx.gz 2>/dev/null && {
  expect 0 "inspect a gzipped file" "$SHUNT" inspect good.mtx.gz
}
printf '2, 3, 3\n0 2 3\n0 2 1\n' >good.smtx
expect 0 "inspect .smtx in 8 x 1 vectors" "$SHUNT" inspect -v 8 good.smtx
grep -q -E 'rows +16$' out && grep -q -E 'nonzeros +24$' out
ok $? "... makes 16 rows and 24 nonzeros"
grep -q -E 'share all columns +100.00% +100.00% +100.00%' out
ok $? "... whose groups share their columns"
expect 1 "one bad file among good ones" "$SHUNT" inspect good.mtx missing.mtx good.smtx
has out "good.smtx"

# ---- model ----------------------------------------------------------------------------
# The drawing of kernels/dcsr/dcsr_format.h: 6 entries in 3 rows, 5 segments of 2 strips.
printf '%s\n5 8 6\n1 2 1\n1 5 2\n3 1 3\n3 2 4\n3 8 5\n5 7 6\n' "$banner" >drawing.mtx
expect 0 "model" "$SHUNT" model -w 4 -n 3,65 drawing.mtx
grep -q -E 'strips: rows|segments: rows of strips with an entry +5 ' out
ok $? "... counts the segments"
grep -q -E '^ +3 C-stationary +0.000 ' out && grep -q 'chosen: ' out
ok $? "... and chooses"
grep -q -E 'SSF \(same\) .* C-stationary is faster \([0-9]+ % right\)' out
ok $? "... and says what SSF is for"
expect 0 "model --json" "$SHUNT" model --json -w 4 -n 3 drawing.mtx random:40x30:0.2 random:3x3:0
[ "$(wc -l <out)" -eq 3 ]
ok $? "... one line per file"
if command -v python3 >/dev/null 2>&1; then
  python3 -c 'import json
d, r, e = [json.loads(line) for line in open("out")]
assert d["bytes"] == {"csr": 72, "dcsr": 84, "strips": 104}, d
t = d["traffic"][0]
assert t["c_stationary"]["total"] == 84 + 72 + 60, t
assert t["b_stationary"]["total"] == 104 + 96 + 24 + 84, t
c = d["conversion"]["engine"]
assert (c["elements"], c["cycles"], c["tree_activations"], c["prefetches"]) == (6, 10, 7, 5), c
assert r["nonzeros"] == 240, r
assert e["entropy"] == 0 and e["traffic"][0]["chosen"] == "c_stationary", e' 2>err
  ok $? "... that parses, with the right figures"
fi
for type in f16 bf16 f64; do
  expect 0 "model of $type" "$SHUNT" model -t $type good.smtx good.mtx
  has out "$type"
done
expect 2 "model of two types" "$SHUNT" model -t f32,f64 good.mtx
expect 2 "model of no type" "$SHUNT" model -t i8 good.mtx
has err "f16, bf16, f32, f64"
expect 2 "model with strips of no width" "$SHUNT" model -w 0 good.mtx
expect 2 "model with two widths" "$SHUNT" model -w 4,8 good.mtx
expect 2 "model of no columns" "$SHUNT" model -n 0 good.mtx
expect 1 "model of a malformed file among good ones" "$SHUNT" model range.mtx good.mtx
has err "range.mtx:4:"
has out "good.mtx"

# ---- bench on the host ------------------------------------------------------------------
expect 0 "bench, every type and layout" "$SHUNT" bench --host --quick -n 1,5 \
  -t f16,bf16,f32,f64,i8,f16f32,bf16f32,i8f32 --layout rr,rc,cr,cc random:33x47:0.2:8 \
  -o out.json --csv
[ "$(grep -c '^csv,' out)" -eq 65 ]
ok $? "... prints 64 lines and a head of CSV"
[ ! -s err ]
ok $? "... and nothing else: standard error is no terminal"
grep -q '!' out
[ $? -eq 1 ]
ok $? "... all right"
if command -v python3 >/dev/null 2>&1; then
  python3 -c 'import json
d = json.load(open("out.json"))
assert d["machine"]["engine"] == "host" and len(d["cases"]) == 64, d
for c in d["cases"]:
    assert c["nonzeros"] > 0 and c["checked_rows"] == 33, c
    assert len(c["ways"]) == 2 and all(w["right"] and w["us"] >= 0 for w in c["ways"]), c' 2>err
  ok $? "... JSON parses and agrees"
fi
expect 0 "bench transposes" "$SHUNT" bench --host --quick --op-a T -n 1,5 \
  -t f16,bf16,f32,f64,i8 --layout rr,cc random:33x47:0.2 -o out.json
lacks out "!"
grep -c '"problem": "spmm:csr:[^"]*:m47n[15]k33z[0-9]*:TN:' out.json | grep -q '^20$' &&
  [ "$(grep -o '"right": true' out.json | wc -l)" -eq 40 ]
ok $? "... of which each is right"
expect 0 "bench SDDMM" "$SHUNT" bench --host --quick --op sddmm -n 7 -t f16,f32,f64 --layout rc \
  --index i64 random:20x30:0.3 good.smtx
lacks out "!"
for problem in spmm:csr:f16.f16.f16.f32:i64b1:m40n10k30z100:NN:rr:ld12.10:a1.5b0.5:alg0 \
  spmm:coo:f32.f32.f32.f32:i32b0:m40n10k30z100:NT:cc:ld10.48:a1b0:alg0 \
  spmm:csr:f16.f16.f16.f32:i32b1:m40n10k30z100:TN:rc:ld12.40:a1.5b0.5:alg0 \
  spmm:csc:f64.f64.f64.f64:i64b0:m40n10k30z100:NN:rr:ld10.10:a1b0:alg0 \
  'spmm:csr:f64.f64.f64.f64:i32b0:m40n10k30z1200:NN:rc:ld10.40:a*b*:alg6' \
  spmm:bsr:f32.f32.f32.f32:i32b0:m40n10k32z320:NN:rr:ld12.10:a1b0:alg0:v8 \
  sddmm:csr:f32.f32.f32.f32:i32b0:m40n10k30z100:NT:rr:ld32.30:a-2b1:alg0; do
  expect 0 "bench $problem" "$SHUNT" bench --host --quick "$problem"
  lacks err "1/1"
  lacks out "!"
done
# ---- progress ------------------------------------------------------------------------------------
# bar COMMAND...: on a terminal it draws a bar within five minutes; it is ended as soon as it has.
cat >bar.py <<'PYTHON'
import os, pty, select, signal, sys, time
child, terminal = pty.fork()
if child == 0:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execv(sys.argv[1], sys.argv[1:])
text, end = b"", time.monotonic() + 300
while b"%" not in text and time.monotonic() < end:
    if select.select([terminal], [], [], 1)[0]:
        try:
            text += os.read(terminal, 4096)
        except OSError:
            break
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
print(text.decode(errors="replace"))
sys.exit(b"[" not in text or b"%" not in text)
PYTHON
if [ -z "${COUNTS:-}" ] && python3 -c 'import gzip, pty' 2>/dev/null; then
  types=f16,bf16,f32,f64
  python3 bar.py "$SHUNT" bench --host -n 61,62,63,64 -t $types random:2000x2000:0.2 >out 2>err
  ok $? "bench draws a bar on a terminal"
  # 3 GB of comments in a small file.
  python3 -c 'import gzip
part = gzip.compress(b"% nothing\n" * 1600000, 1)
with open("long.mtx.gz", "wb") as out:
    out.write(gzip.compress(b"%%MatrixMarket matrix coordinate real general\n"))
    for i in range(200):
        out.write(part)
    out.write(gzip.compress(b"1 1 1\n1 1 1\n"))'
  python3 bar.py "$SHUNT" inspect long.mtx.gz >out 2>err
  ok $? "inspect draws a bar while it reads a long file"
  has out "reading long.mtx.gz"
  rm long.mtx.gz
else
  skip "python3 has no pty: progress bars"
fi

expect 1 "JSON to a folder that is not there" "$SHUNT" bench --host -o no/such random:4x4:1
expect 0 "bench a dense pattern in one column" \
  "$SHUNT" bench --host --quick -n 1 random:1x1:1 random:9x1:1
expect 1 "bench an empty pattern" "$SHUNT" bench --host random:9x9:0
"$SHUNT" bench --host --quick -n 4 -t f32 --csv --seed 7 random:50x50:0.1 2>err |
  grep -o 'z[0-9]*:' >one
[ "$(head -1 one)" = "z250:" ]
ok $? "a random pattern has the nonzeros asked for"
expect 0 "demo without a file or on one, on the host or the GPU" \
  "$SHUNT" demo -n 8 --client "$work/none" random:64x64:0.2

# ---- options ---------------------------------------------------------------------------------
expect 0 "options" "$SHUNT" options
[ "$(grep -c '^SHUNT_' out)" -gt 10 ] && [ ! -s err ]
ok $? "... prints every variable, and nothing on stderr"
grep -q -E '^SHUNT_MATH +exact +exact +default +How products' out
ok $? "... with value, default, where it is set and what it means"
printf '# mine\nSHUNT_MATH=tf32\nSHUNT_CACHE_MB = 5\n' >config
chmod 600 config
has out "costs: no table is calibrated"
mkdir -p -m 700 cache/shunt
echo "# shunt costs 1 build=1 gpu=G driver=1" >cache/shunt/G.costs
chmod 600 cache/shunt/G.costs
expect 0 "options beside a calibrated table" "$SHUNT" options
has out "costs: $work/cache/shunt/G.costs where it is build=1 gpu=G driver=1"
chmod 666 cache/shunt/G.costs
expect 0 "options beside one that others may write" "$SHUNT" options
has out "G.costs is not used: others may write it"
expect 0 "options where the user names a table" env SHUNT_COSTS=mine "$SHUNT" options
lacks out "costs: "
rm -r cache
expect 0 "options by a file" env SHUNT_CONFIG=config SHUNT_CACHE_MB=7 "$SHUNT" options
grep -q -E '^SHUNT_MATH +tf32 +exact +file ' out &&
  grep -q -E '^SHUNT_CACHE_MB +7 .* environment ' out
ok $? "... the environment before the file"
expect 0 "options --json" env SHUNT_CONFIG=config "$SHUNT" options --json
python3 -c 'import json, sys
rows = {row["name"]: row for row in json.load(sys.stdin)}
sys.exit(rows["SHUNT_MATH"] != {"name": "SHUNT_MATH", "value": "tf32", "default": "exact",
                                "set_by": "file", "meaning": rows["SHUNT_MATH"]["meaning"]})' <out
ok $? "... is JSON"
expect 1 "options that are not understood" env SHUNT_MATH=fast SHUNT_ROUTE=all "$SHUNT" options
has err "SHUNT_MATH=fast is not understood; accepted: exact, tf32, tf32x3"
has err "SHUNT_ROUTE is not known; the nearest name is SHUNT_ROUTES"
chmod 620 config
expect 1 "a file that others may write" env SHUNT_CONFIG=config "$SHUNT" options
has err "SHUNT_CONFIG=config is not used: others may write it"
grep -q -E '^SHUNT_MATH +exact +exact +default ' out
ok $? "... does not count"
expect 2 "options of something" "$SHUNT" options SHUNT_MATH

# ---- run -----------------------------------------------------------------------------------
mkdir lib "spaced lib"
expect 125 "run without the library" env SHUNT_LIBDIR="$work/lib" "$SHUNT" run -- true
has err "libshunt-cusparse.so"
cat >stand_in.c <<'EOC'
/* Reports as the library does, two lines per process that is called worker. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((destructor)) static void report(void)
{
  const char *path = getenv("SHUNT_REPORT");
  char name[4096];
  snprintf(name, sizeof name, "%s/%ld", path ? path : "", (long)getpid());
  FILE *f = path && getenv("WORKER") && !strcmp(program_invocation_short_name, "cat")
                ? fopen(name, "ae") : NULL;
  if (!f) return;
  fprintf(f, "# shunt report 1 pid=%ld prog=cat\n# faults seen 0\n", (long)getpid());
  fprintf(f, "cusparseSpMM\tdense\tfits\t1200\t%s3000.5\tspmm:csr:aaa\n",
          getenv("SLOWER") ? "-" : "");
  if (!getenv("TAKEN")) fprintf(f, "cusparseSpMM\toriginal\ttransposed\t34\t0.0\tspmm:csr:bbb\n");
  if (getenv("LOST")) fprintf(f, "# decisions not counted 2\n");
  if (getenv("STRANGE"))
    fprintf(f, "nonsense\ncusparseSpMM\tdense\n\t\t\t\t\t\nx\ty\tz\t-3\t1\tq\n");
  fclose(f);
}
EOC
if ${CC:-cc} -shared -fPIC -o lib/libshunt-cusparse.so stand_in.c 2>err &&
  echo 'int nothing;' >nothing.c && ${CC:-cc} -shared -fPIC -o lib/libshunt-dlsym.so nothing.c \
    2>err; then
  SHUNT_LIBDIR=$work/lib
  export SHUNT_LIBDIR
  expect 0 "run" "$SHUNT" run -- true
  has err "no calls were seen"
  for word in RTLD_DEEPBIND "shunt doctor -- PROGRAM" GrB_mxv GrB_vxm; do has err "$word"; done
  expect 0 "a misspelt option" env SHUNT_MAHT=exact SHUNT_TUNE=perhaps "$SHUNT" run -- true
  has err "SHUNT_MAHT is not known; the nearest name is SHUNT_MATH"
  has err "SHUNT_TUNE=perhaps is not understood"
  expect 3 "the program's status" "$SHUNT" run sh -c 'exit 3'
  expect 143 "128 plus a signal" "$SHUNT" run sh -c 'kill -TERM $$'
  has err "signal 15"
  expect 127 "a program that is not there" "$SHUNT" run -- ./no-such-program
  has err "no-such-program"
  : >not-executable
  expect 126 "a file that is no program" "$SHUNT" run ./not-executable
  expect 0 "arguments" "$SHUNT" run printf '%s|' a 'b c' '' --help -x
  [ "$(cat out)" = 'a|b c||--help|-x|' ]
  ok $? "... arrive as they are, and stdout is the program's alone"
  echo input >in
  [ "$("$SHUNT" run cat <in 2>err)" = input ]
  ok $? "standard input is handed on"
  expect 0 "environment" env SHUNT_LOG= "$SHUNT" run --explain --routes rows,dense env
  has out "LD_PRELOAD=$work/lib/libshunt-cusparse.so:$work/lib/libshunt-dlsym.so"
  has out "SHUNT_LOG=dispatch"
  has out "SHUNT_ROUTES=csr,dense" # names of an earlier release are understood
  report=$(sed -n 's/^SHUNT_REPORT=//p' out)
  [ -n "$report" ] && [ ! -e "$report" ]
  ok $? "... names a report, which is gone afterwards"
  # Other variables may name the object too (make check exports SHUNT_DLSYM_SO).
  expect 0 "--no-dlsym" "$SHUNT" run --no-dlsym env
  grep '^LD_PRELOAD=' out >preload
  has preload "LD_PRELOAD=$work/lib/libshunt-cusparse.so"
  lacks preload "libshunt-dlsym.so"
  ! grep -q '^SHUNT_LOG=' out
  ok $? "... sets no SHUNT_LOG"
  expect 0 "--dlsym" "$SHUNT" run --no-dlsym --dlsym env
  grep '^LD_PRELOAD=' out >preload
  has preload "libshunt-dlsym.so"
  expect 0 "a preload that is there already" env LD_PRELOAD="$work/lib/libshunt-dlsym.so" \
    "$SHUNT" run --no-dlsym env
  has out "LD_PRELOAD=$work/lib/libshunt-cusparse.so:$work/lib/libshunt-dlsym.so"
  expect 0 "two processes with calls" env WORKER=1 "$SHUNT" run --report kept sh -c \
    'cat </dev/null; cat </dev/null; cd /'
  has err "2,468 calls seen in 2 processes: 2,400 taken, 68 left to the original"
  has err "6.00 ms"
  grep -q -E '2,400 +dense +6\.00 ms +estimated +taken +spmm:csr:aaa' err &&
    grep -q -E '68 +original +- +- +op\(A\) transposes the sparse matrix +spmm:csr:bbb' err
  ok $? "... added up by problem, with the reason"
  [ "$(grep -c '^cusparseSpMM' kept)" -eq 4 ]
  ok $? "... and --report keeps the lines"
  lacks err "shunt calibrate"
  expect 0 "calls that lost time" env WORKER=1 SLOWER=1 "$SHUNT" run cat
  has err "34 left to the original; about 3.00 ms lost (estimated)"
  has err "shunt calibrate fits the choice of ways to this machine"
  expect 123 "--strict, and a call was declined" env WORKER=1 "$SHUNT" run --strict cat
  reason="transposed (op(A) transposes the sparse matrix)"
  has err "--strict: cusparseSpMM was left to the original, 34 times: $reason: spmm:csr:bbb"
  lacks err "--strict: cusparseSpMM was left to the original, 1,200 times"
  expect 123 "SHUNT_STRICT=1 does the same" env WORKER=1 SHUNT_STRICT=1 "$SHUNT" run cat
  printf 'SHUNT_STRICT=1\n' >strict.config
  chmod 600 strict.config
  expect 123 "... also by the file" env WORKER=1 SHUNT_CONFIG=strict.config "$SHUNT" run cat
  expect 0 "... and without it a declined call is none" env WORKER=1 SHUNT_STRICT=0 "$SHUNT" run cat
  expect 0 "--strict, and all calls were taken" env WORKER=1 TAKEN=1 "$SHUNT" run --strict cat
  expect 0 "--strict without a call" "$SHUNT" run --strict true
  expect 3 "the program's own failure goes before" env WORKER=1 "$SHUNT" run --strict sh -c \
    'cat; exit 3'
  has err "--strict: cusparseSpMM was left"
  expect 123 "--strict, and a line is strange" env WORKER=1 TAKEN=1 STRANGE=1 \
    "$SHUNT" run --strict cat
  has err "does not tell of every call"
  expect 123 "--strict, and calls were not counted" env WORKER=1 TAKEN=1 LOST=1 \
    "$SHUNT" run --strict cat
  has err "does not tell of every call"
  expect 0 "--require, and a call ran on it" env WORKER=1 "$SHUNT" run --require dense cat
  expect 123 "--require, and one of two did not run" env WORKER=1 \
    "$SHUNT" run --require dense,merged cat
  has err "--require: no call ran on tile"
  lacks err "no call ran on dense"
  expect 123 "--require without a call" "$SHUNT" run --require csr true
  expect 5 "... of a program that failed" "$SHUNT" run --require csr sh -c 'exit 5'
  expect 2 "--require of what is no route" "$SHUNT" run --require all true
  has err "csr"
  expect 0 "switched off" env SHUNT_DISABLE=1 "$SHUNT" run true
  has err "SHUNT_DISABLE=1: no call was looked at"
  expect 0 "strange report lines" env WORKER=1 STRANGE=1 "$SHUNT" run cat
  has err "not understood"
  has err "1,234 calls seen"
  ${CC:-cc} -shared -fPIC -o lib/libshunt-graphblas.so nothing.c
  expect 0 "the object for GraphBLAS" "$SHUNT" run --routes host,rows env
  lib=$work/lib
  has out "LD_PRELOAD=$lib/libshunt-cusparse.so:$lib/libshunt-dlsym.so:$lib/libshunt-graphblas.so"
  has out "SHUNT_ROUTES=host,csr"
  mkdir alone && cp lib/libshunt-graphblas.so alone/
  expect 0 "... is enough" env SHUNT_LIBDIR="$work/alone" "$SHUNT" run env
  has out "LD_PRELOAD=$work/alone/libshunt-graphblas.so"
  rm lib/libshunt-graphblas.so
  expect 125 "a report that cannot be written" "$SHUNT" run --report no/such/file true
  cp lib/*.so "spaced lib/"
  expect 125 "a folder that LD_PRELOAD cannot hold" env SHUNT_LIBDIR="$work/spaced lib" \
    "$SHUNT" run true
  has err "LD_PRELOAD cannot hold"
  rm lib/libshunt-dlsym.so
  expect 0 "without the second object" "$SHUNT" run true
  has err "JAX"

  "$SHUNT" run sh -c 'trap "echo got; exit 9" USR1; : >ready; while :; do sleep 0.05; done' >out \
    2>err &
  pid=$!
  for i in $(seq 3000); do
    [ -e ready ] && break
    sleep 0.1
  done
  kill -USR1 $pid
  wait $pid
  [ $? -eq 9 ] && grep -q got out
  ok $? "a signal sent to shunt reaches the program"
else
  skip "no C compiler for the stand-in library"
fi

finish
