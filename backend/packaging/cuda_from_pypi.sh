#!/bin/sh
# cuda_from_pypi.sh FOLDER: makes FOLDER a CUDA toolkit that Shunt can be built with, from NVIDIA's
# packages on PyPI (some 700 MB).  Nothing outside FOLDER changes.
#
#   FOLDER/bin      nvcc, ptxas, fatbinary        nvidia-cuda-nvcc
#   FOLDER/nvvm     the compiler behind nvcc      nvidia-nvvm
#   FOLDER/include  headers                       all of them
#   FOLDER/lib      libcudart_static.a            nvidia-cuda-runtime
#                   cuSPARSE, cuBLAS, nvJitLink   for the tests and the demo
#
# CUDA 13.0: the oldest release whose packages have a whole nvcc, so it serves the most drivers.
# The parts must be of one release.  PIP_INDEX_URL and pip's other settings hold.
set -eu
[ $# = 1 ] || {
  echo "usage: cuda_from_pypi.sh FOLDER" >&2
  exit 2
}
if [ -x "$1/bin/nvcc" ]; then exit 0; fi
mkdir -p "$(dirname "$1")"
work=$(mktemp -d "$1.XXXXXX")
trap 'rm -rf "$work"' EXIT

export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
python3 -m pip install --quiet --no-deps --only-binary :all: \
  --target "$work" 'nvidia-cuda-nvcc==13.0.*' 'nvidia-cuda-crt==13.0.*' 'nvidia-nvvm==13.0.*' \
  'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-cccl==13.0.*' 'nvidia-nvjitlink==13.0.*' \
  'nvidia-cusparse==12.6.3.*' 'nvidia-cublas==13.1.0.*'
toolkit=$work/nvidia/cu13

# The names that linkers look for, and the folder where nvcc does.
for library in "$toolkit"/lib/lib*.so.*; do
  name=$(basename "$library")
  [ -e "$toolkit/lib/${name%%.so.*}.so" ] || ln -s "$name" "$toolkit/lib/${name%%.so.*}.so"
done
ln -s lib "$toolkit/lib64"
chmod +x "$toolkit"/bin/* "$toolkit"/nvvm/bin/* 2>/dev/null || true
"$toolkit/bin/nvcc" --version >/dev/null
mv "$toolkit" "$1"
