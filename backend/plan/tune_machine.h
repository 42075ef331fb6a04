/* tune_machine.h: the name of this machine, for the answers that tune.h keeps. */
#ifndef SHUNT_TUNE_MACHINE_H
#define SHUNT_TUNE_MACHINE_H

/* Tells tune.h which build, GPU and driver this is, so that it can read its file; once. */
void shunt_tune_machine(int device);

#endif
