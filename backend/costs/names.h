/* names.h: the name of every coefficient of cost_table.h, as the text of a table has it, and how
   the coefficient changes from one GPU to another.

   A table (tables/, or a file of the user's) has a line or more for each struct, in any order:

     csr.layer      start 1.92  entry 1.48  gather 53.1     # what it was fitted to
     |              |     us
     line           name

   What no line names is 0.  F(line, place, name, member, kind) stands for each coefficient;
   `place` and `member` together are where it is.  make_built_in.awk reads this file, too: a field
   list begins with its #define, a line of a table is one macro and one C line.

   kind: a time or a count that is the same everywhere (FIXED); a time that grows as one of the
   rates of struct shunt_rates falls (COPY, NEAR, FAR, TENSOR); and such a rate itself (PER_COPY
   and so on).  */
#ifndef SHUNT_COST_NAMES_H
#define SHUNT_COST_NAMES_H

/* clang-format off */

/* ---- the fields of each struct -------------------------------------------------------------- */

#define SHUNT_RATES_FIELDS(F, line, at) \
  F(line, at, multiprocessors, .multiprocessors, FIXED) \
  F(line, at, copy, .copy, FIXED) \
  F(line, at, near, .near, FIXED) \
  F(line, at, far, .far, FIXED) \
  F(line, at, tensor, .tensor, FIXED)

#define SHUNT_COMMON_FIELDS(F, line, at) \
  F(line, at, launch, .launch, FIXED) \
  F(line, at, batch_host, .batch_host, FIXED) \
  F(line, at, sddmm_host, .sddmm_host, FIXED) \
  F(line, at, sddmm_two_host, .sddmm_two_host, FIXED) \
  F(line, at, stream, .stream, PER_COPY) \
  F(line, at, gather, .gather, PER_NEAR) \
  F(line, at, gather_far, .gather_far, PER_FAR) \
  F(line, at, narrow, .narrow, FIXED) \
  F(line, at, whole, .whole, FIXED) \
  F(line, at, let_in, .let_in, FIXED) \
  F(line, at, let_in_least, .let_in_least, FIXED) \
  F(line, at, inside, .inside, PER_COPY) \
  F(line, at, inside_before, .inside_before, FIXED) \
  F(line, at, inside_least, .inside_least, FIXED) \
  F(line, at, combined_bytes, .combined_bytes, FIXED) \
  F(line, at, columns, .columns, NEAR)

#define SHUNT_FIT_FIELDS(F, line, at) \
  F(line, at, start, .start, FIXED) \
  F(line, at, entry, .entry, NEAR) \
  F(line, at, gather, .gather, NEAR) \
  F(line, at, written, .written, COPY) \
  F(line, at, row, .row, NEAR) \
  F(line, at, tiles, .tiles, NEAR) \
  F(line, at, list, .list, NEAR) \
  F(line, at, narrow, .narrow, NEAR) \
  F(line, at, longest, .longest, FIXED) \
  F(line, at, beyond, .beyond, FIXED) \
  F(line, at, huge, .huge, FIXED) \
  F(line, at, far, .far, FAR) \
  F(line, at, idle, .idle, NEAR) \
  F(line, at, idle_bytes, .idle_bytes, NEAR) \
  F(line, at, varied, .varied, NEAR) \
  F(line, at, least, .least, NEAR) \
  F(line, at, lines, .lines, NEAR) \
  F(line, at, walk, .walk, FIXED) \
  F(line, at, turns, .turns, FIXED) \
  F(line, at, shared, .shared, FIXED) \
  F(line, at, rounds, .rounds, FIXED) \
  F(line, at, wide, .wide, NEAR)

#define SHUNT_BLOCK_FIELDS(F, line, at) \
  F(line, at, size, .size, FIXED) \
  F(line, at, start, .start, FIXED) \
  F(line, at, rate, .rate, TENSOR) \
  F(line, at, written, .written, COPY)

#define SHUNT_SDDMM_FIELDS(F, line, at) \
  F(line, at, start, .start, FIXED) \
  F(line, at, copies_start, .copies_start, FIXED) \
  F(line, at, entry, .entry, NEAR) \
  F(line, at, byte, .byte, NEAR) \
  F(line, at, copied, .copied, COPY)

#define SHUNT_SCATTERED_SDDMM_FIELDS(F, line, at) \
  F(line, at, start, .start, FIXED) \
  F(line, at, entry, .entry, NEAR) \
  F(line, at, row, .row, NEAR) \
  F(line, at, gather, .gather, NEAR) \
  F(line, at, of_a, .of_a, COPY) \
  F(line, at, longest, .longest, FIXED) \
  F(line, at, longest_bytes, .longest_bytes, FIXED)

