# shellcheck shell=bash disable=SC2154 # check_gpu.sh reads this file, and has the variables
# sanitize.sh: compute-sanitizer on short runs.

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
