// test_bundle_stale.cu: products under hints that are stale or garbage in every way: right, and
// nothing is read that is not there (bundle_operands.cuh).
#include "tests/gpu/bundle/bundle_operands.cuh"

// ---- stale hints -----------------------------------------------------------------------------

// One product after A has changed in place; the hint is of before.
static void test_stale(const char *what, void (*change)(Pattern &, Random &))
{
  bool good = true;
  for (shunt_type type : {SHUNT_F32, SHUNT_F64})
    for (int slices : {0, 2})
      for (int turn = 0; turn < 4; turn++) {
        Random r(1000 + turn);
        Options o = random_options(r, type);
        Problem q(
            make_pattern(turn == 3 ? LONG : ELEMENTS, 45, turn == 3 ? 620 : 80, 0.4, r.next()),
            turn == 1 ? 9 : 36, o, r.next());
        Pattern to = q.pattern;
        change(to, r);
        q.change(to, r.next());
        good =
            good && q.computes({turn == 2 ? 4 : 2, slices, 3, turn == 3 ? 2u : 0u}) && q.computes();
      }
  check(good, "stale hint: %s", what);
}

static void other_values(Pattern &, Random &) {}
static void moved_column(Pattern &p, Random &r)
{
  for (int i = 0; i < 3; i++) {
    const size_t e = (size_t)r.below(p.nnz());
    p.columns[e] = p.columns[e] == 0 ? p.cols - 1 : p.columns[e] - 1;
  }
}
static void last_column(Pattern &p, Random &)
{
  p.columns.back() = p.columns.back() == 0 ? 1 : 0;
}
static void swapped(Pattern &p, Random &r)
{
  const size_t e = (size_t)r.below(p.nnz() - 1);
  std::swap(p.columns[e], p.columns[e + 1]);
}
static void lengths(Pattern &p, Random &r) // entries change rows
{
  for (int i = 0; i < 4; i++) {
    const size_t row = 1 + (size_t)r.below(p.rows - 1);
    if (p.offsets[row] > p.offsets[row - 1]) p.offsets[row]--;
  }
}
static void longer_group(Pattern &p, Random &)
{
  p.offsets[8] = std::min(p.offsets[9], p.offsets[8] + 1);
}
static void shorter(Pattern &p, Random &) // fewer entries than the lists have
{
  p.columns.resize(p.columns.size() / 2);
  for (int64_t &x : p.offsets) x = std::min(x, (int64_t)p.columns.size());
}
static void no_entries(Pattern &p, Random &)
{
  p.columns.clear();
  for (int64_t &x : p.offsets) x = 0;
}
static void emptied_rows(Pattern &p, Random &) // all of a group's in its first row
{
  for (int i = 17; i < 24; i++) p.offsets[(size_t)i] = p.offsets[24];
}
static void another(Pattern &p, Random &r) // of the same shape, fewer entries
{
  Pattern q = make_pattern(SCATTERED, p.rows, p.cols, 0.15, r.next());
  if (q.nnz() <= p.nnz()) p = q;
}

// The hint's word tells of lists that are not A's, and of nothing else.
static uint32_t stale_word(Problem &q, uint32_t *word)
{
  uint32_t said = 7;
  CUDA_OK(cudaMemset(word, 0, sizeof *word));
  if (!q.computes()) return 7;
  CUDA_OK(cudaMemcpy(&said, word, sizeof said, cudaMemcpyDeviceToHost));
  return said;
}

static void test_stale_word()
{
  for (shunt_type type : {SHUNT_F32, SHUNT_F64}) {
    Random r(type);
    Options o;
    o.type = type;
    Problem q(make_pattern(ELEMENTS, 45, 80, 0.4, 3), 36, o, 4);
    uint32_t *word;
    CUDA_OK(cudaMalloc((void **)&word, sizeof *word));
    q.hint.on_device.stale = word;
    const uint32_t fresh = stale_word(q, word);
    q.change(q.pattern, 5);
    const uint32_t revalued = stale_word(q, word);
    Pattern to = q.pattern;
    moved_column(to, r);
    q.change(to, 6);
    const uint32_t moved = stale_word(q, word);
    check(fresh == 0 && revalued == 0 && moved == 1, "stale word: %u, other values %u, columns %u",
          fresh, revalued, moved);
    CUDA_OK(cudaFree(word));
  }
}

// ---- garbage hints ----------------------------------------------------------------------------

