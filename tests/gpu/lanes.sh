#!/bin/bash
# shellcheck disable=SC1091,SC2154 # phases/sanitize.sh has raced
# lanes.sh BUILD OUT [SECONDS]: all that the report wants, in pieces, on all devices at a time.
#
# Each device takes a piece, and the next one when that has ended; those that time the host come
# behind, one after another with nothing beside them, and where devices take several pieces at a time
# also those that count their memory.  OUT/PIECE.json is a piece's report,
# OUT/PIECE.txt what it said.  A piece that would take longer than what is left of SECONDS (540) does
# not begin, and one that runs by then is cut off.  Called again with the same OUT it goes on with
# those that have not ended.  The last line says how many those are: the exit status is 1 if there are
# any.  `report.py --join . OUT/*.json` makes one report of them.
#
#   PIECES   of the list below: these alone
#   TESTS    in unit, memcheck and races of tests/gpu these alone: those that see what has changed since
#            a report that is joined with this one (seen.py)
#   DEVICES  so many, for as many as nvidia-smi shows
#   LANES    so many pieces at a time on each device (1)
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
[ $# -ge 2 ] || { sed -n '/^[^#]/q; 2,$p' "$0"; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd) || exit 2
mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 2
end=$((SECONDS + ${3:-540}))
devices=${DEVICES:-$(nvidia-smi -L 2>/dev/null | wc -l)}

# PIECE:SECONDS that it takes at most, on one H200 of two with 16 cores each; the longest first.
beside="masked:220 memcheck-1:200 memcheck-2:200 memcheck-3:200 unit:200 blackbox:170 races:160
  clients:90"
counting="memory:120 faults:90 counted:40"
alone="torture:130 ranks:60 large:30"
lanes=${LANES:-1}
if [ "$lanes" -gt 1 ]; then alone="$alone $counting"; else beside="$beside $counting"; fi
list="$beside $alone"
pieces=${PIECES:-$(for piece in $list; do echo "${piece%:*}"; done)}

seconds_of() {
  local piece
  for piece in $list; do
    [ "${piece%:*}" != "$1" ] || echo "${piece#*:}"
  done
}

counted="test_graphblas_gpu_faults test_graphblas_gpu_resident"
. "$here/phases/sanitize.sh" # raced

# among NAME...: of these tests, those that are wanted.
among() {
  local name
  for name in "$@"; do
    case " ${TESTS:-$name} " in *" $name "*) echo "$name" ;; esac
  done
}

# third N: of the tests, but for the one that takes as long as many, and those that count memory.
third() {
  # shellcheck disable=SC2046,SC2086
  among $(find "$build/tests/gpu" -name 'test_*' -type f -perm -u+x ! -name '*.*' -printf '%f\n' |
    sort | grep -vxF "$(printf '%s\n' test_graphblas_gpu_masked $counted)") |
    awk "NR % 3 == $1 % 3" | tr '\n' ' '
}

# tests_of PIECE: those that it is about; none: it is about other programs.
# shellcheck disable=SC2046,SC2086
tests_of() {
  case $1 in
  counted) among $counted ;;
  masked) among test_graphblas_gpu_masked ;;
  races) among $raced ;;
  memcheck-*) third "${1#*-}" ;;
  unit) echo "${TESTS:-all}" ;;
  *) echo other ;;
  esac
}

# What a piece is beside its phase.  GraphBLAS' threads that wait would take cores from other pieces.
settings() {
  export OMP_WAIT_POLICY=passive
  export SANITIZE_JOBS=${SANITIZE_JOBS:-8} SANITIZE_SECONDS=250 PATIENCE=${PATIENCE:-3}
  SANITIZE=$(tests_of "$1")
  RACES=$SANITIZE UNIT=${TESTS:-}
  export SANITIZE RACES UNIT
  [ "$1" != masked ] || export SANITIZE_EVERY=128
}

# work PIECE DEVICE: in a process of its own.  A report counts once the piece has come to its end.
work() {
  local name=$1 phase=${1%-*} left=$((end - SECONDS)) part=$out/$1.part
  case $phase in masked | counted) phase=memcheck ;; esac
  settings "$name"
  rm -rf "$part"
  CUDA_VISIBLE_DEVICES=$2 timeout -k 10 "$left" \
    bash "$here/check_gpu.sh" "$build" "$part" "$phase" >"$out/$name.txt" 2>&1
  if grep -q '^cut off before its end' "$out/$name.txt" || [ ! -s "$part/report.json" ]; then
    echo "$name: cut off"
    return
  fi
  mv "$part/report.json" "$out/$name.json"
  echo "$name: $(grep -E '^[0-9]+ passed' "$out/$name.txt" | tail -1)"
}

# lane DEVICE LIST: takes of the pieces of LIST what nobody has taken and what there is time for.
lane() {
  local name
  for name in $pieces; do
    [[ " $2" == *[[:space:]]"$name":* ]] || continue
    [ -n "$(tests_of "$name")" ] || continue
    [ ! -e "$out/$name.json" ] || continue
    [ $((SECONDS + $(seconds_of "$name"))) -le "$end" ] || continue
    mkdir "$out/taken/$name" 2>/dev/null || continue
    work "$name" "$1"
  done
}

[ "$devices" -ge 1 ] || { echo "lanes: no device"; exit 2; }
rm -rf "$out/taken" && mkdir "$out/taken"
for ((one = 0; one < devices * lanes; one++)); do lane $((one % devices)) "$beside" & done
wait
lane 0 "$alone"
left=
for name in $pieces; do
  [ -e "$out/$name.json" ] || [ -z "$(tests_of "$name")" ] || left="$left $name"
done
echo "lanes: $(echo "$left" | wc -w) of $(echo "$pieces" | wc -w) pieces have not ended:$left"
[ -z "$left" ]
