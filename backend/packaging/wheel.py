#!/usr/bin/env python3
"""Makes a wheel out of what `make install-strip` put into a folder.

    shunt/                      the Python package
      bin/shunt                 the program; it finds its libraries in ../lib/shunt
      lib/shunt/libshunt-*.so   what is preloaded
      lib/shunt/libgomp-*.so.1  OpenMP's runtime, under a name of its own
      lib/libshunt.so.0         the C API; include/shunt.h is its header
      lib/libshunt.so           a line for the linker, so that -lshunt finds it
    shunt-V.data/data/share/man the manual pages
    shunt-V.dist-info/          METADATA, WHEEL, RECORD, entry_points.txt, licenses/

Bare machines have no libgomp.so.1, so a copy comes along.  It must not be called libgomp.so.1: a
program that is preloaded would get this copy instead of its own, which may be newer.  patchelf
gives it another name, and a RUNPATH to those who need it.

A wheel for manylinux_2_N runs where glibc is 2.N or newer.  N is the newest version of glibc whose
symbols are bound; `auditwheel show` confirms it.  The same input gives the same bytes: the time of
all files is SOURCE_DATE_EPOCH.
"""
import argparse
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
GOMP = "libgomp.so.1"
OWN_GOMP = "libgomp-shunt.so.1"
# What every Linux of the tag's age has.
EVERYWHERE = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
              "libgcc_s.so.1", "libz.so.1", "ld-linux-x86-64.so.2"}
LIMIT_MB = 150

NOTICE = """\
Shunt is under the Apache License 2.0 (LICENSE).  Its libraries contain NVIDIA's CUDA runtime
(libcudart_static, under the CUDA EULA) where they were built with CUDA.  {gomp} is the GNU
OpenMP runtime of GCC, unchanged but for its name: GPL-3.0-or-later with the GCC Runtime Library
Exception 3.1; its source is that of GCC {gcc}.
"""


def fail(message):
    sys.exit(f"wheel: {message}")


def run(*words):
    try:
        return subprocess.run(words, check=True, capture_output=True, text=True,
                              env={**os.environ, "LC_ALL": "C"}).stdout
    except FileNotFoundError:
        fail(f"{words[0]} is not installed (Debian: {words[0]})")
    except subprocess.CalledProcessError as error:
        fail(f"{' '.join(words)}: {error.stderr.strip()}")


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", path))


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def walk(folder):
    for where, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            yield os.path.join(where, name)


def copy(source, target):
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copy2(source, target)


def take_installed(o, package, data):
    """The installed files, at their places in the wheel."""
    copy(os.path.join(o.bindir, "shunt"), f"{package}/bin/shunt")
    objects = [n for n in os.listdir(o.pkglibdir) if n.endswith(".so")]
    if "libshunt-graphblas.so" not in objects:
        fail(f"there is no libshunt-graphblas.so in {o.pkglibdir}")
    for name in objects:
        copy(os.path.join(o.pkglibdir, name), f"{package}/lib/shunt/{name}")
    # Wheels hold no symbolic links: the one name that programs are bound to, and what leads there.
    copy(os.path.join(o.libdir, "libshunt.so.0"), f"{package}/lib/libshunt.so.0")
    with open(f"{package}/lib/libshunt.so", "w") as file:
        file.write("INPUT ( libshunt.so.0 )\n")
    copy(os.path.join(o.includedir, "shunt.h"), f"{package}/include/shunt.h")
    for page in walk(o.mandir):
        copy(page, f"{data}/share/man/{os.path.relpath(page, o.mandir)}")


def take_python(package, version):
    for name in sorted(os.listdir(f"{HERE}/shunt")):
        if name.endswith(".py"):
            copy(f"{HERE}/shunt/{name}", f"{package}/{name}")
    with open(f"{package}/version.py", "w") as file:
        file.write(f'version = "{version}"\n')


