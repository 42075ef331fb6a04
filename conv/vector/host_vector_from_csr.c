/* host_vector_from_csr.c: CSR to the `vector` format and back, on the host: the slow twin of
   vector_from_csr.cu.  Values are moved, never computed with.

   A group is packed half a strip, 64 columns, at a time.  The vectors of the last 8 halves
   stand, by column modulo 512, in a ring; which of them wait to be put into a step is kept in 8
   words, one for each residue modulo 8, the oldest half in the lowest byte:

     waiting[c % 8]   bit   0 .. 7     8 .. 15   ...   56 .. 63
                      half  p - 7      p - 6           p
     bit b stands for column ((p - 7 + b / 8) * 8 + b % 8) * 8 + residue

   Steps are made when a strip is whole.  */
#include <string.h>

#include "conv/common/index.h"
#include "conv/vector/vector_conv.h"
#include "kernels/common/alignment.h"

enum {
  RESIDUES = 8,
  HALF = SHUNT_VECTOR_STRIP / 2, /* columns */
  HALVES = SHUNT_VECTOR_WINDOW / HALF
};

/* Values are bits: of 2 or 4 bytes. */
static uint32_t value_at(const void *values, shunt_type type, int64_t i)
{
  return type == SHUNT_F32 ? ((const uint32_t *)values)[i] : ((const uint16_t *)values)[i];
}

static void set_value(void *values, shunt_type type, int64_t i, uint32_t value)
{
  if (type == SHUNT_F32)
    ((uint32_t *)values)[i] = value;
  else
    ((uint16_t *)values)[i] = (uint16_t)value;
}

/* ---- sizes -------------------------------------------------------------------- */

static int can_be_packed(const struct shunt_csr *a, const struct shunt_vector_layout *layout)
{
  if (a->value_type != SHUNT_F16 && a->value_type != SHUNT_BF16 && a->value_type != SHUNT_F32)
    return 0;
  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return 0;
  if (a->rows < 1 || a->cols < 1 || a->rows > INT32_MAX - 64 || a->cols > INT32_MAX - 1024)
    return 0;
  return layout->height == 16 || layout->height == 8 || layout->height == 4 ||
         layout->height == 2 || layout->height == 1;
}

struct shunt_vector_room shunt_vector_room(const struct shunt_csr *a,
                                           const struct shunt_vector_layout *layout)
{
  struct shunt_vector_room r = {0};
  int64_t groups = (a->rows + SHUNT_VECTOR_ROWS - 1) / SHUNT_VECTOR_ROWS;
  int64_t last = a->cols / SHUNT_VECTOR_STEP + 1;
  int height = layout->height < SHUNT_VECTOR_ROWS ? layout->height : SHUNT_VECTOR_ROWS;

  if (!can_be_packed(a, layout)) return r;
  r.multiplier = 2;
  r.slack = 1;
  if (layout->order == SHUNT_VECTOR_WINDOWED) {
    r.multiplier = 3;
    r.slack = a->cols / (SHUNT_VECTOR_WINDOW - SHUNT_VECTOR_STRIP) + 4;
    last += last / 2 + r.slack;
  }
  r.divisor = 2 * SHUNT_VECTOR_STEP * height;
  if (a->nnz > INT64_MAX / 4) return r;
  r.steps = a->nnz * r.multiplier / r.divisor + groups * r.slack + last;
  if (r.steps > INT32_MAX / 16) r.steps = 0;
  return r;
}

/* Do eights, known to be whole, come in equal pairs?  Then blocks of 16 rows have as many columns
   as a row, and else nearly twice as many; a block's last tile is half empty.  */
static int are_sixteens(const struct shunt_profile *f)
{
  double row = (double)f->nnz / (double)(f->rows - f->empty_rows), columns;

  if (f->merged_blocks == 0 || f->merged_tiles == 0 || f->cols > SHUNT_PROFILE_MODULUS) return 0;
  columns = 32 * (double)f->merged_tiles / (double)f->merged_blocks - 16;
  return row >= 64 && columns < 1.25 * row * (1 - (double)f->empty_rows / (double)f->rows);
}

