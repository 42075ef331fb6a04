#include "backend/cusparse/bsr.h"

#include "backend/cusparse/descriptor_table.h"

SHUNT_DESCRIPTOR_TABLE(notes, struct shunt_bsr)

void shunt_bsr_note(const struct shunt_bsr *m)
{
  shunt_descriptor_table_put(&notes, m);
}

void shunt_bsr_forget(cusparseConstSpMatDescr_t descriptor)
{
  shunt_descriptor_table_drop(&notes, descriptor);
}

bool shunt_bsr_find(cusparseConstSpMatDescr_t descriptor, const void *library, struct shunt_bsr *m)
{
  struct shunt_bsr n;
  if (!shunt_descriptor_table_get(&notes, descriptor, &n) || n.library != library) return false;
  *m = n;
  return true;
}
