#!/bin/sh
# run.sh: every way a program can come to cuSPARSE, with stand-ins, no GPU.
#
#   CC               compiler (cc)
#   srcdir           this folder's tests/loader or the top of the tree (found from $0)
#   builddir         scratch files go to a folder in it, removed at the end (TMPDIR)
#   CUDA_INCLUDE     where cusparse.h is (/usr/local/cuda/include)
#   SHUNT_CUSPARSE_SO, SHUNT_DLSYM_SO   the built libraries: they are put through the same
#                    rows and inspected; unset: the stand-in alone
#   SHUNT_GRAPHBLAS_SO   the other library that is preloaded; unset: not tried with the first
#   SHUNT            the shunt command; unset: what it says of these programs is not tried
#   KEEP             set: leave the scratch files
#
# Everything is built twice, at -O0 and at -O2, each set of files in a folder of its own.
set -u

CC=${CC:-cc}
CUDA_INCLUDE=${CUDA_INCLUDE:-/usr/local/cuda/include}
here=$(cd "$(dirname "$0")" && pwd) || exit 2
top=$here
while [ ! -f "$top/backend/cusparse/original.c" ]; do
  [ "$top" != / ] || { echo "run.sh: there is no backend/cusparse above $here" >&2; exit 2; }
  top=$(dirname "$top")
done
here=$top/tests/loader
absolute() { [ -z "$1" ] || echo "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"; }
real_entry=$(absolute "${SHUNT_CUSPARSE_SO:-}")
real_dlsym=$(absolute "${SHUNT_DLSYM_SO:-}")
real_graphblas=$(absolute "${SHUNT_GRAPHBLAS_SO:-}")
[ -e "$real_graphblas" ] || real_graphblas=
shunt=$(absolute "${SHUNT:-}")
[ -z "$real_dlsym" ] || [ -e "$real_dlsym" ] || { # not built for every machine
  echo "# there is no $real_dlsym"
  real_dlsym=
}
builddir=${builddir:-${TMPDIR:-/tmp}}
mkdir -p "$builddir" || exit 2
work=$(mktemp -d "$(cd "$builddir" && pwd)/loader.XXXXXX") || exit 2
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
unset LD_PRELOAD LD_LIBRARY_PATH ENTRY WRAPS FAULTY SHUNT_FAULT SHUNT_DISABLE SHUNT_CONFIG

. "$top/tests/checks.sh"

[ -e "$CUDA_INCLUDE/cusparse.h" ] || {
  skip "cusparse.h, which the stand-ins need, is not in $CUDA_INCLUDE (CUDA_INCLUDE names another)"
  finish
}

# ---- building --------------------------------------------------------------------

compile() {
  $CC $level -g -std=gnu11 -Wall -Wextra -Werror -fPIC -I"$top" -I"$here" \
    -isystem "$CUDA_INCLUDE" "$@"
}
library() { out=$1; shift; compile -shared -o "$out" "$@"; }
copy() {
  out=$1 soname=$2
  shift 2
  library "$out" -Wl,-soname,"$soname" -Wl,-Bsymbolic "$here/fake_cusparse.c" \
    -Wl,--version-script="$here/fake_cusparse.map" "$@"
}
# Extensions find their libraries beside themselves.
extension() {
  out=$1
  shift
  library "$out" "$here/extension.c" '-Wl,-rpath,$ORIGIN' "$@"
}

