#!/bin/sh
# test_check_gpu.sh: tests/gpu/check_gpu.sh on a build of programs that only say when they ran: each
# is run and counted, those that measure run alone, and one that fails is told.
set -u
sources=$(cd "${SHUNT_SRCDIR:?}" && pwd) || exit 2
. "$sources/tests/unit/tool/check.sh"
if ! bash -c : 2>/dev/null || ! date +%s%N | grep -q '^[0-9]*$'; then
  skip "needs bash and GNU date"
  finish
fi

# ---- a build -----------------------------------------------------------------------------------
# A line of $TIMES: begin, end and name; the reports promise more than any rule asks for.
mkdir -p build/.libs build/tests/gpu/blackbox build/tests/gpu/csr build/tests/gpu/torture \
  build/tests/clients
: >build/.libs/libshunt-cusparse.so
cat >program <<'PROGRAM'
#!/bin/sh
begin=$(date +%s%N)
if [ -n "${MEET:-}" ]; then # so many meet before one of them ends, however busy the machine is
  : >"$TIMES.met/$$"
  for i in $(seq 1200); do
    [ "$(ls "$TIMES.met" | wc -l)" -lt "$MEET" ] || break
    sleep 0.1
  done
else
  sleep 0.2
fi
name=${SHUNT_REPORT:-${0##*/}}
name=${name##*/}
if [ -n "${SHUNT_REPORT:-}" ]; then
  for route in csr vector dense bundle sorted sparse24 srbcrs tile bsr; do
    printf 'cusparseSpMM\t%s\tordered\t10000\ncusparseSDDMM\t%s\tordered\t10000\n' $route $route
  done >"$SHUNT_REPORT"
fi
[ -z "${SHUNT_TUNE_FILE:-}" ] || echo "#" >"$SHUNT_TUNE_FILE"
echo "$begin $(date +%s%N) ${name%.report}" >>"$TIMES"
case " $FAILING " in
*" ${0##*/} "*)
  echo "not ok - made to fail"
  echo "2 passed, 1 failed, 0 skipped"
  exit 1
  ;;
esac
echo "ok - 4000 results checked in 100 steps, 0.1 s"
echo "3 passed, 0 failed, 1 skipped"
PROGRAM
chmod +x program
for name in stale stale_bsr stale_epochs parity determinism tune faults quiet quiet_preload.so \
  host_time; do
  cp program "build/tests/gpu/blackbox/$name"
done
for name in layers little many_streams many_problems recovery service switches; do
  cp program "build/tests/gpu/torture/$name"
done
cp program build/tests/clients/device_full
# Faster with Shunt, or where it is to fail slower: by a clock that this program alone moves, and
# that short_programs.py reads instead of the machine's.
cat >build/tests/gpu/blackbox/short_program <<'PROGRAM'
#!/bin/sh
ms=20
case " $FAILING " in
*" ${0##*/} "*) [ -z "${LD_PRELOAD:-}" ] || ms=50 ;;
*) [ -n "${LD_PRELOAD:-}" ] || ms=40 ;;
esac
echo $(($(cat "$PROGRAM_CLOCK") + ms)) >"$PROGRAM_CLOCK"
echo "result ms=1.5 program_ms=2.5"
PROGRAM
PROGRAM_CLOCK=$work/clock PYTHONPATH=$work/python
export PROGRAM_CLOCK PYTHONPATH
echo 0 >clock
mkdir python
cat >python/sitecustomize.py <<'PYTHON'
import os, time
time.perf_counter = lambda: int(open(os.environ["PROGRAM_CLOCK"]).read()) / 1000
PYTHON
chmod +x build/tests/gpu/blackbox/short_program
for name in test_one test_two; do cp program "build/tests/gpu/csr/$name"; done
echo "not a program" >build/tests/gpu/csr/test_one.log

