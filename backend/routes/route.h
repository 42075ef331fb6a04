/* route.h: one way to solve a class of problems.

   A route is a row of the table in table.c: a name, functions, and flags that say which calls it
   takes, all in the route's own file.  Adding a format adds files and a row; backend/plan stays
   as it is.

   The order of questions for one call:
     fits       may this route ever take such a problem?  (no data looked at)
     workspace  bytes of the caller's buffer it wants    (pure function)
                neither asks after the scalars' values, which may be others when the buffer is
                asked for than when it is used
     expect     microseconds it would take, given what is known of the pattern
     run        enqueue it
   and, for routes that keep the matrix in a format of their own across calls:
     pack_bytes, pack    size of the packed copy; enqueue the conversion
     study_bytes, study  for routes that must look at the matrix on the device before they can say
                         whether packing pays: size of what they find, and enqueue the search  */
#ifndef SHUNT_ROUTE_H
#define SHUNT_ROUTE_H

#include "backend/plan/problem.h"
#include "conv/profile/profile.h"

struct shunt_context;
struct shunt_packed_view;

/* What became of the packed copy in a run. */
enum shunt_copy_use {
  SHUNT_COPY_UNUSED,  /* nothing was enqueued that reads it, */
  SHUNT_COPY_TOUCHED, /* something was, */
  SHUNT_COPY_USED     /* and the product is from it */
};

/* Everything a route may know of one call. */
struct shunt_call {
  /* CSR by now, or blocks; one batch; passed shunt_problem_check. */
  const struct shunt_problem *problem;
  struct shunt_context *context;
  const struct shunt_profile *profile; /* NULL: not known; a hint, never a proof */

  /* For routes that pack: */
  const struct shunt_packed_view *packed; /* this route's copy, to be guarded; or NULL */
  enum shunt_copy_use *copy_use;          /* the route says here what it did with it; or NULL */
  bool will_pack;                         /* the matrix would be packed now, and stay so */
  bool no_copies;                         /* copies were found not to stand for this matrix */
  bool frozen; /* copies will mostly be used without a proof (backend/plan/frozen.h) */

  /* For routes that study: */
  const void *studied; /* the measures that this route's study left; or NULL */
  const void *study;   /* device: its payload, where there still is one; or NULL */
  double spent_us;     /* what calls with this matrix have taken so far, or have saved against the
                          original, whichever is more; and */
  double best_us;      /* what this one will take; both for study_bytes only */

  double csr_us; /* what `csr` is expected to take, on which copies have to gain; 0: unknown */

  /* For routes that want cuBLASLt: */
  bool library; /* it may be used; when `expect` is asked, it need not be open yet */

  bool forced;     /* the user's choice of routes counts, costs do not */
  void *workspace; /* 256-byte aligned, or NULL */
  size_t workspace_bytes;
  shunt_stream stream;
  bool capturing;
};

static inline void shunt_copy_note(const struct shunt_call *c, enum shunt_copy_use use)
{
  if (c->packed && c->copy_use) *c->copy_use = use;
}

struct shunt_route {
  const char *name;
  struct shunt_outcome (*fits)(const struct shunt_problem *p, const struct shunt_context *context);
  size_t (*workspace)(const struct shunt_problem *p, const struct shunt_context *context);
  /* What it can take some calls with, for where memory is short; NULL: as much as `workspace`. */
  size_t (*least_workspace)(const struct shunt_problem *p, const struct shunt_context *context);
  /* Fills *us; an outcome other than SHUNT_FITS and SHUNT_R_ORDERED says what this call lacks. */
  struct shunt_outcome (*expect)(const struct shunt_call *c, double *us);
  shunt_status (*run)(const struct shunt_call *c);
  /* NULL for routes that keep nothing.  Bytes: 0 where nothing should be packed, as far as is known
     of the pattern.  */
  size_t (*pack_bytes)(const struct shunt_call *c);
  shunt_status (*pack)(const struct shunt_call *c, const struct shunt_packed_view *into);
  /* NULL: the route needs no study.  A copy of a route that has studied the matrix may take the
     place of another's.  */
  size_t (*study_bytes)(const struct shunt_call *c);
  shunt_status (*study)(const struct shunt_call *c, const struct shunt_packed_view *into);
  /* A copy follows what the profile says: none is made before there is one. */
  bool packs_by_profile;
  /* What is kept is a hint, right whatever it holds: a use of it has no proof. */
  bool keeps_hint;
  /* Only the measures of a copy say whether it is any good: none is used before they have come. */
  bool awaits_measures;
  /* Some or all of its calls are cuBLASLt's: `expect` is asked without it, and with. */
  bool wants_gemm;
  /* SpMM with op_a 'T', where op(A) is the transpose of spmm.a, or 'H', the conjugate transpose of
     complex types; others never see such calls. */
  bool takes_transposed;
  /* Types that the original refuses (problem->extended): the route must not decline such a call for
     what a later call may bring.  */
  bool takes_extended;
  /* SpMM with A in square blocks, problem->blocks; such a route sees no other calls. */
  bool takes_blocks;
  /* SDDMM; others never see such calls. */
  bool takes_sddmm;
  /* SDDMM by csr_sddmm_direct.cu; others never see such calls unless the user names the routes. */
  bool takes_brief;
  /* A with more entries than 32 bits count; others never see such calls. */
  bool takes_long;
};

int shunt_route_count(void);
const struct shunt_route *shunt_route_at(int i);
int shunt_route_index(const char *name); /* -1: no such route */

#endif
