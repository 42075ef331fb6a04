/* product.h: one product on its way through the planner.

     shunt_product_look     the matrix looked up in the cache, the routes chosen (choice.c)
     shunt_product_run      the best of them that does not fail
     shunt_product_leave    what was taken hold of given back; profiles and studies asked for

   For the planner alone (planner.h is what others call).  A struct is one thread's.  */
#ifndef SHUNT_PRODUCT_H
#define SHUNT_PRODUCT_H

#include "backend/plan/cache.h"
#include "backend/plan/planner.h"
#include "backend/routes/route.h"

enum { SHUNT_MOST_ROUTES = 16 };

struct shunt_candidate {
  const struct shunt_route *route;
  struct shunt_verdict how;
  double us;
};

struct shunt_choice {
  struct shunt_candidate candidate[SHUNT_MOST_ROUTES];
  int count;
  struct shunt_verdict why_none; /* the most general route's reason */
};

/* One product on its way: what is known of its matrix, and the routes that may run it. */
struct shunt_product {
  struct shunt_problem problem; /* CSR by now, one batch */
  struct shunt_call call;       /* of `problem` */
  int batches;                  /* that it is one of */
  struct shunt_lookup sight;
  struct shunt_packed_view view[SHUNT_MOST_PACKED]; /* of sight.plan */
  struct shunt_packed_view study;                   /* of sight.study */
  struct {
    struct shunt_cache_packed *kept; /* the plan that this product made, or NULL, */
    const struct shunt_route *by;
    struct shunt_packed_view view;
  } made;
  double original_us; /* what the original is expected to need */
  struct shunt_choice choice;
};

/* ---- choice.c ------------------------------------------------------------------------ */

/* A list in SHUNT_ROUTES is an order, not a permission: the routes named run
   wherever they are right, without a comparison of costs.  */
bool shunt_routes_forced(void);

/* May route i take p, as far as the options and the layout of A say? */
bool shunt_route_may_take(int i, const struct shunt_problem *p);

/* The plan by `route`, which the sight carries or this product made, and its view; or NULL. */
struct shunt_cache_packed *shunt_product_plan(const struct shunt_product *x,
                                              const struct shunt_route *route,
                                              const struct shunt_packed_view **view);

/* The call as `route` sees it: only its own kept matrix, or the prospect of one. */
struct shunt_call shunt_call_as_seen_by(const struct shunt_product *x,
                                        const struct shunt_route *route);

/* Every route that may run, fastest first; `only`: no other than this one, whatever it
   costs, unless it is negative.  */
void shunt_product_choose(struct shunt_product *x, int only);

/* ---- product.c ----------------------------------------------------------------------- */

/* What the cache knows p's matrix by. */
struct shunt_key shunt_key_of(const struct shunt_problem *p);

/* Looks batch i of p up in the cache and chooses its routes. */
void shunt_product_look(struct shunt_product *x, const struct shunt_problem *p, int i,
                        const struct shunt_call *call, int only);

/* The best of the chosen routes that does not fail. */
struct shunt_answer shunt_product_run(struct shunt_product *x);

/* Gives back what the look-up and the run took hold of. */
void shunt_product_leave(struct shunt_product *x);

struct shunt_answer shunt_declined(struct shunt_verdict why);

#endif
