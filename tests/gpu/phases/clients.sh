# shellcheck shell=bash disable=SC2154 # check_gpu.sh reads this file, and has the variables
# clients.sh: tests/clients without and with Shunt.

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