#define SHUNT_DIRECT_SDDMM_FIELDS(F, line, at) \
  F(line, at, start, .direct_start, FIXED) \
  F(line, at, step, .direct_step, FIXED) \
  F(line, at, entry, .direct_entry, NEAR)

#define SHUNT_CSR_FIELDS(F, line, at) \
  F(line, at, words, .words, FIXED) \
  F(line, at, alike, .alike, FIXED) \
  F(line, at, c64, .c64, FIXED) \
  F(line, at, huge_entry, .huge_entry, FIXED) \
  F(line, at, int8_walk, .int8_walk, FIXED) \
  F(line, at, int8_even, .int8_even, NEAR) \
  F(line, at, int8_join, .int8_join, FIXED) \
  F(line, at, others_bytes, .others_bytes, PER_NEAR)

#define SHUNT_TRANSPOSING_FIELDS(F, line, at) \
  F(line, at, start, .transposing_start, FIXED) \
  F(line, at, entry, .transposing_entry, NEAR) \
  F(line, at, column, .transposing_column, NEAR)

#define SHUNT_VECTOR_FIELDS(F, line, at) \
  F(line, at, index, .index, PER_COPY) \
  F(line, at, walk_start, .walk_start, FIXED) \
  F(line, at, walk, .walk, FIXED) \
  F(line, at, walk_fours, .walk_fours, FIXED) \
  F(line, at, longest_start, .longest_start, FIXED) \
  F(line, at, longest, .longest, FIXED) \
  F(line, at, longest_f32, .longest_f32, FIXED) \
  F(line, at, longest_f64, .longest_f64, FIXED)

#define SHUNT_VECTOR_SINGLE_FIELDS(F, line, at) \
  F(line, at, single_start, .single_start, FIXED) \
  F(line, at, single_step, .single_step, FIXED) \
  F(line, at, single_round, .single_round, FIXED) \
  F(line, at, single_gather, .single_gather, NEAR) \
  F(line, at, single_narrow, .single_narrow, NEAR) \
  F(line, at, single_written, .single_written, COPY) \
  F(line, at, single_entry, .single_entry, NEAR) \
  F(line, at, single_warp, .single_warp, NEAR)

#define SHUNT_VECTOR_COPIES_FIELDS(F, line, at) \
  F(line, at, copies_start, .copies_start, FIXED) \
  F(line, at, copied, .copied, COPY)

#define SHUNT_VECTOR_SDDMM_FIELDS(F, line, at) \
  F(line, at, start, .start, FIXED) \
  F(line, at, tile, .tile, FIXED) \
  F(line, at, step, .step, NEAR)

#define SHUNT_VECTOR_PACKED_FIELDS(F, line, at) \
  F(line, at, start, .start, FIXED) \
  F(line, at, step, .step, FIXED) \
  F(line, at, slot, .slot, NEAR) \
  F(line, at, narrow, .narrow, NEAR) \
  F(line, at, row, .row, COPY) \
  F(line, at, pairs_start, .pairs_start, FIXED) \
  F(line, at, pairs_group, .pairs_group, NEAR) \
  F(line, at, pairs_vector, .pairs_vector, NEAR) \
  F(line, at, unused, .unused, FIXED) \
  F(line, at, proof_behind, .proof_behind, FIXED) \
  F(line, at, brief, .brief, FIXED) \
  F(line, at, longest_start, .longest_start, FIXED) \
  F(line, at, longest, .longest, FIXED) \
  F(line, at, read_before, .read_before, FIXED) \
  F(line, at, pack_start, .pack_start, FIXED) \
  F(line, at, pack, .pack, FIXED) \
  F(line, at, order_start, .order_start, FIXED) \
  F(line, at, order, .order, NEAR)

#define SHUNT_STRIP_FIELDS(F, line, at) \
  F(line, at, start, .start, FIXED) \
  F(line, at, strip, .strip, FIXED) \
  F(line, at, full, .full, FIXED)

#define SHUNT_SPARSE24_FIELDS(F, line, at) \
  F(line, at, start, .start, FIXED) \
  F(line, at, misplaced, .misplaced, FIXED) \
  F(line, at, compared, .compared, FIXED) \
  F(line, at, compared_tail, .compared_tail, FIXED) \
  F(line, at, spare_start, .spare_start, FIXED) \
  F(line, at, spare_slower, .spare_slower, FIXED) \
  F(line, at, spare_rate, .spare_rate, FIXED) \
  F(line, at, spare_alone, .spare_alone, FIXED)

#define SHUNT_SPARSE24_SHAPE_FIELDS(F, line, at) \
  F(line, at, step, .step, FIXED) \
  F(line, at, hash, .hash, COPY) \
  F(line, at, least, .least, COPY)

