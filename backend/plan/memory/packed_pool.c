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

int64_t cache_reserved(const struct shunt_cache *c)
{
  uint64_t bytes = 0;
  return SHUNT_CUDA(cudaMemPoolGetAttribute(c->pool, cudaMemPoolAttrReservedMemCurrent, &bytes)) ==
                 SHUNT_OK
             ? (int64_t)bytes
             : c->bytes;
}

int64_t cache_counted(const struct shunt_cache *c)
{
  const int64_t reserved = cache_reserved(c);
  return reserved > CACHE_PIECE && reserved > c->bytes ? reserved : c->bytes;
}

bool cache_is_spread(const struct shunt_cache *c, int64_t most)
{
  return cache_reserved(c) > (most > CACHE_PIECE ? most : CACHE_PIECE);
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
