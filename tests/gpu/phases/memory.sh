# shellcheck shell=bash disable=SC2154 # check_gpu.sh reads this file, and has the variables
# memory.sh: programs that fill the device, or have little of it.

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
