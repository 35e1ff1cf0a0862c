// The modes of the field that is transformed, known in advance: what the transform has to find.
#pragma once

#include <mpi.h>

#include <vector>

#include "serial.h"

namespace fft {

// The spectrum of a field as turbulence has it, this rank's rows: energy over the wave number falls
// by the power `slope` up to a third of `size`, phases are random, above it there is nothing, nor
// at zero. Every value follows from its place alone. The field is complex, of mean square about 1.
std::vector<Value> make_spectrum(const Slabs& slabs, double slope);

// |a - b| / |b| in the 2-norm, and the largest |a - b| over the root mean square of b, over all
// ranks' values. Collective.
struct Error {
  double relative = 0;
  double largest = 0;
};
Error compare(MPI_Comm comm, const std::vector<Value>& found, const std::vector<Value>& exact);

}  // namespace fft
