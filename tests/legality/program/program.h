// The program of a seed: its communicators, and the phases that are drawn on them.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
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

// The world, its duplicates and parts of it.
class Communicators {
 public:
  explicit Communicators(Random random);
  ~Communicators();
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  // Picks the communicator of a phase; also tells which of several of a kind this rank is in. Null
  // if it is in none.
  std::pair<Group, int> pick(Random& random, int phase) const;

 private:
  struct One {
    MPI_Comm comm = MPI_COMM_NULL;
    int color = 0;
    bool owned = true;
  };
  One split(Random random) const;
  One subset(Random random) const;

  std::vector<One> all_;
};

// From the communicators to the line that says what the program came to.
void run_program(std::uint64_t seed);

}  // namespace legality
