#include "exchange.h"

#include <cstddef>

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

}  // namespace wave
