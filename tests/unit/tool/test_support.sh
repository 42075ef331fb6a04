#!/bin/sh
# test_support.sh: shunt-support(7) and its web page say what the router says today; `make
# support-page` writes both.
# SHUNT: the binary; srcdir: the source tree; SHUNT_GRAPHBLAS_SO: the library.  Needs no GPU.
SHUNT=${SHUNT:-./shunt}
case $SHUNT in /*) ;; *) SHUNT=$(pwd)/$SHUNT ;; esac
srcdir=$(cd "${srcdir:-.}" && pwd)
library=${SHUNT_GRAPHBLAS_SO:-$(dirname "$SHUNT")/.libs/libshunt-graphblas.so}
arch=$(sed -n 's/^CUDA_ARCH = //p' "$(dirname "$SHUNT")/Makefile" 2>/dev/null)
. "$srcdir/tests/unit/tool/check.sh"
unset SHUNT_ROUTES SHUNT_MATH SHUNT_CONFIG SHUNT_DISABLE
make_page=$srcdir/backend/tool/support/make_page.py
page=$srcdir/backend/tool/man/shunt-support.7
web=$srcdir/backend/tool/support/shunt-support.html
if ! python3 -c 'import json' 2>/dev/null; then
  skip "python3 is not installed"
  finish
fi

# ---- cuSPARSE -----------------------------------------------------------
cusparse=-
if ! "$SHUNT" support --json >cusparse.json 2>err; then
  grep -q "this build has no CUDA" err
  ok $? "a build without CUDA says so"
else
  "$SHUNT" support >out 2>err
  ok $? "the tables as text"
  for word in cusparseSpMM "CSR COO" "(transposed)" sparse24 "no route has"; do
    grep -q "$word" out
    ok $? "... have '$word'"
  done
  [ "$(awk '{ if (length($0) > w) w = length($0) } END { print w }' out)" -le 80 ]
  ok $? "... in 80 columns"
  SHUNT_ROUTES=csr "$SHUNT" support >out 2>err && ! grep -q 'CSR.*vector' out
  ok $? "SHUNT_ROUTES counts"
  "$SHUNT" support --gpu a100 >out 2>err && grep '^sparse24' out | grep -q 'none'
  ok $? "no 2:4 products on an A100"
  case ,$arch, in
  *,90,*) cusparse=cusparse.json ;;
  *) skip "the page is of a build with code for 9.0; this one is for ${arch:-none}" ;;
  esac
fi

# ---- GraphBLAS -----------------------------------------------------------
graphblas=-
sh "$srcdir/tests/graphblas/support.sh" "$library" >graphblas.json 2>err
case $? in
0) graphblas=graphblas.json ;;
77) skip "GraphBLAS 7 is not installed" ;;
*) ok 1 "the products of GraphBLAS can be asked about" ;;
esac

# ---- the pages -----------------------------------------------------------
check "the pages say what the router says (else: make support-page)" \
  'python3 "$make_page" --check $cusparse $graphblas "$page" "$web"'
for table in $cusparse $graphblas; do
  [ "$table" != - ] || continue
  sed 's/"taken"/"(small)"/; s/"csr vector"/"csr"/' "$table" >other.json
  ! cmp -s "$table" other.json &&
    ! python3 "$make_page" --check other.json - "$page" "$web" >out 2>err
  ok $? "... and another answer in $table is told"
done
if [ "$cusparse" != - ] && [ "$graphblas" != - ]; then
  python3 "$make_page" $cusparse $graphblas . && cmp shunt-support.7 "$page" >out &&
    cmp shunt-support.html "$web" >>out
  ok $? "... and nothing else"
fi
finish
