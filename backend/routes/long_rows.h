/* long_rows.h: rows of A that are too long for the kernel that gives each row to one block.  Asked
   by the route `csr`, by the estimate of cuSPARSE and by the cuda engine of GraphBLAS.  */
#ifndef SHUNT_LONG_ROWS_H
#define SHUNT_LONG_ROWS_H

/* Entries of the longest row that such a block still takes, whatever else there is. */
enum { SHUNT_LONGEST_FOR_SPLIT = 16384 };

#endif
