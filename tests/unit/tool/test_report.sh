#!/bin/sh
# test_report.sh: tests/gpu/report.py tells whether a report of GPU tests is about today's source.
set -u
report=${SHUNT_SRCDIR:?}/tests/gpu/report.py
. "$SHUNT_SRCDIR/tests/unit/tool/check.sh"
root=$work
mkdir -p "$root/kernels" "$root/tests/gpu/x" "$root/logs"
echo one >"$root/kernels/a.cu"
echo two >"$root/kernels/b.cu"
printf 'ok - x\n3 passed, 0 failed, 1 skipped\n' >"$root/logs/good.log"
echo "0 1.5" >"$root/logs/good.status"

verify() { python3 "$report" --verify "$root"; }
says() { ! verify >"$root/said" && grep -q "$1" "$root/said"; }

check "logs become a report" 'python3 "$report" --write "$root" "$root/logs" "$root/part.json"'
check "a report becomes the report" 'python3 "$report" --join "$root" "$root/part.json"'
check "it is about its source" 'verify && verify | grep -q "3 passed, 0 failed, 1 skipped"'
echo changed >"$root/kernels/a.cu"
check "a changed file is named" 'says "changed since: kernels/a.cu"'
check "a report of other source is not joined" \
  '! python3 "$report" --join "$root" "$root/part.json"'
echo one >"$root/kernels/a.cu"
echo three >"$root/kernels/c.cu"
check "a new file is named" 'says "new since: kernels/c.cu"'
rm "$root/kernels/c.cu" "$root/kernels/b.cu"
check "a removed file is named" 'says "removed since: kernels/b.cu"'
echo two >"$root/kernels/b.cu"
echo four >"$root/tests/gpu/x/test_x.cu"
write() { python3 "$report" --write "$root" "$root/logs" "$root/$1.json"; }
join() { python3 "$report" --join "$root" "$root/before.json" "$root/after.json"; }
check "a part before a change" 'write before'
echo five >"$root/tests/gpu/x/test_x.cu"
check "and one after it" 'write after'
check "of a test of one file, not run again, is not joined" '! join'
cp "$root/logs/good.log" "$root/logs/test_x.log" &&
  cp "$root/logs/good.status" "$root/logs/test_x.status"
check "run again, they are" 'write after && join && verify'
echo changed >"$root/kernels/a.cu"
check "but not with another change" '! join'
mended() { python3 "$report" --join "$root" "$1=mended since" "$root/whole.json"; }
check "or it is left out, and its own file has changed since" '
  echo one >"$root/kernels/a.cu" && write whole && echo six >"$root/tests/gpu/x/test_x.cu" &&
  ! mended good && mended test_x | grep -q "left out: test_x: mended since"'
check "but no other" '! (echo changed >"$root/kernels/a.cu" && mended test_x)'
echo five >"$root/tests/gpu/x/test_x.cu"
echo one >"$root/kernels/a.cu"
mkdir -p "$root/backend/graphblas"
echo six >"$root/backend/graphblas/a.c"
check "nor with one of the GraphBLAS engine" '! join'
for end in log status; do mv "$root/logs/test_x.$end" "$root/logs/test_graphblas_x.$end"; done
echo four >"$root/tests/gpu/x/test_x.cu"
check "unless its tests are run again" 'write after && join && verify'
for end in log status; do mv "$root/logs/test_graphblas_x.$end" "$root/logs/test_x.$end"; done
rm -r "$root/backend/graphblas"
build=$root/build
mkdir -p "$build/tests/gpu/x" "$build/kernels" "$root/conv"
echo half >"$root/conv/half.h"
printf 'test_x: ../tests/gpu/x/test_x.cu \\\n /usr/include/stdio.h\n' >"$build/tests/gpu/x/test_x.d"
printf 'a.lo: ../kernels/a.cu ../conv/half.h\n' >"$build/kernels/a.cu.d"
printf 'b.lo: ../kernels/b.cu\n' >"$build/kernels/b.cu.d"
map() {
  printf '%s\n' "$1" "                  /tmp/test_x.o (a)" '/usr/lib/libcudart.a(rt.o)' \
    'LOAD /tmp/test_x.o' >"$build/tests/gpu/x/test_x.linked"
  python3 "${report%report.py}seen.py" "$root" "$build" >"$root/said"
}
check "a test sees itself, and what the objects that it was linked with were made from" '
  map ".libs/libshunt-formats.a(lt2-a.o)" &&
  [ "$(cut -d" " -f2 "$root/said" | xargs)" = "conv/half.h kernels/a.cu tests/gpu/x/test_x.cu" ]'