int shunt_vector_profiled_height(const struct shunt_profile *f, double whole)
{
  for (int v = 0; v < 3; v++)
    if (f->groups_nonempty[v] &&
        (double)f->groups_equal[v] >= whole * (double)f->groups_nonempty[v])
      return v == 0 && are_sixteens(f) ? 16 : 8 >> v;
  return 1;
}

/* Bytes in all; pointers are set when there is memory. */
static size_t lay_out(const struct shunt_csr *a, const struct shunt_vector_layout *layout,
                      char *memory, struct shunt_vector *v)
{
  struct shunt_vector_room room = shunt_vector_room(a, layout);
  int64_t steps = room.steps + 1; /* kernels read one step ahead */
  size_t at = 0, counts, row_of, before, begin, count, ends, columns, masks, values;

  memset(v, 0, sizeof *v);
  if (room.steps == 0) return 0;
  v->rows = a->rows, v->cols = a->cols, v->nnz = a->nnz;
  v->groups = (a->rows + SHUNT_VECTOR_ROWS - 1) / SHUNT_VECTOR_ROWS;
  v->strips = (a->cols + SHUNT_VECTOR_STRIP - 1) / SHUNT_VECTOR_STRIP;
  v->value_type = a->value_type;
  v->order = layout->order;
  v->height = layout->height;
  counts = shunt_place(&at, sizeof *v->counts);
  row_of = shunt_place(&at, layout->listed ? v->rows * 4 : 0);
  before = shunt_place(&at, layout->listed ? v->groups * 8 : 0);
  begin = shunt_place(&at, v->groups * 4);
  count = shunt_place(&at, v->groups * 4);
  ends = shunt_place(&at, layout->order == SHUNT_VECTOR_WINDOWED ? v->groups * v->strips * 4 : 0);
  columns = shunt_place(&at, steps * SHUNT_VECTOR_STEP * 4);
  masks = shunt_place(&at, steps * SHUNT_VECTOR_STEP);
  values =
      shunt_place(&at, steps * SHUNT_VECTOR_STEP_VALUES * (int64_t)shunt_type_size(a->value_type));
  if (memory) {
    v->counts = (struct shunt_vector_counts *)(void *)(memory + counts);
    if (layout->listed) {
      v->row_of = (uint32_t *)(void *)(memory + row_of);
      v->before = (int64_t *)(void *)(memory + before);
    }
    v->begin = (uint32_t *)(void *)(memory + begin);
    v->count = (uint32_t *)(void *)(memory + count);
    v->strip_end = (uint32_t *)(void *)(memory + ends);
    v->columns = (uint32_t *)(void *)(memory + columns);
    v->masks = (uint8_t *)(memory + masks);
    v->values = memory + values;
  }
  return shunt_align_up(at, 256);
}

size_t shunt_vector_bytes(const struct shunt_csr *a, const struct shunt_vector_layout *layout)
{
  struct shunt_vector v;

  return lay_out(a, layout, NULL, &v);
}

int shunt_vector_lay_out(const struct shunt_csr *a, const struct shunt_vector_layout *layout,
                         void *memory, struct shunt_vector *out)
{
  return lay_out(a, layout, memory, out) != 0;
}

double shunt_vector_fill(const struct shunt_vector *v, const struct shunt_vector_counts *counts)
{
  if (counts->vectors == 0) return 1;
  return (double)v->nnz / ((double)counts->vectors * SHUNT_VECTOR_ROWS);
}

/* ---- packing ---------------------------------------------------------------------- */

/* One group on its way into steps. */
struct packer {
  const struct shunt_csr *a;
  const struct shunt_vector *v;
  int64_t group;
  int64_t at[SHUNT_VECTOR_ROWS], end[SHUNT_VECTOR_ROWS]; /* what is left of each row */
  int64_t first_step, room;                              /* the group's place */
  int64_t steps, vectors;
  int64_t last_column;
  uint64_t waiting[RESIDUES];
  uint32_t ring[SHUNT_VECTOR_WINDOW][SHUNT_VECTOR_ROWS];
  uint8_t mask[SHUNT_VECTOR_WINDOW];
  int irregular;
};

static int64_t first_entry(const struct shunt_csr *a, int64_t row)
{
  int64_t p = from_base(index_at(a->row_offsets, a->index_type, row), a->base);

  return p < 0 ? 0 : p > a->nnz ? a->nnz : p;
}

