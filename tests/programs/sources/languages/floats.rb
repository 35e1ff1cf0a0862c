# Passes doubles around a ring of ranks and hands out an array by ruby-mpi; each rank writes all that it got.
require "narray"
require "mpi"

MPI.Init
world = MPI::Comm::WORLD
rank, ranks, count = world.rank, world.size, 40000
mine = NArray.float(count).indgen! / 1024 + (rank + 1)
passed, shared = NArray.float(count), NArray.float(count)
# An even rank sends first: a message of this length waits for its receive.
to, from = (rank + 1) % ranks, (rank - 1) % ranks
world.Send(mine, to, 1) if rank.even?
world.Recv(passed, from, 1)
world.Send(mine, to, 1) if rank.odd?
shared[true] = NMath.sqrt(mine) if rank.zero?
world.Bcast(shared, 0)
File.binwrite("rank-#{rank}", passed.to_s + shared.to_s)
MPI.Finalize
