/* cost_table.h: the coefficients of the estimates (backend/routes/cost/costs.h), as plain data.

   A struct for each format, of doubles alone: what one GPU and one cuSPARSE have to say of it can
   be written down, and read, as a list of numbers.  names.h names each of them and says how it
   changes from one GPU to another; tables/ has the numbers, with what they were fitted to.
   Times in microseconds, us.  */
#ifndef SHUNT_COST_TABLE_H
#define SHUNT_COST_TABLE_H

/* ---- the machine ---------------------------------------------------------------------------- */

/* What bounds most products: by these a table is carried from one GPU to another (choose.c). */
struct shunt_rates {
  double multiprocessors;
  double copy;   /* bytes per us, read and written in order */
  double near;   /* bytes per us, rows gathered out of L2, */
  double far;    /* and from beyond it */
  double tensor; /* FLOP per us of the tensor cores in f16 */
};

/* ---- what several formats share (cost_forms.c) ---------------------------------------------- */

struct shunt_common_costs {
  double launch;         /* us of a launch that does next to nothing, in a busy stream */
  double batch_host;     /* us that each of several products keeps the host busy */
  double sddmm_host;     /* us that SDDMM keeps the host busy in one launch, */
  double sddmm_two_host; /* and in two */
  double stream;         /* bytes per us that are read or written in order */
  double gather;         /* bytes per us that are gathered out of L2, */
  double gather_far;     /* and from beyond it */
  double narrow;         /* share of that rate for the narrowest rows, */
  double whole;          /* growing up to rows of so many bytes */
  double let_in;         /* us of a proof behind the product and let in by it, and its reading */
  double let_in_least;   /* us, at least */
  double inside;         /* bytes per us that are hashed beside the product */
  double inside_before;  /* us of that which pass while the product starts */
  double inside_least;   /* us, at least */
  double combined_bytes; /* of an element of C, to add it to its old content */
  double columns;        /* us per million elements of a C that kernels of rows write by columns */
};

/* SpMM, rows of B gathered for rows of A:

     start + longest (rows one after the other, up to 512) + beyond (from there up to 4096)
       + huge (from there on)
       + entry nnz + row rows + tiles (of 128 bytes of a row, but the first)
       + list gathered rows
       + gather, far, wide (bytes gathered) + written (bytes of C)
       + idle, idle_bytes, varied (where rows differ)
       + lines (what the kernel's own lines say)
       + walk, turns, shared, rounds (what a warp takes for its part of a list)  */
struct shunt_fit_costs {
  double start;   /* us */
  double entry;   /* us per million entries of A */
  double gather;  /* us per GB of gathered B; L1 serves much where rows share columns */
  double written; /* us per GB of C */
  double row;     /* us per million rows of A */
  double tiles;   /* us per million times that a row of C has 128 bytes more than 128 */
  double list;    /* us per million gathered rows of B */
  double narrow;  /* us per million of those, by the share of 64 bytes that they are shorter */
  double longest; /* us per thousand rows of B that one team gathers and others do not, up to 512 */
  double beyond;  /* us per thousand of those from there up to 4096, which rows are cut at, */
  double huge;    /* and beyond that, where they are not */
  double far;     /* us per GB of B that is gathered from beyond L2 */
  /* Of `csr`, where rows differ: us per million steps that rows side by side wait for the longest
     (conv/profile/profile.h, idle_steps); per GB of rows of B meanwhile, 512 bytes each at most;
     per GB of gathered B, times the rows' variation, 4 at most.  */
  double idle, idle_bytes, varied;
  double least; /* us per million entries of A that all but `start` takes at least */
  double wide;  /* us per GB of gathered B, for each power of two that its rows exceed 1 KB by */
  double lines; /* us per us of the lines of layers (kernels/csr/csr_layers.h,
                   kernels/sorted/sorted_layers.h) */
  /* Of `bundle`, for what a warp walks of a list (kernels/bundle/bundle_shape.h): us per thousand
     vectors; per thousand turns of a scheduler; of those, times the warps that share it; and times
     the most that do, for each round of warps but the first.  Of `sorted` us per thousand entries
     of the longest rows that a group walks.  */
  double walk, turns, shared, rounds;
};

