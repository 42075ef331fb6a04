#!/bin/sh
# stage.sh BUILD DEST [MATRIX...]: copies what a machine with a GPU needs of a build: the
# libraries, the tool, the test programs (stripped), and matrices into DEST/data.  What is older than
# its sources is built first: it would be tested in their place.
set -eu
build=$1
dest=$2
shift 2
make -C "$build" -s all gpu-tests clients
rm -rf "$dest"
mkdir -p "$dest/.libs" "$dest/tests/gpu" "$dest/tests/clients" "$dest/tests/bench" "$dest/data"
cp "$build"/.libs/libshunt-cusparse.so "$build"/.libs/libshunt-dlsym.so \
  "$build"/.libs/libshunt-graphblas.so "$build"/.libs/libshunt.so.0 "$dest/.libs/"
cp "$build/shunt" "$dest/"
for program in ablation_bench csrbin graphblas_gpu_bench graphblas_gpu_pins graphblas_graphs; do
  cp "$build/tests/bench/$program" "$dest/tests/bench/" 2>/dev/null || true
done
(cd "$build" && find tests/gpu tests/clients -type f -perm -u+x) | while read -r program; do
  mkdir -p "$dest/$(dirname "$program")"
  cp "$build/$program" "$dest/$program"
done
find "$dest" -type f -exec strip --strip-unneeded {} + 2>/dev/null || true
for matrix in "$@"; do cp "$matrix" "$dest/data/"; done
