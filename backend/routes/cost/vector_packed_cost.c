/* vector_packed_cost.c: what the kernels of `vector` are expected to take with A packed, and which
   of their shapes takes the least.

   Strips bring all of B to every block; gathering brings what the vectors name.  So strips are for
   many vectors, and want A in the WINDOWED order.  */
#include <math.h>

#include "backend/routes/cost/cost_forms.h"

static const struct shunt_vector_packed_costs *of(const struct shunt_machine *m)
{
  return &m->costs->ours.vector_packed;
}

struct size {
  double groups, strips, vectors;
  int64_t n;
};

static struct size size_of(const struct shunt_spmm *p, double vectors)
{
  const int64_t groups = (p->a.rows + SHUNT_VECTOR_ROWS - 1) / SHUNT_VECTOR_ROWS;
  const int64_t strips = (p->a.cols + SHUNT_VECTOR_STRIP - 1) / SHUNT_VECTOR_STRIP;
  const double most = (double)groups * (double)p->a.cols;
  return (struct size){(double)groups, (double)strips, shunt_lesser(vectors, most), p->b.cols};
}

/* What is gathered, what is stored, and the steps that a multiprocessor's warps take one after the
   other.  slots: vectors, and those that are not used.  */
static double single_us(const struct shunt_vector_shape *s, const struct size *z, double slots,
                        const struct shunt_machine *m)
{
  const double slices = 1 << s->log2_slices, n = (double)z->n;
  const double warps = z->groups * ceil(n / s->tile) * slices;
  const double rounds = ceil(warps / ((double)SHUNT_VECTOR_WARPS * m->device.multiprocessors));
  const double steps = ceil(slots / z->groups / SHUNT_VECTOR_STEP / slices) * rounds;
  const double slot = n < SHUNT_COST_VECTOR_ROW
                          ? of(m)->slot * SHUNT_COST_VECTOR_ROW + of(m)->narrow / n
                          : of(m)->slot * n;
  return of(m)->start + of(m)->step * steps + slot * slots +
         of(m)->row * SHUNT_VECTOR_ROWS * z->groups * n;
}

/* With two groups a warp, which gathers once for both. */
static double pairs_us(const struct size *z, const struct shunt_machine *m)
{
  const double tiles = (double)((z->n + 127) / 128);
  return of(m)->pairs_start +
         tiles * (of(m)->pairs_group * z->groups + of(m)->pairs_vector * z->vectors);
}

static double gather_us(const struct shunt_vector_shape *s, const struct size *z, double slots,
                        const struct shunt_machine *m)
{
  return s->pairs ? pairs_us(z, m) : single_us(s, z, slots, m);
}

/* A block starts and stores; a strip takes so long to bring, and so much longer the more vectors it
   has to do with.  */
static double strips_us(const struct shunt_strip_costs *c, const struct size *z, int tile,
                        const struct shunt_machine *m)
{
  const int64_t groups = SHUNT_VECTOR_BLOCK_ROWS / SHUNT_VECTOR_ROWS;
  const int64_t blocks = ((int64_t)z->groups + groups - 1) / groups * ((z->n + tile - 1) / tile);
  const int64_t rounds = (blocks + m->device.multiprocessors - 1) / m->device.multiprocessors;
  const double full = z->vectors / (z->groups * z->strips * SHUNT_VECTOR_STRIP);
  return (double)rounds * (c->start + z->strips * (c->strip + c->full * full));
}

static double half_strips_us(const struct size *z, int tile, const struct shunt_machine *m)
{
  return strips_us(&of(m)->strips[tile == 64], z, tile, m);
}

/* ---- shapes ------------------------------------------------------------------------------- */

static struct shunt_vector_shape best_strips(const struct size *z, const struct shunt_machine *m)
{
  const bool wide = half_strips_us(z, 128, m) <= half_strips_us(z, 64, m);
  return (struct shunt_vector_shape){SHUNT_VECTOR_BLOCK_ROWS, wide ? 128 : 64, 0, 0};
}

/* Strips where they are faster, with a proof behind them, than to gather, with one inside or
   behind. order: the one that A has, or may come to have. */
static struct shunt_vector_shape best_shape(const struct shunt_spmm *p, const struct size *z,
                                            double slots, int height, enum shunt_vector_order order,
                                            const struct shunt_machine *m)
{
  const struct shunt_vector_shape strips = best_strips(z, m);
  const struct shunt_vector_shape gather =
      shunt_vector_packed_spmm_gather(p, z->vectors, height, &m->device);
  const double behind = gather.pairs ? 0 : of(m)->proof_behind;
  return shunt_vector_packed_spmm_fits(&strips, order, &m->device) &&
                 half_strips_us(z, strips.tile, m) + behind < gather_us(&gather, z, slots, m)
             ? strips
             : gather;
}

double shunt_cost_vectors_of(const struct shunt_csr *a, int height)
{
  return (double)a->nnz / (height < 8 ? height : 8);
}

