# shellcheck shell=bash disable=SC2154 # check_gpu.sh reads this file, and has the variables
# times.sh: phases that measure what calls, programs and products take.

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