/* The row at a place, and its entries; false: there is none. */
static int find_row(const struct shunt_csr *a, const uint32_t *row_of, int64_t place,
                    int64_t *begin, int64_t *end)
{
  int64_t row = row_of ? (int64_t)row_of[place] : place;

  *begin = *end = 0;
  if (row >= a->rows) return 0;
  *begin = from_base(index_at(a->row_offsets, a->index_type, row), a->base);
  *end = from_base(index_at(a->row_offsets, a->index_type, row + 1), a->base);
  if (*begin >= 0 && *end >= *begin && *end <= a->nnz) return 1;
  *begin = *end = 0;
  return 0;
}

/* Entries before each group, of rows in the order of row_of. */
static void count_before(const struct shunt_csr *a, const struct shunt_vector *v)
{
  int64_t entries = 0, begin, end;

  for (int64_t place = 0; place < v->rows; place++) {
    if (place % SHUNT_VECTOR_ROWS == 0)
      v->before[place / SHUNT_VECTOR_ROWS] = entries < a->nnz ? entries : a->nnz;
    find_row(a, v->row_of, place, &begin, &end);
    entries += end - begin;
  }
}

static int64_t group_begin(const struct shunt_csr *a, const struct shunt_vector_layout *layout,
                           const struct shunt_vector *v, int64_t group)
{
  struct shunt_vector_room room = shunt_vector_room(a, layout);
  int64_t before;

  if (group == v->groups) return room.steps;
  before = v->row_of ? v->before[group] : first_entry(a, group * SHUNT_VECTOR_ROWS);
  return before * room.multiplier / room.divisor + group * room.slack;
}

static void start_group(struct packer *k, const struct shunt_vector_layout *layout, int64_t group)
{
  memset(k->waiting, 0, sizeof k->waiting);
  k->group = group;
  k->steps = k->vectors = k->irregular = 0;
  k->last_column = 0;
  k->first_step = group_begin(k->a, layout, k->v, group);
  k->room = group_begin(k->a, layout, k->v, group + 1) - k->first_step;
  if (k->room < 0) k->room = 0, k->irregular = 1;
  for (int r = 0; r < SHUNT_VECTOR_ROWS; r++) {
    int64_t place = group * SHUNT_VECTOR_ROWS + r;
    k->at[r] = k->end[r] = 0;
    if (place < k->a->rows && !find_row(k->a, k->v->row_of, place, &k->at[r], &k->end[r]))
      k->irregular = 1;
  }
}

/* Takes the entries of half p into the ring; returns its columns that have any. */
static uint64_t read_half(struct packer *k, int64_t p)
{
  int64_t low = p * HALF, high = low + HALF;
  int ring = (int)(low % SHUNT_VECTOR_WINDOW);
  uint64_t found = 0;

  memset(k->ring[ring], 0, sizeof k->ring[0] * HALF);
  memset(k->mask + ring, 0, HALF);
  for (int r = 0; r < SHUNT_VECTOR_ROWS; r++) {
    int64_t before = low - 1;
    for (; k->at[r] < k->end[r]; k->at[r]++) {
      int64_t c = from_base(index_at(k->a->columns, k->a->index_type, k->at[r]), k->a->base);
      if (c >= high) break;
      if (c <= before) { /* not ascending; or out of range, below 0 */
        k->irregular = 1;
        continue;
      }
      before = c;
      if (c >= k->a->cols) {
        k->irregular = 1;
        continue;
      }
      k->ring[ring + c - low][r] = value_at(k->a->values, k->a->value_type, k->at[r]);
      k->mask[ring + c - low] |= (uint8_t)(1u << r);
      found |= UINT64_C(1) << (c - low);
    }
  }
  return found;
}

/* Puts the vector of column c into a slot; mask 0: marks the slot as not used. */
static void put(struct packer *k, int64_t step, int slot, int64_t c, int used)
{
  int64_t at = k->first_step + step;
  int ring = (int)(c % SHUNT_VECTOR_WINDOW);

  if (step >= k->room) {
    k->irregular = 1;
    return;
  }
  k->v->columns[at * SHUNT_VECTOR_STEP + slot] = (uint32_t)c;
  k->v->masks[at * SHUNT_VECTOR_STEP + slot] = used ? k->mask[ring] : 0;
  for (int r = 0; r < SHUNT_VECTOR_ROWS; r++)
    set_value(k->v->values, k->a->value_type,
              at * SHUNT_VECTOR_STEP_VALUES + shunt_vector_place(r, slot),
              used ? k->ring[ring][r] : 0);
}

