#!/bin/sh
# bare_root.sh [SUITE...]: the README's commands on a bare Debian or Ubuntu, from a clone of what is
# committed here: ./bootstrap demo, and the commands that install, and the installed program.  By
# hand: it takes the network, minutes, and root.
#
# SUITE: bookworm (the default; Debian 12), noble (Ubuntu 24.04), trixie or sid, by debootstrap; or
# a folder with such a tree, which stays as it is.  BARE_CHECK=1 also runs ./bootstrap check, which
# takes an hour.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
skip() {
  echo "skip - $1"
  exit 0
}
[ "$(id -u)" = 0 ] || skip "only root can enter a bare root"
command -v debootstrap >/dev/null 2>&1 || skip "debootstrap is not installed"
unshare -m true 2>/dev/null || skip "unshare does not work here"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

cat >"$work/try.sh" <<'EOF'
passed=0
failed=0
check() {
  name=$1
  shift
  if "$@" >/tmp/out 2>&1; then
    passed=$((passed + 1))
    echo "ok - $name"
  else
    failed=$((failed + 1))
    echo "not ok - $name"
    tail -30 /tmp/out | sed 's/^/#   /'
  fi
}
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >/dev/null 2>&1
cd /clone || exit 1
check "./bootstrap demo" ./bootstrap demo
cp /tmp/out /tmp/demo
grep -E '^(plain|shunt) ' /tmp/demo | sed 's/^/# /'
check "... shows the program before and after" sh -c \
  'grep -q "^plain.*ok" /tmp/demo && grep -q "^shunt.*ok" /tmp/demo'
check "shunt run in build/demo" sh -c 'cd build/demo &&
  ./shunt run --strict -- tests/clients/graphblas_als ../../tests/clients/demo.smtx.gz'
lines() {
  env SHUNT="$PWD/build/demo/shunt" srcdir="$PWD" \
    SHUNT_GRAPHBLAS_SO="$PWD/build/demo/.libs/libshunt-graphblas.so" \
    sh tests/unit/tool/test_page.sh
}
check "the report and its lines of programs of $(python3 --version)" lines
grep '^skip' /tmp/out
check "./bootstrap" ./bootstrap
check "configure, make, make install" sh -c 'mkdir -p build/release && cd build/release &&
  ../../configure && make -j2 && make install && ldconfig'
check "the installed program" shunt run --strict -- build/demo/tests/clients/graphblas_als \
  tests/clients/demo.smtx.gz
check "shunt doctor" sh -c 'shunt doctor; [ $? -le 1 ]'
check "its pages" test -s /usr/local/share/man/man1/shunt.1
[ -z "${BARE_CHECK:-}" ] || check "./bootstrap check" ./bootstrap check
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
EOF

# make_root SUITE FOLDER: a tree, or its reason on standard output.
make_root() {
  case $1 in
  noble) # Debian has neither Ubuntu's keys nor, before 13, its name
    debootstrap --no-check-gpg --variant=minbase --components=main,universe noble "$2" \
      http://archive.ubuntu.com/ubuntu /usr/share/debootstrap/scripts/gutsy ;;
  *) debootstrap --variant=minbase "$1" "$2" ;;
  esac >"$work/log" 2>&1 || { tail -1 "$work/log"; return 1; }
}

# What is written goes to memory: the tree stays as it is.
try_in() {
  rm -rf "$work/over"
  mkdir "$work/over" || exit 99
  git -C "$here" archive --format=tar HEAD >"$work/clone.tar" || exit 99
  unshare -m sh -c '
    mount -t tmpfs none "$2/over" && mkdir "$2/over/up" "$2/over/work" "$2/over/root" || exit 99
    over=$2/over
    mount -t overlay overlay -o "lowerdir=$1,upperdir=$over/up,workdir=$over/work" "$over/root" ||
      exit 99
    cd "$over/root" && mkdir clone && tar -xf "$2/clone.tar" -C clone &&
      cp "$2/try.sh" try.sh && cp /etc/resolv.conf etc/resolv.conf || exit 99
    mount -t proc proc proc
    mount --bind /dev dev
    chroot . env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      BARE_CHECK="${BARE_CHECK:-}" sh /try.sh' sh "$1" "$work"
}

status=0
for suite in "${@:-bookworm}"; do
  echo "# $suite"
  root=$suite
  if [ ! -d "$suite" ]; then
    root=$work/$suite
    why=$(make_root "$suite" "$root") || { echo "skip - $suite: debootstrap: $why"; continue; }
  fi
  try_in "$root" || status=1
done
exit $status