#define SHUNT_SRBCRS_FIELDS(F, line, at) \
  F(line, at, start, .start, FIXED) \
  F(line, at, written, .written, COPY) \
  F(line, at, latency, .latency, FIXED) \
  F(line, at, first, .first, PER_COPY) \
  F(line, at, pack_start, .pack_start, FIXED) \
  F(line, at, pack, .pack, FIXED)

#define SHUNT_TILE_FIELDS(F, line, at) \
  F(line, at, start, .start, FIXED) \
  F(line, at, step, .step, NEAR) \
  F(line, at, written, .written, COPY) \
  F(line, at, columns, .columns, NEAR) \
  F(line, at, latency, .latency, FIXED) \
  F(line, at, pack_start, .pack_start, FIXED) \
  F(line, at, pack, .pack, FIXED)

#define SHUNT_GEMM_FIELDS(F, line, at) \
  F(line, at, start, .start, FIXED) \
  F(line, at, step, .step, FIXED) \
  F(line, at, rate, .rate, PER_TENSOR) \
  F(line, at, columns, .columns, FIXED)

#define SHUNT_DENSE_FIELDS(F, line, at) \
  F(line, at, traffic, .traffic, PER_NEAR) \
  F(line, at, far, .far, PER_COPY) \
  F(line, at, proof, .proof, FIXED) \
  F(line, at, proof_wide, .proof_wide, FIXED) \
  F(line, at, stored, .stored, PER_COPY)

#define SHUNT_FMA_FIELDS(F, line, at) \
  F(line, at, start, .start, FIXED) \
  F(line, at, join, .join, FIXED) \
  F(line, at, joined, .joined, PER_NEAR) \
  F(line, at, doubt, .doubt, FIXED)

#define SHUNT_FMA_TILE_FIELDS(F, line, at) \
  F(line, at, wait, .wait, FIXED) \
  F(line, at, step, .step, TENSOR)

#define SHUNT_DENSE_PROVED_FIELDS(F, line, at) \
  F(line, at, agreed, .agreed, FIXED) \
  F(line, at, hashed, .hashed, PER_COPY) \
  F(line, at, narrow_start, .narrow_start, FIXED) \
  F(line, at, narrow_bytes, .narrow_bytes, PER_COPY) \
  F(line, at, narrow_least, .narrow_least, FIXED) \
  F(line, at, narrow_step, .narrow_step, FIXED) \
  F(line, at, narrow_shared, .narrow_shared, FIXED) \
  F(line, at, narrow_near, .narrow_near, PER_NEAR) \
  F(line, at, small_bytes, .small_bytes, FIXED) \
  F(line, at, small_margin, .small_margin, FIXED) \
  F(line, at, wide_start, .wide_start, FIXED) \
  F(line, at, wide_step, .wide_step, FIXED) \
  F(line, at, wide_full, .wide_full, FIXED) \
  F(line, at, wide_deepest, .wide_deepest, FIXED) \
  F(line, at, wide_lanes, .wide_lanes, FIXED)

#define SHUNT_DENSE_SDDMM_FIELDS(F, line, at) \
  F(line, at, sample_start, .sample_start, FIXED) \
  F(line, at, sample_step, .sample_step, FIXED) \
  F(line, at, sample_early, .sample_early, FIXED) \
  F(line, at, sample_least, .sample_least, FIXED) \
  F(line, at, sample, .sample, FIXED) \
  F(line, at, sample_entry, .sample_entry, FIXED) \
  F(line, at, sample_dense, .sample_dense, FIXED) \
  F(line, at, sample_other, .sample_other, FIXED) \
  F(line, at, sample_margin, .sample_margin, FIXED) \
  F(line, at, sample_crowded, .sample_crowded, FIXED) \
  F(line, at, sampled_host, .sampled_host, FIXED)

#define SHUNT_SAMPLED_FIELDS(F, line, at) \
  F(line, at, start, .start, FIXED) \
  F(line, at, cell, .cell, COPY) \
  F(line, at, step, .step, FIXED) \
  F(line, at, entry, .entry, NEAR)

#define SHUNT_ORIGINAL_FIELDS(F, line, at) \
  F(line, at, off, .off, FIXED) \
  F(line, at, preprocessed_off, .preprocessed_off, FIXED) \
  F(line, at, layer_off, .layer_off, FIXED) \
  F(line, at, sddmm_off, .sddmm_off, FIXED) \
  F(line, at, c64, .c64, FIXED)

#define SHUNT_ORIGINAL_INT8_FIELDS(F, line, at) \
  F(line, at, start, .int8_start, FIXED) \
  F(line, at, entry, .int8_entry, FIXED) \
  F(line, at, row, .int8_row, FIXED)

