/* report_page.h: what the files of the page share (report_page.c). */
#ifndef SHUNT_TOOL_REPORT_PAGE_H
#define SHUNT_TOOL_REPORT_PAGE_H

#include "backend/tool/report/run_report.h"

/* ---- report_pieces.c ------------------------------------------------------------------------- */

/* What was saved, or "unknown". */
const char *page_gain(double saved, int64_t unknown, int64_t calls, char text[24]);
/* A cell with a number; `name` stands before it where the window is narrow. */
void page_count(FILE *to, const char *name, int64_t n);
/* A cell with a bar, `part` of it full; left: in the colour of what was left to the original. */
void page_bar(FILE *to, double part, bool left);
/* From the caption, or NULL, to the heads, which end with NULL; '#' before one: numbers. */
void page_table(FILE *to, const char *caption, const char *const *heads);
void page_table_end(FILE *to);

/* ---- parts: report_figures.c, report_calls.c, report_sums.c ---------------------------------- */

void page_figures(FILE *to, const struct run_report *r);
void page_how_known(FILE *to, const struct run_report *r);
void page_taken(FILE *to, const struct run_report *r);
void page_left(FILE *to, const struct run_report *r);
void page_routes(FILE *to, const struct run_report *r);
void page_processes(FILE *to, const struct run_report *r);

#endif
