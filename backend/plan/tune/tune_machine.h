/* tune_machine.h: the name of this machine, which signs the files that are kept from one process to
   the next: tune.h's answers, and tables of costs (backend/costs/machine.h).  */
#ifndef SHUNT_TUNE_MACHINE_H
#define SHUNT_TUNE_MACHINE_H

#include <stdbool.h>

enum { SHUNT_SIGNATURE = 384 };

/* "build=0.1.0 gpu=NVIDIA H200 driver=13000"; false: the driver does not say. */
bool shunt_machine_signature(int device, char text[SHUNT_SIGNATURE]);

/* Tells tune.h which build, GPU and driver this is, so that it can read its file; once. */
void shunt_tune_machine(int device);

#endif
