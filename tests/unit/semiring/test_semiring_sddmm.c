/* test_semiring_sddmm.c: the host engine's sampled product against its twin, over random shapes,
   types, semirings and layouts, with every instruction set of this machine.

     test_semiring_sddmm [cases per instruction set]  */
#include "kernels/semiring/semiring_choice.h"
#include "tests/unit/check.h"
#include "tests/unit/semiring/semiring_random.h"

static struct shunt_host_sddmm random_product(void)
{
  struct shunt_host_sddmm p = {.semiring = random_semiring()};
  const shunt_type t = p.semiring.type;
  const int64_t m = random_size(), n = random_size(), k = random_size() + one_in(2);
  const bool special = one_in(3);

  p.pattern = random_sparse(t, m, n, false);
  p.u = random_full(t, m, k > 0 ? k : 1, special, true, false);
  p.v = random_full(t, k > 0 ? k : 1, n, special, true, false);
  p.threads = 1 + (int)random_below(4);
  return p;
}

static void free_product(struct shunt_host_sddmm *p)
{
  free_sparse(&p->pattern);
  free_full(&p->u);
  free_full(&p->v);
}

static void *magnitude_of(const struct shunt_host_sddmm *p)
{
  const shunt_type t = p->semiring.type;
  struct shunt_host_sddmm q = *p;
  q.u.values = magnitudes(t, p->u.values, full_elements(&p->u));
  q.v.values = magnitudes(t, p->v.values, full_elements(&p->v));
  q.out = allocate((size_t)p->pattern.nnz * shunt_type_size(t));
  shunt_host_sddmm_twin(&q);
  free(q.u.values);
  free(q.v.values);
  return q.out;
}

static bool agrees(const struct shunt_host_sddmm *p, const void *got, const void *want)
{
  const shunt_type t = p->semiring.type;
  void *magnitude = rounds(&p->semiring) ? magnitude_of(p) : NULL;
  bool good = true;
  for (int64_t q = 0; q < p->pattern.nnz && good; q++)
    good = magnitude ? near(t, got, want, magnitude, q, p->u.cols) : same_element(t, got, want, q);
  free(magnitude);
  return good;
}

static bool holds(const struct shunt_host_sddmm *p)
{
  const size_t bytes = (size_t)p->pattern.nnz * shunt_type_size(p->semiring.type);
  struct shunt_host_sddmm twin = *p, fast = *p, again = *p;
  twin.out = allocate(bytes);
  fast.out = allocate(bytes);
  again.out = allocate(bytes);
  again.threads = 1 + (int)random_below(4);

  bool good = shunt_host_sddmm_twin(&twin) == SHUNT_OK;
  if (semiring_built(&p->semiring)) {
    good = good && shunt_host_sddmm(&fast) == SHUNT_OK && agrees(p, fast.out, twin.out);
    good = good && shunt_host_sddmm(&again) == SHUNT_OK && memcmp(fast.out, again.out, bytes) == 0;
  } else {
    good = good && shunt_host_sddmm(&fast) == SHUNT_E_UNSUPPORTED;
  }
  free(twin.out);
  free(fast.out);
  free(again.out);
  return good;
}

static void describe(const struct shunt_host_sddmm *p)
{
  printf(
      "# monoid %d multiplier %d type %d; pattern %lld x %lld, %lld entries, by %s%s; depth %lld; "
      "U strides %lld %lld%s; V strides %lld %lld%s; %d threads\n",
      p->semiring.monoid, p->semiring.multiplier, p->semiring.type, (long long)p->pattern.rows,
      (long long)p->pattern.cols, (long long)p->pattern.nnz,
      p->pattern.by_column ? "column" : "row", p->pattern.ids ? ", hyper" : "",
      (long long)p->u.cols, (long long)p->u.row_stride, (long long)p->u.col_stride,
      p->u.iso ? ", iso" : "", (long long)p->v.row_stride, (long long)p->v.col_stride,
      p->v.iso ? ", iso" : "", p->threads);
}

static void test_random(int level, int64_t cases)
{
  int64_t bad = 0;
  for (int64_t i = 0; i < cases; i++) {
    struct shunt_host_sddmm p = random_product();
    if (!holds(&p) && bad++ < 3) describe(&p);
    free_product(&p);
  }
  check(bad == 0, "instruction set %d: %lld of %lld random products are right", level,
        (long long)(cases - bad), (long long)cases);
}

