#!/bin/sh
# root.sh BUILD: installs the wheel of BUILD and the packages of BUILD/deb on a bare Debian, which
# has neither a compiler nor libgomp, and runs them there.
#
# SHUNT_TEST_ROOT=FOLDER names a tree of Debian 12, Ubuntu 24.04 or later; it stays as it is.
# Without one debootstrap makes one of Debian 12.  Skips with a message where this cannot be done.
set -u
[ $# = 1 ] && [ -f "$1/Makefile" ] || { echo "usage: root.sh BUILD" >&2; exit 2; }
skip() {
  echo "skip - $1"
  exit 0
}
files=$(find "$1"/shunt-*.whl "$1/deb" -name '*.whl' -o -name '*.deb' ! -name '*dbgsym*' \
  2>/dev/null)
[ -n "$files" ] || skip "there are no packages: make wheel deb"
[ "$(id -u)" = 0 ] || skip "only root can enter a bare root"
unshare -m true 2>/dev/null || skip "unshare does not work here"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=${SHUNT_TEST_ROOT:-}
if [ -z "$root" ]; then
  command -v debootstrap >/dev/null 2>&1 || skip "debootstrap is not installed"
  root=$work/root
  debootstrap --variant=minbase bookworm "$root" >"$work/log" 2>&1 ||
    skip "debootstrap: $(tail -1 "$work/log")"
fi

mkdir "$work/over" "$work/packages"
# shellcheck disable=SC2086
cp $files "$work/packages"
cat >"$work/packages/try.sh" <<'EOF'
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
    sed 's/^/#   /' /tmp/out
  fi
}
export DEBIAN_FRONTEND=noninteractive
cd /packages
apt-get update -qq >/dev/null 2>&1
preload='shunt run -- sh -c "echo \$LD_PRELOAD"'

wheel=$(ls ./*.whl 2>/dev/null)
if [ -n "$wheel" ] && apt-get install -y -qq python3-venv >/tmp/out 2>&1; then
  check "a virtual environment" python3 -m venv /venv
  check "pip installs the wheel" /venv/bin/pip install -q --no-index "$wheel"
  check "the program starts" /venv/bin/shunt --version
  check "it finds its libraries" sh -c "/venv/bin/$preload | grep -q '^/venv/'"
  check "they load" sh -c '! /venv/bin/shunt run -- true 2>&1 | grep "cannot be preloaded"'
  check "python -m shunt" /venv/bin/python -m shunt -c 'print(1)'
else
  echo "skip - the wheel: there is none, or apt has no python3-venv"
fi

ls ./*.deb >/dev/null 2>&1 || {
  echo "skip - there are no Debian packages: make deb"
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
  exit
}
check "apt installs them, with what they need" apt-get install -y -qq ./*.deb
check "the program starts" shunt --version
check "it finds its libraries" sh -c \
  "$preload | grep -q '^/usr/lib/.*/shunt/libshunt-graphblas.so'"
check "they load" sh -c '! shunt run -- true 2>&1 | grep "cannot be preloaded"'
check "the loader knows libshunt.so" sh -c 'ldconfig -p | grep -q libshunt.so.0'
check "header and link for programs" test -f /usr/include/shunt.h -a -e /usr/lib/*/libshunt.so
check "they go again" apt-get purge -y -qq shunt libshunt0 libshunt-dev
check "and leave nothing" sh -c \
  '! find /usr /etc /var/lib -path "*shunt*" ! -path "/var/lib/apt/*" | grep .'
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
EOF
# What is written goes to memory: the root stays as it is.
unshare -m sh -c '
  mount -t tmpfs none "$2/over" && mkdir "$2/over/up" "$2/over/work" "$2/over/root" || exit 99
  over=$2/over
  mount -t overlay overlay -o "lowerdir=$1,upperdir=$over/up,workdir=$over/work" "$over/root" ||
    exit 99
  cd "$2/over/root" && mkdir packages &&
    cp "$2"/packages/* packages && cp /etc/resolv.conf etc/resolv.conf
  mount -t proc proc proc
  mount --bind /dev dev
  chroot . env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin sh /packages/try.sh' sh \
  "$root" "$work"
status=$?
[ $status != 99 ] || skip "an overlay cannot be mounted here"
exit $status
