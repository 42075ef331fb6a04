/* route.h: one way to solve a class of problems.

   A route is a row of the table in table.c: a name and five functions, all in
   the route's own file.  Adding a format adds a file and a row, nothing else in
   backend/plan changes.

   The order of questions for one call:
     fits       may this route ever take such a problem?  (no data looked at)
     workspace  bytes of the caller's buffer it wants    (pure function)
                neither asks after the scalars' values, which may be others when the buffer is
                asked for than when it is used
     expect     microseconds it would take, given what is known of the pattern
     run        enqueue it
   and, for routes that keep a converted matrix across calls:
     keep_bytes, keep  size of the converted matrix; enqueue the conversion
     study_bytes, study  the same of what has to be found out before  */
#ifndef SHUNT_ROUTE_H
#define SHUNT_ROUTE_H

#include "backend/plan/problem.h"
#include "conv/profile/profile.h"

struct shunt_context;
struct shunt_packed_view;

/* Everything a route may know of one call. */
struct shunt_call {
  const struct shunt_problem
      *problem; /* CSR by now, or blocks, one batch, checked by shunt_problem_check */
  struct shunt_context *context;
  const struct shunt_profile *profile;  /* NULL: not known; a hint, never a proof */
  const struct shunt_packed_view *kept; /* this route's converted matrix, to be guarded; or NULL */
  const void *studied;                  /* measures that this route's study left; or NULL */
  const void *study;                    /* device: its payload, where there still is one; or NULL */
  double spent_us; /* about what calls with this matrix have taken so far, or have
                                           saved against the original, whichever is more; and */
  double best_us;  /* what this one will take; both: study_bytes only */
  bool will_keep;  /* a conversion would be kept from now on */
  bool no_copies;  /* copies of this matrix were found not to stand for it */
  bool forced;     /* the user's choice of routes counts, costs do not */
  void *workspace; /* 256-byte aligned, or NULL */
  size_t workspace_bytes;
  shunt_stream stream;
  bool capturing;
};

struct shunt_route {
  const char *name;
  struct shunt_verdict (*fits)(const struct shunt_problem *p, const struct shunt_context *e);
  size_t (*workspace)(const struct shunt_problem *p, const struct shunt_context *e);
  /* Fills *us; a verdict other than SHUNT_FITS and SHUNT_R_ORDERED says what this call lacks. */
  struct shunt_verdict (*expect)(const struct shunt_call *c, double *us);
  shunt_status (*run)(const struct shunt_call *c);
  /* NULL for routes that keep nothing.  Bytes: 0 where nothing should be kept, as far as is known
     of the pattern.  */
  size_t (*keep_bytes)(const struct shunt_call *c);
  shunt_status (*keep)(const struct shunt_call *c, const struct shunt_packed_view *into);
  /* NULL: nothing is to be found out.  A conversion of a route that has studied the matrix may take
     the place of another's.  */
  size_t (*study_bytes)(const struct shunt_call *c);
  shunt_status (*study)(const struct shunt_call *c, const struct shunt_packed_view *into);
  /* A conversion follows what the profile says: none is kept before there is one. */
  bool keeps_by_profile;
  /* cuBLASLt must be open before this route can run. */
  bool wants_gemm;
  /* SpMM with op_a 'T', where op(A) is the transpose of spmm.a; others never see such calls. */
  bool takes_transposed;
  /* SpMM with A in square blocks, problem->blocks; such a route sees no other calls. */
  bool takes_blocks;
};

int shunt_route_count(void);
const struct shunt_route *shunt_route_at(int i);
int shunt_route_index(const char *name); /* -1: no such route */

#endif
