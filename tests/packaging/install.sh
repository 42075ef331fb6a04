#!/bin/sh
# install.sh BUILD: what `make install` makes: moved to another folder it still works, pkg-config
# tells how to build with it, and `make uninstall` takes all of it away.
set -u
[ $# = 1 ] && [ -f "$1/Makefile" ] || { echo "usage: install.sh BUILD" >&2; exit 2; }
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/../checks.sh"
check "make install" make -C "$build" install DESTDIR="$work/stage"
pc=$(cd "$work/stage" && find . -name shunt.pc)
check "shunt.pc" test -n "$pc"
prefix=$(sed -n 's/^prefix=//p' "$work/stage/$pc")
mv "$work/stage$prefix" "$work/moved"
check "the web page of what is taken" test -s "$work/moved/share/doc/shunt/shunt-support.html"
cd "$work" || exit 2
check "the program" "$work/moved/bin/shunt" --version
check "it finds its libraries where they are now" sh -c \
  "'$work/moved/bin/shunt' run -- sh -c 'echo \$LD_PRELOAD' | grep -q '^$work/moved/'"

# ---- a C program ---------------------------------------------------------------------------------
cat >client.c <<'EOF'
#include <shunt.h>
#include <stdio.h>
int main(void) { return puts(shunt_status_text(SHUNT_OK)) < 0; }
EOF
if command -v pkg-config >/dev/null 2>&1; then
  PKG_CONFIG_PATH=$(dirname "$work/moved/${pc#."$prefix"/}")
  export PKG_CONFIG_PATH
  check "pkg-config knows the version" test "$(pkg-config --modversion shunt)" = \
    "$("$work/moved/bin/shunt" --version | cut -d' ' -f2)"
  words=$(pkg-config --define-variable=prefix="$work/moved" --cflags --libs shunt)
  # shellcheck disable=SC2086
  check "a C program builds with its words" gcc client.c -o client $words
  check "and runs" env LD_LIBRARY_PATH="$work/moved/lib" ./client
else
  skip "pkg-config is not installed"
fi

mkdir -p "$(dirname "$work/stage$prefix")" && mv "$work/moved" "$work/stage$prefix"
check "make uninstall" make -C "$build" uninstall DESTDIR="$work/stage"
check "it leaves no file" sh -c "find '$work/stage' ! -type d | tee /dev/stderr | (! grep -q .)"

finish