/* Kernels may run before the host learns of an overflow, so what they read stays inside. */
static int64_t written_steps(const struct packer *k)
{
  return k->steps < k->room ? k->steps : k->room;
}

static void append_half(struct packer *k, int64_t p, uint64_t found)
{
  for (int i = 0; i < HALF; i++) {
    if (!(found >> i & 1)) continue;
    k->last_column = p * HALF + i;
    put(k, k->vectors / SHUNT_VECTOR_STEP, (int)(k->vectors % SHUNT_VECTOR_STEP), k->last_column,
        1);
    k->vectors++;
  }
}

static void finish_sequence(struct packer *k)
{
  k->steps = (k->vectors + SHUNT_VECTOR_STEP - 1) / SHUNT_VECTOR_STEP;
  for (int64_t i = k->vectors; i < k->steps * SHUNT_VECTOR_STEP; i++)
    put(k, k->steps - 1, (int)(i % SHUNT_VECTOR_STEP), k->last_column, 0);
}

/* Is a step to be made now?  `leaving`: the bits of vectors that must go now. */
static int step_due(const struct packer *k, uint64_t leaving)
{
  int pairs = 0, must = 0;

  for (int r = 0; r < RESIDUES; r++) {
    pairs += (k->waiting[r] & (k->waiting[r] - 1)) != 0;
    must |= (k->waiting[r] & leaving) != 0;
  }
  return pairs == RESIDUES || must;
}

/* The two oldest vectors of each residue, when half p has come. */
static void make_step(struct packer *k, int64_t p)
{
  int64_t first_half = p - (HALVES - 1);
  int64_t first_strip = p * HALF / SHUNT_VECTOR_STRIP - (SHUNT_VECTOR_STRIPS - 1);
  int64_t oldest = (first_strip > 0 ? first_strip : 0) * SHUNT_VECTOR_STRIP;

  for (int slot = 0; slot < SHUNT_VECTOR_STEP; slot++) {
    int r = slot % RESIDUES, used = k->waiting[r] != 0;
    int64_t c = oldest + r < k->a->cols ? oldest + r : k->a->cols - 1;
    if (used) {
      int b = __builtin_ctzll(k->waiting[r]);
      c = ((first_half + b / 8) * 8 + b % 8) * RESIDUES + r;
      k->waiting[r] &= k->waiting[r] - 1;
      k->vectors++;
    }
    put(k, k->steps, slot, c, used);
  }
  k->steps++;
}

static void window_half(struct packer *k, int64_t p, uint64_t found)
{
  int64_t strip = p * HALF / SHUNT_VECTOR_STRIP;
  int last = (p + 1) * HALF >= k->a->cols;
  uint64_t leaving = last ? ~UINT64_C(0) : 0xffff; /* the oldest strip */

  for (int r = 0; r < RESIDUES; r++) {
    uint64_t came = 0;
    for (int q = 0; q < 8; q++) came |= (found >> (8 * q + r) & 1) << q;
    k->waiting[r] = k->waiting[r] >> 8 | came << 56;
  }
  if (p % 2 == 0 && !last) return;
  while (step_due(k, leaving)) make_step(k, p);
  k->v->strip_end[k->group * k->v->strips + strip] = (uint32_t)written_steps(k);
}

static void pack_group(struct packer *k)
{
  int windowed = k->v->order == SHUNT_VECTOR_WINDOWED;

  for (int64_t p = 0; p * HALF < k->a->cols; p++) {
    uint64_t found = read_half(k, p);
    windowed ? window_half(k, p, found) : append_half(k, p, found);
  }
  if (!windowed) finish_sequence(k);
  for (int r = 0; r < SHUNT_VECTOR_ROWS; r++) k->irregular |= k->at[r] != k->end[r];
  k->v->begin[k->group] = (uint32_t)k->first_step;
  k->v->count[k->group] = (uint32_t)written_steps(k);
  k->v->counts->vectors += (uint64_t)k->vectors;
  k->v->counts->steps += (uint64_t)k->steps;
  if (k->irregular) k->v->counts->irregular = SHUNT_IRREGULAR;
}