/* SpMM, A in square blocks:  start + rate products + written elements of C */
struct shunt_block_costs {
  double size;    /* rows of a block; the next smaller one stands for others */
  double start;   /* us */
  double rate;    /* us per 2^30 products */
  double written; /* us per 2^20 elements of C */
};
enum { SHUNT_BLOCK_SIZES = 5, SHUNT_BLOCK_TYPES = 3 /* of 2 bytes, f32, f64 */ };

/* ---- each format ------------------------------------------------------------------------------
   */

/* SDDMM, an entry at a time:

     start + copies_start (where an operand is copied first) + entry nnz
       + byte (bytes of gathered rows) + copied (bytes that are copied)  */
struct shunt_sddmm_costs {
  double start;        /* us */
  double copies_start; /* us */
  double entry;        /* us per entry */
  double byte;         /* us per byte of a gathered row */
  double copied;       /* us per byte that is read or written */
};

/* SDDMM of scattered patterns, B stored by columns:

     start + longest (entries that the longest row has beyond the mean)
       + entry nnz + row rows + gather (bytes of columns) + of_a (bytes of A)
       + longest_bytes (bytes of those entries' columns)  */
struct shunt_scattered_sddmm_costs {
  double start;         /* us */
  double entry;         /* us per million entries */
  double row;           /* us per million rows */
  double gather;        /* us per GB of a column for each entry; L1 serves some of them */
  double of_a;          /* us per GB of A */
  double longest;       /* us per thousand */
  double longest_bytes; /* us per MB */
};

/* cuSPARSE's SDDMM of layers:  start + K (row rows + entry nnz) */
struct shunt_layer_sddmm_costs {
  double start;      /* us */
  double row, entry; /* us per million, for each of K */
};

struct shunt_csr_costs {
  struct shunt_fit_costs scattered[SHUNT_BLOCK_TYPES]; /* one entry in 64 or fewer */
  struct shunt_fit_costs lines[SHUNT_BLOCK_TYPES];     /* the others, by the kernel's own lines; */
  struct shunt_fit_costs layer, layer_half; /* without such, by the longest row; of 2-byte types */
  struct shunt_fit_costs unstaged, unstaged_half;    /* scattered, narrow C: A is not staged */
  struct shunt_fit_costs merge;                      /* scattered, cut by nonzeros */
  struct shunt_sddmm_costs sddmm[SHUNT_BLOCK_TYPES]; /* of layers; and copies */
  struct shunt_scattered_sddmm_costs scattered_sddmm[SHUNT_BLOCK_TYPES];
  double direct_start;      /* us; SDDMM that computes all of A B: */
  double direct_step;       /* us for each of K, 512 wide; */
  double direct_entry;      /* us per million times that an entry is met by a tile */
  double words;             /* share of what it takes where a lane has two words of B */
  double alike;             /* share of that where rows of the same columns are taken together */
  double c64;               /* how many times as long as by its bytes */
  double huge_entry;        /* ns of an entry of a row that one block computes */
  double int8_walk;         /* us per thousand entries of a row, for each lane, in int8; */
  double int8_even;         /* us per million entries that cutting by nonzeros takes longer, */
  double int8_join;         /* and us of its own */
  double others_bytes;      /* bytes of B per ns that all blocks together gather */
  double transposing_start; /* us; to transpose A: */
  double transposing_entry, transposing_column; /* us per million */
};

struct shunt_bundle_costs {
  struct shunt_fit_costs f32, f64;
  struct shunt_fit_costs layer_f32, layer_f64; /* more than one entry in 64 */
};

struct shunt_sorted_costs {
  struct shunt_fit_costs scattered[SHUNT_BLOCK_TYPES]; /* one entry in 64 or fewer */
  struct shunt_fit_costs unstaged, unstaged_half;      /* of those, narrow C */
  struct shunt_fit_costs lines[SHUNT_BLOCK_TYPES];     /* layers, by the kernel's own lines */
};

/* SDDMM, by the tiles that a warp multiplies one after another
   (kernels/vector/vector_sddmm_share.h). */
struct shunt_vector_sddmm_costs {
  double start; /* us */
  double tile;  /* us for each, */
  double step;  /* and for each element of its rows of A */
};

