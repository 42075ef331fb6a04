# shellcheck shell=bash disable=SC2154 # check_gpu.sh reads this file, and has the variables
# stale.sh: matrices that change in place: never a result of what one used to hold.

# changed NAME STEPS SEED [WORD...] [-- RULE...]: stale, of other seeds in each round; for
# start_stale.
changed() {
  local name=$1 steps=$2 seed=$3
  shift 3
  turn preloaded "$name$tag" 150 "$bin/stale" "$steps" $((seed + more)) "$@"
}

# start_stale [ROUND].  Routes are forced, so that as few calls as possible are left to cuSPARSE.
start_stale() {
  local bin=$build/tests/gpu/blackbox more=$((${1:-0} * 100)) tag=${1:+-$1}
  # --strict (one rounding) would compare the calls that are left, too, which is more than cuSPARSE
  # keeps.
  SHUNT_ROUTES=$every_route changed stale 10000 14 -- 'rerouted cusparseSpMM >= 5000' \
    'route csr >= 1' 'route vector >= 1' 'route dense >= 1'
  # Merged tiles, of matrices that are large enough for them, at widths from 32 on.
  SHUNT_ROUTES=csr,tile changed stale-tile 6000 10 --pruned -- 'route tile >= 100'
  # int8 whose rows share their columns by sets of 8, 4 and 2.
  SHUNT_ROUTES=csr,srbcrs changed stale-srbcrs 6000 21 --integers -- 'route srbcrs >= 15'
  # Packed vectors, in another order of the rows where neighbours do not share their columns.
  SHUNT_ROUTES=csr,vector changed stale-ordered 6000 12 --shuffled -- 'reason ordered >= 100'
  SHUNT_ROUTES=csr,vector changed stale-vector 6000 18 -- 'route vector >= 100'
  # Pruned weights by dense, whose proof begins during the product in graphs.
  SHUNT_ROUTES=csr,dense changed stale-wide 600 11 --wide -- 'route dense >= 100'
  SHUNT_ROUTES=csr,dense changed stale-dense 4000 9 --pruned -- 'route dense >= 100'
  # What csr would take as the cheaper one; the original would get what no other route takes.
  SHUNT_ROUTES=bundle,vector,dense changed stale-bundle 4000 6 --spmm -- 'route bundle >= 100'
  # Orders of rows, of matrices whose rows have other lengths since.
  SHUNT_ROUTES=sorted,vector,dense changed stale-sorted 4000 27 --spmm -- 'route sorted >= 100'
  # Pruned weights, which dense would take at these widths.
  SHUNT_ROUTES=csr,sparse24 changed stale-sparse24 8000 7 --pruned -- 'route sparse24 >= 100'
  # Products with a transpose, by the pattern that is kept of it.
  SHUNT_ROUTES=csr changed stale-turned 8000 25 --turned -- 'route csr >= 2000'
  # Complex matrices, of which dense takes what overwrites C.
  SHUNT_ROUTES=csr,dense changed stale-complex 6000 26 --complex -- 'route csr >= 1000' \
    'route dense >= 1'
  # Matrices in blocks, made, changed and destroyed.
  SHUNT_ROUTES=$every_route turn preloaded "stale-bsr$tag" 150 "$bin/stale_bsr" 5000 \
    $((1 + more)) -- 'route bsr >= 3000'
  # Packed vectors of f32, by TF32 in three products.
  SHUNT_MATH=tf32x3 SHUNT_ROUTES=csr,vector changed stale-tf32 4000 23 --single -- \
    'route vector >= 100'
  SHUNT_MATH=tf32x3 SHUNT_ROUTES=csr,vector changed stale-ordered-tf32 6000 24 --shuffled --single \
    -- 'reason ordered >= 4' # few matrices stay as they are until they are ordered
  SHUNT_ROUTES=$every_route changed stale-strict 3000 4 --strict
  SHUNT_ROUTES=$every_route SHUNT_CACHE_MB=8 changed stale-small-cache 1500 2
  # As eight programs in one process.  Routes as they are chosen would leave calls to the original,
  # whose padding and batches are not what this program asks for.
  SHUNT_ROUTES=$every_route changed stale-threads 8000 31 --threads 8 -- \
    'rerouted cusparseSpMM >= 4000'
  # What a preprocess promises, and when it ends.
  turn preloaded "stale-epochs$tag" 150 "$bin/stale_epochs" "${EPOCHS:-1}" $((1 + more)) -- \
    'rerouted cusparseSpMM >= 1000'
  SHUNT_ROUTES=$every_route turn preloaded "stale-epochs-forced$tag" 150 "$bin/stale_epochs" \
    "${EPOCHS:-1}" $((51 + more)) -- 'rerouted cusparseSpMM >= 2000'
  [ -z "$tag" ] || return
  turn plain original-stale-epochs 150 "$bin/stale_epochs"
  turn plain original-stale 150 "$bin/stale" 500 3
  turn plain original-stale-bsr 150 "$bin/stale_bsr" 300 2
}

# Results that were checked under Shunt, by all of stale's runs so far.
count_changed() {
  cat "$logs"/stale*.log | awk '/results checked in/ { for (i = 2; i <= NF; i++)
    if ($i == "results") n += $(i - 1) } END { print n + 0 }'
}

# Round after round of stale until CHANGES results (1,000,000) are checked; no more rounds than
# would do if each made 10,000.
changes() {
  local round=1 want=${CHANGES:-1000000}
  while [ "$(count_changed)" -lt "$want" ] && [ "$round" -le $((want / 10000 + 1)) ]; do
    start_stale "$round"
    wait
    round=$((round + 1))
  done
  echo "  $(count_changed) results of changed calls checked, in $((round - 1)) rounds"
}

stale() {
  start_stale
  wait
}
