/* product.h: one product on its way through the planner.

     shunt_product_plan    what the cache knows of the matrix; the plan (choice.c)
     shunt_product_run     the first route of the plan that does not fail
     shunt_product_leave   what was taken hold of given back; profiles and studies asked for

   A matrix changes its way once.  The order of the sums depends on the route, and on what `csr` is
   told of the longest row.  So a matrix keeps the way of its first call until all that decides is
   known, and then changes:

     the copy serves the next calls     with the first call that has the profile and makes the copy
       (they are on the same stream)
     it may not yet (other streams;     when the copy is there; until then calls go on as if there
       or its measures come first)      were no profile

   A captured call takes the best way that there is at that moment.

   For the planner alone (planner.h is what others call).  A struct is one thread's.  */
#ifndef SHUNT_PRODUCT_H
#define SHUNT_PRODUCT_H

#include "backend/plan/cache.h"
#include "backend/plan/planner.h"
#include "backend/routes/route.h"

enum { SHUNT_MOST_CANDIDATES = 32 };

/* One way to take the product.  A route may have several, which differ in what they need
   initialized. */
struct shunt_candidate {
  const struct shunt_route *route;
  struct shunt_outcome how;
  double us;
  bool library, packs; /* with cuBLASLt; the matrix is packed on the way */
  uint32_t pending;    /* what it needs that is not initialized yet (backend/cublas/lazy_init.h) */
};

/* What the router chose: the routes that may run, fastest first, or the reason why there is
   none. */
struct shunt_plan {
  struct shunt_candidate candidate[SHUNT_MOST_CANDIDATES];
  int count;
  struct shunt_outcome why_none; /* the most general route's reason */
  double original_us;            /* what the original is expected to need */
};

struct shunt_product {
  struct shunt_problem problem; /* CSR by now, or blocks; one batch */
  struct shunt_call call;       /* of `problem`; shunt_call_for adds what one route alone is told */
  int batches;                  /* that it is one of */
  struct shunt_lookup lookup;
  struct shunt_packed_view view[SHUNT_MOST_PACKED]; /* of lookup.packed */
  struct shunt_packed_view study;                   /* of lookup.study */
  struct {
    struct shunt_cache_packed *copy; /* that this product packed, or NULL, */
    const struct shunt_route *by;
    struct shunt_packed_view view;
  } packed;
  bool forgets;                   /* nothing is looked up or kept of it */
  bool compare;                   /* ways are compared by their expected time */
  const struct shunt_route *next; /* behind the product a copy is packed for this one; or NULL */
  double next_saves_us;           /* by a call with that copy */
  struct shunt_plan plan;
};

/* ---- choice.c ------------------------------------------------------------------------ */

/* Whether SHUNT_ROUTES has a list: the routes named then run wherever they are right, without a
   comparison of costs.  */
bool shunt_routes_forced(void);

/* So short that one launch without a workspace is best, whatever the pattern: nothing else is asked
   about, and nothing of the matrix is looked up or found out, as the host's time counts. */
bool shunt_product_is_brief(const struct shunt_problem *p);

/* May route i take p, by the options and the form of A? */
bool shunt_route_may_take(int i, const struct shunt_problem *p);

/* cuBLASLt's products of p's type, as what they need (backend/cublas/lazy_init.h). */
uint32_t shunt_library_bit(const struct shunt_problem *p);

/* The copy in `route`'s format, which the lookup carries or this product packed, and its view; or
   NULL.  */
struct shunt_cache_packed *shunt_product_copy(const struct shunt_product *x,
                                              const struct shunt_route *route,
                                              const struct shunt_packed_view **view);

/* The call as `route` is told of it: with its own packed copy only, or the prospect of one. */
struct shunt_call shunt_call_for(const struct shunt_product *x, const struct shunt_route *route);

/* Fills x->plan.  `only`: no other route than this one, whatever it costs, unless it is
   negative. */
void shunt_product_choose(struct shunt_product *x, int only);

/* ---- product.c ----------------------------------------------------------------------- */

/* What the cache knows p's matrix by. */
struct shunt_key shunt_key_of(const struct shunt_problem *p);

/* Looks the matrix of p's batch i up, and chooses.  Blocks are read in place: of them nothing is
   kept, profiled or looked up.  Nor is of brief products.  */
void shunt_product_plan(struct shunt_product *x, const struct shunt_problem *p, int i,
                        const struct shunt_call *call, int only);

/* Enqueues the product by the first route of the plan that does not fail, and packs the matrix
   where the plan says so.  An answer with `written`: a route failed that had begun to write C, so
   that neither another route nor the original may run.  */
struct shunt_answer shunt_product_run(struct shunt_product *x);

/* Gives back what the lookup and the run took hold of. */
void shunt_product_leave(struct shunt_product *x);

/* The original has to run, for this reason. */
struct shunt_answer shunt_declined(struct shunt_outcome why);

#endif
