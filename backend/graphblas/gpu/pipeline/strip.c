#include "backend/graphblas/gpu/pipeline/strip.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

bool grb_gpu_by_column(const struct shunt_full *m)
{
  return m->col_stride != 1 || (m->row_stride == 1 && m->cols == 1);
}

struct grb_gpu_strip grb_gpu_strip(const struct shunt_full *m, int64_t first, int64_t last,
                                   size_t size)
{
  struct grb_gpu_strip s = {.size = size};
  s.values = (char *)m->values + first * m->col_stride * (int64_t)size;
  if (grb_gpu_by_column(m)) {
    s.lines = last - first;
    s.length = m->rows;
    s.line_stride = m->col_stride;
  } else {
    s.lines = m->rows;
    s.length = last - first;
    s.line_stride = m->row_stride;
  }
  if (s.line_stride == s.length || s.lines == 1) {
    s.length *= s.lines;
    s.lines = 1;
    s.line_stride = s.length;
  }
  return s;
}

/* As much of a piece as lies in one line. */
struct run_of_line {
  char *values;
  int64_t count;
};

static struct run_of_line next_run(const struct grb_gpu_strip *s, int64_t line, int64_t place,
                                   int64_t left)
{
  int64_t most = s->length - place;
  return (struct run_of_line){s->values + (line * s->line_stride + place) * (int64_t)s->size,
                              left < most ? left : most};
}

/* Results so large that no cache holds them anyway. */
enum { LARGE_BYTES = 8 << 20, LINE = 64 };

#ifdef __SSE2__
/* Whole lines past the caches: they are not read before they are written. */
static void copy_past_caches(char *to, const char *from, size_t bytes)
{
  size_t head = -(uintptr_t)to % LINE;
  if (head > bytes) head = bytes;
  memcpy(to, from, head);
  to += head;
  from += head;
  bytes -= head;
  for (; bytes >= LINE; bytes -= LINE, to += LINE, from += LINE) {
    const __m128i *f = (const __m128i *)from;
    __m128i *t = (__m128i *)to;
    __m128i a = _mm_loadu_si128(f), b = _mm_loadu_si128(f + 1);
    __m128i c = _mm_loadu_si128(f + 2), d = _mm_loadu_si128(f + 3);
    _mm_stream_si128(t, a);
    _mm_stream_si128(t + 1, b);
    _mm_stream_si128(t + 2, c);
    _mm_stream_si128(t + 3, d);
  }
  memcpy(to, from, bytes);
}

/* Such stores are in order with nothing, the end of a parallel region included. */
static void end_of_copies(void)
{
  _mm_sfence();
}
#else
static void copy_past_caches(char *to, const char *from, size_t bytes)
{
  memcpy(to, from, bytes);
}

static void end_of_copies(void) {}
#endif

void grb_gpu_strip_read(const struct grb_gpu_strip *s, int64_t first, int64_t count, void *packed)
{
  char *to = packed;
  for (int64_t line = first / s->length, place = first % s->length; count > 0; line++, place = 0) {
    const struct run_of_line run = next_run(s, line, place, count);
    const size_t bytes = (size_t)run.count * s->size;
    memcpy(to, run.values, bytes);
    to += bytes;
    count -= run.count;
  }
}

void grb_gpu_strip_write(const struct grb_gpu_strip *s, int64_t first, int64_t count,
                         const void *packed)
{
  const char *from = packed;
  const bool large = s->lines * s->length * (int64_t)s->size >= LARGE_BYTES;
  for (int64_t line = first / s->length, place = first % s->length; count > 0; line++, place = 0) {
    struct run_of_line run = next_run(s, line, place, count);
    size_t bytes = (size_t)run.count * s->size;
    if (large)
      copy_past_caches(run.values, from, bytes);
    else
      memcpy(run.values, from, bytes);
    from += bytes;
    count -= run.count;
  }
  if (large) end_of_copies();
}

static void add_f32(float *restrict to, const float *restrict from, int64_t count)
{
#pragma omp simd
  for (int64_t i = 0; i < count; i++) to[i] += from[i];
}

static void add_f64(double *restrict to, const double *restrict from, int64_t count)
{
#pragma omp simd
  for (int64_t i = 0; i < count; i++) to[i] += from[i];
}

void grb_gpu_strip_add(const struct grb_gpu_strip *s, int64_t first, int64_t count,
                       const void *packed)
{
  const char *from = packed;
  for (int64_t line = first / s->length, place = first % s->length; count > 0; line++, place = 0) {
    struct run_of_line run = next_run(s, line, place, count);
    if (s->size == sizeof(float))
      add_f32((float *)run.values, (const float *)from, run.count);
    else
      add_f64((double *)run.values, (const double *)from, run.count);
    from += (size_t)run.count * s->size;
    count -= run.count;
  }
}