struct shunt_vector_shape shunt_choose_vector_shape(const struct shunt_spmm *p, double vectors,
                                                    int height, const struct shunt_machine *m)
{
  const struct size z = size_of(p, vectors);
  return best_shape(p, &z, z.vectors, height, SHUNT_VECTOR_WINDOWED, m);
}

enum shunt_vector_order shunt_choose_vector_order(const struct shunt_spmm *p, int height,
                                                  const struct shunt_machine *m)
{
  return shunt_choose_vector_shape(p, shunt_cost_vectors_of(&p->a, height), height, m).rows
             ? SHUNT_VECTOR_WINDOWED
             : SHUNT_VECTOR_SEQUENTIAL;
}

struct shunt_vector_shape shunt_choose_vector_shape_of(const struct shunt_spmm *p,
                                                       const struct shunt_vector *v,
                                                       const struct shunt_machine *m)
{
  const struct size z = size_of(p, shunt_cost_vectors_of(&p->a, v->height));
  const double slots = z.vectors + of(m)->unused * z.groups * (double)v->cols;
  return best_shape(p, &z, slots, v->height, v->order, m);
}

double shunt_cost_vector_product(const struct shunt_spmm *p, double vectors, int height,
                                 const struct shunt_machine *m)
{
  const struct size z = size_of(p, vectors);
  const struct shunt_vector_shape s = shunt_choose_vector_shape(p, vectors, height, m);
  return s.rows ? half_strips_us(&z, s.tile, m) : gather_us(&s, &z, z.vectors, m);
}

bool shunt_choose_vector_brief(const struct shunt_spmm *p, const struct shunt_vector *v,
                               const struct shunt_machine *m)
{
  const double vectors = shunt_cost_vectors_of(&p->a, v->height);
  return shunt_cost_vector_product(p, vectors, v->height, m) < of(m)->brief;
}

/* ---- f32 by TF32 ------------------------------------------------------------------------ */

static double tf32_us(const struct shunt_spmm *p, double vectors, int products, int tile,
                      const struct shunt_machine *m)
{
  struct size z = size_of(p, vectors);
  z.vectors = shunt_lesser(vectors, z.groups * z.strips * SHUNT_VECTOR_STRIP);
  return strips_us(&of(m)->tf32[products == 3][tile == 32], &z, tile, m);
}

int shunt_choose_vector_tf32_tile(const struct shunt_spmm *p, double vectors, int products,
                                  const struct shunt_machine *m)
{
  return tf32_us(p, vectors, products, 64, m) <= tf32_us(p, vectors, products, 32, m) ? 64 : 32;
}

double shunt_cost_vector_tf32_product(const struct shunt_spmm *p, double vectors, int products,
                                      const struct shunt_machine *m)
{
  const int tile = shunt_choose_vector_tf32_tile(p, vectors, products, m);
  return tf32_us(p, vectors, products, tile, m);
}

/* ---- proof, packing, ordering ------------------------------------------------------------- */

/* Of a copy with its proof inside the lists are read while what stands before it ends. */
double shunt_cost_vector_packed(const struct shunt_spmm *p, double product, double reuse,
                                double longest_row, enum shunt_proof_place proof,
                                const struct shunt_machine *m)
{
  const struct shunt_cost_walk w = shunt_cost_walk_of(p, reuse, longest_row, m);
  const double us =
      shunt_larger(product, of(m)->longest_start + of(m)->longest * reuse * w.longest);
  switch (proof) {
  case SHUNT_PROOF_NONE: return us;
  case SHUNT_PROOF_INSIDE: return us + shunt_cost_proof_inside(&p->a, m) - of(m)->read_before;
  default: return us + shunt_cost_proof_let_in(&p->a, m);
  }
}

/* Groups of rows of any length: how much longer than the mean list the longest row is, at least. */
double shunt_cost_vector_uneven(const struct shunt_spmm *p, double vectors, double longest_row,
                                const struct shunt_machine *m)
{
  const double mean = vectors / ceil((double)p->a.rows / SHUNT_VECTOR_ROWS);
  const struct shunt_cost_walk w = shunt_cost_walk_of(p, 1, longest_row - mean, m);
  return shunt_larger(of(m)->longest * w.longest, 0);
}

/* A warp takes a group of 8 rows in steps of 64 columns. */
double shunt_cost_vector_packing(const struct shunt_csr *a, const struct shunt_machine *m)
{
  const double warps = m->device.multiprocessors > 0 ? 16.0 * m->device.multiprocessors : 2112;
  return of(m)->pack_start +
         of(m)->pack * ceil((double)a->rows / 8 / warps) * ceil((double)a->cols / 64);
}

/* Each row is compared with up to 8192. */
double shunt_cost_vector_ordering(const struct shunt_csr *a, const struct shunt_machine *m)
{
  const double rows = (double)a->rows, among = shunt_lesser(rows, 8192);
  return of(m)->order_start + of(m)->order * rows * among;
}
