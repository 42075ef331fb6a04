#!/bin/sh
# cuda.sh: when bootstrap gets a CUDA toolkit from PyPI, and what it makes of the packages.  pip,
# the driver and the compilers are stand-ins, so nothing is downloaded.  With
# SHUNT_TEST_DOWNLOADS=1 the real packages come too, and compile and link a program.
set -u
top=$(cd "${SHUNT_SRCDIR:-.}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
check() {
  name=$1
  shift
  if "$@" >"$work/why" 2>&1; then
    passed=$((passed + 1))
    echo "ok - $name"
  else
    failed=$((failed + 1))
    echo "not ok - $name"
    sed 's/^/#   /' "$work/why" "$work/out"
  fi
}
says() { check "$1" grep -q -e "$2" "$work/out"; }
script() {
  mkdir -p "$(dirname "$1")"
  { echo '#!/bin/sh'; cat; } >"$1"
  chmod +x "$1"
}

# ---- what is made of the packages ----------------------------------------------------------------
script "$work/pip/python3" <<'EOF'
[ "${PIP_BREAKS:-}" ] && exit 1
while [ "$1" != --target ]; do shift; done
cu=$2/nvidia/cu13
mkdir -p $cu/bin $cu/lib $cu/nvvm/bin
printf '#!/bin/sh\nexit 0\n' >$cu/bin/nvcc
touch $cu/lib/libcusparse.so.12 $cu/lib/libcudart_static.a
EOF
from_pypi() { PATH="$work/pip:$PATH" sh "$top/backend/packaging/cuda_from_pypi.sh" "$work/a/cuda"; }
PIP_BREAKS=1 from_pypi >"$work/out" 2>&1
check "pip fails: so does it" test $? = 1
check "and leaves nothing" test -z "$(ls "$work/a")"
from_pypi >"$work/out" 2>&1
check "a toolkit" test -x "$work/a/cuda/bin/nvcc"
check "with the names that linkers look for" test -e "$work/a/cuda/lib64/libcusparse.so"
check "and nothing beside it" test "$(ls "$work/a")" = cuda
PIP_BREAKS=1 from_pypi >"$work/out" 2>&1
check "what is there is not made again" test $? = 0

# ---- when bootstrap wants one --------------------------------------------------------------------
mkdir -p "$work/clone/backend/packaging"
cp "$top/bootstrap" "$work/clone"
script "$work/clone/backend/packaging/cuda_from_pypi.sh" <<'EOF'
echo "asked for $1"
[ -z "${CUDA_BREAKS:-}" ]
EOF
for tool in autoconf automake aclocal libtoolize autoreconf gcc g++ make readelf pkg-config; do
  echo 'exit 0' | script "$work/tools/$tool"
done
echo 'echo "pip 99"' | script "$work/tools/python3"
echo '[ "${DRIVER:-}" ] && echo "| Driver Version: 1 CUDA Version: $DRIVER.0 |"' |
  script "$work/tools/nvidia-smi"
echo 'exit 0' | script "$work/toolkit/bin/nvcc"
word=
bootstrap() {
  # shellcheck disable=SC2086
  (cd "$work/clone" && "$@" ./bootstrap $word) >"$work/out" 2>&1
}
on_this() { bootstrap env -u CUDA_PATH PATH="$work/tools:/usr/bin:/bin" "$@"; }
# As on a machine without a toolkit.
hide() {
  unshare -m sh -c '[ ! -d /usr/local/cuda ] || mount -t tmpfs none "$(readlink -f /usr/local/cuda)"
    "$@"' hide "$@"
}
on_bare() { bootstrap hide env -u CUDA_HOME -u CUDA_PATH PATH="$work/tools:/usr/bin:/bin" "$@"; }
asked() { check "$1" grep -q 'asked for build/cuda' "$work/out"; }
not_asked() { check "$1" sh -c "! grep -q 'asked for' '$work/out'"; }

on_this DRIVER=13 CUDA_HOME="$work/toolkit"
not_asked "a GPU and a toolkit: none is got"
on_this SHUNT_BOOTSTRAP_CUDA=pypi CUDA_HOME="$work/toolkit"
asked "SHUNT_BOOTSTRAP_CUDA=pypi: one is got"
on_this SHUNT_BOOTSTRAP_CUDA=pypi CUDA_BREAKS=1
check "it cannot be had: bootstrap goes on" test $? = 0
says "and says so" "could not be had"
if [ -x /usr/bin/nvcc ] || ! hide true 2>/dev/null; then
  echo "skip - machines without a toolkit: this one's cannot be hidden (needs root)"
else
  on_bare DRIVER=13
  asked "a GPU and no toolkit: one is got"
  on_bare DRIVER=
  not_asked "no GPU: none is got"
  on_bare DRIVER=12
  not_asked "an older driver: none is got"
  says "and the reason is told" "older"
  on_bare DRIVER=13 SHUNT_BOOTSTRAP_CUDA=no
  not_asked "SHUNT_BOOTSTRAP_CUDA=no: none is got"
fi

# ---- the word is read before anything is got ---------------------------------------------------
for word in --help -h; do
  on_this SHUNT_BOOTSTRAP_CUDA=pypi
  check "bootstrap $word succeeds" test $? = 0
  not_asked "... gets nothing"
  for text in demo check SHUNT_BOOTSTRAP_CUDA SHUNT_DATA minutes; do
    says "... and names $text" "$text"
  done
  check "... on a screen of 24 lines of 80" \
    sh -c '[ "$(wc -l <"$1")" -le 24 ] && ! grep -q ".\{81\}" "$1"' lines "$work/out"
done
for word in chekc --no-such "demo check"; do
  on_this SHUNT_BOOTSTRAP_CUDA=pypi
  check "bootstrap $word is wrong usage" test $? = 2
  not_asked "... gets nothing"
  says "... and names what is accepted" "--help"
done
word=

# ---- the real packages ---------------------------------------------------------------------------
if [ "${SHUNT_TEST_DOWNLOADS:-}" != 1 ]; then
  echo "skip - the real packages: SHUNT_TEST_DOWNLOADS=1 gets them (700 MB)"
else
  cat >"$work/program.cu" <<'EOF'
#include <cublasLt.h>
#include <cuda_fp16.h>
#include <cusparse.h>
__global__ void f(__half *x) { *x = __float2half(1.0f); }
int main() { return cusparseGetVersion(nullptr, nullptr) == CUSPARSE_STATUS_SUCCESS; }
EOF
  unset CUDA_HOME CUDA_PATH
  check "they come" sh "$top/backend/packaging/cuda_from_pypi.sh" "$work/real"
  check "they compile and link" env PATH=/usr/bin:/bin "$work/real/bin/nvcc" -arch=sm_90 \
    -o "$work/program" "$work/program.cu" -lcusparse
  check "the program starts" env LD_LIBRARY_PATH="$work/real/lib" "$work/program"
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