struct shunt_vector_costs {
  struct shunt_fit_costs narrow, wide; /* f32, by 64 and by 128 columns a warp */
  struct shunt_fit_costs f64, half;
  struct shunt_fit_costs scattered; /* one entry in 64 or fewer, not of 2 bytes */
  double index;                     /* bytes per us, of the upper halves of wide indices */
  double walk_start;                /* us; 2-byte types: lists are walked row by row of B, */
  double walk, walk_fours;          /* us for each of them; in lists of fours */
  double longest_start;             /* us; the same of the longest list, */
  double longest;                   /* us for each, */
  double longest_f32, longest_f64;  /* and of these types */
  double single_start;              /* us; in one launch: */
  double single_step;               /* us for each step of 16 entries, */
  double single_round;              /* us for each chunk of a row, and each round of lists */
  double single_gather;             /* us per byte of B that is gathered, 128 of a row at least, */
  double single_narrow;             /* us per vector that shorter rows take longer, times columns */
  double single_written;            /* us per byte of C */
  double single_entry;              /* us per entry and block of a group */
  double single_warp;               /* us per warp */
  double copies_start;              /* us, where an operand of SDDMM is copied first, */
  double copied;                    /* us per byte of it; of 2 bytes, of f32: */
  struct shunt_vector_sddmm_costs sddmm[2];
};

/* A strip: 128 rows of B (kernels/vector/vector_packed_spmm_strips.cuh). */
struct shunt_strip_costs {
  double start; /* us of a block, to start and to store */
  double strip; /* us to bring a strip, */
  double full;  /* and so much more if every vector were there */
};

struct shunt_vector_packed_costs {
  double start;                        /* us; gathered one group a warp: */
  double step;                         /* us for each step of 16 vectors, one after the other */
  double slot;                         /* us for each vector and column of C, 64 at least, */
  double narrow;                       /* and by how much longer where they are fewer, times them */
  double row;                          /* us for each row and column of C */
  double pairs_start;                  /* us; two groups a warp: */
  double pairs_group, pairs_vector;    /* us for each, of 128 columns */
  struct shunt_strip_costs strips[2];  /* of 128 columns, of 64 */
  struct shunt_strip_costs tf32[2][2]; /* [one product, three][64 columns, 32] */
  double unused;       /* slots that a group of random vectors leaves, for each column of A */
  double proof_behind; /* us that a proof behind strips takes longer than one inside */
  double brief;        /* us; up to there, letting the next kernel in early pays */
  double longest_start, longest; /* us; of the longest list of a warp, us for each of its rows */
  double read_before;            /* us that lists are read while what stands before it ends */
  double pack_start, pack;       /* us; to pack 64 columns of a group */
  double order_start, order;     /* us; to compare a row with another */
};

struct shunt_sparse24_costs {
  double start; /* us */
  /* [by a copy, values in place][none, 128, 256, 2 x 128 columns].  A tile of C of 128 rows takes
     `step` us for 128 bytes of K; hashing a MB of A's arrays adds `hash` us to all of them, or
     takes `least` us if that is longer.  */
  struct {
    double step, hash, least;
  } shape[2][4];
  double misplaced;     /* arrays off 16 bytes are read so many times more slowly than copied */
  double compared;      /* MB of A's columns to the us of a tile of C, up to which comparing pays */
  double compared_tail; /* or share of blocks with a tile of C, */
  double spare_start;   /* us of a tile of C before its products begin */
  double spare_slower;  /* us that a block's products take longer by a MB of A that it compares */
  double spare_rate;    /* MB per us that a block without a tile of C compares, */
  double spare_alone;   /* and more, if all blocks have none */
};

struct shunt_srbcrs_costs {
  double start;                       /* us */
  double written;                     /* us per byte of C */
  double latency;                     /* us for each stride of the warp that has most of them */
  double first;                       /* bytes of A per us where all warps hash it first */
  double pack_start;                  /* us */
  double pack;                        /* us for each window of 32 columns of a group */
  struct shunt_strip_costs strips[3]; /* of 128 columns, of 64, of 32; a strip: 256 rows of B */
};

struct shunt_tile_costs {
  double start;      /* us */
  double step;       /* us to gather 32 rows of B, 64 columns of them, and a tile of A */
  double written;    /* us per byte of C */
  double columns;    /* us per million elements of a C by columns, 32 columns at least */
  double latency;    /* us for each tile of the warp that has most of them */
  double pack_start; /* us */
  double pack;       /* us for each column of a block row, counted and packed */
};

