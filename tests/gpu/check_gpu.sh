#!/bin/bash
# check_gpu.sh BUILD OUT [PHASE...]: everything that needs a GPU, in one go.
#
#   unit       BUILD/tests/gpu/test_*: kernels and conversions against their twins; UNIT="test_a
#              test_b": these alone
#   stale      never a result of what a matrix used to hold
#   blackbox   stale, parity, determinism, tune, quiet, faults: cuSPARSE programs under Shunt
#   sanitize   compute-sanitizer memcheck on short runs of both; SANITIZE="test_a test_b": of these
#              alone, and of stale; SANITIZE_JOBS at a time (2), SANITIZE_SECONDS each (300), and
#              of the largest tests one case in SANITIZE_EVERY (8)
#   host       what a call costs the host, for each route, next to a bare launch: host.txt
#   clients    tests/clients without and with Shunt
#   solvers    block solvers and a PETSc-like loop, timed without and with Shunt
#   bench      torch_bench.py without and with Shunt
#
# Programs run side by side, JOBS at a time (8; unit: all at once).  Those that measure times or count
# the device's memory have the device for themselves: tune, quiet, faults, host, solvers, bench and
# the products of clients.
#
# Without a phase: unit, blackbox, clients.  OUT receives report.json and logs.tar.gz, after each
# phase, and from bench bench.json; `report.py --join` makes one report of several sessions.  The
# output is short: one line a program, and the first findings of those that failed.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
[ $# -ge 2 ] || { sed -n '/^[^#]/q; 2,$p' "$0"; exit 2; }
here=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd) || exit 2
mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 2
shift 2
phases=${*:-unit blackbox clients}
work=$(mktemp -d)
logs=$work/logs
mkdir "$logs"
report=$here/tests/gpu/report.py
cuda=${CUDA_HOME:-/usr/local/cuda}
shunt=$(find "$build" -name libshunt-cusparse.so | head -1)
[ -n "$shunt" ] || { echo "check_gpu: no libshunt-cusparse.so under $build"; exit 2; }
shunt=$(readlink -f "$shunt")
every_route=csr,bundle,vector,sparse24,srbcrs,tile,dense,bsr

# Where Shunt's or the toolkit's libraries are not on the loader's path; for C programs only, since
# Python's packages bring their own.
library_path() {
  if ldd "$1" 2>/dev/null | grep -q 'not found'; then
    echo "$build/.libs:$cuda/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  else
    echo "${LD_LIBRARY_PATH:-}"
  fi
}

