// test_vector_format.cu: shunt_csr_to_vector_cuda writes the bytes that its host twin
// writes, for every order, height, index type and base; irregular matrices are flagged and
// stay inside their memory.
//   --time   also times the conversion
#include "conv/vector/vector_conv.h"
#include "tests/gpu/common/broken_patterns.cuh"

using namespace harness;

// A pattern as CSR on both sides, and room for its packed form.
struct Packed {
  const Pattern &pattern;
  Buffer offsets, columns, values;
  shunt_csr host, device;
  shunt_vector_layout layout;
  size_t bytes;
  Buffer memory, twin;
  shunt_vector on_device, on_host;

  Packed(const Pattern &p, shunt_vector_layout with, shunt_type index, int base, uint64_t seed,
         shunt_type type = SHUNT_F16)
      : pattern(p), offsets((p.rows + 1) * shunt_type_size(index)),
        columns(p.nnz() * shunt_type_size(index)), values(p.nnz() * shunt_type_size(type)),
        host{p.rows, p.cols, p.nnz(), offsets.host.data(), columns.host.data(), values.host.data(),
             index,  type,   base},
        device{p.rows, p.cols, p.nnz(), offsets.device, columns.device, values.device,
               index,  type,   base},
        layout(with), bytes(shunt_vector_bytes(&host, &layout)), memory(bytes + 256),
        twin(bytes + 256)
  {
    Random r(seed);
    for (size_t i = 0; i < p.offsets.size(); i++)
      store(offsets.host.data(), (int64_t)i, index, (double)(p.offsets[i] + base));
    for (int64_t e = 0; e < p.nnz(); e++) {
      store(columns.host.data(), e, index, (double)(p.columns[(size_t)e] + base));
      store(values.host.data(), e, type, r.below(9) ? r.value() : 0);
    }
  }

  // Packs on both sides; what is not written stays 0xee.
  bool pack()
  {
    for (Buffer *x : {&offsets, &columns, &values}) x->upload();
    for (Buffer *x : {&memory, &twin}) memset(x->host.data(), 0xee, x->host.size());
    memory.upload();
    char *aligned = (char *)(((uintptr_t)twin.host.data() + 255) & ~(uintptr_t)255);
    const shunt_device d = this_device();
    bool good = shunt_vector_lay_out(&host, &layout, memory.device, &on_device) &&
                shunt_vector_lay_out(&host, &layout, aligned, &on_host);
    good = good && shunt_csr_to_vector_host(&host, &layout, &on_host) == SHUNT_OK;
    good = good && shunt_csr_to_vector_cuda(&device, &layout, &on_device, &d, 0) == SHUNT_OK;
    CUDA_OK(cudaDeviceSynchronize());
    memory.download();
    return good;
  }
  bool same() const { return !memcmp(memory.host.data(), on_host.counts, bytes); }
  bool inside() const
  {
    for (size_t i = bytes; i < memory.host.size(); i++)
      if (memory.host[i] != (char)0xee) return false;
    return true;
  }
  bool flagged() const
  {
    return ((const shunt_vector_counts *)memory.host.data())->irregular == SHUNT_IRREGULAR;
  }
};

static void test_same()
{
  Random r(20261121);
  for (int order = 0; order < 2; order++)
    for (int height : {16, 8, 4, 2, 1}) {
      bool good = true;
      for (int64_t rows : {1, 8, 13, sized(264, 40)})
        for (int64_t cols : {1, 63, 64, 700, 2100})
          for (double density : {0.0, 0.02, 0.3, 1.0}) {
            if (beyond(cols, 700)) continue;
            const Pattern p = random_pattern(rows, cols, density, height, r.next());
            const shunt_vector_layout layout = {(shunt_vector_order)order, height};
            const shunt_type index = r.below(2) ? SHUNT_I64 : SHUNT_I32;
            const shunt_type type = r.below(3) ? SHUNT_F16 : SHUNT_F32;
            Packed k(p, layout, index, (int)r.below(2), r.next(), type);
            const bool same = k.pack() && k.same() && k.inside();
            if (!same)
              printf("# %lld x %lld, density %g, index %d, base %d, type %d\n", (long long)rows,
                     (long long)cols, density, k.host.index_type, k.host.base, type);
            good = good && same;
          }
      check(good, "device and host write the same bytes, order %d, height %d", order, height);
    }
}

static void test_irregular()
{
  for (int order = 0; order < 2; order++) {
    const shunt_vector_layout layout = {(shunt_vector_order)order, 8};
    for (const BrokenPattern &broken : broken_patterns(random_pattern(64, 700, 0.3, 8, 3))) {
      Packed k(broken.pattern, layout, SHUNT_I32, 1, 4);
      check(k.pack() && k.flagged() && k.inside(), "%s is irregular, order %d", broken.what, order);
    }
    const Pattern wild = random_pattern(64, 700, 0.3, 1, 5);
    Packed k(wild, layout, SHUNT_I32, 0, 6);
    check(k.pack() && k.flagged() && k.inside(), "rows that share nothing do not fit, order %d",
          order);
  }
}

static void time_conversion(double sparsity)
{
  const Pattern p = random_pattern(4096, 4096, 1 - sparsity, 8, 7);
  for (int order = 0; order < 2; order++) {
    Packed k(p, {(shunt_vector_order)order, 8}, SHUNT_I32, 0, 8);
    const shunt_device d = this_device();
    if (!k.pack()) exit(3);
    const double us = time_graph([&](cudaStream_t s) {
      if (shunt_csr_to_vector_cuda(&k.device, &k.layout, &k.on_device, &d, s) != SHUNT_OK) exit(3);
    });
    printf("time conversion 4096 %.2f order %d %.1f us, %.1f MB packed\n", sparsity, order, us,
           (double)k.bytes * 1e-6);
  }
}

int main(int argc, char **argv)
{
  test_same();
  test_irregular();
  if (argc > 1 && !strcmp(argv[1], "--time"))
    for (double s : {0.8, 0.9, 0.95, 0.98}) time_conversion(s);
  return finish();
}
