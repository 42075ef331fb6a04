#include "backend/graphblas/gpu/gpu_cut.h"

#include "backend/graphblas/gpu/pipeline/strip.h"

/* Held by column: narrower strips start and end the pipeline sooner; below 128 bytes a row of B
   costs the kernel as much as one of 128, beyond 512 nothing is gained.  */
enum { NARROWEST_BYTES = 128, WIDEST_BYTES = 512, STRIPS_WANTED = 4, GRANULE_BYTES = 16 };
/* Held by row: no gain from wider rows; parts of rows that still are copied well. */
enum { WIDEST_ROW_BYTES = 16384, GOOD_ROW_BYTES = 2048 };
/* A few blocks soon.  More of them as long as one is worth a copy of its own: the less C waits for
   B; where B is there already it waits for nothing, and each costs a launch before the first.  */
enum { LEAST_BLOCK = 256 << 10, FEW_BLOCKS = 8, LEAST_BLOCK_ROWS = 16 };
enum { LARGE_BLOCK = 3 << 19, LARGE_BLOCK_OF_KEPT = 8 << 20 };
/* Without a search for long rows, the kernel takes fewer entries (2^24) and wants rows alike. */
enum { MOST_BLOCK_ENTRIES = 1 << 24, LONG_ROW = 1024, LONG_OF_MEAN = 8 };

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
  return x < low ? low : x > high ? high : x;
}

/* Strips of about `most` columns, all alike but for the last, whole 16-byte pieces. */
static int64_t even_width(int64_t columns, int64_t most, int64_t granule)
{
  if (most >= columns) return columns;
  if (most < granule) most = granule;
  int64_t strips = (columns + most - 1) / most;
  int64_t width = (columns + strips - 1) / strips;
  width = (width + granule - 1) / granule * granule;
  return width <= most ? width : most / granule * granule;
}

/* Blocks of B that the block of C at a place needs. */
static uint64_t needs_of(const struct grb_gpu_chunks *c, int place, int blocks)
{
  const int step = GRB_GPU_CHUNKS / blocks;
  uint64_t chunks = 0, needs = 0;
  for (int i = 0; i < step; i++) chunks |= c->needs[place * step + i];
  for (int j = 0; j < GRB_GPU_CHUNKS; j++) needs |= (chunks >> j & 1) << j / step;
  return needs;
}

static int count_bits(uint64_t x)
{
  return __builtin_popcountll(x);
}

/* Greedy: next the block of C that needs the fewest blocks of B which are not sent yet. */
static void order_blocks(struct grb_gpu_cut *cut, const struct grb_gpu_chunks *c, int blocks)
{
  uint64_t needs[GRB_GPU_CHUNKS], sent = 0, done = 0;
  int count = 0;
  for (int i = 0; i < blocks; i++) needs[i] = needs_of(c, i, blocks);
  for (int i = 0; i < blocks; i++) {
    int best = -1;
    for (int k = 0; k < blocks; k++)
      if (!(done >> k & 1) &&
          (best < 0 || count_bits(needs[k] & ~sent) < count_bits(needs[best] & ~sent)))
        best = k;
    /* All of the strip for its last product: no late piece is to meet the next strip in the ring.
     */
    uint64_t wanted = i == blocks - 1 ? ~(uint64_t)0 : needs[best];
    for (int j = 0; j < blocks; j++)
      if (wanted >> j & 1 && !(sent >> j & 1)) {
        cut->b_order[count++] = (uint8_t)j;
        sent |= (uint64_t)1 << j;
      }
    done |= (uint64_t)1 << best;
    cut->c_order[i] = (uint8_t)best;
    cut->needed[i] = (uint8_t)count;
  }
}

/* Is most of B needed for the first quarter of C? */
static bool scattered(struct grb_gpu_cut *cut, const struct grb_gpu_resident *s)
{
  order_blocks(cut, &s->chunks, GRB_GPU_CHUNKS);
  return cut->needed[GRB_GPU_CHUNKS / 4 - 1] > GRB_GPU_CHUNKS / 8 * 5;
}

static bool by_row(const struct grb_gpu_cut *cut)
{
  return !cut->b_turned && !cut->c_turned;
}

static int64_t favourite_width(struct grb_gpu_cut *cut, const struct grb_gpu_wish *wish,
                               int64_t size)
{
  int64_t columns = wish->last - wish->first;
  if (by_row(cut)) {
    int64_t widest = WIDEST_ROW_BYTES;
    if (cut->b == GRB_GPU_B_HOST && scattered(cut, wish->s))
      widest = clamp(columns * size / STRIPS_WANTED, GOOD_ROW_BYTES, WIDEST_ROW_BYTES);
    return even_width(columns, widest / size, GRANULE_BYTES / size);
  }
  int64_t bytes = clamp(columns * size / STRIPS_WANTED, NARROWEST_BYTES, WIDEST_BYTES);
  return even_width(columns, bytes / size, GRANULE_BYTES / size);
}

/* Blocks so many that none has more entries than the kernel takes. */
static bool few_entries(const struct grb_gpu_chunks *c, int blocks)
{
  const int step = GRB_GPU_CHUNKS / blocks;
  for (int i = 0; i < GRB_GPU_CHUNKS; i += step)
    if (c->begin[i + step] - c->begin[i] >= MOST_BLOCK_ENTRIES) return false;
  return true;
}

