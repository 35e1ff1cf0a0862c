#include "exchange.h"

#include <cstddef>

#include "examples/common/memory.h"

namespace wave {
namespace {

constexpr int kUpTag = 1;
constexpr int kDownTag = 2;
constexpr int kGatherTag = 3;

void count_send(int values, Traffic* traffic) {
  traffic->bytes_sent += static_cast<std::int64_t>(values) * sizeof(float);
  traffic->messages_sent += 1;
}

class DirectExchange : public Exchange {
 public:
  DirectExchange(MPI_Comm comm, const Slab& slab) : comm_(comm), slab_(slab) {}

  void halos(float* field) override { swap_faces(comm_, slab_, faces_of(slab_, field), &traffic_); }

  void gather(const float* field, float* snapshot) override {
    if (slab_.rank > 0) {
      send_slab(comm_, slab_, field + kRadius * slab_.plane(), &traffic_);
      return;
    }
    for (int rank = 1; rank < slab_.ranks; ++rank) {
      const Slab other = make_slab(slab_.nx, slab_.ny, slab_.nz, rank, slab_.ranks);
      receive_slab(comm_, other, snapshot + other.first * slab_.plane(), &traffic_);
    }
  }

 private:
  MPI_Comm comm_;
  Slab slab_;
};

}  // namespace

std::unique_ptr<Exchange> make_direct_exchange(MPI_Comm comm, const Slab& slab) {
  return std::make_unique<DirectExchange>(comm, slab);
}

Faces faces_of(const Slab& slab, float* field) {
  const std::size_t values = kRadius * slab.plane();
  float* end_of_owned = field + values + slab.owned();
  return {field, field + values, end_of_owned - values, end_of_owned};
}

void swap_faces(MPI_Comm comm, const Slab& slab, const Faces& faces, Traffic* traffic) {
  const auto values = static_cast<int>(kRadius * slab.plane());
  const int above = slab.rank > 0 ? slab.rank - 1 : MPI_PROC_NULL;
  const int below = slab.rank + 1 < slab.ranks ? slab.rank + 1 : MPI_PROC_NULL;

  const double start = MPI_Wtime();
  MPI_Request requests[4];
  MPI_Irecv(faces.upper_halo, values, MPI_FLOAT, above, kDownTag, comm, &requests[0]);
  MPI_Irecv(faces.lower_halo, values, MPI_FLOAT, below, kUpTag, comm, &requests[1]);
  MPI_Isend(faces.first_owned, values, MPI_FLOAT, above, kUpTag, comm, &requests[2]);
  MPI_Isend(faces.last_owned, values, MPI_FLOAT, below, kDownTag, comm, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  traffic->seconds += MPI_Wtime() - start;
  if (above != MPI_PROC_NULL) count_send(values, traffic);
  if (below != MPI_PROC_NULL) count_send(values, traffic);
}

void send_slab(MPI_Comm comm, const Slab& slab, const float* owned, Traffic* traffic) {
  const auto values = static_cast<int>(slab.owned());
  const double start = MPI_Wtime();
  MPI_Send(owned, values, MPI_FLOAT, 0, kGatherTag, comm);
  traffic->seconds += MPI_Wtime() - start;
  count_send(values, traffic);
}

void receive_slab(MPI_Comm comm, const Slab& other, float* target, Traffic* traffic) {
  const double start = MPI_Wtime();
  MPI_Recv(target, static_cast<int>(other.owned()), MPI_FLOAT, other.rank, kGatherTag, comm,
           MPI_STATUS_IGNORE);
  traffic->seconds += MPI_Wtime() - start;
}

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
