# checks.sh: the lines that a shell test prints, for scripts to read in (. checks.sh).  $work is a
# folder of theirs.
passed=0 failed=0 skipped=0
ok() {
  passed=$((passed + 1))
  echo "ok - $1"
}
# not_ok TEXT [FILE]: and what the file says of it ($work/out).
not_ok() {
  failed=$((failed + 1))
  echo "not ok - $1"
  said=${2:-$work/out}
  [ ! -s "$said" ] || grep -v '^ok' "$said" | head -60 | cut -c1-800 | sed 's/^/#   /'
}
skip() {
  skipped=$((skipped + 1))
  echo "skip - $1"
}
# check TEXT COMMAND...: passes if the command does.
check() {
  what=$1
  shift
  if "$@" >"$work/out" 2>&1; then ok "$what"; else not_ok "$what"; fi
}
# finish: how many there were, and the end.
finish() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ] || exit 1
  exit 0
}
