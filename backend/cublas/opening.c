#include "backend/cublas/opening.h"

/* Microseconds, H200, CUDA 13.0, cuBLAS 13.1, cuSPARSE 12.6.3 (tests/bench/opening_costs.c,
   tests/bench/results/first-call.txt). */
static const struct {
  double pool, library, handle, half, single, original;
} cost = {
    .pool = 11e3,     /* its first allocation */
    .library = 67e3,  /* cuBLASLt from the file, */
    .handle = 1e3,    /* and where the program has it already */
    .half = 125e3,    /* its first answer for f16, bf16, */
    .single = 2e3,    /* and f32 */
    .original = 12e3, /* cuSPARSE's first product, beyond what ours takes */
};

static int64_t ns_of(double us)
{
  return (int64_t)(us < 1e12 ? us * 1e3 : 1e15);
}

void shunt_openings_start(struct shunt_openings *o, bool library_there)
{
  atomic_store(&o->open, 0);
  atomic_store(&o->claimed, 0);
  atomic_store(&o->library_there, library_there);
  atomic_store(&o->original_ran, false);
  atomic_store(&o->saved, ns_of(cost.original));
  for (int i = 0; i < SHUNT_OPENINGS; i++) atomic_store(&o->missed[i], 0);
}

enum shunt_opening shunt_opening_of(shunt_type t)
{
  return t == SHUNT_F16 ? SHUNT_OPEN_F16 : t == SHUNT_BF16 ? SHUNT_OPEN_BF16 : SHUNT_OPEN_F32;
}

double shunt_opening_us(const struct shunt_openings *o, enum shunt_opening x)
{
  if (x == SHUNT_OPEN_COPIES) return cost.pool;
  return (atomic_load(&o->library_there) ? cost.handle : cost.library) +
         (x == SHUNT_OPEN_F32 ? cost.single : cost.half);
}

bool shunt_opening_missed(struct shunt_openings *o, enum shunt_opening x, double us, bool captured)
{
  if (!(us > 0)) return false;
  const int64_t now = ns_of(us * (captured ? SHUNT_OPENING_REPLAYS : 1));
  const int64_t missed = atomic_fetch_add(&o->missed[x], now) + now;
  const int64_t enough = ns_of(shunt_opening_us(o, x));
  if (missed < enough && atomic_load(&o->saved) < enough) return false;
  return !(atomic_fetch_or(&o->claimed, shunt_opening_bit(x)) & shunt_opening_bit(x));
}

void shunt_opening_opened(struct shunt_openings *o, enum shunt_opening x)
{
  const uint32_t bit = shunt_opening_bit(x);
  const int64_t paid = ns_of(shunt_opening_us(o, x));
  atomic_fetch_or(&o->claimed, bit);
  if (atomic_fetch_or(&o->open, bit) & bit) return;
  atomic_fetch_sub(&o->saved, paid);
  if (x != SHUNT_OPEN_COPIES) atomic_store(&o->library_there, true);
}

void shunt_opening_saved(struct shunt_openings *o, double us)
{
  if (us > 0) atomic_fetch_add(&o->saved, ns_of(us));
}

void shunt_opening_original(struct shunt_openings *o)
{
  if (!atomic_load_explicit(&o->original_ran, memory_order_relaxed) &&
      !atomic_exchange(&o->original_ran, true))
    atomic_fetch_sub(&o->saved, ns_of(cost.original));
}