build_all() {
  sources=
  for f in cusparse/original loader/callers loader/loaded plan/fault; do
    ln -sf "$top/backend/$f.c" "$(basename $f).c" && sources="$sources $(basename $f).c"
  done
  copy libcusparse.so.12 libcusparse.so.12 -DCOPY=1 &&
    copy libcusparse-9f3a.so.12 libcusparse-9f3a.so.12 -DCOPY=2 &&
    copy libcusparse-old.so.11 libcusparse-old.so.11 -DCOPY=4 -DOLD &&
    mkdir -p many && for i in 0 1 2 3 4 5 6 7 8 9 10 11; do
      cp libcusparse.so.12 many/copy$i.so || return 1
    done &&
    extension extension_1.so ./libcusparse.so.12 &&
    extension extension_1b.so ./libcusparse.so.12 &&
    extension extension_2.so ./libcusparse-9f3a.so.12 &&
    extension extension_4.so ./libcusparse-old.so.11 &&
    extension extension_static.so "$here/fake_cusparse.c" -DCOPY=3 &&
    extension extension_orphan.so &&
    library extension_parent.so "$here/next.c" -DNAME=parent -Dgetppid=parent_getppid \
      '-Wl,-rpath,$ORIGIN' -Wl,--no-as-needed ./extension_orphan.so ./libcusparse-9f3a.so.12 &&
    library lookup.so "$here/lookup.c" &&
    library wrap.so "$here/wrap.c" &&
    library wrap_default.so "$here/wrap.c" -DBY_DEFAULT &&
    library wrap_handle.so "$here/wrap.c" -DBY_HANDLE &&
    library wrap_whole.so "$here/wrap.c" -DWHOLE &&
    library wrap_whole_default.so "$here/wrap.c" -DWHOLE -DBY_DEFAULT &&
    library first.so "$here/next.c" -DNAME=next_first &&
    library second.so "$here/next.c" -DNAME=next_second &&
    library library.so "$here/fake_library.c" $sources \
      "$top/backend/cusparse/trampolines.c" -Wl,-z,defs \
      -Wl,--version-script="$top/backend/cusparse/exports.map" &&
    library dlsym.so "$top/backend/cusparse/dlsym.c" \
      -Wl,--version-script="$top/backend/cusparse/dlsym.map" &&
    compile -o driver "$here/driver.c" -ldl -lpthread &&
    compile -o linked "$here/linked.c" ./libcusparse.so.12 '-Wl,-rpath,$ORIGIN' &&
    compile -o direct -DDIRECT "$here/linked.c" ./libcusparse.so.12 '-Wl,-rpath,$ORIGIN' -ldl &&
    compile -o plain "$here/plain.c" &&
    compile -o start "$here/start.c" &&
    library libcudart.so.12 -Wl,-soname,libcudart.so.12 -DRUNTIME "$here/fake_cuda.c" &&
    library libcuda.so.1 -Wl,-soname,libcuda.so.1 -DDRIVER "$here/fake_cuda.c" &&
    compile -o memory "$here/memory.c" ./libcudart.so.12 ./libcuda.so.1 '-Wl,-rpath,$ORIGIN' -ldl &&
    library memory.so -Dmain=run "$here/memory.c" ./libcudart.so.12 ./libcuda.so.1 \
      '-Wl,-rpath,$ORIGIN' -ldl &&
    compile -o memory_local -DLOCAL "$here/memory.c" -ldl &&
    compile -o memory_ourselves -DOURSELVES "$here/memory.c" \
      "$top/backend/cusparse/allocations.c" "$top/backend/loader/library.c" callers.c loaded.c \
      fault.c ./libcudart.so.12 ./libcuda.so.1 '-Wl,-rpath,$ORIGIN' -ldl &&
    compile -o cost "$here/cost.c" $sources ./libcusparse.so.12 '-Wl,-rpath,$ORIGIN' -ldl
}

# ---- the loading matrix -------------------------------------------------------------

# row NAME PRELOADS [VARIABLE=...]... COMMAND...
row() {
  name=$1 preloads=$2
  shift 2
  check "$level, $entry_name: $name" env LD_PRELOAD="$preloads" "$@"
}
# Of a program that hangs: others take less than a second, and on a busy machine many.
limited="timeout 600"

