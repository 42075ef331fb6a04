# check.sh: what the shell tests share; they read it first.  It leaves them in a folder of their
# own, $work, which goes when they end, and has them print a line "ok - ..." / "not ok - ..." /
# "skip - ..." for each check, and at the end, by finish, how many there were.
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM HUP
cd "$work" || exit 99

passed=0 failed=0 skipped=0
# ok STATUS TEXT: whether the status is 0; if not, also what the files out and err say.
ok() {
  if [ "$1" -eq 0 ]; then
    passed=$((passed + 1))
    echo "ok - $2"
  else
    failed=$((failed + 1))
    echo "not ok - $2"
    cat out err 2>/dev/null | head -24 | sed 's/^/#   /'
  fi
}
# check TEXT EXPRESSION: whether the shell expression is true; what it prints goes to out.
check() {
  eval "$2" >out 2>&1
  ok $? "$1"
}
skip() {
  skipped=$((skipped + 1))
  echo "skip - $1"
}
# finish: the closing count, and the end.
finish() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ] || exit 1
  exit 0
}