static int choose_blocks(const struct grb_gpu_cut *cut, const struct shunt_host_spmm *p,
                         const struct grb_gpu_wish *wish)
{
  const int64_t bytes = cut->b_strip > cut->c_strip ? cut->b_strip : cut->c_strip;
  const int64_t rows = p->s.rows < p->s.cols ? p->s.rows : p->s.cols;
  const int64_t longest = wish->s->longest;
  const int64_t large = cut->b == GRB_GPU_B_HOST ? LARGE_BLOCK : LARGE_BLOCK_OF_KEPT;
  int blocks = 1;
  if (!by_row(cut)) return 1;
  if (longest > LONG_ROW && longest > LONG_OF_MEAN * (p->s.nnz / p->s.rows)) return 1;
  while (blocks < GRB_GPU_CHUNKS && rows >= 2 * blocks * LEAST_BLOCK_ROWS &&
         bytes >= 2 * blocks * (blocks < FEW_BLOCKS ? LEAST_BLOCK : large))
    blocks *= 2;
  return few_entries(&wish->s->chunks, blocks) ? blocks : 1;
}

/* Lays the transient block out. */
static void lay_out(struct grb_gpu_cut *cut, const struct shunt_host_spmm *p,
                    const struct grb_gpu_wish *wish)
{
  const int64_t size = (int64_t)shunt_type_size(p->semiring.type);
  int64_t at = 0;
  cut->strips = (int)((cut->last - cut->first + cut->width - 1) / cut->width);
  cut->b_strip = grb_gpu_round(p->s.cols * cut->width * size);
  cut->c_strip = grb_gpu_round(p->s.rows * cut->width * size);
  cut->blocks = choose_blocks(cut, p, wish);
  order_blocks(cut, &wish->s->chunks, cut->blocks);
  cut->b_ring_strips = cut->blocks > 1 ? GRB_GPU_RING_B - 1 : GRB_GPU_RING_B;
  if (cut->b_ring_strips > cut->strips) cut->b_ring_strips = cut->strips;
  cut->c_ring_blocks = cut->blocks > 2 * GRB_GPU_RING_C ? cut->blocks / 4 : GRB_GPU_RING_C;
  cut->c_block = grb_gpu_round((p->s.rows + cut->blocks - 1) / cut->blocks * cut->width * size);
  bool b_streams = cut->b == GRB_GPU_B_HOST;
  cut->b_ring = b_streams && (cut->b_turned || !cut->keep_b);
  cut->c_ring = cut->c_turned || !cut->keep_c;
  cut->b_ring_at = at;
  if (cut->b_ring) at += cut->b_ring_strips * cut->b_strip;
  cut->c_ring_at = at;
  if (cut->c_ring) at += cut->c_ring_blocks * cut->c_block;
  cut->b_scratch_at = at;
  if (cut->b == GRB_GPU_B_CONSTANT || (b_streams && cut->b_turned && !cut->keep_b))
    at += cut->b_strip;
  cut->c_scratch_at = at;
  if (cut->c_turned && !cut->keep_c) at += cut->c_strip;
  cut->workspace_at = at;
  cut->block_bytes = at + grb_gpu_round((int64_t)wish->workspace(p, cut->width, wish->context));
}

static int64_t all_bytes(const struct grb_gpu_cut *cut)
{
  return cut->block_bytes + (cut->keep_b ? cut->strips * cut->b_strip : 0) +
         (cut->keep_c ? cut->strips * cut->c_strip : 0);
}

bool grb_gpu_cut_make(struct grb_gpu_cut *cut, const struct shunt_host_spmm *p,
                      const struct grb_gpu_wish *wish)
{
  const int64_t size = (int64_t)shunt_type_size(p->semiring.type);
  const int64_t granule = GRANULE_BYTES / size, columns = wish->last - wish->first;
  const bool can_keep_b = wish->may_keep_b && wish->b == GRB_GPU_B_HOST;
  *cut = (struct grb_gpu_cut){.first = wish->first,
                              .last = wish->last,
                              .b = wish->b,
                              .b_turned = grb_gpu_by_column(&p->b),
                              .c_turned = grb_gpu_by_column(&p->c)};
  cut->width =
      wish->b == GRB_GPU_B_RESIDENT ? wish->resident_width : favourite_width(cut, wish, size);
  /* C before B: a chain of products needs its results again, and has read B for the last time. */
  for (int what = 3; what >= 0; what--) {
    cut->keep_c = what & 2;
    cut->keep_b = what & 1;
    if ((cut->keep_c && !wish->may_keep_c) || (cut->keep_b && !can_keep_b)) continue;
    lay_out(cut, p, wish);
    if (all_bytes(cut) <= wish->available) return true;
  }
  if (wish->b == GRB_GPU_B_RESIDENT) return false;
  /* Strips by row are better wide; the others are narrow anyway. */
  while (cut->width > granule) {
    int64_t less = by_row(cut) ? cut->width * 7 / 8 / granule * granule : cut->width / 2;
    cut->width = even_width(columns, less > granule ? less : granule, granule);
    lay_out(cut, p, wish);
    if (all_bytes(cut) <= wish->available) return true;
  }
  return false;
}
