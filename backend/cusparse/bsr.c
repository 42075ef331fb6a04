#include "backend/cusparse/bsr.h"

#include "backend/cusparse/descriptor_table.h"

CUSPARSE_NOTES_OF(notes, struct cusparse_bsr);

void cusparse_bsr_note(const struct cusparse_bsr *m)
{
  cusparse_notes_put(&notes, m);
}

void cusparse_bsr_forget(cusparseConstSpMatDescr_t descriptor)
{
  cusparse_notes_drop(&notes, descriptor);
}

bool cusparse_bsr_find(cusparseConstSpMatDescr_t descriptor, const void *library,
                       struct cusparse_bsr *m)
{
  struct cusparse_bsr n;
  if (!cusparse_notes_get(&notes, descriptor, &n) || n.library != library) return false;
  *m = n;
  return true;
}
