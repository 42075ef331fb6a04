# shellcheck shell=bash disable=SC2154 # check_gpu.sh reads this file, and has the variables
# torture.sh: what programs of production size run into.

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