# check_gpu FAILING PHASE...: what check_gpu.sh says and leaves, and times.
check_gpu() {
  FAILING=$1 TIMES=$work/times PATIENCE=100 # nothing here hangs, and a machine may be busy
  export FAILING TIMES PATIENCE
  shift
  rm -rf times times.met left && : >times && mkdir times.met
  bash "$sources/tests/gpu/check_gpu.sh" build left "$@" >said 2>&1
}
counted() {
  python3 - "$@" <<'PYTHON'
import json, sys
report = json.load(open("left/report.json"))
want = dict(word.split("=") for word in sys.argv[1:])
print({key: report[key] for key in want})
sys.exit(any(report[key] != int(n) for key, n in want.items()))
PYTHON
}
# alone NAME...: while they ran, nothing else did.
alone() {
  python3 - "$@" <<'PYTHON'
import sys
runs = [(int(a), int(b), name) for a, b, name in map(str.split, open("times"))]
bad = [f"{x[2]} and {y[2]}" for x in runs for y in runs
       if x is not y and x[2] in sys.argv[1:] and x[0] < y[1] and y[0] < x[1]]
print("\n".join(bad))
sys.exit(bool(bad) or not {name for *_, name in runs} >= set(sys.argv[1:]))
PYTHON
}
# together N: so many ran at some moment, and never more.
together() {
  python3 - "$1" <<'PYTHON'
import sys
runs = [tuple(map(int, line.split()[:2])) for line in open("times")]
most = max(sum(a <= at < b for a, b in runs) for at, _ in runs)
print(most, "at a time")
sys.exit(most != int(sys.argv[1]))
PYTHON
}

# ---- what it does --------------------------------------------------------------------------------
MEET=2 check_gpu "" unit
check "the tests of tests/gpu, and no other file" '[ "$(grep -c "^test_" said)" = 2 ] && together 2'
check "are counted" 'counted passed=6 failed=0 skipped=2'
MEET=4 JOBS=4 check_gpu "" stale
check "stale: JOBS at a time" 'together 4'
check "each program has its line" '[ "$(grep -c "^[a-z0-9-]* .* passed" said)" = 41 ]'
check "the reports of eighteen are looked at" '[ "$(grep -c "^stale.*-expect" said)" = 18 ]'
check_gpu "" blackbox
check "what measures runs alone" 'alone quiet tune tuned'
check "the original ends before what is compared with it begins" \
  'grep parity times | sort -n | awk "NR == 1 { end = \$2 } \$1 < end && NR > 1 { exit 1 }
    END { exit NR != 3 }"'
check_gpu "" faults
check "faults runs alone" 'alone faults && counted passed=3 failed=0'
STREAMS=1000 PROBLEMS=1000 PRODUCTS=1000 check_gpu "" torture
check "torture: one at a time, without Shunt and with it" \
  'together 1 && [ "$(grep -c "^original-" said)" = 5 ] && counted failed=0'
check_gpu "" little
check "little: three sizes, one at a time, without Shunt and with it" \
  'together 1 && [ "$(grep -c "^original-little" said)" = 3 ] &&
    [ "$(grep -c "^little" said)" = 12 ]'
CHANGES=100000 check_gpu "" changes
check "changes: rounds until enough is checked" \
  'grep "160000 results of changed calls checked, in 2 rounds" said'
check_gpu "" short
check "short: a line for each type and number of calls" \
  '[ "$(grep -c "^C f" left/first-call.txt)" = 10 ]'
check "short programs may not take longer" 'counted passed=10 failed=0'
check_gpu "short_program" short
check "those that do fail" 'counted failed=10'
check_gpu "stale_bsr" stale
check "a program that fails is told, and why" \
  'grep -A1 "^stale-bsr .*2 passed, 1 failed" said | grep "not ok - made to fail"'
check "and counted" 'counted failed=1'
# A stand-in for the tool: it leaves the words it was given in the files that they name.
cat >build/shunt <<'SHUNT'
#!/bin/sh
[ "$1 $2 $4 $6" = "calibrate --minutes --save-timings -o" ] || exit 2
echo "$*" | tee "$5" "$7"
case " $FAILING " in *" shunt "*) exit 1 ;; esac
SHUNT
chmod +x build/shunt
check_gpu "" calibrate
check "calibrate: three minutes; timings, table and words are kept" \
  'counted passed=1 failed=0 && grep -- "--minutes 3 " left/calibrate.tsv left/calibrate.costs &&
    grep "^calibrate --minutes 3" left/calibrate.txt'
check_gpu shunt calibrate
check "and a failure is one" 'counted failed=1'
# Stand-ins for torchrun, which leaves a time that Shunt shortens, and for the tool.
mkdir bin
cat >bin/torchrun <<'TORCHRUN'
#!/bin/sh
echo "$(date +%s%N) $(date +%s%N) torchrun" >>"$TIMES"
ranks=$2
us=1000
for word; do
  [ "$before" = -o ] && out=$word
  [ "$word" = copies ] && us=$((us * 8 / 10))
  before=$word
