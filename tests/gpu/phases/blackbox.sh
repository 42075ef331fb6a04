# shellcheck shell=bash disable=SC2154 # check_gpu.sh reads this file, and has the variables
# blackbox.sh: cuSPARSE programs under Shunt.

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

# What reads a product without waiting for it, alone and under Shunt; every route at the end.
start_early_reader() {
  local bin=$build/tests/gpu/blackbox route
  turn plain original-early-reader 60 "$bin/early_reader"
  turn preloaded early-reader 60 "$bin/early_reader" -- 'rerouted cusparseSpMM >= 200'
  SHUNT_ASSUME=frozen turn preloaded early-reader-frozen 60 "$bin/early_reader" -- \
    'rerouted cusparseSpMM >= 200'
  for route in csr bundle sorted vector srbcrs tile dense; do
    SHUNT_ASSUME=frozen SHUNT_ROUTES=$route turn preloaded "early-reader-$route" 60 \
      "$bin/early_reader" -- "route $route >= 36"
  done
}

early_reader() {
  start_early_reader
  wait
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

blackbox() {
  local bin=$build/tests/gpu/blackbox
  start parity # the longest
  start_stale
  SHUNT_ROUTES=$every_route turn preloaded determinism 150 "$bin/determinism"
  start_frozen
  start_extend
  start_early_reader
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
}

faults() {
  SHUNT_SO=$shunt plain faults 170 "$build/tests/gpu/blackbox/faults" 120
  grep '^# control [0-9]* of' "$logs/faults.log"
}
