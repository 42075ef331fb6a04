/* frontier_cost.c: see frontier_cost.h.  Ours is the faster one of two ways, in groups of rows and
   one by one.  */
#include "backend/graphblas/frontier/frontier_cost.h"

#include "backend/graphblas/frontier/frontier_times.h"

struct grb_frontier_cost grb_frontier_cost(const struct shunt_frontier *x, double f_entries,
                                           struct shunt_frontier_reads reads)
{
  const struct grb_frontier_time original = grb_frontier_by_original(x, f_entries, reads);
  struct grb_frontier_time host = grb_frontier_in_groups(x, f_entries, reads);
  bool single = false;
  if (!x->a.by_column && !x->f.dense) {
    const struct grb_frontier_time other = grb_frontier_one_by_one(x, f_entries, reads);
    single = other.all < host.all;
    if (single) host = other;
  }
  return (struct grb_frontier_cost){
      .original = original.all,
      .host = host.all,
      .original_alone = original.alone,
      .host_alone = host.alone,
      .single = single,
  };
}
