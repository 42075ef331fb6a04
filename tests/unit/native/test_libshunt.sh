#!/bin/sh
# test_libshunt.sh: libshunt.so from outside: what it exports and needs, that shunt.h is C and C++
# by itself, and that tests/clients/attention.c, built like any program, and the encoder layer of
# tests/clients/encoder, in Python, give right results on the host.
# SHUNT_LIBSHUNT_SO: the library; srcdir: the source tree; CC, CXX.  Needs no GPU.
# Prints "ok - ..." / "not ok - ..." / "skip - ..." and a closing count.
so=${SHUNT_LIBSHUNT_SO:-.libs/libshunt.so}
srcdir=$(cd "${srcdir:-.}" && pwd)
CC=${CC:-cc} CXX=${CXX:-c++}
case $so in /*) ;; *) so=$(pwd)/$so ;; esac
. "$srcdir/tests/unit/tool/check.sh"
unset LD_PRELOAD

[ -r "$so" ]
ok $? "there is a library"
[ $failed -eq 0 ] || finish

# ---- names -------------------------------------------------------------------------
sed -n 's/^SHUNT_API .*[ *]\(shunt_[a-z_]*\)(.*/\1/p' "$srcdir/backend/shunt.h" | sort >declared
nm -D --defined-only "$so" | awk '{ print $NF }' | sort >exported
diff declared exported >out
ok $? "it exports the functions of shunt.h, $(wc -l <declared) of them, and nothing else"
[ -s declared ]
ok $? "... which are some"
readelf -d "$so" | awk '/NEEDED/ { print $NF }' |
  grep -Ev 'lib(c|m|dl|rt|pthread|gomp)\.so|ld-linux' >out
[ ! -s out ]
ok $? "it needs libc's family and libgomp only: no CUDA library, no libstdc++"

# What is built --without-cuda as well, where nothing would provide such names.
archives=$(dirname "$so")
for part in host problem semiring; do
  [ -r "$archives/libshunt-$part.a" ] && nm -A -u "$archives/libshunt-$part.a"
done 2>/dev/null >out
[ -s out ]
ok $? "there are parts that need no CUDA"
grep -E ' (cuda|cublas|cusparse|cu[A-Z])' out >wrong
[ ! -s wrong ]
status=$?
cp wrong out
ok $status "... which name no function of CUDA's"

# ---- the header ------------------------------------------------------------------------
mkdir include && cp "$srcdir/backend/shunt.h" include/
echo '#include <shunt.h>
int main(void) { return shunt_status_text(SHUNT_OK) == 0; }' >use.c
cp use.c use.cc
directory=$(dirname "$so")
$CC -std=c11 -pedantic -Wall -Wextra -Werror -Iinclude -o use use.c "$so" >out 2>&1 &&
  LD_LIBRARY_PATH=$directory ./use >>out 2>&1
ok $? "a C11 program with shunt.h and nothing else of Shunt"
if $CXX --version >/dev/null 2>&1; then
  $CXX -std=c++11 -pedantic -Wall -Wextra -Werror -Iinclude -o use use.cc "$so" >out 2>&1 &&
    LD_LIBRARY_PATH=$directory ./use >>out 2>&1
  ok $? "a C++11 program"
else
  skip "no C++ compiler"
fi

# ---- a program --------------------------------------------------------------------------
$CC -std=gnu11 -O2 -Wall -Wextra -Werror -I"$srcdir" -o attention \
  "$srcdir/tests/clients/attention.c" "$so" -lm >out 2>&1
ok $? "tests/clients/attention.c builds"
for arguments in "512 64" "100 24" "7 1"; do
  # shellcheck disable=SC2086
  LD_LIBRARY_PATH=$directory ./attention $arguments --host >out 2>&1
  ok $? "attention $arguments --host: $(cat out)"
done
LD_LIBRARY_PATH=$directory ./attention 0 >out 2>&1
[ $? -eq 2 ] && grep -q '^not ok - arguments' out
ok $? "a sequence of 0 is refused"

if python3 --version >/dev/null 2>&1; then
  PYTHONDONTWRITEBYTECODE=1 python3 "$srcdir/tests/clients/encoder/integer_encoder.py" "$so" \
    --host >out 2>&1
  ok $? "an encoder layer in each scheme of attention, by ctypes"
  [ "$(grep -cE '	(fp16|fp16 trio|16b-8b|12b-8b|8b-8b|8b-4b|8b-f16|8b-e4m3)	' out)" = 8 ]
  ok $? "... which are eight"
else
  skip "no python3"
fi
finish
