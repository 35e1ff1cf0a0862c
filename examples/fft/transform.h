// The 3-D transform: two axes, an Alltoall, the third axis.
#pragma once

#include <functional>
#include <memory>

#include "examples/common/memory.h"
#include "exchange.h"
#include "serial.h"
#include "slabs.h"

namespace fft {

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
