#!/bin/bash
# shellcheck disable=SC1090,SC2034,SC2119,SC2120,SC2317 # phases/ use what stands here
# check_gpu.sh BUILD OUT [PHASE...]: everything that needs a GPU, in one go.
#
#   unit       BUILD/tests/gpu/test_*: kernels and conversions against their twins; UNIT="test_a
#              test_b": these alone
#   stale      never a result of what a matrix used to hold
#   blackbox   stale, parity, determinism, frozen, extend, early_reader, tune, quiet: cuSPARSE
#              programs under Shunt
#   frozen     of these, frozen alone
#   extend     of these, extend alone
#   early_reader  of these, early_reader alone, by each route
#   faults     every n-th call of CUDA, cuBLAS, malloc and dlopen fails, by each route
#   sanitize   compute-sanitizer memcheck on short runs of both; SANITIZE="test_a test_b": of these
#              alone, and of stale; SANITIZE_JOBS at a time (2), SANITIZE_SECONDS each (300), and
#              of the largest tests one case in SANITIZE_EVERY (8); then racecheck and initcheck on
#              a few small tests (RACES="test_a test_b": on these); memcheck, races: each alone
#   host       what a call costs the host, for each route, next to a bare launch: host.txt
#   short      programs that end after a few products, without and with Shunt: first-call.txt
#   clients    tests/clients without and with Shunt
#   solvers    block solvers and a PETSc-like loop, timed without and with Shunt
#   bench      torch_bench.py without and with Shunt
#   torture    what programs of production size run into: tests/TORTURE.md; longer by LAYERS_PASSES,
#              STREAMS, PROBLEMS, RECOVERIES, PRODUCTS and MATRICES
#   changes    stale in rounds of other seeds, until CHANGES (1,000,000) results are checked
#   train      PyTorch trains sparse models for TRAIN_STEPS (1,000): losses without Shunt and with
#              it, the same bits in five runs with SHUNT_DETERMINISTIC=1, and what that costs
#   ranks      RANKS (8) processes that share the device: rate, memory kept by budget, memory left
#   large      more than 2^31 entries, more than 2^31 elements of C, 10^8 rows, changed in place
#   dist       a GCN and a solver in two ranks on the device, against one rank and float64
#   dist2      the same on two devices by NCCL, in one rank and in two, without Shunt and with it, also
#              with others' rows in PIECES (1), by sends and by copies, and as graphs: losses, and how
#              much faster a step must be; dist2.txt: all times
#   memory     programs that fill the device, or have little of it, without and with Shunt: both get
#              as much; little: of these, those that have little alone
#   calibrate  shunt calibrate for CALIBRATE_MINUTES (3): calibrate.tsv, its timings; calibrate.costs,
#              the table that they give; calibrate.txt, what that is worth
#   gained     what shunt run --measure says was saved, and the difference of the runs' times
#
# Programs run side by side, JOBS at a time (8; unit: all at once, but for two).  Those that measure
# times or count the device's memory have the device for themselves: tune, quiet, faults, host, short,
# solvers, bench, torture, ranks, large, dist, dist2, memory, calibrate, gained, and the first runs of
# train and products of clients.
#
# Each program may take its limit of seconds, times PATIENCE (1).
#
# Without a phase: unit, blackbox, faults, clients.  lanes.sh runs all that the report wants, on several
# devices and in several calls.  OUT receives report.json and logs.tar.gz, after
# each phase and on SIGTERM, which names what it cut off, and from bench bench.json; `report.py --join`
# makes one report of several runs.  The output is short: one line a program, and the first findings
# of those that failed.  phases/ has the phases.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
[ $# -ge 2 ] || { sed -n '/^[^#]/q; 3,$p' "$0"; exit 2; }
here=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd) || exit 2
mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 2
shift 2
phases=${*:-unit blackbox faults clients}
work=$(mktemp -d)
logs=$work/logs
mkdir "$logs"
report=$here/tests/gpu/report.py
cuda=${CUDA_HOME:-/usr/local/cuda}
shunt=$(find "$build" -name libshunt-cusparse.so | head -1)
[ -n "$shunt" ] || { echo "check_gpu: no libshunt-cusparse.so under $build"; exit 2; }
shunt=$(readlink -f "$shunt")
every_route=csr,bundle,sorted,vector,sparse24,srbcrs,tile,dense,bsr

# Where Shunt's or the toolkit's libraries are not on the loader's path; for C programs only, since
# Python's packages bring their own.
library_path() {
  if ldd "$1" 2>/dev/null | grep -q 'not found'; then
    echo "$build/.libs:$cuda/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  else
    echo "${LD_LIBRARY_PATH:-}"
  fi
}