/* SDDMM by a product of all, sampled from memory:  start + cells (cell + step K) + entry nnz */
struct shunt_sampled_costs {
  double start;      /* us */
  double cell, step; /* us per million elements of the product; of those for each of K */
  double entry;      /* us per million */
};

/* f32 products by FMA:  start + steps of 32 of K (wait^4 + (step n)^4)^(1/4), n tiles a
   multiprocessor;  and where blocks share K:  + join + sums / joined  */
struct shunt_fma_costs {
  double start, join; /* us */
  double joined;      /* bytes per us */
  double doubt;       /* times what cuBLAS is expected to take, of few columns */
  struct shunt_fma_tile_costs {
    double wait, step; /* us for a step of one tile alone, and of one among many */
  } tile[3];           /* of 64, 32 and 16 columns */
};

/* cuBLAS:  start + step K + the larger of FLOP / rate and what operands take */
struct shunt_gemm_costs {
  double start;   /* us */
  double step;    /* us for each of K, one after the other */
  double rate;    /* FLOP per us, of real numbers; */
  double columns; /* for at least so many columns */
};

enum {
  SHUNT_GEMM_HALF,   /* 2-byte types, */
  SHUNT_GEMM_RAGGED, /* some of whose rows are not multiples of 16 bytes */
  SHUNT_GEMM_F32,
  SHUNT_GEMM_TF32, /* f32 read as TF32 */
  SHUNT_GEMM_F64,
  SHUNT_GEMM_C32,
  SHUNT_GEMM_C64,
  SHUNT_GEMM_TYPES
};

struct shunt_dense_costs {
  struct shunt_gemm_costs gemm[SHUNT_GEMM_TYPES];
  double traffic;           /* bytes per us of its operands, much of it from L2; */
  double far;               /* of those that L2 cannot hold as many more */
  double proof, proof_wide; /* us of the proof behind the product of 2-byte types, of others, */
  double stored;            /* bytes per us that are written of D */
  double agreed;            /* us; product and proof in one launch: for the proof, */
  double hashed;            /* bytes per us of A's arrays, beside products; by tiles of 64: */
  double narrow_start;      /* us; and */
  double narrow_bytes;      /* bytes per us of D and A's arrays out of memory; or */
  double narrow_least, narrow_step; /* us, us for each of a block's K, */
  double narrow_shared;             /* us for each doubling of the blocks of a tile, */
  double narrow_near;               /* bytes per us of the tiles' operands out of L2 */
  double small_bytes;               /* of D, at most: for these all shapes are estimated, */
  double small_margin; /* and have to take less than this share of cuBLAS' time and proof */
  double wide_start;   /* us; by tiles of 128: */
  double wide_step;    /* us for 64 of K of tiles of 128 columns; of 256 twice */
  double wide_full;    /* share of multiprocessors that must have a tile, */
  double wide_deepest; /* the least K, */
  double wide_lanes;   /* bytes that lanes may hash in such a step */
  double sample_start; /* us; SDDMM on the chip: */
  double sample_step, sample_early;          /* us for 64 of K of a tile, less at its start, */
  double sample_least;                       /* us, at least; */
  double sample, sample_entry, sample_dense; /* us to sample a tile: by density, and its square */
  double sample_other;                       /* share of the shorter of both that is waited for */
  double sample_margin;                      /* how much better than from memory it has to be */
  double sample_crowded; /* of what runs of 64 columns with entries are denser than all of C: so
                            much the tiles are that end last */
  double sampled_host;   /* us of the host's for the way from memory, */
  struct shunt_sampled_costs sampled[2]; /* and the device's in f32, in f64 */
  struct shunt_fma_costs fma;
};

struct shunt_bsr_costs {
  struct shunt_block_costs fit[SHUNT_BLOCK_TYPES][SHUNT_BLOCK_SIZES];
};

enum { SHUNT_LAYER_TYPES = 5 }; /* 2-byte types, f32, f64, c32, c64 */