# With $entry preloaded: of the stand-in it is known whether calls passed it (ENTRY=yes).
matrix() {
  seen=$1 unseen=$2
  row "program linked to cuSPARSE" $entry $seen $limited ./linked
  row "extension, RTLD_LOCAL (PyTorch)" $entry $seen $limited ./driver local
  row "extension, RTLD_LOCAL, lazy binding" $entry $seen $limited ./driver lazy
  row "extension, cuSPARSE RTLD_GLOBAL before" $entry $seen $limited ./driver global
  row "extension, cuSPARSE made global after" $entry $seen $limited ./driver promoted
  row "another copy made global, bound before" $entry $seen $limited ./driver other_global
  row "another copy made global, bound after" $entry $seen $limited ./driver other_global_lazy
  row "the same with a wrapper" $entry:./wrap_handle.so WRAPS=1 $seen $limited ./driver other_global
  row "RTLD_DEEPBIND: not seen, works" $entry $seen $limited ./driver deepbind
  row "renamed copy (wheel)" $entry $seen $limited ./driver renamed
  row "old copy without the Const getters" $entry $seen $limited ./driver old
  row "cuSPARSE inside the extension" $entry $seen $limited ./driver static
  row "caller served by its loader's scope" $entry $seen $limited ./driver orphan
  row "two copies, two extensions" $entry $seen $limited ./driver two
  row "loaded and unloaded many times" $entry $seen $limited ./driver twice
  row "threads resolve at once" $entry $seen $limited ./driver threads
  row "cuSPARSE is never loaded" $entry $seen $limited ./driver never
  row "dlsym(RTLD_DEFAULT) before and after loading" $entry $seen $limited ./driver lookup
  row "dlsym(RTLD_DEFAULT) by the program" $entry $seen $limited ./driver lookup_main
  row "errno and dlerror stay the program's" $entry $seen $limited ./driver traces
  row "dlsym(handle): not seen, works" $entry $seen $limited ./driver handle_unseen
  for w in wrap wrap_default wrap_handle wrap_whole; do
    row "$w after us, linked program" $entry:./$w.so WRAPS=1 $(reads $w) $limited ./linked
  done
  # It looks like a cuSPARSE, and finds us: only its second time round tells that it is not.
  row "wrap_whole_default after us, linked program" $entry:./wrap_whole_default.so WRAPS=2 \
    $(reads wrap_whole) $limited ./linked
  for w in wrap wrap_whole; do
    row "$w before us, linked program" ./$w.so:$entry WRAPS=1 $seen $limited ./linked
  done
  row "wrap_handle before us passes us by" ./wrap_handle.so:$entry WRAPS=1 $limited ./linked
  for w in wrap wrap_whole; do
    row "$w before us, RTLD_LOCAL" ./$w.so:$entry WRAPS=1 $seen $limited ./driver local
  done
  row "wrap_handle after us, RTLD_LOCAL" $entry:./wrap_handle.so WRAPS=1 $seen \
    $limited ./driver local
  row "wrappers on both sides" ./wrap.so:$entry:./wrap_whole.so WRAPS=2 $(reads wrap_whole) \
    $limited ./linked
  # Alone these two would call each other for ever.
  row "wrappers in a circle" ./wrap.so:$entry:./wrap_default.so WRAPS=3 $seen $limited ./linked
}
# A wrapper that calls itself a cuSPARSE is taken for one: no more is read through it.
reads() { case $1 in wrap_whole*) echo $seen FAULTY=1 ;; *) echo $seen ;; esac; }

# The opt-in object, before and after the library.
dlsym_matrix() {
  seen=$1
  for both in "$entry:$dlsym" "$dlsym:$entry"; do
    row "dlsym(handle) with the dlsym object [$both]" $both $seen $limited ./driver handle
    row "more copies than it counts [$both]" $both $seen $limited ./driver handle_many
    row "linked program, dlsym object [$both]" $both $seen $limited ./linked
    row "RTLD_LOCAL, dlsym object [$both]" $both $seen $limited ./driver local
    row "dlsym(RTLD_DEFAULT), dlsym object [$both]" $both $seen $limited ./driver lookup
    row "threads, dlsym object [$both]" $both $seen $limited ./driver threads
    row "wrapper by handle after us, dlsym object [$both]" $both:./wrap_handle.so WRAPS=1 $seen \
      $limited ./linked
  done
  for others in "./first.so:./second.so:$entry:$dlsym" "$dlsym:./first.so:./second.so:$entry" \
    "./first.so:$dlsym:$entry:./second.so" "./first.so:$entry:$dlsym:./second.so"; do
    row "RTLD_NEXT of others [$others]" $others $seen $limited ./driver next
  done
  row "dlsym object alone" $dlsym ENTRY=no $limited ./driver handle_unseen
}

