// stream_load_16.cuh: kernels/ptx/stream_load_16.cuh for the emulator, whose load_once_if takes
// all.
#pragma once
#include "kernels/ptx/stream_load.cuh"