done
us=$((us / ranks))
[ -z "${UNDER_SHUNT:-}" ] || us=$((us / ${GAIN:-2}))
printf 'value us_a_step=%s\nvalue us_an_iteration=%s\n1 passed, 0 failed, 0 skipped\n' $us $us
case $* in *dist_solver*) echo "124 1.5" ;; *) printf '2.0\n1.0\n' ;; esac >"$out"
TORCHRUN
cat >build/shunt <<'SHUNT'
#!/bin/sh
printf 'cusparseSpMM\tcsr\tfits\t1000\n' >"$3"
shift 4
UNDER_SHUNT=1 exec "$@"
SHUNT
devices() { printf '#!/bin/sh\nseq %s\n' "$1" >bin/nvidia-smi; }
devices 2
chmod +x bin/* build/shunt
on_two() { PATH=$work/bin:$PATH check_gpu "" dist2; }
on_two
check "dist2: one rank and two, by NCCL" '[ "$(grep -c torchrun times)" = 28 ]'
check "all times are left" '
  [ "$(grep -c "^original-dist2-gcn.* us_a_step=" left/dist2.txt)" = 6 ] &&
  grep -q "^dist2-elastic us_an_iteration=250$" left/dist2.txt'
check "and each bar" '[ "$(grep -c "^dist2.*-faster .*1 passed" said)" = 10 ]'
GAIN=1
export GAIN
on_two
check "a bar fails where Shunt gains nothing" \
  '[ "$(grep -c "^dist2.*-faster .*1 failed" said)" -ge 5 ]'
devices 1
on_two
check "on one device it is skipped" \
  '[ "$(grep -c torchrun times)" = 0 ] && counted skipped=1 failed=0'
# lanes SECONDS [PIECES]: by two devices, into what is there already.
lanes() {
  FAILING='' TIMES=$work/times DEVICES=2 PIECES=${2:-unit torture memory}
  export FAILING TIMES DEVICES PIECES
  unset MEET
  : >times
  bash "$sources/tests/gpu/lanes.sh" build lanes "$1" >said 2>&1
}
lanes 10
check "no piece begins that there is no time for" '[ $? = 1 ] && [ ! -s times ] &&
  grep -q "3 of 3 pieces have not ended: unit torture memory" said'
lanes 600
check "each piece leaves a report" '[ $? = 0 ] && grep -q "0 of 3 pieces have not ended" said &&
  [ -s lanes/unit.json ] && [ -s lanes/torture.json ] && [ -s lanes/memory.json ]'
rm lanes/torture.json
lanes 600
check "what has ended is not run again" '[ -s lanes/torture.json ] &&
  grep -q many_streams times && ! grep -q test_one times'
rm lanes/*.json
LANES=2 lanes 600
check "two at a time on a device: each leaves a report" '[ $? = 0 ] && [ -s lanes/unit.json ] &&
  [ -s lanes/torture.json ] && [ -s lanes/memory.json ]'
check "what counts memory comes behind all" '[ "$(tail -2 said | head -1)" = \
  "$(grep "^memory:" said)" ]'
printf '#!/bin/sh\nexec sleep 1000\n' >build/tests/gpu/torture/large
chmod +x build/tests/gpu/torture/large
lanes 31 large
check "a piece that is cut off has not ended" '[ $? = 1 ] && [ ! -e lanes/large.json ] &&
  grep -q "large: cut off" said && grep -q "1 of 1 pieces have not ended: large" said'
# One test never ends: the run is cut off when the others have.
cat >build/tests/gpu/csr/test_one <<'ENDLESS'
#!/bin/sh
echo $$ >endless.pid
exec sleep 1000
ENDLESS
cut_off() {
  bash "$sources/tests/gpu/check_gpu.sh" build left unit >said 2>&1 &
  for i in $(seq 600); do
    grep -q "^test_two .* passed" said && [ -s endless.pid ] && break
    sleep 0.1
  done
  kill $! && ! wait $!
}
rm -f endless.pid said
check "a run that is cut off fails" cut_off
check "it reports what had ended, and names the others" \
  'counted passed=3 failed=0 && grep "cut off before its end: test_one" said'
check "and leaves nothing running" '! kill -0 "$(cat endless.pid)"'
check "an unknown phase is an error" '! check_gpu "" nothing; grep "unknown phase .nothing." said'
finish
