#!/bin/sh
# wheel.sh WHEEL: installs a wheel in an empty virtual environment, without the network, and runs
# it there.  SHUNT_WHEEL_TOOLS=FOLDER names a virtual environment with twine and auditwheel; without
# one they are installed from PyPI, as Jupyter's kernel is, and where that fails their checks are
# skipped.
set -u
[ $# = 1 ] && [ -f "$1" ] || { echo "usage: wheel.sh WHEEL" >&2; exit 2; }
wheel=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../checks.sh"
# says NAME PATTERN COMMAND...: it succeeds, and prints a line that matches.
says() {
  name=$1
  pattern=$2
  shift 2
  if "$@" >"$work/out" 2>&1 && grep -qE -e "$pattern" "$work/out"; then
    ok "$name"
  else
    not_ok "$name"
  fi
}
# ends NAME STATUS COMMAND...: it ends with that status.
ends() {
  name=$1
  status=$2
  shift 2
  "$@" >"$work/out" 2>&1
  if [ $? = "$status" ]; then ok "$name"; else not_ok "$name"; fi
}

# ---- what is in it -------------------------------------------------------------------------------
check "RECORD has every file, with its hash and size" python3 - "$wheel" <<'PYTHON'
import base64, csv, hashlib, io, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
names = archive.namelist()
assert len(names) == len(set(names)), "a name twice"
record = next(n for n in names if n.endswith(".dist-info/RECORD"))
rows = {r[0]: r[1:] for r in csv.reader(io.StringIO(archive.read(record).decode()))}
assert set(rows) == set(names), set(rows) ^ set(names)
for name, (digest, size) in rows.items():
    if name == record:
        assert not digest and not size
        continue
    content = archive.read(name)
    real = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    assert (digest, size) == (f"sha256={real}", str(len(content))), name
PYTHON
check "at most 150 MB" test "$(wc -c <"$wheel")" -le 150000000

python3 -m venv "$work/venv" 2>"$work/out" || {
  skip "everything else: python3 -m venv does not work here (Debian: python3-venv)"
  finish
}
bin=$work/venv/bin
check "installs without the network" "$bin/pip" install -q --no-index --disable-pip-version-check \
  "$wheel"
package=$("$bin/python" -c 'import os, shunt; print(os.path.dirname(shunt.__file__))')
foreign='cuda|cublas|cusparse|nv|graphblas|libgomp\.so'
for file in "$package"/bin/shunt "$package"/lib/*.so.0 "$package"/lib/shunt/*.so*; do
  if readelf -dW "$file" | grep NEEDED | grep -qE "$foreign"; then
    readelf -dW "$file" | grep NEEDED >"$work/out"
    not_ok "$(basename "$file") needs nothing of CUDA's, GraphBLAS' or OpenMP's"
  else
    ok "$(basename "$file") needs nothing of CUDA's, GraphBLAS' or OpenMP's"
  fi
done

# ---- the command ---------------------------------------------------------------------------------
cd "$work" || exit 2
echo 'import os, sys
print("argv", sys.argv[1:])
print(os.environ["LD_PRELOAD"])
sys.exit(7)' >train.py
maps='import re
print(sorted(set(re.findall(r"/lib/shunt/(\S+)", open("/proc/self/maps").read()))))'
says "shunt --version" '^shunt [0-9]+\.[0-9]+' "$bin/shunt" --version
says "shunt run preloads its own libraries, and they load" libshunt-graphblas.so \
  "$bin/shunt" run -- python3 -c "$maps"
if LD_PRELOAD= "$bin/shunt" run -- true 2>&1 | grep -q 'cannot be preloaded'; then
  "$bin/shunt" run -- true >"$work/out" 2>&1
  not_ok "the loader has nothing to say"
else
  ok "the loader has nothing to say"
fi
ends "python -m shunt SCRIPT: the script's status" 7 "$bin/python" -m shunt train.py a -b
"$bin/python" -m shunt train.py a -b >"$work/out" 2>&1
if grep -q "argv \['a', '-b'\]" "$work/out" &&
  grep -q "$package/lib/shunt/libshunt" "$work/out"; then
  ok "python -m shunt SCRIPT: arguments and preload"
else
  not_ok "python -m shunt SCRIPT: arguments and preload"
fi
says "python -m shunt OPTION SCRIPT: options of shunt run" 'no calls were seen' \
  sh -c "'$bin/python' -m shunt --report page.html --json=run.json train.py a 2>&1; [ \$? = 7 ]"
check "... which count" sh -c 'grep -q "<title>" page.html && grep -q "\"status\": 7" run.json'
says "python -m shunt -c" "$work/venv" "$bin/python" -m shunt -c 'import sys; print(sys.prefix)'
says "python -m shunt -m" '^Linux' "$bin/python" -m shunt -m platform
says "python -m shunt run -- PROGRAM" '^yes$' "$bin/python" -m shunt run -- echo yes
ends "python -m shunt, an unknown command" 2 "$bin/python" -m shunt nonsense
ends "python -m shunt alone" 2 "$bin/python" -m shunt
says "python -m shunt --help" 'SCRIPT' "$bin/python" -m shunt --help
check "the manual page" test -s "$work/venv/share/man/man1/shunt.1"
if command -v gcc >/dev/null 2>&1; then
  printf '#include <shunt.h>\nint main(void) { return 0; }\n' >client.c
  check "a C program finds the header, links by -lshunt and starts" sh -c \
    "gcc -I'$package/include' client.c -o client -Wl,--no-as-needed -L'$package/lib' \
      -lshunt -Wl,-rpath,'$package/lib' && ./client && readelf -d client | grep libshunt.so.0"
fi

# ---- Jupyter -------------------------------------------------------------------------------------
kernel=$work/venv/share/jupyter/kernels/shunt/kernel.json
says "shunt kernelspec install" "$kernel|installed" "$bin/shunt" kernelspec install
check "its kernel runs this Python with the preload" "$bin/python" -c "
import json, shunt, sys
spec = json.load(open('$kernel'))
assert spec['env']['LD_PRELOAD'] == shunt.preload() != '', spec
assert spec['argv'][0].startswith(sys.prefix) and '{connection_file}' in spec['argv'], spec"
# Where PyPI does not answer pip must not wait for long.
if timeout 300 "$bin/pip" install -q --disable-pip-version-check --retries 0 jupyter_client \
  ipykernel >"$work/out" 2>&1; then
  says "a notebook's cell runs in it, with the library mapped" '^libshunt-graphblas.so' \
    timeout 1800 "$bin/python" "$here/try_kernel.py" shunt
else
  skip "the kernel itself: jupyter_client and ipykernel cannot be had"
fi
check "for the user" env JUPYTER_DATA_DIR="$work/data" "$bin/shunt" kernelspec install --user \
  --name mine
check "it lies where Jupyter looks" test -f "$work/data/kernels/mine/kernel.json"
check "shunt kernelspec remove" "$bin/shunt" kernelspec remove
ends "what is not there cannot be removed" 1 "$bin/shunt" kernelspec remove
ends "a name with a slash is refused" 2 "$bin/shunt" kernelspec install --name ../x
ends "a folder that cannot be written" 1 "$bin/shunt" kernelspec install --prefix /proc/none
python3 -m venv "$work/two words" && "$work/two words/bin/pip" install -q --no-index \
  --disable-pip-version-check "$wheel"
ends "a path with a space is refused" 1 "$work/two words/bin/python" -m shunt kernelspec install

# ---- PyPI's own checks ---------------------------------------------------------------------------
tools=${SHUNT_WHEEL_TOOLS:-}
if [ -z "$tools" ]; then
  tools=$work/tools
  python3 -m venv "$tools" && timeout 120 "$tools/bin/pip" install -q --disable-pip-version-check \
    --retries 0 twine auditwheel >"$work/out" 2>&1
fi
if [ -x "$tools/bin/twine" ] && [ -x "$tools/bin/auditwheel" ]; then
  check "twine check --strict" "$tools/bin/twine" check --strict "$wheel"
  tag=$(basename "$wheel" .whl | sed 's/.*-\(manylinux[^-]*\)$/\1/')
  says "auditwheel grants $tag" "tag: .*\"$tag\"" sh -c \
    "'$tools/bin/auditwheel' show '$wheel' | tr '\n' ' '"
else
  skip "twine and auditwheel: PyPI cannot be reached"
fi

finish
