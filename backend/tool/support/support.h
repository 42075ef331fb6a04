/* support.h: what the files of `shunt support` share.

     support.c             options; the tables, one behind the other
     support_tables.c      the list of tables; those of algorithms, blocks and reasons
     support_products.c    the tables of products, by format, operations, types and layouts
     support_routes.c      the table of what one route asks for
     support_changes.c     the table of ordinary calls with one thing changed
     support_words.c       the words of questions, and answers as words
     support_ask.c         a question as a call of cuSPARSE; what the planner says to it
     support_calls.c       its descriptors, and the getters that read them back
     support_table.c       rows that differ in one column become one; text and JSON
     support_no_routes.c   instead of all but the first, in builds without CUDA

   No rule is written down here.  A question goes the way of a call: backend/cusparse/describe.c
   reads it, through getters that stand in for cuSPARSE's, backend/plan settles it, and each route
   of backend/routes/table.c is asked whether it fits.  Nothing is launched.  */
#ifndef SHUNT_TOOL_SUPPORT_H
#define SHUNT_TOOL_SUPPORT_H

#include "backend/tool/support/support_table.h"
#include "backend/tool/tool.h"

/* All tables of a GPU (an index into inspect_gpus), for people or as JSON.  False after a message:
   they cannot be had.  */
bool support_print_tables(int gpu, bool json, FILE *to);

#endif
