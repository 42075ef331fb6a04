// srbcrs_matrices.cuh: patterns for the tests of `srbcrs`, and a matrix packed on both sides.
#pragma once
#include "conv/srbcrs/srbcrs_conv.h"
#include "tests/gpu/common/harness.cuh"

namespace harness
{

// What operands hold: random values, or the ends of int8's range.
enum Values { RANDOM_VALUES, ALL_LEAST, ALL_GREATEST, ALTERNATING, VALUES };
static const char *const values_name[VALUES] = {"random", "all least", "all greatest",
                                                "alternating"};

// Of what `bits` hold.
inline int64_t integer_of(Values kind, int bits, int64_t place, Random &r)
{
  const int64_t least = -(INT64_C(1) << (bits - 1));
  switch (kind) {
  case RANDOM_VALUES: return least + r.below(INT64_C(1) << bits);
  case ALL_LEAST: return least;
  case ALL_GREATEST: return -least - 1;
  default: return place % 2 ? -least - 1 : least;
  }
}
inline int8_t value_of(Values kind, int64_t place, Random &r)
{
  return (int8_t)integer_of(kind, 8, place, r);
}
inline shunt_type stored_type(int bits)
{
  return bits > 8 ? SHUNT_I16 : SHUNT_I8;
}

// A pattern as CSR on both sides, and room for its packed form.
struct Strides {
  Buffer offsets, columns, values;
  shunt_csr host, device;
  shunt_srbcrs_layout layout;
  size_t bytes;
  Buffer memory, twin;
  shunt_srbcrs on_device, on_host;

  // is_unsigned: the bytes of 8-bit values are.
  Strides(const Pattern &p, shunt_srbcrs_layout with, shunt_type index, int base, Values kind,
          uint64_t seed, bool is_unsigned = false)
      : offsets((size_t)(p.rows + 1) * shunt_type_size(index)),
        columns((size_t)p.nnz() * shunt_type_size(index)),
        values((size_t)p.nnz() * shunt_type_size(stored_type(with.bits))), layout(with),
        bytes(size_of(p, with, index)), memory(bytes + 256), twin(bytes + 256)
  {
    Random r(seed);
    host = {p.rows,
            p.cols,
            p.nnz(),
            offsets.host.data(),
            columns.host.data(),
            values.host.data(),
            index,
            is_unsigned ? SHUNT_U8 : stored_type(with.bits),
            base};
    device = host;
    device.row_offsets = offsets.device, device.columns = columns.device;
    device.values = values.device;
    for (size_t i = 0; i < p.offsets.size(); i++)
      store(offsets.host.data(), (int64_t)i, index, (double)(p.offsets[i] + base));
    for (int64_t e = 0; e < p.nnz(); e++) {
      store(columns.host.data(), e, index, (double)(p.columns[(size_t)e] + base));
      put_value(e, integer_of(kind, layout.bits, e, r));
    }
    for (Buffer *x : {&offsets, &columns, &values}) x->upload();
  }
  static size_t size_of(const Pattern &p, const shunt_srbcrs_layout &with, shunt_type index)
  {
    const shunt_csr a = {
        p.rows, p.cols, p.nnz(), nullptr, nullptr, nullptr, index, stored_type(with.bits), 0};
    return shunt_srbcrs_bytes(&a, &with);
  }
  void put_value(int64_t entry, int64_t x)
  {
    if (layout.bits > 8)
      ((int16_t *)values.host.data())[entry] = (int16_t)x;
    else
      values.host[(size_t)entry] = (char)x;
  }
  int64_t value(int64_t entry) const
  {
    if (host.value_type == SHUNT_U8) return (uint8_t)values.host[(size_t)entry];
    return layout.bits > 8 ? ((const int16_t *)values.host.data())[entry]
                           : (int8_t)values.host[(size_t)entry];
  }

  // Packs on both sides, or on the device alone; what is not written stays 0xee.
  bool pack(bool here = true)
  {
    memset(memory.host.data(), 0xee, memory.host.size());
    memory.upload();
    memset(twin.host.data(), 0xee, twin.host.size());
    char *aligned = (char *)(((uintptr_t)twin.host.data() + 255) & ~(uintptr_t)255);
    const shunt_device d = this_device();
    const bool good = shunt_srbcrs_lay_out(&host, &layout, aligned, &on_host) &&
                      shunt_srbcrs_lay_out(&host, &layout, memory.device, &on_device) &&
                      (!here || shunt_csr_to_srbcrs_host(&host, &layout, &on_host) == SHUNT_OK) &&
                      shunt_csr_to_srbcrs_cuda(&device, &layout, &on_device, &d, 0) == SHUNT_OK;
    CUDA_OK(cudaDeviceSynchronize());
    memory.download();
    return good;
  }
  bool same() const { return !memcmp(memory.host.data(), on_host.counts, bytes); }
  // Nothing behind the memory was written.
  bool inside() const
  {
    for (size_t i = bytes; i < memory.host.size(); i++)
      if (memory.host[i] != (char)0xee) return false;
    return true;
  }
  bool irregular() const
  {
    return ((const shunt_srbcrs_counts *)memory.host.data())->irregular == SHUNT_IRREGULAR;
  }
};

} // namespace harness
