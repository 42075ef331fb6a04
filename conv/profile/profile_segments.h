/* profile_segments.h: what host_profile.c and profile.cu compute alike of a pattern's segments
   (struct shunt_profile): which columns share a strip, the weight of a segment, and what follows
   from all.  Private to conv/.

     weight of m entries    m log2 m in steps of 2^-16, m at most 64: a strip has no more columns
     H_norm                 (log2 nnz - weight / nnz) / log2 nnz      0 if nnz < 2
     SSF                    nnz x filled rows / (segments / strips) x (1 - H_norm)

   Fujiki, Chatterjee, Lee and O'Connor, SC '19, equation 1 and the heuristic on it.  */
#ifndef SHUNT_CONV_PROFILE_SEGMENTS_H
#define SHUNT_CONV_PROFILE_SEGMENTS_H

#include "conv/profile/profile.h"

#ifdef __CUDACC__
#define SHUNT_SEGMENTS_INLINE static inline __host__ __device__
#else
#define SHUNT_SEGMENTS_INLINE static inline
#endif

/* Of 0 to SHUNT_PROFILE_STRIP entries. */
#define SHUNT_SEGMENT_WEIGHTS                                                                      \
  0, 0, 131072, 311616, 524288, 760849, 1016449, 1287880, 1572864, 1869698, 2177059, 2493890,      \
      2819329, 3152656, 3493263, 3840630, 4194304, 4553891, 4919044, 5289451, 5664838, 6044953,    \
      6429573, 6818492, 7211522, 7608494, 8009248, 8413640, 8821535, 9232807, 9647339, 10065024,   \
      10485760, 10909451, 11336007, 11765344, 12197383, 12632049, 13069271, 13508981, 13951115,    \
      14395614, 14842418, 15291475, 15742730, 16196134, 16651639, 17109200, 17568773, 18030316,    \
      18493788, 18959151, 19426369, 19895405, 20366225, 20838795, 21313085, 21789064, 22266701,    \
      22745969, 23226839, 23709285, 24193281, 24678802, 25165824

/* Are two columns, in indices of so many bytes, of one aligned run of `width`, a power of two?
   Garbage wraps.  */
SHUNT_SEGMENTS_INLINE int shunt_same_run(int64_t a, int64_t b, int base, size_t index_bytes,
                                         uint32_t width)
{
  uint64_t x = (uint64_t)a - (uint64_t)base, y = (uint64_t)b - (uint64_t)base;

  return index_bytes == 4 ? ((uint32_t)x ^ (uint32_t)y) < width : (x ^ y) < width;
}

/* Sets entropy and ssf; log2_nnz as the host has it, for both twins. */
SHUNT_SEGMENTS_INLINE void shunt_profile_finish(struct shunt_profile *f, uint64_t weight,
                                                double log2_nnz)
{
  double n = (double)f->nnz, filled = (double)(f->rows - f->empty_rows);
  double strips = (double)((f->cols + SHUNT_PROFILE_STRIP - 1) / SHUNT_PROFILE_STRIP);

  f->entropy = f->nnz > 1 ? 1 - (double)weight / 65536 / (n * log2_nnz) : 0;
  f->ssf = f->segments ? n * filled / ((double)f->segments / strips) * (1 - f->entropy) : 0;
}

#endif
