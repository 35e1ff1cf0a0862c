#include "exchange.h"

namespace seismic {
namespace {

using examples::Array;
using examples::Place;

// A message's tag says through which face of the receiver it comes.
int tag(int group, int face) { return 1 + group * kFaces + face; }

MPI_Datatype make_rows(const Planes& planes) {
  MPI_Datatype type;
  MPI_Type_vector(kFieldsOfFace * kHalo * planes.rows, planes.columns, planes.columns, MPI_FLOAT,
                  &type);
  MPI_Type_commit(&type);
  return type;
}

}  // namespace

Exchange::Exchange(MPI_Comm comm, const Part& part, bool on_gpu, bool staged)
    : comm_(comm), staged_(staged) {
  const Place stage = staged ? Place::kPinned : Place::kHost;
  const Place place = on_gpu ? Place::kGpu : Place::kHost;
  for (int i = 0; i < kFaces; ++i) {
    const auto face = static_cast<Face>(i);
    if (part.neighbours[face] < 0) continue;
    const Planes planes = planes_at(part, kVelocities, face, false);
    const auto values = static_cast<std::size_t>(planes.values());
    const std::size_t staged_values = staged ? values : 0;
    sides_.push_back(
        Side{part.neighbours[face],
             face,
             make_rows(planes),
             {planes, planes_at(part, kTractions, face, false)},
             {planes_at(part, kVelocities, face, true), planes_at(part, kTractions, face, true)},
             planes.values(),
             Array<float>(place, values),
             Array<float>(place, values),
             Array<float>(stage, staged_values),
             Array<float>(stage, staged_values)});
  }
  examples::wait_for_gpu();
}

Exchange::~Exchange() {
  for (Side& side : sides_) MPI_Type_free(&side.rows);
}

void Exchange::start(Group group, Solver* solver) {
  solver->wait();
  const double start = MPI_Wtime();
  requests_.clear();
  for (Side& side : sides_) {
    float* to = staged_ ? side.staged_incoming.data() : side.incoming.data();
    MPI_Irecv(to, 1, side.rows, side.neighbour, tag(group, side.face), comm_,
              &requests_.emplace_back(MPI_REQUEST_NULL));
  }
  for (Side& side : sides_) {
    solver->pack(side.own[group], side.outgoing.data());
    if (staged_) examples::copy(side.staged_outgoing.data(), side.outgoing.data(), side.values);
  }
  // MPI knows nothing of what a GPU has still to do.
  solver->wait();
  for (Side& side : sides_) {
    const float* from = staged_ ? side.staged_outgoing.data() : side.outgoing.data();
    MPI_Isend(from, 1, side.rows, side.neighbour, tag(group, opposite(side.face)), comm_,
              &requests_.emplace_back(MPI_REQUEST_NULL));
    traffic_.bytes_sent += side.values * static_cast<std::int64_t>(sizeof(float));
    traffic_.messages_sent += 1;
  }
  traffic_.seconds += MPI_Wtime() - start;
}

void Exchange::finish(Group group, Solver* solver) {
  const double start = MPI_Wtime();
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  for (Side& side : sides_) {
    if (staged_) examples::copy(side.incoming.data(), side.staged_incoming.data(), side.values);
    solver->unpack(side.halo[group], side.incoming.data());
  }
  traffic_.seconds += MPI_Wtime() - start;
}

}  // namespace seismic