/* cuSPARSE.  *_off: geometric standard deviations of the fits. */
struct shunt_original_costs {
  double off, preprocessed_off, layer_off, sddmm_off;
  double int8_start, int8_entry, int8_row; /* int8, the default, at least: us; us per million */
  struct shunt_fit_costs narrow, wide;     /* the default; up to 128 bytes of a row of B, beyond */
  struct shunt_fit_costs half;            /* the same of 2-byte types, which 12.7 has kernels for */
  double c64;                             /* how many times as long, beside its bytes */
  struct shunt_fit_costs alg1, alg1_half; /* CSR_ALG1, preprocessed; of 2-byte types */
  struct shunt_fit_costs alg3[SHUNT_BLOCK_TYPES];
  /* More than one entry in 64, preprocessed also long rows: here `longest`, `beyond` and `huge`
     count all of the longest row, since rows are alike and each is one team's.  */
  struct shunt_fit_costs layer[SHUNT_LAYER_TYPES];
  struct shunt_fit_costs layer_alg1[SHUNT_LAYER_TYPES], layer_alg3[SHUNT_LAYER_TYPES];
  /* The default and CSR_ALG1 where B lies by columns, C, or both; CSR_ALG3 where B does, and where
     C alone does.  Of scattered matrices and layers.  */
  struct shunt_fit_costs b_by_columns[SHUNT_BLOCK_TYPES], c_by_columns[SHUNT_BLOCK_TYPES];
  struct shunt_fit_costs both_by_columns[SHUNT_BLOCK_TYPES];
  struct shunt_fit_costs alg3_b_by_columns[SHUNT_BLOCK_TYPES];
  struct shunt_fit_costs alg3_c_by_columns[SHUNT_BLOCK_TYPES];
  /* Transposed, but not of 2-byte types: what is gathered, and may be beyond L2, are rows of C, to
     which products are added.  */
  struct shunt_fit_costs transposed[SHUNT_LAYER_TYPES], transposed_alg1[SHUNT_LAYER_TYPES];
  double sddmm_layer_start;                                         /* us */
  double sddmm_layer, sddmm_layer_f16;                              /* FLOP per us; */
  double sddmm_layer_f16_by_rows;                                   /* where B is stored by rows */
  struct shunt_layer_sddmm_costs layer_by_rows[2];                  /* the same in f32, in f64; */
  struct shunt_layer_sddmm_costs layer_by_columns[2];               /* where B is so stored */
  struct shunt_scattered_sddmm_costs by_columns[SHUNT_BLOCK_TYPES]; /* SDDMM */
  double sddmm_start;            /* us; B by rows, one entry in 64 or fewer, each times the inner */
  double sddmm_row, sddmm_entry; /* us for each */
  double sddmm_longest;          /* us for each entry of the longest row beyond the mean */
  double sddmm_host;             /* us that a call keeps the host busy */
  double sddmm_f64;              /* how many times as long f64 takes */
  double sddmm_complex[2];       /* c32, c64: us for each entry and inner element; */
  double sddmm_complex_by_columns[2]; /* where B is stored by columns */
  struct shunt_block_costs ell[SHUNT_BLOCK_TYPES][SHUNT_BLOCK_SIZES];
  struct shunt_block_costs bsr[SHUNT_BLOCK_TYPES][SHUNT_BLOCK_SIZES];
};

/* ---- together ------------------------------------------------------------------------------- */

/* What Shunt's kernels take: of a GPU. */
struct shunt_kernel_costs {
  struct shunt_rates rates;
  struct shunt_common_costs common;
  struct shunt_csr_costs csr;
  struct shunt_bundle_costs bundle;
  struct shunt_sorted_costs sorted;
  struct shunt_vector_costs vector;
  struct shunt_vector_packed_costs vector_packed;
  struct shunt_sparse24_costs sparse24;
  struct shunt_srbcrs_costs srbcrs;
  struct shunt_tile_costs tile;
  struct shunt_dense_costs dense;
  struct shunt_bsr_costs bsr;
};

enum { SHUNT_MOST_ORIGINALS = 4 };

struct shunt_cost_table {
  char gpu[64];  /* that it was fitted to, as the driver names it */
  char from[96]; /* "built in", "carried over to ...", or the user's file */
  struct shunt_kernel_costs ours;
  /* cuSPARSE's, by minor version: 126 is 12.6; 0: there are no more. */
  int cusparse[SHUNT_MOST_ORIGINALS];
  struct shunt_original_costs original[SHUNT_MOST_ORIGINALS];
};

#endif
