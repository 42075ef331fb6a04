# shellcheck shell=bash disable=SC2154 # check_gpu.sh reads this file, and has the variables
# unit.sh: kernels and conversions against their twins.

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
