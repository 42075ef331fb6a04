#include "backend/graphblas/gpu/pipeline/units.h"

/* ---- sizes ----------------------------------------------------------------------------------- */

size_t grb_gpu_element(const struct grb_gpu_run *r)
{
  return shunt_type_size(r->p->semiring.type);
}

int64_t grb_gpu_strip_columns(const struct grb_gpu_run *r, int s)
{
  return grb_gpu_strip_last(&r->cut, s) - grb_gpu_strip_first(&r->cut, s);
}

struct grb_gpu_strip grb_gpu_host_strip(const struct grb_gpu_run *r, const struct shunt_full *m,
                                        int s)
{
  return grb_gpu_strip(m, grb_gpu_strip_first(&r->cut, s), grb_gpu_strip_last(&r->cut, s),
                       grb_gpu_element(r));
}

int grb_gpu_strip_of(const struct grb_gpu_run *r, int unit)
{
  return unit / r->cut.blocks;
}

int64_t grb_gpu_unit_row(const struct grb_gpu_run *r, bool of_b, int unit, int end)
{
  const int i = unit % r->cut.blocks;
  return grb_gpu_block_first(&r->cut, of_b ? r->p->s.cols : r->p->s.rows,
                             (of_b ? r->cut.b_order[i] : r->cut.c_order[i]) + end);
}

int64_t grb_gpu_unit_first(const struct grb_gpu_run *r, bool of_b, int unit)
{
  return grb_gpu_unit_row(r, of_b, unit, 0) * grb_gpu_strip_columns(r, grb_gpu_strip_of(r, unit));
}

int64_t grb_gpu_unit_last(const struct grb_gpu_run *r, bool of_b, int unit)
{
  return grb_gpu_unit_row(r, of_b, unit, 1) * grb_gpu_strip_columns(r, grb_gpu_strip_of(r, unit));
}

int64_t grb_gpu_piece(const struct grb_gpu_run *r, bool of_b, int unit)
{
  enum { LINE = 64, SMALLEST = 256 << 10, GROWTH = 16 };
  const int64_t size = (int64_t)grb_gpu_element(r);
  const int64_t bytes =
      (grb_gpu_unit_last(r, of_b, unit) - grb_gpu_unit_first(r, of_b, unit)) * size;
  if (bytes > 0 && (of_b ? r->b_pinned : r->c_pinned)) return bytes / size;
  const int64_t bytes_beyond = bytes * (of_b ? unit : r->units - 1 - unit);
  /* In the time that the bus takes for a byte a thread copies a seventh to a quarter. */
  const int64_t ramp = SMALLEST + bytes_beyond / GROWTH;
  const int64_t most = ramp < GRB_GPU_SLOT_BYTES ? ramp : GRB_GPU_SLOT_BYTES;
  const int64_t pieces = bytes > most ? (bytes + most - 1) / most : 1;
  return pieces == 1 ? most / size
                     : ((bytes + pieces - 1) / pieces + LINE - 1) / LINE * LINE / size;
}

int64_t grb_gpu_unit_pieces(const struct grb_gpu_run *r, bool of_b, int unit)
{
  const int64_t most = grb_gpu_piece(r, of_b, unit);
  return (grb_gpu_unit_last(r, of_b, unit) - grb_gpu_unit_first(r, of_b, unit) + most - 1) / most;
}

int grb_gpu_units_needed(const struct grb_gpu_run *r, int unit)
{
  const int i = unit % r->cut.blocks;
  return r->cut.b == GRB_GPU_B_HOST ? unit - i + r->cut.needed[i] : 0;
}

/* ---- where strips are on the device ---------------------------------------------------------- */

char *grb_gpu_b_as_sent(const struct grb_gpu_run *r, int s)
{
  if (!r->cut.b_ring) return r->b + s * r->cut.b_strip;
  return r->block + r->cut.b_ring_at + s % r->cut.b_ring_strips * r->cut.b_strip;
}

static char *c_kept(const struct grb_gpu_run *r, int unit)
{
  return r->c + grb_gpu_strip_of(r, unit) * r->cut.c_strip +
         grb_gpu_unit_first(r, false, unit) * (int64_t)grb_gpu_element(r);
}

char *grb_gpu_c_as_fetched(const struct grb_gpu_run *r, int unit)
{
  if (!r->cut.c_ring) return c_kept(r, unit);
  return r->block + r->cut.c_ring_at + unit % r->cut.c_ring_blocks * r->cut.c_block;
}

char *grb_gpu_b_row_major(const struct grb_gpu_run *r, int s)
{
  if (r->cut.b == GRB_GPU_B_CONSTANT) return r->block + r->cut.b_scratch_at;
  if (r->b) return r->b + s * r->cut.b_strip;
  return r->cut.b_turned ? r->block + r->cut.b_scratch_at : grb_gpu_b_as_sent(r, s);
}

char *grb_gpu_c_row_major(const struct grb_gpu_run *r, int unit)
{
  if (r->c) return c_kept(r, unit);
  return r->cut.c_turned ? r->block + r->cut.c_scratch_at : grb_gpu_c_as_fetched(r, unit);
}
