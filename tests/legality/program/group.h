// A communicator of the program, and what every phase on it is drawn from.
#pragma once

#include "mpi_header.h"

#include <vector>

#include "random.h"
#include "run.h"

namespace legality {

struct Group {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
  int phase = 0;  // its number in the program; parts of phases have one as well
};

// All members come here with equal draws.
Record run_exchange(const Group& group, Random random);
Record run_ring(const Group& group, Random random);
Record run_cancel(const Group& group, Random random);
Record run_synchronous(const Group& group, Random random);
Record run_collectives(const Group& group, Random random);
Record run_intercommunicator(const Group& group, Random random);
Record run_errors(const Group& group, Random random);
Record run_threads(const Group& group, Random random);
Record run_looked_up(const Group& group, Random random);
Record run_short_lived(const Group& group, Random random);
Record run_many(const Group& group, Random random);

// On all ranks: MPI_Finalize is to do something drawn from the seed.
void leave_for_the_end(std::uint64_t seed);

}  // namespace legality
