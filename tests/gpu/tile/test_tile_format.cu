// test_tile_format.cu: shunt_csr_to_tile_cuda writes the bytes that its host twin writes,
// for every kind of pattern, index type and base, with and without reordering; so does
// the census; irregular matrices are flagged and stay inside their memory.
//   --time   also times the conversion
#include "tests/gpu/common/broken_patterns.cuh"
#include "tests/gpu/tile/tile_patterns.cuh"

using namespace harness;

static void test_same()
{
  Random r(20261121);
  for (int kind = 0; kind < TILE_KINDS; kind++)
    for (int reorder = 0; reorder < 6; reorder++) { // every way: SHUNT_TILE_.. in bits
      bool good = true;
      for (int64_t rows : {1, 16, 45, 200})
        for (int64_t cols : {1, 33, 700})
          for (double density : {0.0, 0.03, 0.2, 1.0}) {
            const Pattern p = tile_pattern((TileKind)kind, rows, cols, density, r.next());
            Tiles k(p, {reorder, -1, -1}, r.below(2) ? SHUNT_F16 : SHUNT_BF16,
                    r.below(2) ? SHUNT_I64 : SHUNT_I32, (int)r.below(2), false, r.next());
            const bool same = k.pack() && k.same() && k.inside() && !k.census().irregular;
            if (!same)
              printf("# %lld x %lld, density %g, index %d, base %d\n", (long long)rows,
                     (long long)cols, density, k.host.index_type, k.host.base);
            good = good && same;
          }
      check(good, "device and host write the same bytes, %s, packed in way %d",
            tile_kind_name[kind], reorder);
    }
}

// More block rows than the scan takes in two steps.
static void test_many_blocks()
{
  const Pattern p = tile_pattern(TILES, 16 * 2100 + 5, 8, 0.1, 11);
  Tiles k(p, {0, -1, -1}, SHUNT_F16, SHUNT_I32, 0, false, 12);
  check(k.pack() && k.same() && k.inside(), "2101 block rows");
}

static void test_census()
{
  for (int reorder = 0; reorder < 4; reorder++) {
    const Pattern p = tile_pattern(TILES, 100, 500, 0.12, 21);
    Tiles k(p, {reorder, -1, -1}, SHUNT_F16, SHUNT_I32, 1, false, 22);
    Buffer out(sizeof(shunt_tile_census));
    const shunt_device d = this_device();
    const bool good =
        k.pack() && shunt_csr_tile_census_cuda(&k.device, reorder, (shunt_tile_census *)out.device,
                                               &d, 0) == SHUNT_OK;
    out.download();
    const shunt_tile_census &c = k.census();
    check(good && !memcmp(out.host.data(), &c, sizeof c) && c.sparse && c.dense,
          "the census alone counts the same, way %d", reorder);
    Tiles exact(p, {reorder, (int64_t)c.sparse, (int64_t)c.halves}, SHUNT_F16, SHUNT_I32, 1, false,
                22);
    check(exact.pack() && exact.same() && !exact.census().irregular && exact.inside(),
          "fits into the room that it asks for");
    Tiles less(p, {reorder, (int64_t)c.sparse - 1, (int64_t)c.halves}, SHUNT_F16, SHUNT_I32, 1,
               false, 22);
    check(less.pack() && less.same() && less.census().irregular == SHUNT_IRREGULAR && less.inside(),
          "not into room for one 2:4 tile less");
    Tiles half(p, {reorder, (int64_t)c.sparse, (int64_t)c.halves - 1}, SHUNT_F16, SHUNT_I32, 1,
               false, 22);
    check(half.pack() && half.same() && half.census().irregular == SHUNT_IRREGULAR && half.inside(),
          "nor for one half less");
  }
}

static void test_irregular()
{
  for (const BrokenPattern &broken : broken_patterns(tile_pattern(ANYWHERE, 40, 700, 0.3, 3)))
    for (shunt_type index : {SHUNT_I32, SHUNT_I64})
      for (int how : {1, 3}) {
        Tiles k(broken.pattern, {how, -1, -1}, SHUNT_F16, index, 1, false, 4);
        check(k.pack() && k.census().irregular == SHUNT_IRREGULAR && k.same() && k.inside(),
              "%s is irregular, and the bytes are the same, way %d", broken.what, how);
      }
}

static void test_declined()
{
  const Pattern p = tile_pattern(ANYWHERE, 16, 40, 0.3, 5);
  Tiles k(p, {0, -1, -1}, SHUNT_F16, SHUNT_I32, 0, false, 6);
  Buffer out(sizeof(shunt_tile_census));
  const shunt_device d = this_device();
  shunt_csr a = k.device;
  a.value_type = SHUNT_F32;
  check(k.pack() &&
            shunt_csr_to_tile_cuda(&a, &k.layout, &k.on_device, &d, 0) == SHUNT_E_UNSUPPORTED &&
            shunt_csr_tile_census_cuda(&a, 0, (shunt_tile_census *)out.device, &d, 0) ==
                SHUNT_E_UNSUPPORTED,
        "f32 is declined");
}

static void time_conversion(double sparsity, int reorder)
{
  const Pattern p = tile_pattern(ANYWHERE, 4096, 4096, 1 - sparsity, 7);
  Tiles k(p, {reorder, -1, -1}, SHUNT_F16, SHUNT_I32, 0, false, 8);
  const shunt_device d = this_device();
  if (!k.pack()) exit(3);
  const double us = time_graph([&](cudaStream_t s) {
    if (shunt_csr_to_tile_cuda(&k.device, &k.layout, &k.on_device, &d, s) != SHUNT_OK) exit(3);
  });
  printf("time conversion 4096 %.2f way %d %.1f us\n", sparsity, reorder, us);
}

int main(int argc, char **argv)
{
  test_same();
  test_many_blocks();
  test_census();
  test_irregular();
  test_declined();
  if (argc > 1 && !strcmp(argv[1], "--time"))
    for (double s : {0.7, 0.8, 0.9, 0.95, 0.98})
      for (int how = 0; how < 4; how++) time_conversion(s, how);
  return finish();
}