# run NAME SECONDS COMMAND...: the log, the status, and one line.
run() {
  local name=$1 limit=$2 begin end status line
  shift 2
  begin=$(date +%s.%N)
  timeout -k 5 "$limit" "$@" >"$logs/$name.log" 2>&1 </dev/null
  status=$?
  end=$(date +%s.%N)
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

unit() {
  local test tests
  # shellcheck disable=SC2086
  mapfile -t tests < <(tests_in ${UNIT:-})
  for test in "${tests[@]}"; do start plain "${test##*/}" 150 "$test"; done
  wait
}

# Routes are forced, so that as few calls as possible are left to cuSPARSE.
start_stale() {
  local bin=$build/tests/gpu/blackbox
  # --strict (one rounding) would judge the calls that are left, too, which is more than cuSPARSE
  # keeps.
  SHUNT_ROUTES=$every_route turn preloaded stale 150 "$bin/stale" 10000 14 -- \
    'rerouted cusparseSpMM >= 5000' 'route csr >= 1' 'route vector >= 1' 'route dense >= 1'
  # Merged tiles, of matrices that are large enough for them, at widths from 32 on.
  SHUNT_ROUTES=csr,tile turn preloaded stale-tile 150 "$bin/stale" 6000 10 --pruned -- \
    'route tile >= 100'
  # int8 whose rows share their columns by sets of 8, 4 and 2.
  SHUNT_ROUTES=csr,srbcrs turn preloaded stale-srbcrs 150 "$bin/stale" 6000 21 --integers -- \
    'route srbcrs >= 50'
  # Packed vectors, in another order of the rows where neighbours do not share their columns.
  SHUNT_ROUTES=csr,vector turn preloaded stale-ordered 150 "$bin/stale" 6000 12 --shuffled -- \
    'reason ordered >= 100'
  SHUNT_ROUTES=csr,vector turn preloaded stale-vector 150 "$bin/stale" 6000 18 -- \
    'route vector >= 100'
  # Pruned weights by dense, whose proof begins during the product in graphs.
  SHUNT_ROUTES=csr,dense turn preloaded stale-wide 150 "$bin/stale" 600 11 --wide -- \
    'route dense >= 100'
  SHUNT_ROUTES=csr,dense turn preloaded stale-dense 150 "$bin/stale" 4000 9 --pruned -- \
    'route dense >= 100'
  # What csr would take as the cheaper one; the original would get what no other route takes.
  SHUNT_ROUTES=bundle,vector,dense turn preloaded stale-bundle 150 "$bin/stale" 4000 6 --spmm -- \
    'route bundle >= 100'
  # Pruned weights, which dense would take at these widths.
  SHUNT_ROUTES=csr,sparse24 turn preloaded stale-sparse24 150 "$bin/stale" 8000 7 --pruned -- \
    'route sparse24 >= 100'
  # Matrices in blocks, made, changed and destroyed.
  SHUNT_ROUTES=$every_route turn preloaded stale-bsr 150 "$bin/stale_bsr" 5000 1 -- \
    'route bsr >= 3000'
  # Packed vectors of f32, by TF32 in three products.
  SHUNT_MATH=tf32x3 SHUNT_ROUTES=csr,vector turn preloaded stale-tf32 150 \
    "$bin/stale" 4000 23 --single -- 'route vector >= 100'
  SHUNT_MATH=tf32x3 SHUNT_ROUTES=csr,vector turn preloaded stale-ordered-tf32 150 \
    "$bin/stale" 6000 24 --shuffled --single -- 'reason ordered >= 10'
  SHUNT_ROUTES=$every_route turn preloaded stale-strict 150 "$bin/stale" 3000 4 --strict
  SHUNT_ROUTES=$every_route SHUNT_CACHE_MB=8 turn preloaded stale-small-cache 150 \
    "$bin/stale" 1500 2
  turn plain original-stale 150 "$bin/stale" 500 3
  turn plain original-stale-bsr 150 "$bin/stale_bsr" 300 2
}

stale() {
  start_stale
  wait
}

# The original's results, then both comparisons with them.
# shellcheck disable=SC2317 # started by its name
parity() {
  local bin=$build/tests/gpu/blackbox
  plain original-parity 150 "$bin/parity" record "$work/parity.record"
  start preloaded parity 150 "$bin/parity" compare "$work/parity.record" -- \
    'rerouted cusparseSpMM >= 200' 'rerouted cusparseSDDMM >= 30'
  SHUNT_ROUTES=$every_route start preloaded parity-forced 150 \
    "$bin/parity" compare "$work/parity.record" -- \
    'rerouted cusparseSpMM >= 1000' 'rerouted cusparseSDDMM >= 200'
  wait
}

blackbox() {
  local bin=$build/tests/gpu/blackbox
  start parity # the longest
  start_stale
  SHUNT_ROUTES=$every_route turn preloaded determinism 150 "$bin/determinism"
  wait
  # Alone, each.
  quiet_programs
  plain original-quiet 60 "$work/quiet"
  also=$work/quiet_preload.so preloaded quiet 60 "$work/quiet" -- \
    'rerouted cusparseSpMM >= 300' 'rerouted cusparseSDDMM >= 100'
  host_times
  SHUNT_TUNE=1 SHUNT_TUNE_FILE=$work/tuned preloaded tune 60 "$bin/tune"
  SHUNT_TUNE_FILE=$work/tuned preloaded tuned 60 "$bin/tune"
  run tuned-expect 20 python3 "$report" --tuned "$work/tuned" "$work/tuned.report"
  SHUNT_SO=$shunt plain faults 120 "$bin/faults"
  grep '^# control [0-9]* of' "$logs/faults.log"
}

# quiet and its counter of driver calls; made here where the build has not made them.
quiet_programs() {
  local include=$cuda/include cc=${CC:-gcc}
  [ -f "$include/cupti.h" ] || include=$cuda/extras/CUPTI/include
  cp "$bin/quiet_preload.so" "$work/" 2>/dev/null ||
    "$cc" -std=gnu11 -shared -fPIC -O2 -I"$include" -I"$cuda/include" \
      "$here/tests/gpu/blackbox/quiet_preload.c" -o "$work/quiet_preload.so" -ldl
  cp "$bin/quiet" "$work/" 2>/dev/null ||
    "$cc" -std=gnu11 -O2 -I"$here" -I"$cuda/include" "$here/tests/gpu/blackbox/quiet.c" \
      -o "$work/quiet" -L"$cuda/lib64" -lcusparse -lcudart -lm -ldl
}

# What a call costs the host, the original's beside Shunt's.
host_times() {
  sed -n 's/^time host_us=//p' "$logs/original-quiet.log" >"$work/host.original"
  sed -n 's/^time host_us=//p' "$logs/quiet.log" | cut -d' ' -f1 |
    paste -d' ' - "$work/host.original" |
    sed 's/^\([^ ]*\) \([^ ]*\) \(.*\)/  host us a call: \1, the original \2: \3/'
}

# Alternately without and with Shunt, since clocks wander; of each case the least of three runs.
host() {
  local bin=$build/tests/gpu/blackbox round
  for round in 1 2 3; do
    plain "original-host-$round" 60 "$bin/host_time"
    preloaded "host-$round" 60 "$bin/host_time"
  done
  expected host-1 'route dense >= 1000' 'route vector >= 1000' 'route sparse24 >= 500' \
    'route tile >= 500' 'route bundle >= 500' 'route csr >= 1000'
  {
    echo "# least host us of three runs: with Shunt, without, what" \
      "(check_gpu.sh, phase host, $(date -I))"
    cat "$logs"/host-[123].log "$logs"/original-host-[123].log | awk -v runs=3 '
      sub(/^time host_us=/, "") {
        us = $1; $1 = ""; with = seen[$0]++ < runs
        if (!with) { if (!($0 in bare) || us < bare[$0]) bare[$0] = us }
        else if (!($0 in least)) { least[$0] = us; name[++n] = $0 }
        else if (us < least[$0]) least[$0] = us
      }
      END { for (i = 1; i <= n; i++) print least[name[i]], bare[name[i]] name[i] }'
  } | tee "$out/host.txt"
}

# The preload goes in behind the sanitizer's own.
# shellcheck disable=SC2317 # started by its name
sanitized() {
  local name=$1 limit=$2
  shift 2
  # shellcheck disable=SC2016
  SHUNT_SO=$shunt SHUNT_REPORT=$work/$name.report run "$name" "$limit" \
    env LD_LIBRARY_PATH="$(library_path "$1")" \
    "$sanitizer" --tool memcheck --target-processes all --report-api-errors no \
    --error-exitcode 9 --print-limit 20 \
    sh -c 'LD_PRELOAD=${LD_PRELOAD:+$LD_PRELOAD:}$SHUNT_SO exec "$@"' sh "$@"
}

# Two at a time end before as many as there are would, of which the longest then run into their
# limits.
sanitize() {
  local test tests sanitizer
  sanitizer=$(command -v compute-sanitizer || echo "$cuda/bin/compute-sanitizer")
  # shellcheck disable=SC2086
  mapfile -t tests < <(tests_in ${SANITIZE:-})
  SHUNT_ROUTES=$every_route start sanitized sanitize-stale 300 \
    "$build/tests/gpu/blackbox/stale" 200 5
  for test in "${tests[@]}"; do
    wait_for_turn "${SANITIZE_JOBS:-2}"
    start run "sanitize-${test##*/}" "${SANITIZE_SECONDS:-300}" \
      env SHUNT_TEST_EVERY="${SANITIZE_EVERY:-8}" LD_LIBRARY_PATH="$(library_path "$test")" \
      "$sanitizer" --tool memcheck --report-api-errors no --error-exitcode 9 --print-limit 20 \
      "$test"
  done
  wait
  expected sanitize-stale 'rerouted cusparseSpMM >= 100'
}

# A random CSR file, 8 rows sharing their columns: rows cols density.
make_matrix() {
  python3 - "$1" "$2" "$3" "$work/random.csrbin" <<'PYTHON'
import array, random, sys
rows, cols, density = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
r = random.Random(1)
offsets, columns = array.array("q", [0]), array.array("i")
for i in range(rows):
    if i % 8 == 0:
        line = array.array("i", (j for j in range(cols) if r.random() < density))
    columns.extend(line)
    offsets.append(len(columns))
with open(sys.argv[4], "wb") as f:
    array.array("q", [rows, cols, len(columns)]).tofile(f)
    offsets.tofile(f)
    columns.tofile(f)
PYTHON
}

# python_client NAME RULE...: a Python client under Shunt.
# shellcheck disable=SC2317 # started by its name
python_client() {
  local name=$1 script=$here/tests/clients/$1.py
  if [ "$name" = jax_client ]; then
    run "$name" 150 "$build/shunt" run --report "$work/$name.report" -- python3 "$script" --strict
  else
    run "$name" 150 env LD_PRELOAD="$shunt" SHUNT_REPORT="$work/$name.report" \
      python3 "$script" --strict
  fi
  expected "$@"
}

clients() {
  local bin=$build/tests/clients name type
  export PYTHONDONTWRITEBYTECODE=1
  for name in torch_client cupy_client jax_client pyg_client; do
    start run "original-$name" 150 python3 "$here/tests/clients/$name.py"
  done
  start python_client torch_client 'rerouted cusparseSpMM >= 60' 'rerouted cusparseSDDMM >= 4'
  start python_client cupy_client 'rerouted cusparseSpMM >= 20'
  start python_client jax_client 'rerouted cusparseSpMM >= 6'
  start python_client pyg_client 'rerouted cusparseSpMM >= 4'
  start plain original-capture 60 "$bin/capture"
  start plain original-streams 60 "$bin/streams"
  start preloaded capture 60 "$bin/capture" -- 'rerouted cusparseSpMM >= 50'
  start preloaded streams 60 "$bin/streams" -- 'rerouted cusparseSpMM >= 600'
  wait
  make_matrix 4096 4096 0.1
  for type in f16 f32; do
    plain "original-spmm_cusparse-$type" 60 "$bin/spmm_cusparse" "$work/random.csrbin" -n 256 \
      -t "$type"
    preloaded "spmm_cusparse-$type" 60 "$bin/spmm_cusparse" "$work/random.csrbin" -n 256 -t "$type"
    grep -h '^result' "$logs/original-spmm_cusparse-$type.log" "$logs/spmm_cusparse-$type.log" |
      cut -c1-90
  done
  expected spmm_cusparse-f16 'rerouted cusparseSpMM >= 50'
  plain attention 120 "$bin/attention" 4096 64
  grep '^| attention' "$logs/attention.log"
}

# Solvers without and with Shunt, one after the other, since their times are compared.
solvers() {
  local bin=$build/tests/clients script=$here/tests/clients/solvers_client.py type n how json
  local problems
  read -ra problems <<<"${SOLVERS:---mesh 64x3 --mesh 48x6}"
  export PYTHONDONTWRITEBYTECODE=1
  json=$out/solvers
  run original-solvers 280 python3 "$script" "${problems[@]}" -o "$json-plain.json"
  run solvers 280 env LD_PRELOAD="$shunt" SHUNT_REPORT="$work/solvers.report" \
    python3 "$script" "${problems[@]}" -o "$json-shunt.json" --compare "$json-plain.json"
  grep '^speed-up' "$logs/solvers.log"
  expected solvers 'rerouted cusparseSpMM >= 500'
  for type in f32 f64; do
    for n in 8 32; do
      for how in '' --preprocess; do
        plain "original-petsc-$type-$n$how" 60 "$bin/petsc_loop" mesh:64x3 -n "$n" -t "$type" \
          ${how:+"$how"}
        preloaded "petsc-$type-$n$how" 60 "$bin/petsc_loop" mesh:64x3 -n "$n" -t "$type" \
          ${how:+"$how"}
        grep -h '^result' "$logs/original-petsc-$type-$n$how.log" "$logs/petsc-$type-$n$how.log" |
          cut -c1-100
      done
    done
  done
}

bench() {
  local script=$here/tests/clients/torch_bench.py
  timeout 280 python3 "$script" "$work/plain.json" >"$work/bench-plain.txt" 2>&1 ||
    tail -5 "$work/bench-plain.txt"
  LD_PRELOAD=$shunt SHUNT_REPORT=$out/bench.report timeout 200 \
    python3 "$script" "$work/shunt.json" >"$work/bench-shunt.txt" 2>&1 ||
    tail -5 "$work/bench-shunt.txt"
  python3 "$report" --merge "$work/plain.json" "$work/shunt.json" "$out/bench.json"
}

# After each phase, so that a session which is cut off leaves what it had.
hand_over() {
  tar -C "$work" -czf "$out/logs.tar.gz" --exclude=parity.record --exclude='*.csrbin' .
  python3 "$report" --write "$here" "$logs" "$out/report.json" >"$work/written"
}

also=
status=0
for phase in $phases; do
  echo "== $phase"
  case $phase in
  unit) unit ;;
  stale) stale ;;
  blackbox) blackbox ;;
  sanitize) sanitize ;;
  host) host ;;
  clients) clients ;;
  solvers) solvers ;;
  bench) bench ;;
  *)
    echo "check_gpu: unknown phase '$phase'; accepted:" \
      "unit stale blackbox sanitize host clients solvers bench"
    exit 2
    ;;
  esac
  hand_over
  status=$?
done
cat "$work/written"
rm -rf "$work"
exit $status
