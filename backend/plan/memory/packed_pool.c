/* packed_pool.c: what the pool of copies takes of the device.

   The driver's pools take memory in pieces of 32 MiB, whatever is asked for and however small the
   pool may be, and give one back once all of it is free (measured on an H100).  So copies take more
   of the device than their bytes:

     piece                    piece                    piece
     | copy | copy |  (free)  |  (free)  | copy |      | copy | copy | copy | |

   The first piece counts by what is in it, as a budget may be smaller; more of them count
   whole.  */
#include "backend/plan/cache_inside.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/memory/budget.h"

int64_t cache_reserved(struct shunt_cache *c)
{
  uint64_t bytes = 0;
  const shunt_status s =
      SHUNT_CUDA(cudaMemPoolGetAttribute(c->pool, cudaMemPoolAttrReservedMemCurrent, &bytes));
  c->reserved = s == SHUNT_OK ? (int64_t)bytes : c->bytes;
  return c->reserved;
}

int64_t cache_counted(struct shunt_cache *c)
{
  const int64_t reserved = cache_reserved(c);
  return reserved > CACHE_PIECE && reserved > c->bytes ? reserved : c->bytes;
}

bool cache_is_spread(struct shunt_cache *c, int64_t most)
{
  return cache_reserved(c) > cache_most_spread(most);
}

void cache_announce(struct shunt_cache *c)
{
  if (c->budget) shunt_budget_keep(c->budget, cache_counted(c));
}

/* The pool may keep what the reaper has given back until the host has waited for the reaper, even
   for one that is done (cudaMemPoolTrimTo): so it is waited for once it is, while nobody can give
   it more to do.  */
bool cache_trim(struct shunt_cache *c)
{
  pthread_mutex_lock(&c->using);
  const bool done = cudaStreamQuery(c->reaper) == cudaSuccess &&
                    SHUNT_CUDA(cudaStreamSynchronize(c->reaper)) == SHUNT_OK;
  pthread_mutex_unlock(&c->using);
  if (!done || SHUNT_CUDA(cudaMemPoolTrimTo(c->pool, 0)) != SHUNT_OK) return false;
  c->untrimmed = 0;
  return true;
}

/* Taking a piece and giving it back takes longer than many products: so the next attempt comes once
   something was given back, and later each time.  */
void cache_outgrew(struct shunt_cache *c, int64_t bytes)
{
  enum { MOST_DOUBLINGS = 6 };
  c->outgrown = bytes;
  c->outgrown_lasts = true;
  c->outgrown_until = c->clock + ((uint64_t)RELIEVE_EVERY << c->outgrowths);
  if (c->outgrowths < MOST_DOUBLINGS) c->outgrowths++;
}

bool cache_is_full(const struct shunt_cache *c, int64_t bytes, int64_t most)
{
  const int64_t pieces = (bytes + CACHE_PIECE - 1) / CACHE_PIECE;
  const bool outgrows = c->outgrown > 0 && bytes >= c->outgrown &&
                        (c->outgrown_lasts || c->clock < c->outgrown_until);
  return outgrows && c->reserved + pieces * CACHE_PIECE > most;
}
