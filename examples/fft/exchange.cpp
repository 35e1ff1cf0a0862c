#include "exchange.h"

namespace fft {
namespace {

using examples::Place;

}  // namespace

Exchange::Exchange(MPI_Comm comm, const Slabs& slabs, bool on_gpu, bool staged)
    : comm_(comm),
      slabs_(slabs),
      staged_(on_gpu && staged),
      staged_from_(staged_ ? Place::kPinned : Place::kHost, staged_ ? slabs.values() : 0),
      staged_to_(staged_ ? Place::kPinned : Place::kHost, staged_ ? slabs.values() : 0) {}

void Exchange::swap(const Value* from, Value* to) {
  const double start = MPI_Wtime();
  swap_as(MPI_C_FLOAT_COMPLEX, static_cast<int>(slabs_.block()), from, to);
  traffic_.seconds += MPI_Wtime() - start;
  const std::size_t others = slabs_.values() - slabs_.block();
  traffic_.bytes_sent += static_cast<std::int64_t>(others * sizeof(Value));
  traffic_.calls += 1;
}

void Exchange::swap_bytes(const Value* from, Value* to) {
  // A row at a time: as bytes a block is more than MPI counts in int.
  MPI_Datatype row;
  MPI_Type_contiguous(static_cast<int>(slabs_.size * sizeof(Value)), MPI_BYTE, &row);
  MPI_Type_commit(&row);
  swap_as(row, static_cast<int>(slabs_.block() / slabs_.size), from, to);
  MPI_Type_free(&row);
}

void Exchange::swap_as(MPI_Datatype type, int count, const Value* from, Value* to) {
  if (!staged_) {
    MPI_Alltoall(from, count, type, to, count, type, comm_);
    return;
  }
  examples::copy(staged_from_.data(), from, slabs_.values());
  examples::wait_for_gpu();
  MPI_Alltoall(staged_from_.data(), count, type, staged_to_.data(), count, type, comm_);
  examples::copy(to, staged_to_.data(), slabs_.values());
  examples::wait_for_gpu();
}

}  // namespace fft
