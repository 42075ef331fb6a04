// test_srbcrs_format.cu: shunt_csr_to_srbcrs_cuda writes the bytes that its host twin writes, for
// every V, index type and base; irregular matrices are flagged and stay inside their memory.
#include "tests/gpu/common/broken_patterns.cuh"
#include "tests/gpu/srbcrs/srbcrs_matrices.cuh"

using namespace harness;

static void test_same(int height, int bits)
{
  Random r(20261123 + (uint64_t)(height * bits));
  bool good = true;
  for (int share : {1, height})
    for (int64_t rows : {1, 16, 45, 200})
      for (int64_t cols : {1, 33, 700})
        for (double density : {0.0, 0.03, 0.2, 1.0}) {
          if (left_out()) continue;
          const Pattern p = random_pattern(rows, cols, density, share, r.next());
          Strides k(p, {height, share, bits}, r.below(2) ? SHUNT_I64 : SHUNT_I32, (int)r.below(2),
                    RANDOM_VALUES, r.next(), bits == 8 && share > 1);
          const bool same = k.pack() && k.same() && k.inside() && !k.irregular();
          if (!same)
            printf("# %lld x %lld, density %g, index %d, base %d\n", (long long)rows,
                   (long long)cols, density, k.host.index_type, k.host.base);
          good = good && same;
        }
  check(good, "device and host write the same bytes, V = %d, %d bits", height, bits);
}

static void test_spread(int height)
{
  Random r(20261126 + (uint64_t)height);
  bool good = true;
  for (int share : {1, height})
    for (int64_t cols : {1, 33, 700, 5000})
      for (double density : {0.0, 0.01, 0.1, 0.5}) {
        if (left_out()) continue;
        const Pattern p = random_pattern(45, cols, density, share, r.next());
        Strides k(p, {height, share, 8, 1}, r.below(2) ? SHUNT_I64 : SHUNT_I32, (int)r.below(2),
                  RANDOM_VALUES, r.next());
        const bool same = k.pack() && k.same() && k.inside() && !k.irregular();
        if (!same) printf("# %lld columns, density %g\n", (long long)cols, density);
        good = good && same;
      }
  check(good, "V = %d: device and host spread vectors alike", height);
}

// Rows of very different lengths; columns far apart and all next to each other.
static void test_skewed()
{
  bool good = true;
  for (int height : {2, 4, 8}) {
    Strides k(skewed_pattern(sized(2000, 150), sized(5000, 900), 20, 3), {height, 1, 8}, SHUNT_I32,
              1, RANDOM_VALUES, 4);
    good &= k.pack() && k.same() && k.inside() && !k.irregular();
  }
  check(good, "rows of a power law");
}

static void test_irregular()
{
  for (const BrokenPattern &broken : broken_patterns(random_pattern(40, 700, 0.3, 1, 3)))
    for (shunt_type index : {SHUNT_I32, SHUNT_I64}) {
      Strides k(broken.pattern, {4, 1, 8}, index, 1, RANDOM_VALUES, 4);
      check(k.pack() && k.irregular() && k.inside(), "%s is irregular", broken.what);
    }
  for (int x : {-9, 8}) {
    Strides k(random_pattern(16, 100, 0.3, 1, 5), {4, 1, 4}, SHUNT_I32, 0, RANDOM_VALUES, 6);
    k.put_value(k.host.nnz / 2, x);
    k.values.upload();
    check(k.pack() && k.irregular() && k.inside(), "%d of four bits is irregular", x);
  }
  for (int x : {-2049, 2048}) {
    Strides wide(random_pattern(16, 100, 0.3, 1, 5), {4, 1, 12}, SHUNT_I32, 0, RANDOM_VALUES, 6);
    wide.put_value(wide.host.nnz / 2, x);
    wide.values.upload();
    check(wide.pack() && wide.irregular() && wide.inside(), "%d of twelve bits is irregular", x);
  }
  Strides k(random_pattern(64, 400, 0.3, 1, 5), {8, 8, 8}, SHUNT_I32, 0, RANDOM_VALUES, 6);
  check(k.pack() && k.irregular() && k.inside(), "rows that share less than planned have no room");
}

static void test_declined()
{
  Strides k(random_pattern(16, 40, 0.3, 1, 5), {4, 1, 8}, SHUNT_I32, 0, RANDOM_VALUES, 6);
  const shunt_device d = this_device();
  const shunt_srbcrs_layout other = {8, 1, 8};
  shunt_csr a = k.device;
  bool good = k.pack();
  good &= shunt_csr_to_srbcrs_cuda(&a, &other, &k.on_device, &d, 0) == SHUNT_E_ARGUMENT;
  a.value_type = SHUNT_F16;
  good &= shunt_csr_to_srbcrs_cuda(&a, &k.layout, &k.on_device, &d, 0) == SHUNT_E_UNSUPPORTED;
  check(good, "another plan's memory, and other types, are declined");
}

int main()
{
  for (int height : {2, 4, 8})
    for (int bits : {16, 12, 8, 4}) test_same(height, bits);
  for (int height : {2, 4, 8}) test_spread(height);
  test_skewed();
  test_irregular();
  test_declined();
  return finish();
}
