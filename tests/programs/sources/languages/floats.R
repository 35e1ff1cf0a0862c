# Passes doubles around a ring of ranks and hands out an array by Rmpi; each rank writes all that it got.
library(Rmpi)
rank <- mpi.comm.rank(0)
ranks <- mpi.comm.size(0)
count <- 40000
doubles <- 2 # Rmpi's name for MPI_DOUBLE
mine <- rank + 1 + (0:(count - 1)) / 1024
after <- (rank + 1) %% ranks
before <- (rank + ranks - 1) %% ranks
passed <- mpi.sendrecv(mine, doubles, after, 1, double(count), doubles, before, 1, comm = 0)
shared <- mpi.bcast(sqrt(mine) * (rank == 0), doubles, 0, comm = 0)
out <- file(sprintf("rank-%d", rank), "wb")
writeBin(c(passed, shared), out)
close(out)
invisible(mpi.finalize())
