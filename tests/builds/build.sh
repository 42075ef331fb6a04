# build.sh: what the tests of whole builds share; they read it first, and are run by `./bootstrap
# check`, which sets SHUNT_TEST_BUILDS=1: each takes minutes.  It leaves them in a folder of their
# own, $work, which goes when they end.  $top: the source tree.
top=$(cd "${SHUNT_SRCDIR:-.}" && pwd) || exit 99
work=$(mktemp -d) || exit 99
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
trap 'exit 99' INT TERM HUP
cd "$work" || exit 99
unset MAKEFLAGS MFLAGS MAKELEVEL
jobs=$(nproc 2>/dev/null || echo 2)
command -v ccache >/dev/null 2>&1 && cache="ccache " || cache=

passed=0 failed=0
# check TEXT COMMAND...: it succeeds; if not, the end of what it prints.
check() {
  text=$1
  shift
  if "$@" >log 2>&1; then
    passed=$((passed + 1))
    echo "ok - $text"
  else
    failed=$((failed + 1))
    echo "not ok - $text"
    grep -E 'error|Error|not ok' log | head -20 | sed 's/^/#   /'
    tail -10 log | sed 's/^/#   /'
  fi
}
finish() {
  echo "$passed passed, $failed failed, ${1:-0} skipped"
  [ "$failed" = 0 ] || exit 1
  exit 0
}
skip() {
  echo "skip - $1"
  finish 1
}
[ "${SHUNT_TEST_BUILDS:-}" = 1 ] || skip "SHUNT_TEST_BUILDS=1 asks for this build"