static void test_garbage(const char *what, void (*spoil)(Hint &, Random &))
{
  bool good = true;
  for (shunt_type type : {SHUNT_F32, SHUNT_F64})
    for (int slices : {0, 1, 3})
      for (int turn = 0; turn < 4; turn++) {
        Random r(2000 + turn);
        Problem q(
            make_pattern(turn == 3 ? LONG : ELEMENTS, 45, turn == 3 ? 620 : 80, 0.4, r.next()),
            turn == 1 ? 9 : 36, random_options(r, type), r.next());
        spoil(q.hint, r);
        q.hint.memory.upload();
        good = good && q.computes({3, slices, 2, turn == 3 ? 2u : 0u});
      }
  check(good, "garbage hint: %s", what);
}
static void random_bytes(void *at, size_t bytes, Random &r)
{
  for (size_t i = 0; i < bytes; i++) ((char *)at)[i] = (char)r.next();
}
static void garbage_masks(Hint &h, Random &r)
{
  random_bytes(h.mine(h.on_device.masks), (size_t)h.on_device.nnz, r);
}
static void zero_masks(Hint &h, Random &r)
{
  uint8_t *masks = h.mine(h.on_device.masks);
  for (int i = 0; i < 5; i++) masks[r.below(h.on_device.nnz)] = 0;
}
// A vector of no row behind each list: its column is nobody's, and must not be used.
static void hidden_columns(Hint &h, Random &)
{
  for (int64_t g = 0; g < h.on_device.groups; g++) {
    uint32_t *count = h.mine(h.on_device.count) + g;
    const uint32_t at = h.mine(h.on_device.begin)[g] + *count;
    if (*count % 32 == 0 || *count >= SHUNT_BUNDLE_LONG || at >= h.on_device.nnz) continue;
    h.mine(h.on_device.columns)[at] = 0x7ffffff;
    h.mine(h.on_device.masks)[at] = 0;
    ++*count;
  }
}
static void full_masks(Hint &h, Random &)
{
  memset(h.mine(h.on_device.masks), 0xff, (size_t)h.on_device.nnz);
}
static void garbage_columns(Hint &h, Random &r)
{
  random_bytes(h.mine(h.on_device.columns), (size_t)h.on_device.nnz * 4, r);
}
static void a_garbage_column(Hint &h, Random &r)
{
  for (int i = 0; i < 4; i++) h.mine(h.on_device.columns)[r.below(h.on_device.nnz)] = 0x7fffffff;
}
static void garbage_begins(Hint &h, Random &r)
{
  random_bytes(h.mine(h.on_device.begin), (size_t)h.on_device.groups * 4, r);
}
static void shifted_begins(Hint &h, Random &)
{
  for (int64_t g = 0; g < h.on_device.groups; g++) h.mine(h.on_device.begin)[g]++;
}
// Counts that keep to which groups are long, which long_list is to know.
static void garbage_counts(Hint &h, Random &r)
{
  uint32_t *count = h.mine(h.on_device.count);
  for (int64_t g = 0; g < h.on_device.groups; g++)
    count[g] = count[g] > SHUNT_BUNDLE_LONG ? SHUNT_BUNDLE_LONG + 1 + (uint32_t)r.below(1 << 30)
                                            : (uint32_t)r.below(SHUNT_BUNDLE_LONG);
}
static void all_zero(Hint &h, Random &)
{
  memset(h.memory.host.data(), 0, h.memory.host.size());
}

int main()
{
  test_stale("other values only", other_values);
  test_stale("columns moved", moved_column);
  test_stale("the very last column moved", last_column);
  test_stale("two entries exchanged", swapped);
  test_stale("entries of one row now of the next", lengths);
  test_stale("an entry of the next group", longer_group);
  test_stale("half of the entries gone", shorter);
  test_stale("no entries left", no_entries);
  test_stale("a group's entries all in one row", emptied_rows);
  test_stale("another matrix of the same shape", another);
  test_stale_word();
  test_garbage("masks", garbage_masks);
  test_garbage("masks of no row", zero_masks);
  test_garbage("vectors of no row", hidden_columns);
  test_garbage("masks of all rows", full_masks);
  test_garbage("columns", garbage_columns);
  test_garbage("columns far outside", a_garbage_column);
  test_garbage("where lists begin", garbage_begins);
  test_garbage("lists one off", shifted_begins);
  test_garbage("how long lists are", garbage_counts);
  test_garbage("all zero", all_zero);
  return finish();
}
