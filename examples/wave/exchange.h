// Messages between the ranks: halos every step, whole slabs now and then.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "medium.h"

namespace wave {

// Communication of one rank so far.
struct Traffic {
  double seconds = 0;  // inside MPI calls and copies around them, waiting for others included
  std::int64_t bytes_sent = 0;
  std::int64_t messages_sent = 0;
};

class Exchange {
 public:
  virtual ~Exchange() = default;

  // Fills the halo planes of `field` from the neighbours' owned planes, and is done on return.
  // Collective over neighbours.
  virtual void halos(float* field) = 0;

  // Brings the owned planes of the other ranks' fields into the `snapshot` of rank 0, the only one
  // that has one. Collective.
  virtual void gather(const float* field, float* snapshot) = 0;

  const Traffic& traffic() const { return traffic_; }

 protected:
  Traffic traffic_;
};

// Hands MPI the pointers as they are: to host memory, or to GPU memory if MPI takes it.
std::unique_ptr<Exchange> make_direct_exchange(MPI_Comm comm, const Slab& slab);

// The four runs of kRadius planes that halos are made of.
struct Faces {
  float* upper_halo;
  float* first_owned;
  float* last_owned;
  float* lower_halo;
};

Faces faces_of(const Slab& slab, float* field);

// The messages of Exchange::halos() alone.
void swap_faces(MPI_Comm comm, const Slab& slab, const Faces& faces, Traffic* traffic);

// The messages of Exchange::gather() alone: what a rank other than 0 sends, and what rank 0
// receives from `rank`.
void send_slab(MPI_Comm comm, const Slab& slab, const float* owned, Traffic* traffic);
void receive_slab(MPI_Comm comm, const Slab& other, float* target, Traffic* traffic);

// Messages from GPU memory by way of host memory, for an MPI that takes host memory only.

// Copies through pinned buffers made beforehand, the way it is written by hand. The pointers given
// to it are to GPU memory. Errors of CUDA end in std::runtime_error.
std::unique_ptr<Exchange> make_staged_exchange(MPI_Comm comm, const Slab& slab);

}  // namespace wave