# run NAME SECONDS COMMAND...: the log, the status, and one line.  It is waited for, since a shell hears
# of a signal then, and not while it runs a command itself.
run() {
  local name=$1 limit=$2 begin end status line
  shift 2
  begin=$(date +%s.%N)
  timeout -k 5 "$((limit * ${PATIENCE:-1}))" "$@" >"$logs/$name.log" 2>&1 </dev/null &
  echo $! >"$logs/$name.pid"
  wait $!
  status=$?
  end=$(date +%s.%N)
  rm "$logs/$name.pid"
  echo "$status $(awk "BEGIN { print $end - $begin }")" >"$logs/$name.status"
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$logs/$name.log" | tail -1)
  printf '%-28s %s (status %d, %.1f s)\n' "$name" "${line:-no result line}" "$status" \
    "$(awk "BEGIN { print $end - $begin }")"
  if [ "$status" -ne 0 ] || [ -z "$line" ]; then
    grep -E '^(not ok|# .*(wrong|end)|=========.*(Invalid|error))' "$logs/$name.log" | head -6 |
      cut -c1-400
    [ -n "$line" ] || tail -5 "$logs/$name.log" | cut -c1-300
  fi
  return 0
}

# wait_for_turn [JOBS]: until fewer than so many are running.
wait_for_turn() {
  while [ "$(jobs -rp | wc -l)" -ge "${1:-${JOBS:-8}}" ]; do wait -n; done
}

# start COMMAND...: in the background; what it prints comes at its end, in one piece.
start() {
  {
    text=$("$@" 2>&1)
    [ -z "$text" ] || printf '%s\n' "$text"
  } &
}

# turn COMMAND...: starts it when there is room.
turn() {
  wait_for_turn
  start "$@"
}

# plain NAME SECONDS PROGRAM...: a C program as it is.
plain() {
  local name=$1 limit=$2
  shift 2
  run "$name" "$limit" env LD_LIBRARY_PATH="$(library_path "$1")" "$@"
}

# preloaded NAME SECONDS PROGRAM... [-- RULE...]: a C program under Shunt, and what Shunt shall have
# done.
preloaded() {
  local name=$1 limit=$2 program=()
  shift 2
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    program+=("$1")
    shift
  done
  run "$name" "$limit" env LD_LIBRARY_PATH="$(library_path "${program[0]}")" \
    LD_PRELOAD="${also:+$also:}$shunt" SHUNT_REPORT="$work/$name.report" "${program[@]}"
  [ $# -lt 2 ] || expected "$name" "${@:2}"
}

# expected NAME RULE...: what Shunt said it did; a program of its own in the report.
expected() {
  local name=$1
  shift
  run "$name-expect" 20 python3 "$report" --expect "$work/$name.report" "$@"
}

# tests_in [NAME...]: the programs of tests/gpu; of these names alone.
tests_in() {
  local test
  find "$build/tests/gpu" -name 'test_*' -type f -perm -u+x | sort | while read -r test; do
    case $test in *.log | *.trs | *.o) continue ;; esac
    case " ${*:-${test##*/}} " in *" ${test##*/} "*) echo "$test" ;; esac
  done
}

# both NAME SECONDS PROGRAM... -- RULE...: alone, without Shunt and with it.
both() {
  local name=$1 limit=$2 words=()
  shift 2
  while [ "$1" != -- ]; do
    words+=("$1")
    shift
  done
  plain "original-$name" "$limit" "${words[@]}"
  preloaded "$name" "$limit" "${words[@]}" "$@"
}

# compared NAME RULE...: the values that NAME found with Shunt, and without.
compared() {
  local name=$1
  shift
  run "$name-compared" 20 python3 "$report" --compare "$logs/original-$name.log" \
    "$logs/$name.log" "$@"
  grep -h '_mb' "$logs/$name-compared.log" | sed 's/^/  /'
}

# After each phase, and where the run is cut off.
hand_over() {
  tar -C "$work" -czf "$out/logs.tar.gz" --exclude=parity.record --exclude='*.csrbin' .
  python3 "$report" --write "$here" "$logs" "$out/report.json" >"$work/written"
}

# On SIGTERM: what has ended is reported, what runs is named as cut off, and ended.
cut_off() {
  trap '' TERM
  hand_over
  cat "$work/written"
  cat "$logs"/*.pid 2>/dev/null | xargs -r kill 2>/dev/null
  rm -rf "$work"
  exit 1
}
trap cut_off TERM

for phase in "$here"/tests/gpu/phases/*.sh; do . "$phase"; done

also=
status=0
known="unit stale frozen early_reader extend blackbox faults sanitize memcheck races host short"
known="$known clients solvers bench torture ranks large dist dist2 memory little calibrate gained changes train"
for phase in $phases; do
  echo "== $phase"
  case " $known " in
  *" $phase "*) $phase ;;
  *)
    echo "check_gpu: unknown phase '$phase'; accepted: $known"
    exit 2
    ;;
  esac
  hand_over
  status=$?
done
cat "$work/written"
rm -rf "$work"
exit $status
