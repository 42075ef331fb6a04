#!/bin/bash
# hours.sh: runs all fuzzers side by side, for as much of the processors' time as there is.
#
#   hours.sh FOLDER SECONDS WORKERS OUT
#
# FOLDER has the fuzzers (fuzz_NAME, of "make fuzz-build") and their corpora (corpus/NAME).  Each
# runs as WORKERS processes, each with a corpus of its own, in rounds of a minute.  What a round did
# is a line of OUT/rounds at once, so that a run that is killed has lost a minute:
#
#   NAME WORKER SECONDS_OF_PROCESSOR CALLS EDGES STATUS
#
# At the end new cases that reach more are OUT/corpus.tar.gz, and OUT/summary has a line for each
# fuzzer.  Cases that fail are OUT/NAME-crash-*, -leak-*, -timeout-*, -oom-*; their output is beside
# them.  Run again with the same OUT, it goes on: it begins with the corpora that it left.
set -u
[ $# -eq 4 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=$(cd "$1" && pwd) seconds=$2 workers=$3
mkdir -p "$4" && out=$(cd "$4" && pwd)
round=${FUZZ_ROUND:-60}
work=$(mktemp -d) || exit 1
stop=$((SECONDS + seconds))
cd "$folder" || exit 1
names=$(ls fuzz_* | sed 's/^fuzz_//')
renice -n 19 $$ >/dev/null
export OMP_NUM_THREADS=1 TMPDIR=$work

# Sanitizers of older compilers need addresses that are not random where these have many random
# bits; looking for leaks needs ptrace.  Where a machine forbids either, go without.
fixed=
setarch -R true 2>/dev/null && fixed="setarch -R"
leaks=1
first=$(echo "$names" | head -1)
$fixed "./fuzz_$first" -runs=1 >"$work/first" 2>&1 || {
  leaks=0
  export ASAN_OPTIONS=detect_leaks=0
}
echo "leaks looked for: $leaks" >"$out/how"

[ -f "$out/corpus.tar.gz" ] && tar -C "$work" -xzf "$out/corpus.tar.gz"

# One round; its output's end, and the time it took the processor.
fuzz_once() {
  local name=$1 worker=$2 left=$3 log=$work/$1-$2.log status used
  { TIMEFORMAT='%U %S'; time $fixed "./fuzz_$name" -max_total_time="$left" -timeout=30 \
      -print_final_stats=1 -artifact_prefix="$out/$name-" "$work/$name-$worker" \
      $([ -d "$work/merged/$name" ] && echo "$work/merged/$name") "corpus/$name" \
      >"$log" 2>&1; } 2>"$log.time"
  status=$?
  used=$(awk '{ printf "%.1f", $1 + $2 }' "$log.time")
  awk -v name="$name" -v worker="$worker" -v used="$used" -v status="$status" '
    /stat::number_of_executed_units/ { calls = $2 }
    { for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1) }
    END { print name, worker, used, calls + 0, edges + 0, status }' "$log" >>"$out/rounds"
  [ "$status" -eq 0 ] || tail -60 "$log" >"$out/$name-$worker-$SECONDS.output"
  return "$status"
}

keep_on() {
  local left failures=0
  mkdir -p "$work/$1-$2"
  while left=$((stop - SECONDS)) && [ "$left" -ge 5 ] && [ "$failures" -lt 10 ]; do
    fuzz_once "$1" "$2" $((left < round ? left : round)) || failures=$((failures + 1))
  done
}

for name in $names; do
  for worker in $(seq "$workers"); do keep_on "$name" "$worker" & done
done
wait

# What reaches more than the corpus that is committed does, by small cases.
merge() {
  local new=$work/new/$1 name
  mkdir -p "$new" && cp "corpus/$1"/* "$new"
  export ASAN_OPTIONS=detect_leaks=0
  $fixed "./fuzz_$1" -merge=1 "$new" $(find "$work/merged/$1" "$work/$1-"[0-9]* -maxdepth 0 \
    -type d 2>/dev/null) >"$work/merge-$1.log" 2>&1
  $fixed "./fuzz_$1" -runs=0 "$new" 2>&1 |
    sed -n 's/.*INITED cov: \([0-9]*\).*/\1/p' >"$work/edges-$1"
  for name in "corpus/$1"/*; do rm "$new/${name##*/}"; done
}
for name in $names; do merge "$name" & done
wait
rm -rf "$work/merged" && mv "$work/new" "$work/merged"
tar -C "$work" -czf "$out/corpus.tar.gz" merged

for name in $names; do
  awk -v name="$name" -v edges="$(cat "$work/edges-$name")" \
    -v cases="$(ls "$work/merged/$name" | wc -l)" \
    -v found="$(ls "$out" | grep -cE "^$name-(crash|leak|timeout|oom|slow)")" '
    $1 == name { used += $3; calls += $4; failed += $6 != 0 }
    END { printf "%-9s %8.1f s of processor, %12.0f calls, %5d edges, ", name, used, calls, edges
          printf "%4d new cases, ", cases
          printf "%d rounds failed, %d findings\n", failed, found }' "$out/rounds"
done | tee "$out/summary"
rm -rf "$work"
