/* machine.h: what estimates know of the machine: the device, and what things take on it.

     tables/NAME.costs --make_built_in.awk--> C --.
                                                   >-- choose.c --> struct shunt_cost_table
     the file of SHUNT_COSTS --read.c--------------'

   Kernels see struct shunt_device alone; the routes ask the estimates (backend/routes/costs.h) and
   hand those the machine.  Pure, but for what shunt_costs_open reads; thread-safe.  */
#ifndef SHUNT_MACHINE_H
#define SHUNT_MACHINE_H

#include <stdbool.h>
#include <stdio.h>

#include "backend/costs/cost_table.h"
#include "kernels/common/device.h"

#ifdef __cplusplus
extern "C" {
#endif

struct shunt_machine {
  struct shunt_device device;
  const struct shunt_cost_table *costs;
};

/* ---- built in ------------------------------------------------------------------------------- */

extern const struct shunt_cost_table shunt_costs_h200, shunt_costs_h100;
/* All of them, then NULL.  Those without a time for a launch have rates alone. */
extern const struct shunt_cost_table *const shunt_costs_built_in[];

/* ---- choose.c ------------------------------------------------------------------------------- */

/* Fills *out for a GPU of this name with so many multiprocessors: with the table that was fitted to
   it; else with the nearest one, carried over by the rates of both.  A GPU whose rates are not
   known is taken for a part, or a multiple, of the nearest, by its multiprocessors.  gpu NULL: not
   known.  */
void shunt_costs_choose(const char *gpu, int multiprocessors, struct shunt_cost_table *out);

/* The table of cuSPARSE 12.6 (126), or of the version next to it; 0: not known, the first. */
const struct shunt_original_costs *shunt_costs_of_original(const struct shunt_cost_table *t,
                                                           int cusparse);

/* "NVIDIA H200, cuSPARSE 12.6; built in" */
enum { SHUNT_COSTS_TEXT = 256 };
void shunt_costs_describe(const struct shunt_cost_table *t, char text[SHUNT_COSTS_TEXT]);

/* ---- read.c --------------------------------------------------------------------------------- */

/* Puts what the user's file says in the place of what *t says: all of it, or nothing if a line is
   not understood, or the first line is not "# shunt costs 1 " and `signature`.  NULL, or the reason
   why nothing of it counts.  The versions of cuSPARSE that the file has are the only ones then.  */
const char *shunt_costs_read(FILE *f, const char *signature, struct shunt_cost_table *t);

/* The same of the file at `path`, which only this user may be able to write (user_file.h). */
const char *shunt_costs_open(const char *path, const char *signature, struct shunt_cost_table *t);

#ifdef __cplusplus
}
#endif
#endif