# ---- switched off --------------------------------------------------------------------

# Every call arrives, and the original returns to the program: nothing of ours is between.
fails() { ! "$@"; }
disabled_matrix() {
  off=SHUNT_DISABLE=1
  check "$level: without Shunt, the original returns to the program" $limited ./direct
  check "$level: the same of a program's memory" $limited ./memory direct
  check "$level, $entry_name: on, it does not" fails env LD_PRELOAD=$entry $limited ./direct
  check "$level, $entry_name: on, nor of memory" fails env LD_PRELOAD=$entry $limited ./memory \
    direct
  row "SHUNT_DISABLE=1: the original returns to the program" $entry $off $limited ./direct
  row "SHUNT_DISABLE=1: the same of a program's memory" $entry $off $limited ./memory direct
  row "SHUNT_DISABLE=1: a program's memory, RTLD_LOCAL" $entry $off $limited ./memory_local
  for way in local lazy promoted other_global renamed old static orphan two threads never lookup \
    traces; do
    row "SHUNT_DISABLE=1: driver $way" $entry $off $limited ./driver $way
  done
  for w in wrap wrap_handle; do
    row "SHUNT_DISABLE=1: $w after us" $entry:./$w.so WRAPS=1 $off $limited ./linked
    row "SHUNT_DISABLE=1: $w before us" ./$w.so:$entry WRAPS=1 $off $limited ./linked
  done
  [ -z "$real_dlsym" ] ||
    row "SHUNT_DISABLE=1: dlsym(handle)" $entry:$dlsym $off $limited ./driver handle_unseen
}

# As where a wheel's copy and the system's are both preloaded: the first serves, the second is
# passed by, and each call arrives, once.
two_copies() {
  cp "$real_entry" second.so || return 1
  both=./shunt.so:./second.so
  for way in local lazy promoted other_global renamed old static orphan two twice threads never; do
    row "two copies of Shunt: driver $way" $both $limited ./driver $way
    row "two copies, one switched off: driver $way" $both SHUNT_DISABLE=1 $limited ./driver $way
  done
  row "two copies of Shunt: program linked to cuSPARSE" $both $limited ./linked
  row "two copies of Shunt, a wrapper before them" ./wrap.so:$both WRAPS=1 $limited ./linked
  row "two copies of Shunt: a program's memory" $both $limited ./memory
  row "two copies of Shunt: a program's memory, RTLD_LOCAL" $both $limited ./memory_local
  [ -z "$real_dlsym" ] ||
    row "two copies of Shunt: dlsym(handle)" $both:$dlsym $limited ./driver handle_unseen
}

# ---- shunt run, strictly ---------------------------------------------------------------

# ends STATUS TEXT COMMAND...: the status, and the text on standard error.
ends() {
  status=$1 text=$2
  shift 2
  env -u SHUNT SHUNT_LIBDIR="$(dirname "$real_entry")" "$@" 2>"$work/err"
  got=$?
  cat "$work/err"
  [ $got = "$status" ] && grep -q -F -e "$text" "$work/err"
}
# The matrices of these programs are of complex halves: every call is declined.
strict_runs() {
  check "$level, shunt run: a declined call" ends 0 "left to the original" "$shunt" run ./linked
  for call in cusparseSpMM cusparseSDDMM; do
    check "$level, shunt run --strict names $call" ends 123 \
      "--strict: $call was left to the original, 3 times: types" "$shunt" run --strict ./linked
  done
  check "$level, SHUNT_STRICT=1" ends 123 "--strict: cusparseSpMM" env SHUNT_STRICT=1 "$shunt" run \
    ./linked
  check "$level, shunt run --require csr" ends 123 "--require: no call ran on csr" "$shunt" run \
    --require csr ./linked
  check "$level, the program's own failure goes before" ends 7 "--strict: cusparseSpMM" \
    "$shunt" run \
    --strict sh -c './linked; exit 7'
  check "$level, shunt run, switched off" ends 0 "SHUNT_DISABLE=1" env SHUNT_DISABLE=1 \
    "$shunt" run \
    --strict ./linked
}
# One line for the process, though two libraries of Shunt's may read the options.
warns_once() {
  env LD_PRELOAD="$real_entry" SHUNT_ROUTE=all SHUNT_MATH=fast ./linked 2>"$work/err"
  cat "$work/err"
  [ "$(grep -c '^shunt: ' "$work/err")" = 1 ] && grep -q 'and 1 more' "$work/err"
}

