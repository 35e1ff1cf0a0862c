#include "exchange.h"

#include <algorithm>
#include <cstddef>

#include "stencil.h"

namespace wave {
namespace {

constexpr int kUpTag = 1;
constexpr int kDownTag = 2;
constexpr int kGatherTag = 3;

void count_send(int values, Traffic* traffic) {
  traffic->bytes_sent += static_cast<std::int64_t>(values) * sizeof(float);
  traffic->messages_sent += 1;
}

}  // namespace

void exchange_halos(MPI_Comm comm, const Slab& slab, float* field, Traffic* traffic) {
  const auto values = static_cast<int>(kRadius * slab.plane());
  const int above = slab.rank > 0 ? slab.rank - 1 : MPI_PROC_NULL;
  const int below = slab.rank + 1 < slab.ranks ? slab.rank + 1 : MPI_PROC_NULL;
  float* upper_halo = field;
  float* first_owned = field + values;
  float* last_owned = field + slab.owned();
  float* lower_halo = last_owned + values;

  const double start = MPI_Wtime();
  MPI_Request requests[4];
  MPI_Irecv(upper_halo, values, MPI_FLOAT, above, kDownTag, comm, &requests[0]);
  MPI_Irecv(lower_halo, values, MPI_FLOAT, below, kUpTag, comm, &requests[1]);
  MPI_Isend(first_owned, values, MPI_FLOAT, above, kUpTag, comm, &requests[2]);
  MPI_Isend(last_owned, values, MPI_FLOAT, below, kDownTag, comm, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  traffic->seconds += MPI_Wtime() - start;
  if (above != MPI_PROC_NULL) count_send(values, traffic);
  if (below != MPI_PROC_NULL) count_send(values, traffic);
}

void gather_field(MPI_Comm comm, const Slab& slab, const float* field, std::vector<float>* whole,
                  Traffic* traffic) {
  const float* owned = field + kRadius * slab.plane();
  if (slab.rank > 0) {
    const auto values = static_cast<int>(slab.owned());
    const double start = MPI_Wtime();
    MPI_Send(owned, values, MPI_FLOAT, 0, kGatherTag, comm);
    traffic->seconds += MPI_Wtime() - start;
    count_send(values, traffic);
    return;
  }
  std::copy_n(owned, slab.owned(), whole->data());
  const double start = MPI_Wtime();
  for (int rank = 1; rank < slab.ranks; ++rank) {
    const Slab other = make_slab(slab.nx, slab.ny, slab.nz, rank, slab.ranks);
    MPI_Recv(whole->data() + other.first * slab.plane(), static_cast<int>(other.owned()), MPI_FLOAT,
             rank, kGatherTag, comm, MPI_STATUS_IGNORE);
  }
  traffic->seconds += MPI_Wtime() - start;
}

}  // namespace wave
