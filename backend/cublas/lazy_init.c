#include "backend/cublas/lazy_init.h"

/* Microseconds, H200, CUDA 13.0, cuBLAS 13.1, cuSPARSE 12.6.3 (tests/bench/opening_costs.c,
   tests/bench/results/first-call.txt). */
static const struct {
  double pool, library, handle, answer, loaded, original;
} cost = {
    .pool = 11e3,     /* its first allocation */
    .library = 67e3,  /* cuBLASLt from its file, */
    .handle = 2.3e3,  /* its handle, */
    .answer = 135e3,  /* and its first answer and product for a type: code is loaded */
    .loaded = 0.5,    /* share of that where the program has cuBLASLt: it has mostly used it, too,
                         and then no code is left to be loaded (0.3 ms) */
    .original = 14e3, /* cuSPARSE's first product, beyond what Shunt's takes */
};

static int64_t ns_of(double us)
{
  return (int64_t)(us < 1e12 ? us * 1e3 : 1e15);
}

void shunt_lazy_start(struct shunt_lazy_init *o, bool library_there)
{
  atomic_store(&o->ready, 0);
  atomic_store(&o->claimed, 0);
  atomic_store(&o->library_there, library_there);
  atomic_store(&o->original_ran, false);
  for (int i = 0; i < SHUNT_LAZY_PARTS; i++) atomic_store(&o->missed[i], 0);
}

enum shunt_lazy_part shunt_lazy_gemm(shunt_type t, bool into_f32)
{
  switch (t) {
  case SHUNT_F16: return into_f32 ? SHUNT_LAZY_F16_F32 : SHUNT_LAZY_F16;
  case SHUNT_BF16: return into_f32 ? SHUNT_LAZY_BF16_F32 : SHUNT_LAZY_BF16;
  case SHUNT_F64: return SHUNT_LAZY_F64;
  case SHUNT_C32: return SHUNT_LAZY_C32;
  case SHUNT_C64: return SHUNT_LAZY_C64;
  default: return SHUNT_LAZY_F32;
  }
}

double shunt_lazy_us(const struct shunt_lazy_init *o, enum shunt_lazy_part x)
{
  if (x == SHUNT_LAZY_COPIES)
    return cost.pool - (atomic_load(&o->original_ran) ? 0 : cost.original);
  return cost.handle +
         (atomic_load(&o->library_there) ? cost.loaded * cost.answer : cost.library + cost.answer);
}

bool shunt_lazy_missed(struct shunt_lazy_init *o, enum shunt_lazy_part x, double us, bool captured)
{
  if (!(us > 0)) return false;
  const int64_t now = ns_of(us * (captured ? SHUNT_LAZY_REPLAYS : 1));
  const int64_t missed = atomic_fetch_add(&o->missed[x], now) + now;
  if (missed < ns_of(shunt_lazy_us(o, x))) return false;
  return !(atomic_fetch_or(&o->claimed, shunt_lazy_bit(x)) & shunt_lazy_bit(x));
}

void shunt_lazy_done(struct shunt_lazy_init *o, enum shunt_lazy_part x)
{
  atomic_fetch_or(&o->claimed, shunt_lazy_bit(x));
  if (x != SHUNT_LAZY_COPIES) atomic_store(&o->library_there, true);
  atomic_fetch_or_explicit(&o->ready, shunt_lazy_bit(x), memory_order_release);
}
