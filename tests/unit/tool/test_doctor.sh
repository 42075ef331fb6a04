#!/bin/sh
# test_doctor.sh: `shunt doctor` on systems that lack something, each a root folder of made-up ELF
# files (fake_elf.py).  SHUNT: the binary; srcdir: the source tree.  Needs no GPU.
SHUNT=${SHUNT:-./shunt}
srcdir=${srcdir:-.}
case $SHUNT in /*) ;; *) SHUNT=$(pwd)/$SHUNT ;; esac
srcdir=$(cd "$srcdir" && pwd)
. "$srcdir/tests/unit/tool/check.sh"
XDG_CACHE_HOME=$work/no-cache
export XDG_CACHE_HOME
unset LD_PRELOAD LD_LIBRARY_PATH PYTHONPATH CUDA_HOME CUDA_VISIBLE_DEVICES SHUNT_LIBDIR \
  SHUNT_ROUTES SHUNT_LOG SHUNT_LOG_FILE SHUNT_REPORT SHUNT_TUNE_FILE SHUNT_CONFIG SHUNT_DISABLE
if ! python3 -c 'import struct' 2>/dev/null; then
  skip "python3 is not installed"
  finish
fi
version=$("$SHUNT" --version | sed 's/shunt //')
gencode="-gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90"
loader=/lib64/ld-linux-x86-64.so.2

elf() {
  out=root$1
  shift
  mkdir -p "${out%/*}"
  python3 "$srcdir/tests/unit/tool/fake_elf.py" "$out" "$@"
}
program() {
  path=$1
  shift
  elf "$path" --interp $loader --needed libc.so.6 "$@"
  chmod +x "root$path"
}
cusparse() {
  elf "$1" --soname libcusparse.so.12 --defined cusparseGetVersion --defined cusparseSpMM
}
graphblas() { elf "$1" --soname "$2" --defined GrB_mxm --defined GrB_init; }

# A system on which all is well, made once and copied for each test.
make_root() {
  lib=/usr/lib/x86_64-linux-gnu
  elf $loader
  elf $lib/libc.so.6 --soname libc.so.6 --undefined GLIBC_2.36
  elf $lib/libgomp.so.1 --soname libgomp.so.1
  elf $lib/libcuda.so.1 --soname libcuda.so.1
  cusparse $lib/libcusparse.so.12.6.3.3
  ln -s libcusparse.so.12.6.3.3 root$lib/libcusparse.so.12
  graphblas $lib/libgraphblas.so.7.4.0 libgraphblas.so.7
  ln -s libgraphblas.so.7.4.0 root$lib/libgraphblas.so.7
  for object in cusparse dlsym graphblas; do
    elf /usr/local/lib/shunt/libshunt-$object.so --needed libc.so.6 --needed libgomp.so.1 \
      --undefined GLIBC_2.34 --note "$version cuda=13000 $gencode"
  done
  program /usr/bin/solver --needed libcusparse.so.12 --undefined cusparseSpMM
  program /usr/bin/graphs --needed libgraphblas.so.7 --undefined GrB_mxm
  mkdir -p root/proc/driver/nvidia root/dev
  echo "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23" \
    >root/proc/driver/nvidia/version
  : >root/dev/nvidiactl
  : >root/dev/nvidia0
  mv root whole
}
fresh() { rm -rf root && cp -a whole root; }

# doctor STATUS TEXT [ARGUMENT]...: in the root; the answer goes to out.
doctor() {
  want=$1 text=$2
  shift 2
  "$SHUNT" doctor --root root "$@" >out 2>err </dev/null
  got=$?
  [ $got -eq "$want" ] && [ ! -s err ]
  ok $? "$text (status $got)"
}
# says LEVEL TEXT: a finding of that level holds the text.
says() { grep -E "^[A-Za-z]+ +$1 " out | grep -q -F -e "$2"; ok $? "... $1: $2"; }
verdict() { grep -q -F -e "verdict: $1" out; ok $? "... verdict: $1"; }
advice() { grep -q -F -e "  - $1" out; ok $? "... advice: $1"; }

make_root

# ---- all is well --------------------------------------------------------------------------------
fresh
doctor 0 "a cuSPARSE program where all is well" solver
says ok "NVIDIA driver 580.95.05, 1 device node"
says ok "12.6.3.3, /usr/lib/x86_64-linux-gnu/libcusparse.so.12.6.3.3"
says ok "solver is linked to cuSPARSE: reached"
says ok "LD_PRELOAD acts on /usr/bin/solver"
verdict "Shunt can serve solver."
doctor 0 "a GraphBLAS program where all is well" graphs
says ok "7.4.0, /usr/lib/x86_64-linux-gnu/libgraphblas.so.7.4.0"
verdict "Shunt can serve graphs."
grep -q -x 'what to do: shunt run -- graphs' out
ok $? "... and says how"
doctor 0 "the program's arguments" graphs -n 3 'two words' "it's" '' 'a$b'
grep -q -x -F "what to do: shunt run -- graphs -n 3 'two words' 'it'\\''s' '' 'a\$b'" out
ok $? "... stand in what to do, quoted where a shell needs it"
doctor 0 "no program named"
verdict "Shunt can serve programs that use cuSPARSE."
verdict "Shunt can serve programs that use GraphBLAS."
doctor 0 "--json" --json solver
cp out json
check "... is JSON" "python3 -c 'import json; x = json.load(open(\"json\")); \
  assert x[\"verdict\"] == \"works\" and len(x[\"findings\"]) > 5'"
program /usr/bin/plain
doctor 0 "a program that uses neither" plain
verdict "Shunt has nothing to do in plain"

# ---- 1. no driver --------------------------------------------------------------------------------
fresh
rm -rf root/proc root/dev root/usr/lib/x86_64-linux-gnu/libcuda.so.1
doctor 1 "no driver, cuSPARSE" solver
says problem "there is no NVIDIA driver"
verdict "Shunt cannot serve solver (1 problem)."
doctor 0 "no driver, GraphBLAS: the host engine serves" graphs
says note "there is no NVIDIA driver"
! grep -q -e '  - ' out
ok $? "... which calls for nothing to be done"
doctor 0 "no driver, no program named: one of the two libraries is served"
verdict "Shunt cannot serve programs that use cuSPARSE (1 problem)."
verdict "Shunt can serve programs that use GraphBLAS."
doctor 0 "... as JSON" --json
cp out out.json
check "... has a verdict for each" "python3 -c 'import json; x = json.load(open(\"out.json\")); \
  assert x[\"libraries\"] == {\"cuSPARSE\": \"broken\", \"GraphBLAS\": \"works\"}, x; \
  assert x[\"verdict\"] == \"works\"; \
  assert {f[\"about\"] for f in x[\"findings\"] if f[\"level\"] == \"problem\"} == {\"cuSPARSE\"}'"
rm root/usr/local/lib/shunt/libshunt-graphblas.so
doctor 1 "neither library is served"
verdict "Shunt cannot serve programs that use GraphBLAS (1 problem)."

# ---- 2. wrong architecture -----------------------------------------------------------------------
fresh
program /usr/bin/solver --machine 183 --needed libcusparse.so.12 --undefined cusparseSpMM
doctor 1 "a program for aarch64" solver
says problem "is a 64-bit aarch64 program; Shunt's libraries are 64-bit x86-64"
elf /usr/bin/solver --bits 32 --machine 3
chmod +x root/usr/bin/solver
doctor 1 "a 32-bit program" solver
says problem "is a 32-bit x86 program"

# ---- 3. static cuSPARSE; a static program --------------------------------------------------------
fresh
program /usr/bin/solver --hidden cusparseGetVersion --hidden cusparseSpMM
doctor 1 "cuSPARSE linked statically" solver
says problem "solver contains cuSPARSE (linked statically)"
advice "link the program to libcusparse.so"
program /usr/bin/solver --hidden cusparseGetVersion --hidden cusparseSpMM --undefined dlsym
doctor 0 "functions of its names that find cuSPARSE's by name, as JAX has them" solver
says ok "solver binds cuSPARSE by name (dlopen, dlsym): reached by libshunt-dlsym.so"
truncate -s 9M root/usr/bin/solver
doctor 1 "... and a file that is large enough to hold cuSPARSE" solver
says problem "solver contains cuSPARSE (linked statically)"
program /usr/bin/graphs --hidden GrB_mxm
doctor 1 "GraphBLAS linked statically" graphs
advice "link the program to libgraphblas.so, or also with libshunt-graphblas.a"
elf /usr/bin/solver --type 2 --static
chmod +x root/usr/bin/solver
doctor 1 "a static program" solver
says problem "nothing reads LD_PRELOAD"

# ---- 4. setuid -----------------------------------------------------------------------------------
fresh
chmod u+s root/usr/bin/solver
doctor 1 "a setuid program" solver
says problem "/usr/bin/solver is setuid: the loader ignores LD_PRELOAD"
chmod u-s,g+s root/usr/bin/solver
doctor 1 "a setgid program" solver
says problem "is setgid"

# ---- 5. musl -------------------------------------------------------------------------------------
fresh
elf /usr/bin/solver --interp /lib/ld-musl-x86_64.so.1 --needed libcusparse.so.12 \
  --undefined cusparseSpMM
chmod +x root/usr/bin/solver
doctor 1 "a musl program" solver
says problem "runs on musl; Shunt's libraries need glibc"

# ---- 6. two copies -------------------------------------------------------------------------------
fresh
cusparse /opt/cuda/lib/libcusparse.so.12.5.4.1
elf /usr/lib/x86_64-linux-gnu/libextra.so --soname libextra.so --needed libother.so.12 \
  --undefined cusparseSDDMM --runpath '$ORIGIN/../../../opt/cuda/lib'
elf /opt/cuda/lib/libcusparse-1a2b.so.12.5.4.1 --soname libother.so.12 --defined cusparseGetVersion
ln -s libcusparse-1a2b.so.12.5.4.1 root/opt/cuda/lib/libother.so.12
program /usr/bin/solver --needed libcusparse.so.12 --needed libextra.so --undefined cusparseSpMM
doctor 0 "two copies of cuSPARSE" solver
says warning "2 copies could be loaded"
says warning "12.5.4.1 is older than 12.6"
says ok "libextra.so is linked to cuSPARSE: reached"
verdict "Shunt can serve solver, with 2 warnings."

# ---- 7. stale build ------------------------------------------------------------------------------
fresh
elf /usr/local/lib/shunt/libshunt-cusparse.so --note "0.0.9 cuda=12040 $gencode"
doctor 1 "a library of another version" solver
says problem "stale build: libshunt-cusparse.so is version 0.0.9"
elf /usr/local/lib/shunt/libshunt-cusparse.so --note "$version cuda=13000 $gencode -Ofc=max"
doctor 0 "device code that is not optimized" solver
says warning "its device code is not optimized"
advice "configure without --enable-fast-compile"
elf /usr/local/lib/shunt/libshunt-cusparse.so
doctor 1 "a library without a version" solver
says problem "stale build: libshunt-cusparse.so says no version"
rm root/usr/local/lib/shunt/libshunt-cusparse.so
doctor 1 "no library" solver
says problem "libshunt-cusparse.so is not in"
doctor 0 "no library for cuSPARSE, a GraphBLAS program" graphs

# ---- 8. files that are refused -------------------------------------------------------------------
fresh
SHUNT_TUNE_FILE=/tune
export SHUNT_TUNE_FILE
doctor 0 "a tuning file that is not there yet" solver
says note "SHUNT_TUNE_FILE=/tune does not exist yet"
echo "# shunt tune 1 build=$version gpu=NVIDIA H200 driver=13000 math=exact" >root/tune
chmod 600 root/tune
doctor 0 "a tuning file of this build" solver
says ok "SHUNT_TUNE_FILE=/tune, owner $(id -u)"
chmod 666 root/tune
doctor 0 "a tuning file that others may write" solver
says warning "is not used: others may write it"
advice "make it a regular file of yours"
rm root/tune
ln -s nowhere root/tune
doctor 0 "a tuning file that is a link" solver
says warning "is not used: it is a symbolic link"
rm root/tune
echo "# shunt tune 1 build=0.0.9 gpu=NVIDIA H200 driver=13000 math=exact" >root/tune
chmod 600 root/tune
doctor 0 "a tuning file of another build" solver
says warning "another build of Shunt wrote it"
if [ "$(id -u)" -ne 0 ]; then
  chmod 000 root/tune
  doctor 0 "a tuning file that can't be read" solver
  says warning "it may not be read"
else
  chown 12345 root/tune
  doctor 0 "a tuning file of another user" solver
  says warning "it belongs to another user"
fi
unset SHUNT_TUNE_FILE
SHUNT_LOG_FILE=/nowhere/log
export SHUNT_LOG_FILE
doctor 0 "a log that can't be written" solver
says warning "SHUNT_LOG_FILE=/nowhere/log can't be written"
unset SHUNT_LOG_FILE

# The file of SHUNT_CONFIG, read as the libraries read it; below the root.
SHUNT_CONFIG=/config
export SHUNT_CONFIG
printf 'SHUNT_MATH=tf32\nSHUNT_LOG_FILE=/nowhere/log\n' >root/config
chmod 600 root/config
doctor 0 "a file of settings" solver
says note "SHUNT_MATH=tf32 (in the file of SHUNT_CONFIG)"
says warning "SHUNT_LOG_FILE=/nowhere/log can't be written"
printf 'SHUNT_RUOTES=csr\nSHUNT_TUNE=yes\n' >root/config
doctor 0 "... with a name and a value that are not understood" solver
says warning "/config:1: SHUNT_RUOTES is not known; the nearest name is SHUNT_ROUTES"
says warning "SHUNT_TUNE=yes is not understood; accepted: 0, 1"
advice "mend or take out the setting"
printf 'SHUNT_ROUTES=none\n' >root/config
doctor 1 "... that takes no call" solver
says problem "SHUNT_ROUTES=none: calls are counted, and none is taken (in the file of SHUNT_CONFIG)"
printf 'SHUNT_DISABLE=1\n' >root/config
doctor 1 "... that switches Shunt off" solver
says problem "SHUNT_DISABLE=1: every call is handed to the original (in the file of SHUNT_CONFIG)"
printf 'SHUNT_LIBDIR=/opt/elsewhere\n' >root/config
doctor 1 "... that names another folder of libraries" solver
says problem "libshunt-cusparse.so is not in /opt/elsewhere"
chmod 620 root/config
doctor 0 "... that others may write" solver
says warning "SHUNT_CONFIG=/config is not used: others may write it"
rm root/config
doctor 0 "... that is not there" solver
says warning "SHUNT_CONFIG=/config is not used: it could not be opened"
unset SHUNT_CONFIG
SHUNT_DISABLE=1 "$SHUNT" doctor --root root graphs >out 2>err
[ $? -eq 1 ]
ok $? "SHUNT_DISABLE=1 is a problem"
says problem "SHUNT_DISABLE=1: every call is handed to the original"
ours=/no/libshunt-cusparse.so theirs=/no/libcusparse.so.12
LD_PRELOAD=$theirs:$ours "$SHUNT" doctor --root root solver >out 2>err
[ $? -eq 1 ]
ok $? "cuSPARSE in front of Shunt in LD_PRELOAD is a problem"
says problem "cuSPARSE stands in front of Shunt and gets every call"
LD_PRELOAD=$ours:$theirs "$SHUNT" doctor --root root solver >out 2>err
says note "LD_PRELOAD=$ours:$theirs; Shunt's libraries go before it"
SHUNT_TUNE_FIEL=x "$SHUNT" doctor --root root graphs >out 2>err
says warning "SHUNT_TUNE_FIEL is not known; the nearest name is SHUNT_TUNE_FILE"

# The table by which processes share a device's memory.
table=root/dev/shm/shunt-$(id -u)-f0000abc-0123456789abcdef0123456789abcdef
mkdir root/dev/shm
: >"$table"
: >root/dev/shm/shunt-something-else
chmod 600 "$table"
doctor 0 "a table of shared memory" solver
says ok "${table#root}, owner $(id -u): processes share the memory for copies by it"
! grep -q something-else out
ok $? "... and no file of another name"
chmod 644 "$table"
doctor 0 "... that others may read" solver
says warning "${table#root}, owner $(id -u), is not used: others may read or write it"
mv "$table" root/dev/shm/shunt-12345-f0000abc-0123456789abcdef0123456789abcdef
doctor 0 "... of another user" solver
says note "another user's"

# ---- 9. a container without device nodes; parts of a driver --------------------------------------
fresh
rm root/dev/nvidiactl root/dev/nvidia0
doctor 1 "a container without device nodes" solver
says problem "no device nodes"
advice "start the container with its GPUs"
fresh
rm root/usr/lib/x86_64-linux-gnu/libcuda.so.1
doctor 1 "a container without libcuda" solver
says problem "libcuda.so.1 is not found"

# ---- 10. GraphBLAS too old -----------------------------------------------------------------------
fresh
graphblas /usr/lib/x86_64-linux-gnu/libgraphblas.so.6.1.4 libgraphblas.so.6
ln -s libgraphblas.so.6.1.4 root/usr/lib/x86_64-linux-gnu/libgraphblas.so.6
program /usr/bin/graphs --needed libgraphblas.so.6 --undefined GrB_mxm
doctor 1 "GraphBLAS 6" graphs
says problem "6.1.4 is older than 7.4"
advice "install SuiteSparse:GraphBLAS 7.4 or newer"

# ---- what else goes wrong ------------------------------------------------------------------------
fresh
doctor 1 "a program that is not there" nothing
says problem "nothing is not found"
echo text >root/usr/bin/text
chmod +x root/usr/bin/text
doctor 1 "a file that is no program" text
says problem "is neither an ELF program nor a script"
program /usr/bin/solver --needed libmissing.so.3 --needed libcusparse.so.12 --undefined cusparseSpMM
doctor 1 "a library that is missing" solver
says problem "libmissing.so.3, needed by solver, is not found"
fresh
elf /usr/lib/x86_64-linux-gnu/libc.so.6 --soname libc.so.6 --undefined GLIBC_2.31
doctor 1 "a C library that is too old for Shunt" solver
says problem "Shunt's libraries need glibc 2.34; here it is 2.31"
fresh
rm root/usr/lib/x86_64-linux-gnu/libgomp.so.1
doctor 1 "a library that Shunt needs" solver
says problem "libgomp.so.1, needed by libshunt-cusparse.so, is not found"
fresh
SHUNT_ROUTES=none "$SHUNT" doctor --root root solver >out 2>err
[ $? -eq 1 ]
ok $? "SHUNT_ROUTES=none is a problem"
says note "by the table of NVIDIA H200, cuSPARSE 12.6, 12.7, 12.9; built in"

# ---- bindings ------------------------------------------------------------------------------------
fresh
program /usr/bin/solver --undefined dlsym --text cusparseSpMM --text libcusparse.so.12
doctor 0 "a program that binds by name" solver
says ok "solver binds cuSPARSE by name (dlopen, dlsym): reached by libshunt-dlsym.so"
rm root/usr/local/lib/shunt/libshunt-dlsym.so
doctor 1 "... without libshunt-dlsym.so" solver
says problem "not reached without libshunt-dlsym.so"

program /usr/bin/graphs --undefined dlopen --text GrB_mxm --text libgraphblas.so.7
doctor 1 "GraphBLAS by name" graphs
says problem "graphs binds GraphBLAS by name (dlopen, dlsym): not reached"

# A virtual environment with wheels, and a script of its Python.
fresh
site=/venv/lib/python3.11/site-packages
program /usr/bin/python3.11
mkdir -p root/venv/bin root$site
ln -s /usr/bin/python3.11 root/venv/bin/python3
echo "include-system-site-packages = false" >root/venv/pyvenv.cfg
mkdir -p root$site/nvidia_cusparse_cu12-12.7.10.1.dist-info
cusparse $site/nvidia/cusparse/lib/libcusparse.so.12
elf $site/torch/lib/libtorch_cuda.so --needed libcusparse.so.12 --undefined cusparseSpMM \
  --runpath '$ORIGIN/../../nvidia/cusparse/lib'
elf $site/plugin/xla_cuda_plugin.so --undefined dlsym --text cusparseSpMM --text libcusparse.so
elf $site/numpy/core.so
printf '#!/usr/bin/env -S /venv/bin/python3 -u\n' >root/train.py
chmod +x root/train.py
doctor 0 "a script of a virtual environment's Python" /train.py
says note "/train.py is a script of /venv/bin/python3"
says note "4 libraries of packages read, 3 have to do with"
says ok "12.7.10.1, $site/nvidia/cusparse/lib/libcusparse.so.12"
says ok "libtorch_cuda.so is linked to cuSPARSE, in a local scope: reached"
says ok "xla_cuda_plugin.so binds cuSPARSE by name"
printf '#!/bin/sh\n' >root/run.sh
chmod +x root/run.sh
program /bin/sh
doctor 0 "a shell script" /run.sh
says warning "runs in a shell"

# ---- the driver's own answers --------------------------------------------------------------------
cat >fake.c <<'FAKE'
#include <stdio.h>
#include <stdlib.h>
static int of(const char *name, int otherwise)
{
  const char *text = getenv(name);
  return text ? atoi(text) : otherwise;
}
int cuInit(unsigned flags) { return flags ? 1 : of("FAKE_INIT", 0); }
int cuDriverGetVersion(int *v) { return *v = of("FAKE_CUDA", 13000), 0; }
int cuDeviceGetCount(int *n) { return *n = of("FAKE_COUNT", 1), 0; }
int cuDeviceGet(int *d, int i) { return *d = i, 0; }
int cuDeviceGetName(char *s, int n, int d) { return snprintf(s, n, "Fake %d", d), 0; }
int cuDeviceGetAttribute(int *v, int a, int d)
{
  return *v = a == 75 ? of("FAKE_MAJOR", 9) : a == 76 ? 0 : 132 + d, 0;
}
int cuDeviceTotalMem_v2(size_t *n, int d) { return *n = (size_t)(d + 80) << 30, 0; }
int cuGetErrorString(int e, const char **s) { return *s = e == 803 ? "mismatch" : "?", 0; }
FAKE
mkdir -p cuda
if ${CC:-cc} -shared -fPIC -o cuda/libcuda.so.1 fake.c >out 2>err; then
  fresh
  SHUNT_LIBDIR=$work/root/usr/local/lib/shunt
  export SHUNT_LIBDIR
  asked() {
    want=$1 text=$2
    shift 2
    env LD_LIBRARY_PATH="$work/cuda" "$@" "$SHUNT" doctor >out 2>err
    got=$?
    [ $got -eq "$want" ]
    ok $? "$text (status $got)"
  }
  asked 0 "a driver and a GPU" A=1
  says note "the table of NVIDIA H200, cuSPARSE 12.6, 12.7, 12.9; carried over to Fake 0 by"
  says note "shunt calibrate makes one of this GPU"
  echo "# shunt costs 1 build=x gpu=Fake 0 driver=13000" >costs
  asked 0 "a table of costs of another build" SHUNT_COSTS=costs
  says warning "SHUNT_COSTS=costs is not used: it is of another build, GPU or driver"
  mkdir -p -m 700 cache/shunt
  calibrated=cache/shunt/Fake_0.costs
  head="# shunt costs 1 build=$version gpu=Fake 0 driver=13000"
  printf '%s\nrates multiprocessors 132\n' "$head" >$calibrated
  chmod 600 $calibrated
  asked 0 "a calibrated table" XDG_CACHE_HOME="$work/cache"
  says note "the table of Fake 0, cuSPARSE 12.6, 12.7, 12.9; calibrated, $work/$calibrated"
  chmod 777 cache/shunt
  asked 0 "one in a folder that others may write" XDG_CACHE_HOME="$work/cache"
  says warning "$calibrated is not used: others may write its folder"
  says note "carried over to Fake 0 by multiprocessors"
  chmod 700 cache/shunt
  echo "# shunt costs 1 build=x gpu=Fake 0 driver=13000" >$calibrated
  asked 0 "one of another build" XDG_CACHE_HOME="$work/cache"
  says warning "$calibrated is not used: it is of another build, GPU or driver"
  asked 0 "and none" A=1
  says ok "0: Fake 0, compute capability 9.0, 132 multiprocessors, 80 GiB"
  ! grep -q wgmma out
  ok $? "... and nothing of wgmma, which is there"
  asked 0 "a GPU that the build has no code for" FAKE_MAJOR=8
  verdict "Shunt cannot serve programs that use cuSPARSE (1 problem)."
  says problem "built for compute capability 9.0; this GPU has 8.0"
  asked 0 "a newer GPU: PTX serves" FAKE_MAJOR=12
  says note "no wgmma, which compute capability 9.0 alone has, in a build for it: route sparse24"
  asked 0 "a driver older than the build's toolkit" FAKE_CUDA=12040
  verdict "Shunt cannot serve programs that use cuSPARSE (1 problem)."
  says problem "built with CUDA 13.0; the driver knows CUDA up to 12.4"
  asked 0 "a driver that does not start" FAKE_INIT=803 FAKE_COUNT=1
  verdict "Shunt cannot serve programs that use cuSPARSE (1 problem)."
  asked 0 "GPUs that are hidden" FAKE_COUNT=0 CUDA_VISIBLE_DEVICES=
  verdict "Shunt cannot serve programs that use cuSPARSE (1 problem)."
  says problem "no GPU can be used"
  unset SHUNT_LIBDIR
else
  skip "the driver's answers: no C compiler"
fi

# ---- files that are broken anywhere --------------------------------------------------------------
fresh
check "damaged files end in an answer, not in a crash" "python3 - '$SHUNT' <<'DAMAGE'
import os, random, subprocess, sys
whole = open('root/usr/bin/solver', 'rb').read()
random.seed(1)
for turn in range(150):
    bytes_ = bytearray(whole)
    for _ in range(random.randint(1, 12)):
        at = random.randrange(16, len(bytes_))
        bytes_[at] = random.choice((0, 1, 127, 255, random.randrange(256)))
    if turn % 3 == 0:
        del bytes_[random.randrange(20, len(bytes_)):]
    with open('root/usr/bin/solver', 'wb') as file:
        file.write(bytes_)
    status = subprocess.run([sys.argv[1], 'doctor', '--root', 'root', 'solver'],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    assert status in (0, 1), (turn, status)
DAMAGE"

# ---- usage ---------------------------------------------------------------------------------------
"$SHUNT" doctor --root nowhere >out 2>err
[ $? -eq 2 ] && grep -q "no folder" err
ok $? "a root that is not there is a usage error"
"$SHUNT" doctor --help >out 2>err
[ "$(wc -l <out)" -le 24 ] && ! grep -q '.\{81\}' out
ok $? "--help fits a screen"
finish