# One flag for both: the second library's is bound to the first's.
shares_flag() {
  LD_DEBUG=bindings LD_PRELOAD="$real_entry:$real_graphblas" /bin/true >"$work/said" 2>&1 &&
    grep -q 'libshunt-graphblas.*libshunt-cusparse.*shunt_options_warned' "$work/said"
}

# ---- failing look-ups ----------------------------------------------------------------

# The n-th look-up of the library fails, for every n: the call arrives all the same.
faults() {
  for way in "./linked" "./driver local" "./driver static" "./driver lookup_main" \
    "./driver two" "./driver orphan"; do
    bad=
    n=1
    while [ $n -le 80 ]; do
      env LD_PRELOAD=$entry $1 FAULTY=1 SHUNT_FAULT=$n $limited $way >"$work/out" 2>&1 ||
        { bad=$n; break; }
      n=$((n + 1))
    done
    if [ -z "$bad" ]; then ok "$level, $entry_name: any one look-up fails, $way"
    else not_ok "$level, $entry_name: look-up $bad fails, $way"; fi
  done
}

# ---- bystanders and files -------------------------------------------------------------

silent() { LD_PRELOAD=$1 $2 >"$work/said" 2>&1 && [ ! -s "$work/said" ]; }
opens_no_cuda() {
  LD_DEBUG=files LD_PRELOAD=$1 $2 >"$work/said" 2>&1 &&
    ! grep -E 'file=([^ ]*/)?lib(cuda|cudart|nvrtc|cublas|cusparse|stdc\+\+)[.-]' "$work/said"
}
bystanders() {
  for p in /bin/true ./plain; do
    check "$level, $entry_name: $p starts, says nothing" silent "$1" $p
    check "$level, $entry_name: $p opens no CUDA library" opens_no_cuda "$1" $p
  done
}

# Each library, and the two together.
starts_fast() {
  for p in "$real_entry" "$real_graphblas" "$real_entry:$real_graphblas"; do
    ms=1
    case $p in ?*:?*) ms=2 ;; esac
    [ -z "${p%:}" ] || check "a program without CUDA starts less than $ms ms later, ${p##*/}" \
      $limited ./start "${ms}000" "${p%:}" ./plain
    sed -n 's/^# /# start: /p' "$work/out"
  done
}

