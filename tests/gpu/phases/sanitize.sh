# shellcheck shell=bash disable=SC2154 # check_gpu.sh reads this file, and has the variables
# sanitize.sh: compute-sanitizer on short runs.

# Kernels that hand tiles from thread to thread, and conversions, which fill memory in parts.
raced="test_vector_format test_tile_format test_dcsr_format test_bundle_spmm test_sorted_spmm
  test_tile_proved test_vector_packed_proved"

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

find_sanitizer() {
  command -v compute-sanitizer || echo "$cuda/bin/compute-sanitizer"
}

# checked NAME TOOL PROGRAM WORD...: in the background, when there is room.
checked() {
  local name=$1 tool=$2 test=$3
  shift 3
  wait_for_turn "${SANITIZE_JOBS:-2}"
  start run "$name" "${SANITIZE_SECONDS:-300}" \
    env SHUNT_TEST_EVERY="${SANITIZE_EVERY:-8}" LD_LIBRARY_PATH="$(library_path "$test")" \
    "$(find_sanitizer)" --tool "$tool" --error-exitcode 9 --print-limit 20 "$@" "$test"
}

# Two at a time end before as many as there are would, of which the longest then run into their
# limits.
memcheck() {
  local test tests sanitizer
  sanitizer=$(find_sanitizer)
  # shellcheck disable=SC2086
  mapfile -t tests < <(tests_in ${SANITIZE:-})
  SHUNT_ROUTES=$every_route start sanitized sanitize-stale 300 \
    "$build/tests/gpu/blackbox/stale" 200 5
  for test in "${tests[@]}"; do
    checked "sanitize-${test##*/}" memcheck "$test" --report-api-errors no
  done
  wait
  expected sanitize-stale 'rerouted cusparseSpMM >= 100'
}

races() {
  local test tests tool
  # shellcheck disable=SC2086
  mapfile -t tests < <(tests_in ${RACES:-$raced})
  for tool in racecheck initcheck; do
    for test in "${tests[@]}"; do checked "$tool-${test##*/}" "$tool" "$test"; done
  done
  wait
}

sanitize() {
  memcheck
  races
}
