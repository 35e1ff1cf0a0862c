#include "staging.h"

#include "examples/common/memory.h"

namespace wave {
namespace {

using examples::copy;
using examples::wait_for_gpu;

class StagedExchange : public Exchange {
 public:
  StagedExchange(MPI_Comm comm, const Slab& slab)
      : comm_(comm),
        slab_(slab),
        values_(kRadius * slab.plane()),
        faces_(examples::Place::kPinned, 4 * values_),
        // Rank 0 owns one of the deepest slabs, so that each of the others' fits.
        slab_room_(examples::Place::kPinned, slab.owned()) {}

  void halos(float* field) override {
    const Faces device = faces_of(slab_, field);
    float* room = faces_.data();
    const Faces host{room, room + values_, room + 2 * values_, room + 3 * values_};
    const bool above = slab_.rank > 0;
    const bool below = slab_.rank + 1 < slab_.ranks;

    double start = MPI_Wtime();
    if (above) copy(host.first_owned, device.first_owned, values_);
    if (below) copy(host.last_owned, device.last_owned, values_);
    wait_for_gpu();
    traffic_.seconds += MPI_Wtime() - start;

    swap_faces(comm_, slab_, host, &traffic_);

    start = MPI_Wtime();
    if (above) copy(device.upper_halo, host.upper_halo, values_);
    if (below) copy(device.lower_halo, host.lower_halo, values_);
    wait_for_gpu();
    traffic_.seconds += MPI_Wtime() - start;
  }

  void gather(const float* field, float* snapshot) override {
    if (slab_.rank > 0) {
      copy_timed(slab_room_.data(), field + kRadius * slab_.plane(), slab_.owned());
      send_slab(comm_, slab_, slab_room_.data(), &traffic_);
      return;
    }
    for (int rank = 1; rank < slab_.ranks; ++rank) {
      const Slab other = make_slab(slab_.nx, slab_.ny, slab_.nz, rank, slab_.ranks);
      receive_slab(comm_, other, slab_room_.data(), &traffic_);
      copy_timed(snapshot + other.first * slab_.plane(), slab_room_.data(), other.owned());
    }
  }

 private:
  void copy_timed(float* target, const float* source, std::size_t count) {
    const double start = MPI_Wtime();
    copy(target, source, count);
    wait_for_gpu();
    traffic_.seconds += MPI_Wtime() - start;
  }

  MPI_Comm comm_;
  Slab slab_;
  std::size_t values_;  // of a face
  examples::Array<float> faces_;
  examples::Array<float> slab_room_;
};

}  // namespace

std::unique_ptr<Exchange> make_staged_exchange(MPI_Comm comm, const Slab& slab) {
  return std::make_unique<StagedExchange>(comm, slab);
}

}  // namespace wave