no_version_nodes() { readelf -SW "$1" >"$work/said" && ! grep -q 'gnu\.version_d' "$work/said"; }
exports_exactly() {
  file=$1
  shift
  readelf --dyn-syms -W "$file" |
    awk '($5 == "GLOBAL" || $5 == "WEAK") && $7 != "UND" && NR > 3 { print $8 }' | sort >"$work/has"
  printf '%s\n' "$@" | sort >"$work/wants"
  diff "$work/wants" "$work/has"
}
needs_libc_only() {
  readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$work/needs"
  ! grep -vE '^(lib(c|m|dl|pthread|rt)\.so\.[0-9]+|ld-linux.*)$' "$work/needs"
}
# The stand-in has no functions of memory.
inspect_entry() {
  file=$1 name=$2
  shift 2
  check "$name: no version nodes" no_version_nodes "$file"
  check "$name: exports these names and no other" exports_exactly "$file" cusparseSpMM \
    cusparseSpMM_bufferSize cusparseSpMM_preprocess cusparseSDDMM cusparseSDDMM_bufferSize \
    cusparseSDDMM_preprocess cusparseCsrSetStridedBatch cusparseCooSetStridedBatch \
    cusparseCsrSetPointers cusparseCscSetPointers cusparseCooSetPointers cusparseSpMatSetValues \
    cusparseCreateBsr cusparseCreateConstBsr cusparseDestroySpMat \
    shunt_cusparse_note_original "$@"
  check "$name: needs libc's family only" needs_libc_only "$file"
}
inspect_dlsym() {
  check "$2: no version nodes" no_version_nodes "$1"
  check "$2: exports dlsym" exports_exactly "$1" dlsym
  check "$2: needs libc's family only" needs_libc_only "$1"
}

# The n-th of Shunt's own look-ups and allocations fails, for every n.
memory_despite_faults() {
  for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
    $limited ./memory_ourselves $n || return
  done
}

# ---- all of it ------------------------------------------------------------------------

for level in -O0 -O2; do
  mkdir "$work/$level" && cd "$work/$level" || exit 2
  check "$level: builds" build_all
  [ -x cost ] || break # the last to be built
  entry=./library.so dlsym=./dlsym.so entry_name="stand-in"
  matrix "ENTRY=yes" "ENTRY=no"
  dlsym_matrix "ENTRY=yes"
  faults "ENTRY=yes"
  bystanders "$entry:$dlsym"
  inspect_entry $entry "$level, stand-in"
  inspect_dlsym $dlsym "$level, dlsym object"
  check "$level: cost of a repeated question" $limited ./cost
  sed -n 's/^# /# cost: /p' "$work/out"
  check "$level: the program's memory comes first" $limited ./memory_ourselves
  sed -n 's/^# /# cost: /p' "$work/out"
  check "$level: the same where any one look-up of Shunt's own fails" memory_despite_faults
  check "$level: a program's memory, alone" $limited ./memory
  if [ -n "$real_entry" ]; then
    ln -s "$real_entry" shunt.so
    entry=./shunt.so entry_name="libshunt-cusparse.so"
    matrix "" ""
    row "a program's memory is handed on" $entry $limited ./memory
    row "the same, RTLD_LOCAL" $entry $limited ./memory_local
    if [ -n "$real_dlsym" ]; then
      ln -s "$real_dlsym" shunt-dlsym.so
      dlsym=./shunt-dlsym.so
      dlsym_matrix ""
    fi
    disabled_matrix
    two_copies
    [ -z "$shunt" ] || strict_runs
    check "$level, what is not understood is said once" warns_once
    faults ""
    bystanders "$entry:$dlsym"
  fi
done
[ -z "$real_entry" ] || starts_fast
[ -z "$real_entry" ] || inspect_entry "$real_entry" "libshunt-cusparse.so" \
  cudaMalloc cudaMallocAsync cudaMallocManaged cudaFree cudaFreeAsync \
  cudaMallocAsync_ptsz cudaMallocFromPoolAsync cudaMallocFromPoolAsync_ptsz cudaMallocPitch \
  cudaMalloc3D cudaMallocArray cudaMalloc3DArray cudaMallocMipmappedArray cudaFreeAsync_ptsz \
  cuMemAllocAsync_ptsz cuMemAllocFromPoolAsync cuMemAllocFromPoolAsync_ptsz cuMemAllocManaged \
  cuMemAllocPitch_v2 cuMemFreeAsync_ptsz \
  cuMemAlloc_v2 cuMemAllocAsync cuMemCreate cuMemFree_v2 cuMemFreeAsync shunt_options_warned
[ -z "$real_dlsym" ] || inspect_dlsym "$real_dlsym" "libshunt-dlsym.so"
[ -z "$real_entry" ] || [ -z "$real_graphblas" ] ||
  check "libraries of one process warn once between them" shares_flag

finish
