/* test_semiring_masked_memory.c: the masked product without memory.  Every allocation that it makes
   is refused in turn, on one thread and on several: it must say SHUNT_E_MEMORY and hand out no
   work, or do without, and have freed what it had.  Linked with --wrap for malloc, calloc,
   aligned_alloc and free.  */
#include "kernels/semiring/masked/masked.h"
#include "kernels/semiring/semiring_scratch.h"
#include "tests/unit/check.h"
#include "tests/unit/semiring/refused_memory.h"
#include "tests/unit/semiring/semiring_random.h"

static void refuse_from_here(long n)
{
  atomic_store(&asked, 0);
  refused = n;
}

/* Leaves the smallest block to the next call, which has to ask for a larger one then. */
static void drop_scratch(void)
{
  const struct shunt_scratch kept = shunt_scratch_take(1), small = shunt_scratch_take(1);
  shunt_scratch_give(kept);
  shunt_scratch_give(small);
}

/* ---- products ------------------------------------------------------------------------------- */

enum { NODES = 96 };

/* A band around the diagonal: symmetric, every row ascending. */
static struct shunt_sparse band(shunt_type t, int width)
{
  struct shunt_sparse s = {
      .rows = NODES, .cols = NODES, .vectors = NODES, .offset_bytes = 8, .index_bytes = 8};
  int64_t *offsets = allocate((NODES + 1) * sizeof *offsets);
  int64_t *indices = allocate(NODES * NODES * sizeof *indices);
  for (int64_t i = 0; i < NODES; i++) {
    offsets[i] = s.nnz;
    for (int64_t j = 0; j < NODES; j++)
      if (llabs(i - j) <= width) indices[s.nnz++] = j;
  }
  offsets[NODES] = s.nnz;
  s.offsets = offsets;
  s.indices = indices;
  s.values = random_elements(t, false, s.nnz);
  return s;
}

static int64_t *every_row(void)
{
  int64_t *ids = allocate(NODES * sizeof *ids);
  for (int64_t i = 0; i < NODES; i++) ids[i] = i;
  return ids;
}

/* One product with the n-th allocation refused; 0: none.  Sets *reached if there was an n-th.  What
   is computed all the same (a product whose symmetry could not be proved) has its entries.  */
static bool attempt(const struct shunt_masked_dot *p, long n, uint64_t *entries, bool *reached)
{
  uint64_t offsets[NODES + 1];
  struct shunt_masked_dot_work *work = NULL;
  drop_scratch();
  const long before = atomic_load(&held);
  refuse_from_here(n);
  const shunt_status status = shunt_masked_dot_begin(p, offsets, &work);
  *reached = n && atomic_load(&asked) >= n;
  refuse_from_here(0);
  bool good = status == SHUNT_OK || (*reached && status == SHUNT_E_MEMORY && !work);
  if (status == SHUNT_OK) {
    shunt_masked_dot_finish(work, NULL, NULL);
    if (!n) *entries = offsets[NODES];
    good = offsets[NODES] == *entries;
  }
  drop_scratch();
  return good && atomic_load(&held) == before;
}

static void test_product(const char *what, const struct shunt_masked_dot *p)
{
  uint64_t entries = 0;
  bool reached, good = attempt(p, 0, &entries, &reached);
  long n = 0;
  do good = good && attempt(p, ++n, &entries, &reached);
  while (good && reached);
  check(good && n > 2 && entries > 0, "%s: %ld allocations refused in turn", what, n - 1);
}

/* They live until the test ends. */
static struct shunt_sparse s, narrow, column, hyper;

int main(void)
{
  s = hyper = band(SHUNT_F64, 60);
  narrow = column = band(SHUNT_F64, 7);
  column.by_column = true;
  hyper.ids = every_row();
  hyper.id_bytes = 8;
  for (int threads = 1; threads <= 4; threads += 3) {
    const struct shunt_semiring times = {SHUNT_PLUS, SHUNT_TIMES, SHUNT_F64, false};
    const struct shunt_semiring pair = {SHUNT_PLUS, SHUNT_PAIR, SHUNT_F64, false};
    check(s.nnz * 16 > 3 << 15, "large enough for four threads");
    test_product("counts, symmetric", &(struct shunt_masked_dot){pair, s, s, s, threads, false});
    test_product("values, symmetric", &(struct shunt_masked_dot){times, s, s, s, threads, false});
    test_product("values", &(struct shunt_masked_dot){times, s, s, narrow, threads, false});
    test_product("B transposed", &(struct shunt_masked_dot){times, s, s, column, threads, false});
    test_product("A transposed", &(struct shunt_masked_dot){pair, s, column, s, threads, false});
    test_product("hypersparse",
                 &(struct shunt_masked_dot){times, hyper, hyper, narrow, threads, false});
    test_product("saxpy, counts", &(struct shunt_masked_dot){pair, s, s, column, threads, true});
    test_product("saxpy", &(struct shunt_masked_dot){times, s, column, s, threads, true});
  }
  return check_finish();
}