shunt_status shunt_csr_to_vector_host(const struct shunt_csr *a,
                                      const struct shunt_vector_layout *layout,
                                      const struct shunt_vector *v)
{
  struct packer k = {.a = a, .v = v};

  if (shunt_vector_room(a, layout).steps == 0) return SHUNT_E_UNSUPPORTED;
  memset(v->counts, 0, sizeof *v->counts);
  if (v->row_of) count_before(a, v);
  for (int64_t g = 0; g < v->groups; g++) {
    start_group(&k, layout, g);
    pack_group(&k);
  }
  return SHUNT_OK;
}

/* ---- back to CSR --------------------------------------------------------------------- */

/* Inserts an entry into row entries [begin, end), which ascend. */
static void insert(struct shunt_csr *a, int64_t begin, int64_t end, int64_t c, uint32_t value)
{
  void *columns = (void *)(uintptr_t)a->columns;
  int64_t p = end;

  for (; p > begin; p--) {
    int64_t left = index_at(columns, a->index_type, p - 1);
    if (left < c + a->base) break;
    set_index(columns, a->index_type, p, left);
    set_value(a->values, a->value_type, p, value_at(a->values, a->value_type, p - 1));
  }
  set_index(columns, a->index_type, p, c + a->base);
  set_value(a->values, a->value_type, p, value);
}

static int64_t count_row(const struct shunt_vector *v, int64_t place)
{
  int64_t group = place / SHUNT_VECTOR_ROWS, first = v->begin[group], count = 0;

  for (int64_t i = first * SHUNT_VECTOR_STEP; i < (first + v->count[group]) * SHUNT_VECTOR_STEP;
       i++)
    count += v->masks[i] >> place % SHUNT_VECTOR_ROWS & 1;
  return count;
}

/* Offsets of all rows; returns the number of entries. */
static int64_t find_offsets(const struct shunt_vector *v, void *offsets, shunt_type type, int base)
{
  int64_t p = 0;

  for (int64_t i = 0; i < v->rows; i++)
    set_index(offsets, type, v->row_of ? (int64_t)v->row_of[i] : i, count_row(v, i));
  for (int64_t i = 0; i < v->rows; i++) {
    int64_t count = index_at(offsets, type, i);
    set_index(offsets, type, i, p + base);
    p += count;
  }
  set_index(offsets, type, v->rows, p + base);
  return p;
}

/* Writes the row at a place of v from entry `begin` on. */
static void unpack_row(const struct shunt_vector *v, int64_t place, struct shunt_csr *a,
                       int64_t begin)
{
  int64_t group = place / SHUNT_VECTOR_ROWS, p = begin;
  int r = (int)(place % SHUNT_VECTOR_ROWS);

  for (int64_t s = v->begin[group]; s < (int64_t)v->begin[group] + v->count[group]; s++)
    for (int slot = 0; slot < SHUNT_VECTOR_STEP; slot++)
      if (v->masks[s * SHUNT_VECTOR_STEP + slot] >> r & 1) {
        insert(a, begin, p, v->columns[s * SHUNT_VECTOR_STEP + slot],
               value_at(v->values, v->value_type,
                        s * SHUNT_VECTOR_STEP_VALUES + shunt_vector_place(r, slot)));
        p++;
      }
}

shunt_status shunt_vector_to_csr_host(const struct shunt_vector *v, struct shunt_csr *a)
{
  void *offsets = (void *)(uintptr_t)a->row_offsets;

  if (v->counts->irregular) return SHUNT_E_ARGUMENT;
  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  a->rows = v->rows, a->cols = v->cols, a->value_type = v->value_type;
  a->nnz = find_offsets(v, offsets, a->index_type, a->base);
  for (int64_t i = 0; i < v->rows; i++) {
    int64_t row = v->row_of ? (int64_t)v->row_of[i] : i;
    unpack_row(v, i, a, from_base(index_at(offsets, a->index_type, row), a->base));
  }
  return SHUNT_OK;
}