check "an object that nothing tells of ends it" '! map ".libs/libshunt-formats.a(c.o)"'
check "and so do tests without maps" '! (rm "$build"/tests/gpu/x/*.linked; python3 \
  "${report%report.py}seen.py" "$root" "$build")'
rm -r "$build" "$root/conv"
again() {
  printf 'ok - x\n3 passed, 0 failed, 1 skipped\n' >"$root/logs/$1.log"
  echo "0 1.5" >"$root/logs/$1.status"
}
seen() {
  python3 "$report" --join "$root" --seen "$root/seen" "$root/before.json" "$root/after.json"
}
rm "$root"/logs/*
again test_x && again test_y && again sanitize-test_y && again client
echo "test_x kernels/a.cu" >"$root/seen"
echo "test_y kernels/b.cu" >>"$root/seen"
check "a part before a change of what one test sees" 'write before && echo 7 >"$root/kernels/b.cu"'
rm "$root/logs/test_x.log" "$root/logs/sanitize-test_y.log"
check "is not joined without its check by the sanitizer" 'write after && ! seen'
again sanitize-test_y && rm "$root/logs/client.log"
check "nor without what sees all" 'write after && ! seen'
again client
check "but without the test that does not see it" 'write after && seen && verify && ! join'
rm "$root"/logs/* "$root/tests/gpu/x/test_x.cu"
again good && echo two >"$root/kernels/b.cu"
check "the part anew" 'write part'
echo "not ok - y" >"$root/logs/bad.log"
echo "139 0.1" >"$root/logs/bad.status"
check "a program that died is a failure" \
  '! python3 "$report" --write "$root" "$root/logs" "$root/part.json" &&
   grep -q "failed in: bad" "$root/out"'
check "failures fail the verification" \
  'python3 "$report" --join "$root" "$root/part.json"; says "3 passed, 1 failed, 1 skipped"'
check "which names what failed" 'says "failed in bad: y"'
check "what is left out is named, with the reason" \
  'python3 "$report" --join "$root" "bad=it was cut off" "$root/part.json" >"$root/said" &&
   grep -q "3 passed, 0 failed, 1 skipped" "$root/said" &&
   grep -q "left out: bad: it was cut off" "$root/said"'
check "what did not run can not be left out" \
  '! python3 "$report" --join "$root" "none=why" "$root/part.json"'
echo "3 passed, 0 failed" >"$root/logs/late.log" # no status: it has not ended
join_twice() {
  python3 "$report" --join "$root" "bad=it died" "$root/part.json" "$root/cut.json" >"$root/said"
}
check "a program without a status was cut off" \
  '! python3 "$report" --write "$root" "$root/logs" "$root/cut.json" &&
   grep -q "cut off before its end: late" "$root/out"'
check "and is named so, until a part has it" '
  join_twice && grep -q "left out: late: cut off" "$root/said" &&
  echo "0 0.1" >"$root/logs/late.status" && write part;
  join_twice && ! grep -q "left out: late" "$root/said"'
check "without a report" 'rm "$root/tests/gpu/report.json"; says "report.json"'

# ---- values, without Shunt and with it ---------------------------------------------------------
compare() { python3 "$report" --compare "$root/plain.log" "$root/shunt.log" "$@"; }
printf 'value total_mb=900\nvalue us=1.5e1\nok - value total_mb=1\n' >"$root/plain.log"
printf 'value total_mb=800\nvalue us=12\n' >"$root/shunt.log"
check "less by as much as may be" 'compare "total_mb >= -100" "us <= 0"'
check "less by more" \
  '! compare "total_mb >= -99" && compare "total_mb >= -99" | grep "0 passed, 1 failed"'
check "a value that is missing" '! compare "largest_mb >= -100"'

finish
