// The 3-D transform: two axes, an Alltoall, the third axis.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "examples/common/memory.h"
#include "serial.h"

namespace fft {

// The Alltoall between the two ways in which the cube is cut.

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

// How a transform's blocks travel: Exchange::swap or Exchange::swap_bytes.
using Swap = void (Exchange::*)(const Value* from, Value* to);

class Transform {
 public:
  Transform(MPI_Comm comm, const Slabs& slabs, bool on_gpu, bool staged);

  // The field, this rank's planes, [depth][size][size]: z, y, x.
  Value* field() { return field_.data(); }
  // The spectrum, this rank's rows, [size][depth][size]: all of z, its own y, x.
  Value* spectrum() { return spectrum_.data(); }

  // From the field to the spectrum; the field is overwritten. Without scaling. Done on return.
  void forward(Swap swap = &Exchange::swap);
  // From the spectrum to the field, with 1 / size^3; the spectrum is overwritten.
  void backward(Swap swap = &Exchange::swap);

  const Traffic& traffic() const { return exchange_.traffic(); }

 private:
  Slabs slabs_;
  bool on_gpu_;
  std::unique_ptr<Serial> serial_;
  Exchange exchange_;
  examples::Array<Value> field_;
  examples::Array<Value> spectrum_;
};

}  // namespace fft
