#!/bin/bash
# check_gpu.sh BUILD OUT [PHASE...]: everything that needs a GPU, in one go.
#
#   unit       BUILD/tests/gpu/test_*: kernels and conversions against their twins; UNIT="test_a
#              test_b": these alone
#   stale      never a result of what a matrix used to hold
#   blackbox   stale, parity, determinism, frozen, tune, quiet, faults: cuSPARSE programs under Shunt
#   frozen     of these, frozen alone
#   extend     of these, extend alone
#   sanitize   compute-sanitizer memcheck on short runs of both; SANITIZE="test_a test_b": of these
#              alone, and of stale; SANITIZE_JOBS at a time (2), SANITIZE_SECONDS each (300), and
#              of the largest tests one case in SANITIZE_EVERY (8); then racecheck and initcheck on
#              a few small tests (RACES="test_a test_b": on these)
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
#              with others' rows in PIECES (2), by sends and by copies, and as graphs: losses, and how
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
# Without a phase: unit, blackbox, clients.  OUT receives report.json and logs.tar.gz, after each
# phase, and from bench bench.json; `report.py --join` makes one report of several runs.  The
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
  timeout -k 5 "$((limit * ${PATIENCE:-1}))" "$@" >"$logs/$name.log" 2>&1 </dev/null
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

# Three tests ask for a small budget, which all processes on a device share: one after the other.
small_budget='^test_graphblas_gpu(_masked|_rows)?$'