/*        | 1 2 |        | 5 7 |        | x . |      x = 1*5 + 2*6 = 17
      U = | 3 4 |    V = | 6 8 |    P = | x x |      3*5 + 4*6 = 39, 3*7 + 4*8 = 53   */
static const int32_t hand_offsets[] = {0, 1, 3}, hand_indices[] = {0, 1, 0};
static int32_t hand_u[] = {1, 2, 3, 4}, hand_v[] = {5, 7, 6, 8};

static struct shunt_host_sddmm by_hand(int32_t *out)
{
  return (struct shunt_host_sddmm){
      .semiring = {SHUNT_PLUS, SHUNT_TIMES, SHUNT_I32, false},
      .pattern = {.rows = 2,
                  .cols = 2,
                  .vectors = 2,
                  .nnz = 3,
                  .offsets = hand_offsets,
                  .indices = hand_indices,
                  .offset_bytes = 4,
                  .index_bytes = 4},
      .u = {.rows = 2, .cols = 2, .row_stride = 2, .col_stride = 1, .values = hand_u},
      .v = {.rows = 2, .cols = 2, .row_stride = 2, .col_stride = 1, .values = hand_v},
      .out = out,
      .threads = 1,
  };
}

static void test_twin(void)
{
  int32_t out[3];
  struct shunt_host_sddmm p = by_hand(out);
  check(shunt_host_sddmm_twin(&p) == SHUNT_OK &&
            memcmp(out, (int32_t[]){17, 53, 39}, sizeof out) == 0,
        "twin by hand: PLUS_TIMES, in the order of the pattern");
  p.semiring.monoid = SHUNT_MIN;
  p.semiring.multiplier = SHUNT_ADD;
  check(shunt_host_sddmm_twin(&p) == SHUNT_OK &&
            memcmp(out, (int32_t[]){6, 10, 8}, sizeof out) == 0,
        "twin by hand: MIN_PLUS");
  p.pattern.by_column = true; /* the entries are now (0,0), (1,1), (0,1) */
  p.semiring.monoid = SHUNT_MAX;
  p.semiring.multiplier = SHUNT_FIRST;
  check(shunt_host_sddmm_twin(&p) == SHUNT_OK && memcmp(out, (int32_t[]){2, 4, 2}, sizeof out) == 0,
        "twin by hand: MAX_FIRST, by column");
}

static shunt_status both(const struct shunt_host_sddmm *p)
{
  const shunt_status status = shunt_host_sddmm(p);
  return shunt_host_sddmm_twin(p) == status ? status : SHUNT_E_WRITTEN;
}

static void test_failures(void)
{
  int32_t out[3];
  int8_t present[4] = {1, 1, 1, 1};
  const struct shunt_host_sddmm good = by_hand(out);
  struct shunt_host_sddmm p = good;
  check(both(&p) == SHUNT_OK, "a product that fails in no way");
  p.u.present = present;
  check(both(&p) == SHUNT_E_ARGUMENT, "an operand with missing elements");
  p = good, p.u.cols = p.v.rows = 0;
  check(both(&p) == SHUNT_E_ARGUMENT, "sums of nothing");
  p = good, p.v.rows = 3;
  check(both(&p) == SHUNT_E_ARGUMENT, "shapes that do not fit");
  p = good, p.semiring.type = SHUNT_I8;
  check(both(&p) == SHUNT_E_UNSUPPORTED, "a type that is not built");
  p = good, p.u.rows = p.pattern.rows = p.u.col_stride = (int64_t)1 << 50, p.u.row_stride = 1;
  p.pattern.ids = hand_indices, p.pattern.id_bytes = 4;
  check(shunt_host_sddmm(&p) == SHUNT_E_MEMORY, "no memory for the transposed U");
}

int main(int argc, char **argv)
{
  const int64_t cases = argc > 1 ? atoll(argv[1]) : 3000;
  test_twin();
  for (int level = 0; shunt_semiring_limit(level) == level && level < 3; level++)
    test_random(level, cases);
  test_failures();
  return check_finish();
}
