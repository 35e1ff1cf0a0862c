// The Alltoall between the two ways in which the cube is cut.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "examples/common/memory.h"
#include "serial.h"
#include "slabs.h"

namespace fft {

// Communication of one rank so far.
struct Traffic {
  double seconds = 0;  // inside MPI calls and copies around them, waiting for others included
  std::int64_t bytes_sent = 0;  // to other ranks
  std::int64_t calls = 0;
};

class Exchange {
 public:
  // On a GPU MPI gets pointers to its memory, or, staged, to pinned memory with copies by hand.
  Exchange(MPI_Comm comm, const Slabs& slabs, bool on_gpu, bool staged);

  // Block r of `from` goes to rank r, and block r of `to` comes from there. The GPU must have done
  // all it was told; all is done on return. Collective.
  void swap(const Value* from, Value* to);

  // The same as bytes, which are no floats to anyone on the way, and without counting it: for what
  // transforms are compared with.
  void swap_bytes(const Value* from, Value* to);

  const Traffic& traffic() const { return traffic_; }

 private:
  void swap_as(MPI_Datatype type, int count, const Value* from, Value* to);

  MPI_Comm comm_;
  Slabs slabs_;
  bool staged_;
  examples::Array<Value> staged_from_;
  examples::Array<Value> staged_to_;
  Traffic traffic_;
};

}  // namespace fft
