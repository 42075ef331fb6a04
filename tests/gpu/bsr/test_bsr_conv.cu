// test_bsr_conv.cu: BSR and Blocked-ELL become on the device the CSR that their host twins make;
// whatever their offsets and columns are, nothing beside its arrays is written.
#include "conv/bsr/bsr_conv.h"
#include "tests/gpu/common/harness.cuh"

using namespace harness;

// Blocks of a grid, in both formats; `broken`: some offsets and columns mean nothing.
struct Grid {
  int64_t down, across, block, wide = 1;
  shunt_type index, value;
  int base;
  Buffer offsets, columns, values, ell_columns, ell_values, scratch;
  shunt_bsr bsr[2]; // host, device
  shunt_blocked_ell ell[2];

  Grid(int64_t down_, int64_t across_, int64_t block_, double density, shunt_type index_,
       shunt_type value_, int base_, bool broken, uint64_t seed)
      : down(down_), across(across_), block(block_), index(index_), value(value_), base(base_),
        offsets((down + 1) * 8), columns(down * across * 8 + 8),
        values(down * across * block * block * 8), ell_columns(down * (across + 1) * 8),
        ell_values(down * block * (across + 1) * block * 8), scratch(1 << 20)
  {
    Random r(seed);
    int64_t blocks = 0;
    wide = across + 1;
    store(offsets.host.data(), 0, index, base);
    for (int64_t i = 0; i < down; i++) {
      for (int64_t j = 0; j <= across; j++) {
        const bool there = j < across && r.uniform() < density;
        store(ell_columns.host.data(), i * wide + j, index, there ? (double)(j + base) : -1);
        if (there) store(columns.host.data(), blocks++, index, (double)(j + base));
      }
      store(offsets.host.data(), i + 1, index, (double)(blocks + base));
    }
    if (broken) {
      store(offsets.host.data(), down / 2, index, (double)(1 << 30));
      store(offsets.host.data(), down / 3, index, -7);
      if (blocks) store(columns.host.data(), blocks / 2, index, (double)(1 << 20));
      store(ell_columns.host.data(), 0, index, (double)(1 << 20));
    }
    for (Buffer *x : {&values, &ell_values})
      for (char &byte : x->host)
        byte = (char)r.next();
    for (Buffer *x : {&offsets, &columns, &values, &ell_columns, &ell_values})
      x->upload();
    for (int d = 0; d < 2; d++) {
      const auto of = [&](Buffer &x) { return d ? x.device : (void *)x.host.data(); };
      bsr[d] = {down * block, across * block, blocks, block, of(offsets),    of(columns),
                of(values),   index,          value,  base,  (int)r.below(1)};
      ell[d] = {down * block,   across * block, block, wide * block, of(ell_columns),
                of(ell_values), index,          value, base};
    }
    bsr[0].column_major = bsr[1].column_major = (int)r.below(2);
  }
};

// Room for a CSR on both sides.
struct Room {
  Buffer offsets, columns, values;
  shunt_csr host, device;

  explicit Room(const shunt_csr &sizes)
      : offsets((sizes.rows + 1) * shunt_type_size(sizes.index_type) + 64),
        columns(sizes.nnz * shunt_type_size(sizes.index_type) + 64),
        values(sizes.nnz * shunt_type_size(sizes.value_type) + 64), host(sizes), device(sizes)
  {
    for (Buffer *x : {&offsets, &columns, &values}) {
      memset(x->host.data(), 0xee, x->host.size());
      x->upload();
    }
    host.row_offsets = offsets.host.data(), device.row_offsets = offsets.device;
    host.columns = columns.host.data(), device.columns = columns.device;
    host.values = values.host.data(), device.values = values.device;
  }
  // Offsets agree; columns and values do, or at least what stands behind them.
  bool same(bool broken)
  {
    bool good = true;
    CUDA_OK(cudaDeviceSynchronize());
    for (Buffer *x : {&offsets, &columns, &values}) {
      const std::vector<char> twin = x->host;
      const size_t from = broken && x != &offsets ? twin.size() - 64 : 0;
      x->download();
      good = good && !memcmp(twin.data() + from, x->host.data() + from, twin.size() - from);
    }
    return good;
  }
};

// Broken block rows of BSR overlap, and which of them is written last is open.
static bool agree(Grid &g, bool broken)
{
  const shunt_device d = this_device();
  Room bsr(shunt_bsr_sizes(&g.bsr[0])), ell(shunt_blocked_ell_sizes(&g.ell[0]));
  bool good =
      shunt_bsr_to_csr_host(&g.bsr[0], &bsr.host) == SHUNT_OK &&
      shunt_bsr_to_csr_cuda(&g.bsr[1], &bsr.device, &d, 0) == SHUNT_OK &&
      shunt_blocked_ell_to_csr_host(&g.ell[0], &ell.host) == SHUNT_OK &&
      shunt_blocked_ell_to_csr_cuda(&g.ell[1], &ell.device, g.scratch.device,
                                    shunt_blocked_ell_scratch_bytes(&g.ell[1]), &d, 0) == SHUNT_OK;
  const bool same = bsr.same(broken);
  return ell.same(false) && same && good;
}

static void test_same(bool broken)
{
  static const shunt_type types[] = {SHUNT_F16, SHUNT_I8, SHUNT_F32, SHUNT_F64};
  Random r(20261122);
  for (int64_t block : {1, 2, 3, 8, 16}) {
    bool good = true;
    for (shunt_type t : types)
      for (double density : {0.0, 0.2, 1.0})
        for (int64_t down : {1, 9}) {
          Grid g(down, 1 + r.below(70), block, density, r.below(2) ? SHUNT_I64 : SHUNT_I32, t,
                 (int)r.below(2), broken, r.next());
          good = agree(g, broken) && good;
        }
    check(good, "blocks of %lld%s", (long long)block,
          broken ? ", offsets and columns broken: nothing beside the CSR is written"
                 : ": device and host write the same CSR");
  }
}

static void test_declined()
{
  const shunt_device d = this_device();
  Grid g(4, 5, 8, 0.5, SHUNT_I32, SHUNT_F16, 0, false, 3);
  Room room(shunt_blocked_ell_sizes(&g.ell[0]));
  check(shunt_blocked_ell_to_csr_cuda(&g.ell[1], &room.device, g.scratch.device,
                                      shunt_blocked_ell_scratch_bytes(&g.ell[1]) - 1, &d,
                                      0) == SHUNT_E_WORKSPACE,
        "scratch that is too small is declined");
  room.device.nnz++;
  check(shunt_blocked_ell_to_csr_cuda(&g.ell[1], &room.device, g.scratch.device, 1 << 20, &d, 0) ==
            SHUNT_E_ARGUMENT,
        "so are other sizes");
  g.bsr[1].block = 3;
  check(shunt_bsr_to_csr_cuda(&g.bsr[1], &room.device, &d, 0) == SHUNT_E_UNSUPPORTED,
        "and rows that are no multiple of a block");
}

int main()
{
  test_same(false);
  test_same(true);
  test_declined();
  return finish();
}