def bring_gomp(package, gomp):
    """A copy of libgomp under its own name, for those who need it."""
    users = [p for p in walk(package) if is_elf(p) and GOMP in needed(p)]
    if not users:
        return False
    if not os.path.isfile(gomp):
        fail(f"{GOMP} was not found; --gomp names it")
    own = f"{package}/lib/shunt/{OWN_GOMP}"
    copy(os.path.realpath(gomp), own)
    os.chmod(own, 0o755)
    run("patchelf", "--set-soname", OWN_GOMP, own)
    for path in users:
        way = os.path.relpath(f"{package}/lib/shunt", os.path.dirname(path))
        # One at a time: patchelf 0.14 forgets one of two changes.
        run("patchelf", "--replace-needed", GOMP, OWN_GOMP, path)
        run("patchelf", "--set-rpath", f"$ORIGIN/{way}", path)
    return True


def check_needs(package):
    for path in walk(package):
        if is_elf(path):
            strange = set(needed(path)) - EVERYWHERE - {OWN_GOMP}
            if strange:
                fail(f"{path} needs {', '.join(sorted(strange))}, which not every machine has")


def glibc_of(package):
    minors = [int(m) for p in walk(package) if is_elf(p)
              for m in re.findall(r"\bGLIBC_2\.(\d+)", run("readelf", "-VW", p))]
    return max(minors)


def write_info(info, version, tag, with_gomp):
    os.makedirs(f"{info}/licenses")
    shutil.copy2(f"{TOP}/LICENSE", f"{info}/licenses/LICENSE")
    gcc = run("gcc", "-dumpfullversion").strip() if with_gomp else ""
    with open(f"{info}/licenses/NOTICE", "w") as file:
        file.write(NOTICE.format(gomp=OWN_GOMP, gcc=gcc))
    with open(f"{HERE}/METADATA.in") as file:
        metadata = file.read().replace("@VERSION@", version)
    with open(f"{HERE}/wheel.md") as file:
        metadata += "\n" + file.read()
    with open(f"{info}/METADATA", "w") as file:
        file.write(metadata)
    with open(f"{info}/WHEEL", "w") as file:
        file.write(f"Wheel-Version: 1.0\nGenerator: shunt ({version})\nRoot-Is-Purelib: false\n"
                   f"Tag: {tag}\n")
    with open(f"{info}/entry_points.txt", "w") as file:
        file.write("[console_scripts]\nshunt = shunt.__main__:program\n")
    with open(f"{info}/top_level.txt", "w") as file:
        file.write("shunt\n")


def write_record(root, info):
    """Name, hash and size of each file; RECORD itself has neither."""
    with open(f"{info}/RECORD", "w") as record:
        for path in walk(root):
            name = os.path.relpath(path, root)
            if path == record.name:
                record.write(f"{name},,\n")
                continue
            with open(path, "rb") as file:
                content = file.read()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode()
            record.write(f"{name},sha256={digest.rstrip('=')},{len(content)}\n")


def pack(root, wheel):
    when = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        # The installer reads .dist-info first: by custom it lies at the end.
        for path in sorted(walk(root), key=lambda p: (".dist-info" in p, p)):
            entry = zipfile.ZipInfo(os.path.relpath(path, root), when)
            mode = 0o100755 if is_elf(path) else 0o100644
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            with open(path, "rb") as file:
                archive.writestr(entry, file.read())


def main():
    parser = argparse.ArgumentParser(description="Make a wheel of what was installed in a folder.")
    for word in ("version", "bindir", "libdir", "pkglibdir", "includedir", "mandir", "gomp"):
        parser.add_argument(f"--{word}", required=True)
    parser.add_argument("--out", default=".", help="folder for the wheel")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        package, stem = f"{root}/shunt", f"{root}/shunt-{o.version}"
        take_installed(o, package, f"{stem}.data/data")
        take_python(package, o.version)
        with_gomp = bring_gomp(package, o.gomp)
        check_needs(package)
        tag = f"py3-none-manylinux_2_{glibc_of(package)}_x86_64"
        write_info(f"{stem}.dist-info", o.version, tag, with_gomp)
        write_record(root, f"{stem}.dist-info")
        wheel = os.path.join(o.out, f"shunt-{o.version}-{tag}.whl")
        pack(root, wheel)
    size = os.path.getsize(wheel) / 1e6
    print(f"{wheel} ({size:.1f} MB)")
    if size > LIMIT_MB:
        fail(f"more than {LIMIT_MB} MB: configure with NVCCFLAGS='-O3 --compress-mode=size'")


main()
