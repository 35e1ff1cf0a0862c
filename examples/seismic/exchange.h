// Halos: two planes of three fields to each neighbour, one message a face, twice a step.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "examples/common/memory.h"
#include "part.h"
#include "solver.h"

namespace seismic {

// Communication of one rank so far.
struct Traffic {
  double seconds = 0;  // packing, MPI calls, copies and unpacking; waiting for others included
  std::int64_t bytes_sent = 0;
  std::int64_t messages_sent = 0;
};

class Exchange {
 public:
  // On a GPU MPI gets pointers to its memory, or, staged, to pinned memory with copies by hand.
  Exchange(MPI_Comm comm, const Part& part, bool on_gpu, bool staged);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // Sends what neighbours need of a group, when the solver has done all it was told. The fields
  // may change then.
  void start(Group group, Solver* solver);

  // Returns when the halos of the group are in place, or will be, in the order of the solver's
  // calls.
  void finish(Group group, Solver* solver);

  const Traffic& traffic() const { return traffic_; }

 private:
  // The two messages of a face, one each way.
  struct Side {
    int neighbour;
    Face face;
    MPI_Datatype rows;  // of columns: who reads the type learns that the message is made of planes
    Planes own[kGroups];
    Planes halo[kGroups];
    std::int64_t values;
    examples::Array<float> outgoing;
    examples::Array<float> incoming;
    examples::Array<float> staged_outgoing;
    examples::Array<float> staged_incoming;
  };

  MPI_Comm comm_;
  bool staged_;
  std::vector<Side> sides_;
  std::vector<MPI_Request> requests_;
  Traffic traffic_;
};

}  // namespace seismic