#define SHUNT_LAYER_FIELDS(F, line, at) \
  F(line, at, start, .start, FIXED) \
  F(line, at, row, .row, FIXED) \
  F(line, at, entry, .entry, FIXED)

#define SHUNT_ORIGINAL_SDDMM_FIELDS(F, line, at) \
  F(line, at, sddmm_layer_start, .sddmm_layer_start, FIXED) \
  F(line, at, sddmm_layer, .sddmm_layer, PER_NEAR) \
  F(line, at, sddmm_layer_f16, .sddmm_layer_f16, PER_NEAR) \
  F(line, at, sddmm_layer_f16_by_rows, .sddmm_layer_f16_by_rows, PER_NEAR) \
  F(line, at, sddmm_start, .sddmm_start, FIXED) \
  F(line, at, sddmm_row, .sddmm_row, NEAR) \
  F(line, at, sddmm_entry, .sddmm_entry, NEAR) \
  F(line, at, sddmm_longest, .sddmm_longest, FIXED) \
  F(line, at, sddmm_host, .sddmm_host, FIXED) \
  F(line, at, sddmm_f64, .sddmm_f64, FIXED)

#define SHUNT_COMPLEX_FIELDS(F, line, at) \
  F(line, at, c32, [0], NEAR) \
  F(line, at, c64, [1], NEAR)

/* ---- the lines of a table: of Shunt's kernels ----------------------------------------------- */

