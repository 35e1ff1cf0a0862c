// What the ranks tell each other: halos every step, whole slabs now and then.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "slab.h"

namespace wave {

// Communication of one rank so far.
struct Traffic {
  double seconds = 0;  // inside MPI calls, waiting for a slower neighbour included
  std::int64_t bytes_sent = 0;
  std::int64_t messages_sent = 0;
};

// Fills the halo planes of `field` from the neighbours' owned planes. Collective over neighbours.
void exchange_halos(MPI_Comm comm, const Slab& slab, float* field, Traffic* traffic);

// Copies the owned planes of every rank's `field` into `whole` on rank 0, [nz][ny][nx]; other ranks
// pass an empty vector.
void gather_field(MPI_Comm comm, const Slab& slab, const float* field, std::vector<float>* whole,
                  Traffic* traffic);

}  // namespace wave
