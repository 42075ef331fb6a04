/* spoil.h: making a result wrong on purpose, to see whether the comparison finds it. */
#ifndef TEST_SPOIL_H
#define TEST_SPOIL_H

#include "side.h"

enum spoil {
  SPOIL_NOTHING,
  SPOIL_VALUE,
  SPOIL_VALUE_SLIGHTLY,
  SPOIL_DROP,
  SPOIL_ENTRY,
  SPOIL_CODE,
  SPOIL_ERROR,
  SPOIL_ORIENTATION,
  SPOIL_CONTROL,
  SPOIL_SWITCH,
  SPOIL_INPUT,
  SPOILS
};
extern const char *const spoil_names[SPOILS];

/* Spoils one side; false if this case offers nothing to spoil that way. */
bool spoil(enum spoil kind, const struct product_case *c, struct side *s);

#endif
