/* budget.h: one budget for the packed copies of all processes on a device.

   Ranks of a job share a GPU.  What they keep in all is to be within the budget that one of them
   would have.  So each tells the others what it keeps, in a table that they map:

     /dev/shm/shunt3-USER-PIDS-DEVICE     USER: number, PIDS: pid namespace, DEVICE: UUID
     | asked | slot | slot | ..           a slot: process, its start | kept | wanted, until when |
                                          its budget

   Budgets may differ: by SHUNT_CACHE_MB, by what they are for, and as memory is free or not.  No
   process keeps more than its own budget.  The sum may be as large as the largest budget of those
   that keep or want something.  (With a smaller bound a process with a small budget would get
   nothing beside one that already keeps that much.)

   A process may keep what the others neither keep nor want, and never less than an equal share of
   those who keep or want something; one that keeps more gives back in its next calls.  A new copy
   is announced before it is made, and is not made where the sum would pass the budget.  So the sum
   is within the budget at any time, but for what is being given back.

   Where a program's own allocation fails, the others are asked to let go of all copies, for a
   while.  Those that keep something are waited for, 300 ms at most; once they keep nothing, 50 ms
   more.  A process looks with its next call.  One that makes no calls at that time, such as a rank
   that waits in a collective, does not answer, and is not waited for again within 10 s.  (There is
   no thread that would give its copies back: the program may destroy the CUDA context meanwhile,
   and such calls may wait for the device, while the collective waits for the process that asks.)

   The table belongs to a user and is trusted only if no other could have written it.  A slot
   is free once its process has ended, even if another process has that number now.  The last
   process removes the file.
   Without a table (no /dev/shm, another container) a process is as if alone: it still keeps nothing
   where a twentieth of the device is not free.

   Thread-safe, no lock is held; no CUDA calls.  */
#ifndef SHUNT_BUDGET_H
#define SHUNT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct shunt_budget;

/* A slot in the table of the device whose UUID these 16 bytes are, in this folder; NULL: none.
   Given back when the process ends; a forked child has none.  */
struct shunt_budget *shunt_budget_open(const char *folder, const unsigned char uuid[16]);
/* Gives the slot back. */
void shunt_budget_close(struct shunt_budget *s);

/* Bytes that this process may keep now, of a budget of its own. */
int64_t shunt_budget_allows(struct shunt_budget *s, int64_t budget);
/* Announces that so much will be kept; false: it or the sum would pass the budget, nothing
   changed. */
bool shunt_budget_take(struct shunt_budget *s, int64_t kept, int64_t budget);
/* So much is kept from now on. */
void shunt_budget_keep(struct shunt_budget *s, int64_t kept);
/* So much more was wanted and not to be had; the others hear of it. */
void shunt_budget_want(struct shunt_budget *s, int64_t bytes);
/* All other processes are asked to let go; false: they keep nothing. */
bool shunt_budget_ask(struct shunt_budget *s);
/* Asks in round 0, and waits 5 ms.  False: nobody need be waited for, or has been for long
   enough.  */
bool shunt_budget_await(struct shunt_budget *s, int round);
/* What the others keep. */
int64_t shunt_budget_others(struct shunt_budget *s);
/* Has anybody wanted or asked since this was last asked?  A load and a comparison. */
bool shunt_budget_stirred(struct shunt_budget *s);

#endif