#define SHUNT_KERNEL_LINES(F) \
  SHUNT_RATES_FIELDS(F, "rates", ours.rates) \
  SHUNT_COMMON_FIELDS(F, "common", ours.common) \
  SHUNT_FIT_FIELDS(F, "csr.scattered_half", ours.csr.scattered[0]) \
  SHUNT_FIT_FIELDS(F, "csr.scattered_f32", ours.csr.scattered[1]) \
  SHUNT_FIT_FIELDS(F, "csr.scattered_f64", ours.csr.scattered[2]) \
  SHUNT_FIT_FIELDS(F, "csr.layer", ours.csr.layer) \
  SHUNT_FIT_FIELDS(F, "csr.layer_half", ours.csr.layer_half) \
  SHUNT_FIT_FIELDS(F, "csr.lines_half", ours.csr.lines[0]) \
  SHUNT_FIT_FIELDS(F, "csr.lines_f32", ours.csr.lines[1]) \
  SHUNT_FIT_FIELDS(F, "csr.lines_f64", ours.csr.lines[2]) \
  SHUNT_FIT_FIELDS(F, "csr.unstaged", ours.csr.unstaged) \
  SHUNT_FIT_FIELDS(F, "csr.unstaged_half", ours.csr.unstaged_half) \
  SHUNT_FIT_FIELDS(F, "csr.merge", ours.csr.merge) \
  SHUNT_SDDMM_FIELDS(F, "csr.sddmm.half", ours.csr.sddmm[0]) \
  SHUNT_SDDMM_FIELDS(F, "csr.sddmm.f32", ours.csr.sddmm[1]) \
  SHUNT_SDDMM_FIELDS(F, "csr.sddmm.f64", ours.csr.sddmm[2]) \
  SHUNT_DIRECT_SDDMM_FIELDS(F, "csr.direct_sddmm", ours.csr) \
  SHUNT_SCATTERED_SDDMM_FIELDS(F, "csr.scattered_sddmm.half", ours.csr.scattered_sddmm[0]) \
  SHUNT_SCATTERED_SDDMM_FIELDS(F, "csr.scattered_sddmm.f32", ours.csr.scattered_sddmm[1]) \
  SHUNT_SCATTERED_SDDMM_FIELDS(F, "csr.scattered_sddmm.f64", ours.csr.scattered_sddmm[2]) \
  SHUNT_CSR_FIELDS(F, "csr", ours.csr) \
  SHUNT_TRANSPOSING_FIELDS(F, "csr.transposing", ours.csr) \
  SHUNT_FIT_FIELDS(F, "bundle.f32", ours.bundle.f32) \
  SHUNT_FIT_FIELDS(F, "bundle.f64", ours.bundle.f64) \
  SHUNT_FIT_FIELDS(F, "bundle.layer_f32", ours.bundle.layer_f32) \
  SHUNT_FIT_FIELDS(F, "bundle.layer_f64", ours.bundle.layer_f64) \
  SHUNT_FIT_FIELDS(F, "sorted.half", ours.sorted.scattered[0]) \
  SHUNT_FIT_FIELDS(F, "sorted.f32", ours.sorted.scattered[1]) \
  SHUNT_FIT_FIELDS(F, "sorted.f64", ours.sorted.scattered[2]) \
  SHUNT_FIT_FIELDS(F, "sorted.lines_half", ours.sorted.lines[0]) \
  SHUNT_FIT_FIELDS(F, "sorted.lines_f32", ours.sorted.lines[1]) \
  SHUNT_FIT_FIELDS(F, "sorted.lines_f64", ours.sorted.lines[2]) \
  SHUNT_FIT_FIELDS(F, "sorted.unstaged", ours.sorted.unstaged) \
  SHUNT_FIT_FIELDS(F, "sorted.unstaged_half", ours.sorted.unstaged_half) \
  SHUNT_FIT_FIELDS(F, "vector.narrow", ours.vector.narrow) \
  SHUNT_FIT_FIELDS(F, "vector.wide", ours.vector.wide) \
  SHUNT_FIT_FIELDS(F, "vector.f64", ours.vector.f64) \
  SHUNT_FIT_FIELDS(F, "vector.half", ours.vector.half) \
  SHUNT_FIT_FIELDS(F, "vector.scattered", ours.vector.scattered) \
  SHUNT_VECTOR_FIELDS(F, "vector", ours.vector) \
  SHUNT_VECTOR_SINGLE_FIELDS(F, "vector.single", ours.vector) \
  SHUNT_VECTOR_COPIES_FIELDS(F, "vector.sddmm", ours.vector) \
  SHUNT_VECTOR_SDDMM_FIELDS(F, "vector.sddmm.half", ours.vector.sddmm[0]) \
  SHUNT_VECTOR_SDDMM_FIELDS(F, "vector.sddmm.f32", ours.vector.sddmm[1]) \
  SHUNT_VECTOR_PACKED_FIELDS(F, "vector_packed", ours.vector_packed) \
  SHUNT_STRIP_FIELDS(F, "vector_packed.strips.128", ours.vector_packed.strips[0]) \
  SHUNT_STRIP_FIELDS(F, "vector_packed.strips.64", ours.vector_packed.strips[1]) \
  SHUNT_STRIP_FIELDS(F, "vector_packed.tf32.64", ours.vector_packed.tf32[0][0]) \
  SHUNT_STRIP_FIELDS(F, "vector_packed.tf32.32", ours.vector_packed.tf32[0][1]) \
  SHUNT_STRIP_FIELDS(F, "vector_packed.tf32x3.64", ours.vector_packed.tf32[1][0]) \
  SHUNT_STRIP_FIELDS(F, "vector_packed.tf32x3.32", ours.vector_packed.tf32[1][1]) \
  SHUNT_SPARSE24_FIELDS(F, "sparse24", ours.sparse24) \
  SHUNT_SPARSE24_SHAPE_FIELDS(F, "sparse24.copied.none", ours.sparse24.shape[0][0]) \
  SHUNT_SPARSE24_SHAPE_FIELDS(F, "sparse24.copied.128", ours.sparse24.shape[0][1]) \
  SHUNT_SPARSE24_SHAPE_FIELDS(F, "sparse24.copied.256", ours.sparse24.shape[0][2]) \
  SHUNT_SPARSE24_SHAPE_FIELDS(F, "sparse24.copied.2x128", ours.sparse24.shape[0][3]) \
  SHUNT_SPARSE24_SHAPE_FIELDS(F, "sparse24.in_place.none", ours.sparse24.shape[1][0]) \
  SHUNT_SPARSE24_SHAPE_FIELDS(F, "sparse24.in_place.128", ours.sparse24.shape[1][1]) \
  SHUNT_SPARSE24_SHAPE_FIELDS(F, "sparse24.in_place.256", ours.sparse24.shape[1][2]) \
  SHUNT_SPARSE24_SHAPE_FIELDS(F, "sparse24.in_place.2x128", ours.sparse24.shape[1][3]) \
  SHUNT_SRBCRS_FIELDS(F, "srbcrs", ours.srbcrs) \
  SHUNT_STRIP_FIELDS(F, "srbcrs.strips.128", ours.srbcrs.strips[0]) \
  SHUNT_STRIP_FIELDS(F, "srbcrs.strips.64", ours.srbcrs.strips[1]) \
  SHUNT_STRIP_FIELDS(F, "srbcrs.strips.32", ours.srbcrs.strips[2]) \
  SHUNT_TILE_FIELDS(F, "tile", ours.tile) \
  SHUNT_DENSE_FIELDS(F, "dense", ours.dense) \
  SHUNT_GEMM_FIELDS(F, "dense.gemm.half", ours.dense.gemm[SHUNT_GEMM_HALF]) \
  SHUNT_GEMM_FIELDS(F, "dense.gemm.ragged", ours.dense.gemm[SHUNT_GEMM_RAGGED]) \
  SHUNT_GEMM_FIELDS(F, "dense.gemm.f32", ours.dense.gemm[SHUNT_GEMM_F32]) \
  SHUNT_GEMM_FIELDS(F, "dense.gemm.tf32", ours.dense.gemm[SHUNT_GEMM_TF32]) \
  SHUNT_GEMM_FIELDS(F, "dense.gemm.f64", ours.dense.gemm[SHUNT_GEMM_F64]) \
  SHUNT_GEMM_FIELDS(F, "dense.gemm.c32", ours.dense.gemm[SHUNT_GEMM_C32]) \
  SHUNT_GEMM_FIELDS(F, "dense.gemm.c64", ours.dense.gemm[SHUNT_GEMM_C64]) \
  SHUNT_FMA_FIELDS(F, "dense.fma", ours.dense.fma) \
  SHUNT_FMA_TILE_FIELDS(F, "dense.fma.64", ours.dense.fma.tile[0]) \
  SHUNT_FMA_TILE_FIELDS(F, "dense.fma.32", ours.dense.fma.tile[1]) \
  SHUNT_FMA_TILE_FIELDS(F, "dense.fma.16", ours.dense.fma.tile[2]) \
  SHUNT_DENSE_PROVED_FIELDS(F, "dense.proved", ours.dense) \
  SHUNT_DENSE_SDDMM_FIELDS(F, "dense.sddmm", ours.dense) \
  SHUNT_SAMPLED_FIELDS(F, "dense.sampled.f32", ours.dense.sampled[0]) \
  SHUNT_SAMPLED_FIELDS(F, "dense.sampled.f64", ours.dense.sampled[1]) \
  SHUNT_BLOCK_FIELDS(F, "bsr.half.2", ours.bsr.fit[0][0]) \
  SHUNT_BLOCK_FIELDS(F, "bsr.half.4", ours.bsr.fit[0][1]) \
  SHUNT_BLOCK_FIELDS(F, "bsr.half.8", ours.bsr.fit[0][2]) \
  SHUNT_BLOCK_FIELDS(F, "bsr.half.16", ours.bsr.fit[0][3]) \
  SHUNT_BLOCK_FIELDS(F, "bsr.half.32", ours.bsr.fit[0][4]) \
  SHUNT_BLOCK_FIELDS(F, "bsr.f32.2", ours.bsr.fit[1][0]) \
  SHUNT_BLOCK_FIELDS(F, "bsr.f32.4", ours.bsr.fit[1][1]) \
  SHUNT_BLOCK_FIELDS(F, "bsr.f32.8", ours.bsr.fit[1][2]) \
  SHUNT_BLOCK_FIELDS(F, "bsr.f32.16", ours.bsr.fit[1][3]) \
  SHUNT_BLOCK_FIELDS(F, "bsr.f32.32", ours.bsr.fit[1][4]) \
  SHUNT_BLOCK_FIELDS(F, "bsr.f64.2", ours.bsr.fit[2][0]) \
  SHUNT_BLOCK_FIELDS(F, "bsr.f64.4", ours.bsr.fit[2][1]) \
  SHUNT_BLOCK_FIELDS(F, "bsr.f64.8", ours.bsr.fit[2][2]) \
  SHUNT_BLOCK_FIELDS(F, "bsr.f64.16", ours.bsr.fit[2][3]) \
  SHUNT_BLOCK_FIELDS(F, "bsr.f64.32", ours.bsr.fit[2][4])

