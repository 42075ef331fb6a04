"""exchange.py: rows of a dense matrix that other ranks have, which come in pieces while this
rank multiplies its own.

What a rank gives lies in `give`, which a program fills, chunk by chunk: slices of rows, in order.
start(c) sends chunk c on its way; arrived(q) is piece q of the others' rows, for which the current
stream waits, not the host.  A piece has a slice of each other rank's rows, in the order of
`others`.  Pieces stay until the next start(0).
"""
import torch
import torch.distributed as dist


def others(rank, size):
    return [(rank + k) % size for k in range(1, size)]


class Whole:
    """All ranks' rows in one piece, by an all-gather."""
    own_first = False

    def __init__(self, rank, size, rows, width, like):
        self.chunks = [slice(0, rows)]
        self.give = torch.empty(rows, width, **like)
        self.all = torch.empty(size * rows, width, **like)

    def start(self, _):
        self.work = dist.all_gather_into_tensor(self.all, self.give, async_op=True)

    def arrived(self, _):
        self.work.wait()
        return self.all


class Sends:
    """By sends and receives, which take a part of the device's multiprocessors."""
    own_first = True

    def __init__(self, rank, size, rows, width, pieces, like):
        self.others, self.wide = others(rank, size), rows // pieces
        self.chunks = [slice(0, rows)]
        self.senders = list(reversed(self.others))  # rank - k gives to me what I give to rank + k
        self.give = torch.empty(rows, width, **like)
        self.take = torch.empty(pieces, (size - 1) * self.wide, width, **like)

    def piece(self, q):
        wide, work = self.wide, []
        for to, of in zip(self.others, self.senders):
            at = self.others.index(of) * wide
            work.append(dist.P2POp(dist.isend, self.give[q * wide:(q + 1) * wide], to))
            work.append(dist.P2POp(dist.irecv, self.take[q, at:at + wide], of))
        return dist.batch_isend_irecv(work)

    def start(self, _):
        self.coming = [self.piece(q) for q in range(len(self.take))]

    def arrived(self, q):
        for work in self.coming[q]:
            work.wait()
        return self.take[q]


def slices(chunk, wide):
    """What of a chunk of rows is in each of the pieces of so many."""
    first, last = chunk.start // wide, (chunk.stop - 1) // wide
    return [(q, slice(max(chunk.start, q * wide), min(chunk.stop, (q + 1) * wide)))
            for q in range(first, last + 1)]


class Copies:
    """By the copy engines, out of the other ranks' memory: no multiprocessor is taken.

    One barrier a chunk is enough where exchanges come in turns: a rank comes to the next one's only
    after its copies of this one, as both are on one stream.  That goes before others: else the
    barrier's kernel waits behind all blocks of the product that the copies are to run beside."""
    own_first, stream = True, None

    def __init__(self, rank, size, rows, width, pieces, chunks, like):
        from torch.distributed import _symmetric_memory as symmetric
        Copies.stream = Copies.stream or torch.cuda.Stream(priority=-1)
        wide, long = rows // pieces, rows // chunks
        self.chunks = [slice(c * long, (c + 1) * long) for c in range(chunks)]
        self.give = symmetric.empty(rows, width, **like)
        self.link = symmetric.rendezvous(self.give, dist.group.WORLD)
        self.take = torch.empty(pieces, (size - 1) * wide, width, **like)
        there = [self.link.get_remote_tensor(of, self.give.shape, self.give.dtype)
                 for of in others(rank, size)]
        self.copies = [[(q, self.take[q, k * wide + c.start - q * wide:][:c.stop - c.start], of[c])
                        for q, c in slices(self.chunks[i], wide) for k, of in enumerate(there)]
                       for i in range(chunks)]
        self.came = [torch.cuda.Event() for _ in range(pieces)]

    def start(self, c):
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            self.link.barrier()
            for q, here, there in self.copies[c]:
                here.copy_(there, non_blocking=True)
                self.came[q].record()

    def arrived(self, q):
        torch.cuda.current_stream().wait_event(self.came[q])
        return self.take[q]


def exchange(way, rank, size, rows, width, pieces, chunks, like):
    if not pieces:
        return Whole(rank, size, rows, width, like)
    if way == "sends":
        return Sends(rank, size, rows, width, pieces, like)
    return Copies(rank, size, rows, width, pieces, chunks, like)