# shellcheck disable=SC2317 # started by its name
in_turn() {
  local test
  for test in "$@"; do
    [[ ! ${test##*/} =~ $small_budget ]] || plain "${test##*/}" 150 "$test"
  done
}

unit() {
  local test tests
  # shellcheck disable=SC2086
  mapfile -t tests < <(tests_in ${UNIT:-})
  start in_turn "${tests[@]}"
  for test in "${tests[@]}"; do
    [[ ${test##*/} =~ $small_budget ]] || start plain "${test##*/}" 150 "$test"
  done
  wait
}

# changed NAME STEPS SEED [WORD...] [-- RULE...]: stale, of other seeds in each round; for
# start_stale.
changed() {
  local name=$1 steps=$2 seed=$3
  shift 3
  turn preloaded "$name$tag" 150 "$bin/stale" "$steps" $((seed + more)) "$@"
}

# start_stale [ROUND].  Routes are forced, so that as few calls as possible are left to cuSPARSE.
start_stale() {
  local bin=$build/tests/gpu/blackbox more=$((${1:-0} * 100)) tag=${1:+-$1}
  # --strict (one rounding) would compare the calls that are left, too, which is more than cuSPARSE
  # keeps.
  SHUNT_ROUTES=$every_route changed stale 10000 14 -- 'rerouted cusparseSpMM >= 5000' \
    'route csr >= 1' 'route vector >= 1' 'route dense >= 1'
  # Merged tiles, of matrices that are large enough for them, at widths from 32 on.
  SHUNT_ROUTES=csr,tile changed stale-tile 6000 10 --pruned -- 'route tile >= 100'
  # int8 whose rows share their columns by sets of 8, 4 and 2.
  SHUNT_ROUTES=csr,srbcrs changed stale-srbcrs 6000 21 --integers -- 'route srbcrs >= 15'
  # Packed vectors, in another order of the rows where neighbours do not share their columns.
  SHUNT_ROUTES=csr,vector changed stale-ordered 6000 12 --shuffled -- 'reason ordered >= 100'
  SHUNT_ROUTES=csr,vector changed stale-vector 6000 18 -- 'route vector >= 100'
  # Pruned weights by dense, whose proof begins during the product in graphs.
  SHUNT_ROUTES=csr,dense changed stale-wide 600 11 --wide -- 'route dense >= 100'
  SHUNT_ROUTES=csr,dense changed stale-dense 4000 9 --pruned -- 'route dense >= 100'
  # What csr would take as the cheaper one; the original would get what no other route takes.
  SHUNT_ROUTES=bundle,vector,dense changed stale-bundle 4000 6 --spmm -- 'route bundle >= 100'
  # Pruned weights, which dense would take at these widths.
  SHUNT_ROUTES=csr,sparse24 changed stale-sparse24 8000 7 --pruned -- 'route sparse24 >= 100'
  # Products with a transpose, by the pattern that is kept of it.
  SHUNT_ROUTES=csr changed stale-turned 8000 25 --turned -- 'route csr >= 2000'
  # Complex matrices, of which dense takes what overwrites C.
  SHUNT_ROUTES=csr,dense changed stale-complex 6000 26 --complex -- 'route csr >= 1000' \
    'route dense >= 1'
  # Matrices in blocks, made, changed and destroyed.
  SHUNT_ROUTES=$every_route turn preloaded "stale-bsr$tag" 150 "$bin/stale_bsr" 5000 \
    $((1 + more)) -- 'route bsr >= 3000'
  # Packed vectors of f32, by TF32 in three products.
  SHUNT_MATH=tf32x3 SHUNT_ROUTES=csr,vector changed stale-tf32 4000 23 --single -- \
    'route vector >= 100'
  SHUNT_MATH=tf32x3 SHUNT_ROUTES=csr,vector changed stale-ordered-tf32 6000 24 --shuffled --single \
    -- 'reason ordered >= 4' # few matrices stay as they are until they are ordered
  SHUNT_ROUTES=$every_route changed stale-strict 3000 4 --strict
  SHUNT_ROUTES=$every_route SHUNT_CACHE_MB=8 changed stale-small-cache 1500 2
  # As eight programs in one process.  Routes as they are chosen would leave calls to the original,
  # whose padding and batches are not what this program asks for.
  SHUNT_ROUTES=$every_route changed stale-threads 8000 31 --threads 8 -- \
    'rerouted cusparseSpMM >= 4000'
  # What a preprocess promises, and when it ends.
  turn preloaded "stale-epochs$tag" 150 "$bin/stale_epochs" "${EPOCHS:-1}" $((1 + more)) -- \
    'rerouted cusparseSpMM >= 1000'
  SHUNT_ROUTES=$every_route turn preloaded "stale-epochs-forced$tag" 150 "$bin/stale_epochs" \
    "${EPOCHS:-1}" $((51 + more)) -- 'rerouted cusparseSpMM >= 2000'
  [ -z "$tag" ] || return
  turn plain original-stale-epochs 150 "$bin/stale_epochs"
  turn plain original-stale 150 "$bin/stale" 500 3
  turn plain original-stale-bsr 150 "$bin/stale_bsr" 300 2
}

# Results that were checked under Shunt, by all of stale's runs so far.
count_changed() {
  cat "$logs"/stale*.log | awk '/results checked in/ { for (i = 2; i <= NF; i++)
    if ($i == "results") n += $(i - 1) } END { print n + 0 }'
}

# Round after round of stale until CHANGES results (1,000,000) are checked; no more rounds than
# would do if each made 10,000.
changes() {
  local round=1 want=${CHANGES:-1000000}
  while [ "$(count_changed)" -lt "$want" ] && [ "$round" -le $((want / 10000 + 1)) ]; do
    start_stale "$round"
    wait
    round=$((round + 1))
  done
  echo "  $(count_changed) results of changed calls checked, in $((round - 1)) rounds"
}

stale() {
  start_stale
  wait
}

# A matrix changes though the user has promised that none does; and the same without the promise.
start_frozen() {
  local bin=$build/tests/gpu/blackbox
  SHUNT_ASSUME=frozen SHUNT_ROUTES=csr,dense turn preloaded frozen-dense 60 "$bin/frozen" half -- \
    'route dense >= 200'
  SHUNT_ASSUME=frozen SHUNT_ROUTES=csr,vector turn preloaded frozen-vector 60 "$bin/frozen" eights \
    -- 'route vector >= 200'
  SHUNT_ROUTES=csr,dense turn preloaded not-frozen 60 "$bin/frozen" half -- 'route dense >= 200'
}

frozen() {
  start_frozen
  wait
}

# Types that cuSPARSE refuses: answered where that is asked for, and there alone.
start_extend() {
  local bin=$build/tests/gpu/blackbox
  turn plain original-extend 60 "$bin/extend"
  turn preloaded not-extended 60 "$bin/extend"
  SHUNT_EXTEND=1 turn preloaded extend 60 "$bin/extend" -- 'reason extended >= 36'
}

extend() {
  start_extend
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
  start_frozen
  start_extend
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
  SHUNT_SO=$shunt plain faults 170 "$bin/faults" 120
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

# Whole programs in C, and the products of PyTorch's.
short() {
  local bin=$build/tests/gpu/blackbox
  export PYTHONDONTWRITEBYTECODE=1
  run short 500 env LD_LIBRARY_PATH="$(library_path "$bin/short_program")" \
    python3 "$here/tests/gpu/short_programs.py" --preload "$shunt" \
    --program "$bin/short_program" -o "$out/first-call.txt"
  run short-torch 400 python3 "$here/tests/gpu/short_programs.py" --preload "$shunt" --torch \
    -o "$work/short-torch.txt"
  [ ! -f "$work/short-torch.txt" ] || sed 1d "$work/short-torch.txt" >>"$out/first-call.txt"
  sed 's/^/  /' "$out/first-call.txt"
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
  local test tests tool sanitizer
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
  # Kernels that hand tiles from thread to thread, and conversions, which fill memory in parts.
  # shellcheck disable=SC2086
  mapfile -t tests < <(tests_in ${RACES:-test_vector_format test_tile_format test_dcsr_format \
    test_bundle_spmm test_tile_proved test_vector_packed_proved})
  for tool in racecheck initcheck; do
    for test in "${tests[@]}"; do
      wait_for_turn "${SANITIZE_JOBS:-2}"
      start run "$tool-${test##*/}" "${SANITIZE_SECONDS:-300}" \
        env SHUNT_TEST_EVERY="${SANITIZE_EVERY:-8}" LD_LIBRARY_PATH="$(library_path "$test")" \
        "$sanitizer" --tool "$tool" --error-exitcode 9 --print-limit 20 "$test"
    done
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
  run setuid 60 sh "$here/tests/gpu/setuid.sh" "$shunt" "$cuda"
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

# One after the other: times and memory are measured.
torture() {
  local bin=$build/tests/gpu/torture
  both layers 300 "$bin/layers" "${LAYERS_PASSES:-8}" -- 'rerouted cusparseSpMM >= 10000'
  grep -h '^time us_a_layer' "$logs/original-layers.log" | sed 's/^/  without: /'
  grep -h '^time us_a_layer' "$logs/layers.log" | sed 's/^/  with:    /'
  preloaded switches 120 "$bin/switches" "${SWITCHES:-64}" -- 'rerouted cusparseSpMM >= 500'
  both many-streams 550 "$bin/many_streams" "${STREAMS:-100000}" -- \
    "rerouted cusparseSpMM >= $((${STREAMS:-100000} / 2))"
  both many-problems 550 "$bin/many_problems" "${PROBLEMS:-100000}" -- \
    "rerouted cusparseSpMM >= $((${PROBLEMS:-100000} / 2))"
  both recovery 550 "$bin/recovery" "${RECOVERIES:-1}" -- 'route dense >= 500' \
    'route sparse24 >= 2000'
  both service 590 "$bin/service" "${PRODUCTS:-100000}" "${MATRICES:-200}" -- \
    "rerouted cusparseSpMM >= $((${PRODUCTS:-100000} / 2))"
}

# Eight processes on the device, as one with the same work, also where they wait for the device an
# eighth as often; copies in all of them within one budget, but for a piece of 32 MB that each may
# have for less, and 2 MB of code.
ranks() {
  local bin=$build/tests/gpu/torture budget
  both ranks 280 "$bin/ranks" "${RANKS:-8}" -- 'rerouted cusparseSpMM >= 10000'
  compared ranks 'rate >= -0.1' 'filled_mb >= -1024'
  both ranks-ahead 120 "$bin/ranks" "${RANKS:-8}" 64 256 8 0 -- 'rerouted cusparseSpMM >= 10000'
  compared ranks-ahead 'rate >= -0.05'
  grep -H '^value rate\|^time products' "$logs"/original-ranks*.log "$logs"/ranks.log \
    "$logs/ranks-ahead.log" | sed 's,.*/,  ,'
  SHUNT_CACHE_MB=0 preloaded ranks-0 280 "$bin/ranks" "${RANKS:-8}" 64 200 1 0
  SHUNT_CACHE_MB=256 preloaded ranks-256 280 "$bin/ranks" "${RANKS:-8}"
  run ranks-256-compared 20 python3 "$report" --compare "$logs/ranks-0.log" "$logs/ranks-256.log" \
    'used_mb >= 128' 'used_mb <= 320'
  for budget in 64 16 1; do
    SHUNT_CACHE_MB=$budget preloaded "ranks-$budget" 120 "$bin/ranks" "${RANKS:-8}" 64 200 1 0
    # Copies that have no room cost no more than a tenth of a product.
    run "ranks-$budget-compared" 20 python3 "$report" --compare "$logs/ranks-0.log" \
      "$logs/ranks-$budget.log" "used_mb <= $((34 * ${RANKS:-8}))" 'us_a_product <= 1.4'
  done
  grep -H '^value used_mb\|used_mb=' "$logs"/ranks*.log | sed 's,.*/,  ,'
}

# distributed NAME RANKS SCRIPT WORD...: its results to $work/NAME.out; under `shunt run` but for names
# that begin with "original-".  In dist ranks share the device, so they speak through the host (gloo).
distributed() {
  local name=$1 ranks=$2 script=$here/tests/clients/$3 under=("$build/shunt" run --report
    "$work/$1.report" --)
  shift 3
  [ "$name" = "${name#original-}" ] || under=()
  run "$name" 170 "${under[@]}" torchrun --nproc-per-node "$ranks" "$script" "$@" \
    -o "$work/$name.out"
}

# The same network and solver in parts: against one rank without Shunt, and float64.
dist() {
  local type tolerance parts script=$here/tests/clients
  export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=2
  for type in f32 bf16; do
    tolerance=1e-4
    [ $type = f32 ] || tolerance=0.02
    distributed "original-dist-gcn-$type" 1 dist_gcn.py --backend gloo --type $type
    distributed "dist-gcn-$type" 1 dist_gcn.py --backend gloo --type $type
    for parts in 1d 1.5d; do
      distributed "dist-gcn-$type-$parts" 2 dist_gcn.py --backend gloo --type $type --parts $parts
      run "dist-gcn-$type-$parts-near" 20 python3 "$script/dist_gcn.py" --compare \
        "$work/dist-gcn-$type-$parts.out" "$work/original-dist-gcn-$type.out" $tolerance
      distributed "dist-gcn-$type-$parts-exact" 2 dist_gcn.py --backend gloo --type $type \
        --parts $parts --nodes 12800 --exact
    done
    expected "dist-gcn-$type-1d" 'rerouted cusparseSpMM >= 100'
  done
  distributed original-dist-solver 1 dist_solver.py
  distributed dist-solver 1 dist_solver.py
  distributed dist-solver-2 2 dist_solver.py
  expected dist-solver-2 'rerouted cusparseSpMM >= 100'
  for type in dist-solver dist-solver-2; do
    run "$type-near" 20 python3 "$script/dist_solver.py" --compare "$work/$type.out" \
      "$work/original-dist-solver.out" 1e-6
  done
  grep -H '^value' "$logs"/original-dist-*.log "$logs"/dist-*.log | sed 's,.*/,  ,'
}

# faster NAME VALUE SLOW FAST TIMES: the times that two runs found of this name.
faster() {
  run "$1-faster" 20 python3 "$here/tests/clients/client_checks.py" "$2" "$logs/$3.log" \
    "$logs/$4.log" "$5"
}

# dist2_gcn TYPE GAIN TOLERANCE: one rank and two, without Shunt and with it; in pieces, as graphs.
dist2_gcn() {
  local type=$1 gain=$2 tolerance=$3 ranks how name=dist2-gcn-$1
  local words=(dist_gcn.py --backend nccl --type "$type" --nodes 1048576 --degree 17 --features 128)
  local sends=(--pieces "${PIECES:-2}") copies=(--pieces "${PIECES:-2}" --by copies)
  for ranks in 1 2; do
    distributed "original-$name-$ranks" "$ranks" "${words[@]}"
    distributed "$name-$ranks" "$ranks" "${words[@]}"
    expected "$name-$ranks" 'rerouted cusparseSpMM >= 60'
    faster "$name-$ranks" us_a_step "original-$name-$ranks" "$name-$ranks" "$gain"
    distributed "$name-$ranks-graphs" "$ranks" "${words[@]}" --graphs
  done
  distributed "original-$name-copies" 2 "${words[@]}" "${copies[@]}"
  distributed "$name-sends" 2 "${words[@]}" "${sends[@]}"
  distributed "$name-copies" 2 "${words[@]}" "${copies[@]}"
  distributed "$name-sends-graphs" 2 "${words[@]}" "${sends[@]}" --graphs
  distributed "$name-copies-graphs" 2 "${words[@]}" "${copies[@]}" --graphs
  # Efficiency of 0.85 from one rank to two.
  faster "$name-copies" us_a_step "$name-1" "$name-copies" 1.7
  faster "$name-copies-graphs" us_a_step "$name-1-graphs" "$name-copies-graphs" 1.7
  for how in 1 2 1-graphs 2-graphs sends copies sends-graphs copies-graphs; do
    run "$name-$how-near" 20 python3 "$here/tests/clients/dist_gcn.py" --compare \
      "$work/$name-$how.out" "$work/original-$name-1.out" "$tolerance"
  done
}

# dist2_solver MATRIX GAIN WORD...
dist2_solver() {
  local name=dist2-$1 gain=$2
  shift 2
  distributed "original-$name-1" 1 dist_solver.py "$@"
  distributed "original-$name" 2 dist_solver.py --halo nccl "$@"
  distributed "$name" 2 dist_solver.py --halo nccl "$@"
  expected "$name" 'rerouted cusparseSpMM >= 100'
  faster "$name" us_an_iteration "original-$name" "$name" "$gain"
  run "$name-near" 20 python3 "$here/tests/clients/dist_solver.py" --compare "$work/$name.out" \
    "$work/original-$name-1.out" 1e-6
}

dist2() {
  export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=2
  if [ "${DIST2_DEVICES:-$(nvidia-smi -L 2>/dev/null | wc -l)}" -lt 2 ]; then
    run dist2-devices 20 sh -c 'echo "skip - there are not two devices
0 passed, 0 failed, 1 skipped"'
    return
  fi
  dist2_gcn f32 1.25 1e-4
  dist2_gcn bf16 1.4 0.02
  dist2_solver elastic 1.3 --matrix elastic --side 64 --columns 16
  dist2_solver laplace 1.3 --matrix laplace --side 96 --columns 32
  grep -H '^value' "$logs"/original-dist2-*.log "$logs"/dist2-*.log |
    sed 's,.*/,,; s/\.log:value / /' >"$out/dist2.txt"
  sed 's/^/  /' "$out/dist2.txt"
}

# What 32-bit numbers do not count, by each route that takes it; one after the other, as each takes
# much of the device.
large() {
  local bin=$build/tests/gpu/torture route
  preloaded large-entries 120 "$bin/large" entries -- 'rerouted cusparseSpMM >= 30'
  preloaded large-rows 120 "$bin/large" rows -- 'rerouted cusparseSpMM >= 30'
  for route in csr vector; do # others decline so many rows, or elements
    SHUNT_ROUTES=$route preloaded "large-result-$route" 120 "$bin/large" result -- \
      "route $route >= 8"
  done
  SHUNT_ROUTES=csr,sparse24 preloaded large-tall 120 "$bin/large" tall -- 'route sparse24 >= 8'
  grep -h '^time us_a_call' "$logs"/large-*.log | sed 's/^/  /'
}

# What products of scattered matrices take on this device.
calibrate() {
  # shellcheck disable=SC2016
  run calibrate 540 env LD_LIBRARY_PATH="$(library_path "$build/shunt")" sh -c \
    '"$@" && echo "1 passed, 0 failed, 0 skipped"' sh "$build/shunt" calibrate \
    --minutes "${CALIBRATE_MINUTES:-3}" --save-timings "$out/calibrate.tsv" \
    -o "$out/calibrate.costs"
  cp "$logs/calibrate.log" "$out/calibrate.txt"
  sed 's/^/  /' "$out/calibrate.txt" | cut -c1-120
}

gained() {
  local script=$here/tests/gpu/gained.py path
  path=$(library_path "$build/tests/clients/petsc_loop")
  export PYTHONDONTWRITEBYTECODE=1
  run gained-layers 300 python3 "$script" "$build/shunt" "$work" 0.1 \
    python3 "$here/tests/clients/torch_layers.py" --steps 2000
  run gained-petsc 300 env LD_LIBRARY_PATH="$path" python3 "$script" "$build/shunt" "$work" 0.1 \
    "$build/tests/clients/petsc_loop" mesh:24x3 -n 32 -t f32 -i 100000
  [ ! -x "$build/tests/clients/graphblas_gcn" ] ||
    run gained-graphblas 300 sh "$here/tests/gpu/gained_graphblas.sh" "$build"
}

# Programs that fill the device, each alone.
memory() {
  local how name script=$here/tests/clients/torch_memory.py
  for how in malloc async driver; do
    both "device-full-$how" 120 "$build/tests/clients/device_full" "$how" -- \
      'rerouted cusparseSpMM >= 500'
    compared "device-full-$how" 'largest_mb >= -128' 'total_mb >= -128'
  done
  export PYTHONDONTWRITEBYTECODE=1
  name=torch-memory
  run "original-$name" 150 python3 "$script"
  run "$name" 150 env LD_PRELOAD="$shunt" SHUNT_REPORT="$work/$name.report" python3 "$script"
  expected "$name" 'rerouted cusparseSpMM >= 500'
  compared "$name" 'largest_mb >= -128' 'total_mb >= -128'
  little
}

# So much is left of the device, and less than a twentieth is free: nothing is kept.
little() {
  local left bin=$build/tests/gpu/torture
  for left in 3072 1024 256; do
    both "little-$left" 60 "$bin/little" $left 100 -- 'rerouted cusparseSpMM >= 500'
    compared "little-$left" 'filled_mb >= -64' 'used_mb <= 64' 'freed_mb <= 64'
  done
  # Memory that is little or plenty makes no difference to the deterministic mode's bits.
  SHUNT_DETERMINISTIC=1 preloaded little-bits-256 60 "$bin/little" 256 20
  SHUNT_DETERMINISTIC=1 preloaded little-bits-65536 60 "$bin/little" 65536 20
  run little-bits-compared 20 python3 "$report" --compare "$logs/little-bits-256.log" \
    "$logs/little-bits-65536.log" 'bits >= 0' 'bits <= 0'
  grep -H '^time us_a_product' "$logs"/original-little-*.log "$logs"/little-*.log | sed 's,.*/,  ,'
}

# trained NAME WORD...: torch_train.py, its losses to $work/NAME.losses; under Shunt but for names
# that begin with "original-".
# shellcheck disable=SC2317 # started by its name
trained() {
  local name=$1 preload=$shunt
  shift
  [ "$name" = "${name#original-}" ] || preload=
  run "$name" 580 env LD_PRELOAD="$preload" SHUNT_REPORT="$work/$name.report" \
    python3 "$here/tests/clients/torch_train.py" "$@" -o "$work/$name.losses"
}

# near NAME TOLERANCE: the losses of NAME and of original-NAME.
near() {
  run "$1-near" 60 python3 "$here/tests/clients/torch_train.py" --compare \
    "$work/original-$1.losses" "$work/$1.losses" "$2"
}

# Alone first, since times are compared and memory runs out; then many at a time on one device.
train() {
  local steps=${TRAIN_STEPS:-1000} model run_number
  export PYTHONDONTWRITEBYTECODE=1
  for model in mlp gcn attention; do
    trained "original-train-$model" "$model" --steps "$steps" --full
    trained "train-$model" "$model" --steps "$steps" --full
    SHUNT_DETERMINISTIC=1 trained "train-$model-deterministic" "$model" --steps "$steps" --full
    grep -H '^value us_a_step' "$logs"/*"train-$model.log" "$logs/train-$model-deterministic.log" |
      sed 's,.*/,  ,'
    near "train-$model" 0.02
  done
  expected train-mlp "rerouted cusparseSpMM >= $((steps * 40))"
  expected train-gcn "rerouted cusparseSpMM >= $steps"
  expected train-attention "rerouted cusparseSpMM >= $steps" 'rerouted cusparseSDDMM >= 100'
  for model in mlp gcn attention; do
    turn trained "original-train-$model-graph" "$model" --steps "$steps" --graphs
    turn trained "train-$model-graph" "$model" --steps "$steps" --graphs
    turn trained "original-train-$model-compiled" "$model" --steps $((steps / 4)) --compile
    turn trained "train-$model-compiled" "$model" --steps $((steps / 4)) --compile
    for run_number in 1 2 3 4 5; do
      SHUNT_DETERMINISTIC=1 turn trained "train-$model-again-$run_number" "$model" \
        --steps $((steps / 4))
    done
  done
  wait
  for model in mlp gcn attention; do
    near "train-$model-graph" 0.02
    near "train-$model-compiled" 0.02
    run "train-$model-bits" 60 python3 "$here/tests/clients/torch_train.py" --same \
      "$work/train-$model-again"-[1-5].losses
  done
}

# compared NAME RULE...: the values that NAME found with Shunt, and without.
compared() {
  local name=$1
  shift
  run "$name-compared" 20 python3 "$report" --compare "$logs/original-$name.log" \
    "$logs/$name.log" "$@"
  grep -h '_mb' "$logs/$name-compared.log" | sed 's/^/  /'
}

# After each phase, so that a run which is cut off leaves what it had.
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
  frozen) frozen ;;
  extend) extend ;;
  sanitize) sanitize ;;
  host) host ;;
  short) short ;;
  clients) clients ;;
  solvers) solvers ;;
  bench) bench ;;
  torture) torture ;;
  ranks) ranks ;;
  large) large ;;
  dist) dist ;;
  dist2) dist2 ;;
  memory) memory ;;
  little) little ;;
  calibrate) calibrate ;;
  gained) gained ;;
  train) train ;;
  changes) changes ;;
  *)
    echo "check_gpu: unknown phase '$phase'; accepted:" \
      "unit stale frozen blackbox sanitize host short clients solvers bench torture ranks large" \
      "memory little dist dist2 calibrate gained changes train"
    exit 2
    ;;
  esac
  hand_over
  status=$?
done
cat "$work/written"
rm -rf "$work"
exit $status
