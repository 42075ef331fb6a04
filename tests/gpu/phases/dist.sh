# shellcheck shell=bash disable=SC2154 # check_gpu.sh reads this file, and has the variables
# dist.sh: a network and a solver in several ranks, on one device and on two.

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

# dist2_gcn TYPE GAIN TOLERANCE CHUNKS: one rank and two, without Shunt and with it; in pieces, as
# graphs.
dist2_gcn() {
  local type=$1 gain=$2 tolerance=$3 ranks how name=dist2-gcn-$1
  local words=(dist_gcn.py --backend nccl --type "$type" --nodes 1048576 --degree 17 --features 128)
  local sends=(--pieces "${PIECES:-1}") copies=(--pieces "${PIECES:-1}" --by copies --chunks "$4")
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
  dist2_gcn f32 1.25 1e-4 2
  dist2_gcn bf16 1.4 0.02 1 # more chunks are more calls of a host that is late already
  dist2_solver elastic 1.3 --matrix elastic --side 64 --columns 16
  dist2_solver laplace 1.3 --matrix laplace --side 96 --columns 32
  grep -H '^value' "$logs"/original-dist2-*.log "$logs"/dist2-*.log |
    sed 's,.*/,,; s/\.log:value / /' >"$out/dist2.txt"
  sed 's/^/  /' "$out/dist2.txt"
}
