#!/bin/sh
# ablation_counters.sh BENCH [-m ROWSxCOLUMNS] [-s ZEROS] [-n COLUMNS] [-v LIST] [-k LIST]: what ncu
# counts in each kernel of the ablation, by the five guidelines of SC'21 (its Tables 2 and 3).
#
#   BENCH   the program ablation_bench; it runs one kernel at a time and checks the result
#   -v, -k  lists with spaces: heights of the vectors ("8 4 2"), kernels ("fpu wmma octet direct
#           strips")
#   NCU     the profiler (ncu)
#
# One row a kernel.  Of a warp's cycles between two instructions, the share in which
#   no-inst   there was no instruction: the instruction cache (guideline: short programs)
#   wait      a fixed latency of arithmetic (instructions that depend on each other)
#   short     results of shared memory were missing (fewer trips through it)
#   long      results of global memory were missing, for comparison
# then 32-byte sectors a request, of loads from global memory and of cp.async (-: none, or this
# ncu does not count them): 16 are wide and coalesced; the copy engine's are no requests.  Blocks of
# the launch; thousands of warp instructions; us with cold caches at base clocks.
set -u
[ $# -ge 1 ] || { sed -n '2,17p' "$0"; exit 2; }
bench=$1
shift
ncu=${NCU:-ncu}
size=2048x1024 zeros=0.9 columns=256 heights="8 4 2" kernels="fpu wmma octet direct strips"
while getopts m:s:n:v:k: option; do
  case $option in
  m) size=$OPTARG ;;
  s) zeros=$OPTARG ;;
  n) columns=$OPTARG ;;
  v) heights=$OPTARG ;;
  k) kernels=$OPTARG ;;
  *) exit 2 ;;
  esac
done
[ -x "$bench" ] || { echo "ablation_counters: $bench is no program" >&2; exit 1; }
command -v "$ncu" >/dev/null || { echo "ablation_counters: no $ncu; set NCU" >&2; exit 1; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

stalled=smsp__average_warps_issue_stalled
async=l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts.sum
names="smsp__average_warp_latency_per_inst_issued.ratio
  ${stalled}_no_instruction_per_issue_active.ratio
  ${stalled}_wait_per_issue_active.ratio
  ${stalled}_short_scoreboard_per_issue_active.ratio
  ${stalled}_long_scoreboard_per_issue_active.ratio
  l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio
  launch__grid_size
  smsp__inst_executed.sum
  gpu__time_duration.sum"
# ncu ends at a name that it does not know.
if "$ncu" --query-metrics 2>/dev/null | grep -q "^${async%.sum} "; then
  names="$names $async l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts.sum"
fi
names=$(echo $names) # in one line
metrics=$(echo "$names" | tr ' ' ',')

# The row of one kernel out of ncu's lines: "...","metric","unit","value".
row() { # LABEL CSV
  awk -F'","' -v label="$1" -v names="$names" '
    BEGIN { count = split(names, name, " ") }
    {
      for (i = 1; i < NF - 1; i++)
        for (k = 1; k <= count; k++)
          if ($i == name[k]) { x = $(i + 2); gsub(/[",\r]/, "", x); value[k] = x; seen[k] = 1 }
    }
    END {
      for (k = 1; k <= count; k++) if (!seen[k]) { print label ": no " name[k]; exit 1 }
      share = value[1] > 0 ? 100 / value[1] : 0
      async = value[11] > 0 ? sprintf("%.1f", value[10] / value[11]) : "-"
      printf "%-11s %7.1f%% %5.1f%% %5.1f%% %5.1f%% %8.1f %8s %7d %9.1f %7.1f\n", label,
        value[2] * share, value[3] * share, value[4] * share, value[5] * share, value[6], async,
        value[7], value[8] / 1000, value[9] / 1000
    }' "$2"
}

failed=0
echo "$size, $zeros zeros, N = $columns"
printf '%-11s %8s %6s %6s %6s %8s %8s %7s %9s %7s\n' kernel no-inst wait short long sect/req \
  cp.async blocks k-instr us
for v in $heights; do
  for kernel in $kernels; do
    if "$ncu" --csv --print-units base --metrics "$metrics" --kernel-name regex:spmm \
      --launch-count 1 --log-file "$work/csv" "$bench" --profile "$kernel" -m "$size" -s "$zeros" \
      -n "$columns" -v "$v" >"$work/out" 2>&1; then
      row "$kernel V=$v" "$work/csv" || failed=1
    else
      echo "$kernel V=$v: $(tail -n 1 "$work/out" | cut -c1-200)"
      grep -i error "$work/csv" 2>/dev/null | head -2 | cut -c1-200
      failed=1
    fi
  done
done
exit $failed