/* ---- of cuSPARSE; a line "cusparse 12.6" before them says of which -------------------------- */

#define SHUNT_ORIGINAL_LINES(F) \
  SHUNT_ORIGINAL_FIELDS(F, "original", original[0]) \
  SHUNT_FIT_FIELDS(F, "original.narrow", original[0].narrow) \
  SHUNT_FIT_FIELDS(F, "original.wide", original[0].wide) \
  SHUNT_FIT_FIELDS(F, "original.half", original[0].half) \
  SHUNT_FIT_FIELDS(F, "original.alg1", original[0].alg1) \
  SHUNT_FIT_FIELDS(F, "original.alg1_half", original[0].alg1_half) \
  SHUNT_FIT_FIELDS(F, "original.alg3_half", original[0].alg3[0]) \
  SHUNT_FIT_FIELDS(F, "original.alg3_f32", original[0].alg3[1]) \
  SHUNT_FIT_FIELDS(F, "original.alg3_f64", original[0].alg3[2]) \
  SHUNT_FIT_FIELDS(F, "original.layer.half", original[0].layer[0]) \
  SHUNT_FIT_FIELDS(F, "original.layer.f32", original[0].layer[1]) \
  SHUNT_FIT_FIELDS(F, "original.layer.f64", original[0].layer[2]) \
  SHUNT_FIT_FIELDS(F, "original.layer.c32", original[0].layer[3]) \
  SHUNT_FIT_FIELDS(F, "original.layer.c64", original[0].layer[4]) \
  SHUNT_FIT_FIELDS(F, "original.layer_alg1.half", original[0].layer_alg1[0]) \
  SHUNT_FIT_FIELDS(F, "original.layer_alg1.f32", original[0].layer_alg1[1]) \
  SHUNT_FIT_FIELDS(F, "original.layer_alg1.f64", original[0].layer_alg1[2]) \
  SHUNT_FIT_FIELDS(F, "original.layer_alg1.c32", original[0].layer_alg1[3]) \
  SHUNT_FIT_FIELDS(F, "original.layer_alg1.c64", original[0].layer_alg1[4]) \
  SHUNT_FIT_FIELDS(F, "original.layer_alg3.half", original[0].layer_alg3[0]) \
  SHUNT_FIT_FIELDS(F, "original.layer_alg3.f32", original[0].layer_alg3[1]) \
  SHUNT_FIT_FIELDS(F, "original.layer_alg3.f64", original[0].layer_alg3[2]) \
  SHUNT_FIT_FIELDS(F, "original.layer_alg3.c32", original[0].layer_alg3[3]) \
  SHUNT_FIT_FIELDS(F, "original.layer_alg3.c64", original[0].layer_alg3[4]) \
  SHUNT_FIT_FIELDS(F, "original.b_by_columns.half", original[0].b_by_columns[0]) \
  SHUNT_FIT_FIELDS(F, "original.b_by_columns.f32", original[0].b_by_columns[1]) \
  SHUNT_FIT_FIELDS(F, "original.b_by_columns.f64", original[0].b_by_columns[2]) \
  SHUNT_FIT_FIELDS(F, "original.c_by_columns.half", original[0].c_by_columns[0]) \
  SHUNT_FIT_FIELDS(F, "original.c_by_columns.f32", original[0].c_by_columns[1]) \
  SHUNT_FIT_FIELDS(F, "original.c_by_columns.f64", original[0].c_by_columns[2]) \
  SHUNT_FIT_FIELDS(F, "original.both_by_columns.half", original[0].both_by_columns[0]) \
  SHUNT_FIT_FIELDS(F, "original.both_by_columns.f32", original[0].both_by_columns[1]) \
  SHUNT_FIT_FIELDS(F, "original.both_by_columns.f64", original[0].both_by_columns[2]) \
  SHUNT_FIT_FIELDS(F, "original.alg3_b_by_columns.half", original[0].alg3_b_by_columns[0]) \
  SHUNT_FIT_FIELDS(F, "original.alg3_b_by_columns.f32", original[0].alg3_b_by_columns[1]) \
  SHUNT_FIT_FIELDS(F, "original.alg3_b_by_columns.f64", original[0].alg3_b_by_columns[2]) \
  SHUNT_FIT_FIELDS(F, "original.alg3_c_by_columns.half", original[0].alg3_c_by_columns[0]) \
  SHUNT_FIT_FIELDS(F, "original.alg3_c_by_columns.f32", original[0].alg3_c_by_columns[1]) \
  SHUNT_FIT_FIELDS(F, "original.alg3_c_by_columns.f64", original[0].alg3_c_by_columns[2]) \
  SHUNT_FIT_FIELDS(F, "original.transposed.half", original[0].transposed[0]) \
  SHUNT_FIT_FIELDS(F, "original.transposed.f32", original[0].transposed[1]) \
  SHUNT_FIT_FIELDS(F, "original.transposed.f64", original[0].transposed[2]) \
  SHUNT_FIT_FIELDS(F, "original.transposed.c32", original[0].transposed[3]) \
  SHUNT_FIT_FIELDS(F, "original.transposed.c64", original[0].transposed[4]) \
  SHUNT_FIT_FIELDS(F, "original.transposed_alg1.half", original[0].transposed_alg1[0]) \
  SHUNT_FIT_FIELDS(F, "original.transposed_alg1.f32", original[0].transposed_alg1[1]) \
  SHUNT_FIT_FIELDS(F, "original.transposed_alg1.f64", original[0].transposed_alg1[2]) \
  SHUNT_FIT_FIELDS(F, "original.transposed_alg1.c32", original[0].transposed_alg1[3]) \
  SHUNT_FIT_FIELDS(F, "original.transposed_alg1.c64", original[0].transposed_alg1[4]) \
  SHUNT_ORIGINAL_INT8_FIELDS(F, "original.int8", original[0]) \
  SHUNT_ORIGINAL_SDDMM_FIELDS(F, "original.sddmm", original[0]) \
  SHUNT_LAYER_FIELDS(F, "original.sddmm_layer_by_rows.f32", original[0].layer_by_rows[0]) \
  SHUNT_LAYER_FIELDS(F, "original.sddmm_layer_by_rows.f64", original[0].layer_by_rows[1]) \
  SHUNT_LAYER_FIELDS(F, "original.sddmm_layer_by_columns.f32", original[0].layer_by_columns[0]) \
  SHUNT_LAYER_FIELDS(F, "original.sddmm_layer_by_columns.f64", original[0].layer_by_columns[1]) \
  SHUNT_SCATTERED_SDDMM_FIELDS(F, "original.sddmm_by_columns.half", original[0].by_columns[0]) \
  SHUNT_SCATTERED_SDDMM_FIELDS(F, "original.sddmm_by_columns.f32", original[0].by_columns[1]) \
  SHUNT_SCATTERED_SDDMM_FIELDS(F, "original.sddmm_by_columns.f64", original[0].by_columns[2]) \
  SHUNT_COMPLEX_FIELDS(F, "original.complex_by_rows", original[0].sddmm_complex) \
  SHUNT_COMPLEX_FIELDS(F, "original.complex_by_columns", original[0].sddmm_complex_by_columns) \
  SHUNT_BLOCK_FIELDS(F, "original.ell.half.1", original[0].ell[0][0]) \
  SHUNT_BLOCK_FIELDS(F, "original.ell.half.4", original[0].ell[0][1]) \
  SHUNT_BLOCK_FIELDS(F, "original.ell.half.8", original[0].ell[0][2]) \
  SHUNT_BLOCK_FIELDS(F, "original.ell.half.16", original[0].ell[0][3]) \
  SHUNT_BLOCK_FIELDS(F, "original.ell.half.32", original[0].ell[0][4]) \
  SHUNT_BLOCK_FIELDS(F, "original.ell.f32.1", original[0].ell[1][0]) \
  SHUNT_BLOCK_FIELDS(F, "original.ell.f32.4", original[0].ell[1][1]) \
  SHUNT_BLOCK_FIELDS(F, "original.ell.f32.8", original[0].ell[1][2]) \
  SHUNT_BLOCK_FIELDS(F, "original.ell.f32.16", original[0].ell[1][3]) \
  SHUNT_BLOCK_FIELDS(F, "original.ell.f32.32", original[0].ell[1][4]) \
  SHUNT_BLOCK_FIELDS(F, "original.ell.f64.1", original[0].ell[2][0]) \
  SHUNT_BLOCK_FIELDS(F, "original.ell.f64.4", original[0].ell[2][1]) \
  SHUNT_BLOCK_FIELDS(F, "original.ell.f64.8", original[0].ell[2][2]) \
  SHUNT_BLOCK_FIELDS(F, "original.ell.f64.16", original[0].ell[2][3]) \
  SHUNT_BLOCK_FIELDS(F, "original.ell.f64.32", original[0].ell[2][4]) \
  SHUNT_BLOCK_FIELDS(F, "original.bsr.half.1", original[0].bsr[0][0]) \
  SHUNT_BLOCK_FIELDS(F, "original.bsr.half.4", original[0].bsr[0][1]) \
  SHUNT_BLOCK_FIELDS(F, "original.bsr.half.8", original[0].bsr[0][2]) \
  SHUNT_BLOCK_FIELDS(F, "original.bsr.half.16", original[0].bsr[0][3]) \
  SHUNT_BLOCK_FIELDS(F, "original.bsr.half.32", original[0].bsr[0][4]) \
  SHUNT_BLOCK_FIELDS(F, "original.bsr.f32.1", original[0].bsr[1][0]) \
  SHUNT_BLOCK_FIELDS(F, "original.bsr.f32.4", original[0].bsr[1][1]) \
  SHUNT_BLOCK_FIELDS(F, "original.bsr.f32.8", original[0].bsr[1][2]) \
  SHUNT_BLOCK_FIELDS(F, "original.bsr.f32.16", original[0].bsr[1][3]) \
  SHUNT_BLOCK_FIELDS(F, "original.bsr.f32.32", original[0].bsr[1][4]) \
  SHUNT_BLOCK_FIELDS(F, "original.bsr.f64.1", original[0].bsr[2][0]) \
  SHUNT_BLOCK_FIELDS(F, "original.bsr.f64.4", original[0].bsr[2][1]) \
  SHUNT_BLOCK_FIELDS(F, "original.bsr.f64.8", original[0].bsr[2][2]) \
  SHUNT_BLOCK_FIELDS(F, "original.bsr.f64.16", original[0].bsr[2][3]) \
  SHUNT_BLOCK_FIELDS(F, "original.bsr.f64.32", original[0].bsr[2][4])

/* clang-format on */

#endif
