#!/bin/sh
# unserved.sh: the built libshunt-cusparse.so where it can serve nobody: a machine without a driver,
# a driver that is too old, does not start, or has no device; and a setuid program, which is linked
# to it, as LD_PRELOAD does not reach one.  No GPU; the variables are those of run.sh.
#
# Each program's calls must reach the original, with nothing said.
set -u

CC=${CC:-cc}
CUDA_INCLUDE=${CUDA_INCLUDE:-/usr/local/cuda/include}
here=$(cd "$(dirname "$0")" && pwd) || exit 2
top=$(cd "$here/../.." && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
. "$top/tests/checks.sh"
unset LD_PRELOAD LD_LIBRARY_PATH ENTRY WRAPS FAULTY SHUNT_FAULT SHUNT_DISABLE SHUNT_CONFIG

[ -e "${SHUNT_CUSPARSE_SO:-}" ] && [ -e "$CUDA_INCLUDE/cusparse.h" ] || {
  skip "needs SHUNT_CUSPARSE_SO, the built library, and cusparse.h in CUDA_INCLUDE"
  finish
}
# Another user is to reach all of it.
cp "$SHUNT_CUSPARSE_SO" "$work/libshunt-cusparse.so" && mkdir "$work/driver" "$work/named" &&
  chmod 755 "$work" && cd "$work" || exit 2
entry=$work/libshunt-cusparse.so

compile() {
  $CC -O1 -g -std=gnu11 -Wall -Wextra -Werror -fPIC -I"$top" -I"$here" -isystem "$CUDA_INCLUDE" "$@"
}
build_all() {
  compile -shared -o libcusparse.so.12 -DCOPY=1 -DFLOATS -Wl,-soname,libcusparse.so.12 \
    -Wl,-Bsymbolic "$here/fake_cusparse.c" -Wl,--version-script="$here/fake_cusparse.map" &&
    compile -shared -fvisibility=hidden -o driver/libcuda.so.1 -Wl,-soname,libcuda.so.1 \
      "$here/fake_driver.c" &&
    compile -o unserved "$here/unserved.c" ./libcusparse.so.12 -Wl,-rpath,"$work" -ldl &&
    compile -o linked "$here/unserved.c" -Wl,--no-as-needed "$entry" ./libcusparse.so.12 \
      -Wl,--disable-new-dtags,-rpath,"$work:$work/driver" -ldl
}

# ---- without a device --------------------------------------------------------------------------

# quiet WANTED COMMAND...: it succeeds, says this line, and no other.
quiet() {
  wanted=$1
  shift
  "$@" >said 2>&1
  got=$?
  cat said
  [ $got = 0 ] && [ "$(cat said)" = "$wanted" ]
}
# left_alone TEXT VARIABLE=...: all calls are the original's, and the reason is the device.
left_alone() {
  text=$1
  shift
  check "$text: the original does all, nothing is said" quiet "secure 0, opened 0" \
    env LD_PRELOAD="$entry" "$@" ./unserved
  rm -f log
  check "$text: and all calls are" quiet "secure 0, opened 0" \
    env LD_PRELOAD="$entry" SHUNT_LOG=dispatch SHUNT_LOG_FILE="$work/log" "$@" ./unserved
  check "$text: the log has the reason" grep -q ',cusparseSpMM,original,device,' log
}
without_a_device() {
  check "without Shunt" quiet "secure 0, opened 0" ./unserved
  if ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1 '; then
    skip "no driver: there is one"
  else
    left_alone "no driver" LD_LIBRARY_PATH=
  fi
  left_alone "a driver that is too old" LD_LIBRARY_PATH=driver FAKE_CUDA=12040 FAKE_INIT=0
  left_alone "a driver without a device" LD_LIBRARY_PATH=driver FAKE_CUDA=13000 FAKE_INIT=100
  left_alone "a driver of another version than its module" LD_LIBRARY_PATH=driver \
    FAKE_CUDA=13000 FAKE_INIT=803
  left_alone "a driver that fails" LD_LIBRARY_PATH=driver FAKE_CUDA=13000 FAKE_INIT=0
}
# What shunt run says at the end, and shunt doctor.
explained() {
  env LD_LIBRARY_PATH=driver FAKE_CUDA=12040 SHUNT_LIBDIR="$work" "$SHUNT" run ./unserved 2>&1 |
    tee said
  grep -q '20 calls seen: 0 taken, 20 left to the original' said &&
    grep -q 'Shunt does not run on this GPU' said
}

# ---- with more rights than its user -------------------------------------------------------------

# with_files COMMAND...: it, with all variables that name files.
with_files() {
  for name in config log report tune costs; do rm -f named/$name; done
  echo 'SHUNT_LOG = dispatch' >named/config
  echo nonsense >named/costs
  chmod 777 named && chmod 644 named/config named/costs
  env SHUNT_CONFIG="$work/named/config" SHUNT_LOG_FILE="$work/named/log" \
    SHUNT_REPORT="$work/named/report" SHUNT_TUNE=1 SHUNT_TUNE_FILE="$work/named/tune" \
    SHUNT_COSTS="$work/named/costs" XDG_CACHE_HOME="$work/named" HOME="$work/named" \
    SHUNT_MEASURE=1 SHUNT_NONSENSE=1 "$@" >said 2>&1
  got=$?
  cat said
  ls named
  return $got
}
# Of a program without more rights, so that it is known that the library does so.
opens_files() {
  with_files ./linked && grep -q '^opened config' said && grep -q '^opened log' said &&
    grep -q '^opened report' said && grep -q '^secure 0' said && [ -s named/log ] &&
    [ -s named/report ]
}
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
opens_none() {
  with_files setpriv --reuid=65534 --regid=65534 --clear-groups ./linked &&
    [ "$(cat said)" = "secure 1, opened 0" ] && [ "$(ls named | tr '\n' ' ')" = "config costs " ]
}
setuid() {
  check "linked to Shunt: its files are opened" opens_files
  if [ "$(id -u)" != 0 ] || ! as_nobody true 2>/dev/null; then
    skip "a setuid program can be made and run by root alone"
    return
  fi
  chown 0:0 linked && chmod 4755 linked
  case $(as_nobody ./linked) in
  "secure 1"*) check "setuid: no file that the environment names is, nothing is said" opens_none ;;
  *) skip "this file system gives no rights" ;;
  esac
}

check "builds" build_all
[ -x linked ] || finish
without_a_device
[ ! -x "${SHUNT:-}" ] || check "shunt run says why" explained
setuid
finish
