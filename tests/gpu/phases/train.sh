# shellcheck shell=bash disable=SC2154 # check_gpu.sh reads this file, and has the variables
# train.sh: PyTorch trains sparse models.

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
