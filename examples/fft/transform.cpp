#include "transform.h"

#include "serial.h"

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

namespace {

using examples::Place;

}  // namespace

Transform::Transform(MPI_Comm comm, const Slabs& slabs, bool on_gpu, bool staged)
    : slabs_(slabs),
      on_gpu_(on_gpu),
      serial_(on_gpu ? make_gpu_serial(slabs) : make_cpu_serial(slabs)),
      exchange_(comm, slabs, on_gpu, staged),
      field_(on_gpu ? Place::kGpu : Place::kHost, slabs.values()),
      spectrum_(on_gpu ? Place::kGpu : Place::kHost, slabs.values()) {}

void Transform::forward(Swap swap) {
  serial_->planes(field(), Direction::kForward);
  // The rows that a rank is to have lie apart, in each plane; in the spectrum's memory they are put
  // together, and then the field's is free to receive.
  cut_planes(slabs_, on_gpu_, field(), spectrum());
  examples::wait_for_gpu();
  (exchange_.*swap)(spectrum(), field());
  // Planes of all ranks, one after another, are all of z.
  serial_->columns(field(), Direction::kForward);
  examples::copy(spectrum(), field(), slabs_.values());
  examples::wait_for_gpu();
}

void Transform::backward(Swap swap) {
  serial_->columns(spectrum(), Direction::kBackward);
  examples::wait_for_gpu();
  (exchange_.*swap)(spectrum(), field());
  join_planes(slabs_, on_gpu_, field(), spectrum());
  serial_->planes(spectrum(), Direction::kBackward);
  scale_into(slabs_, on_gpu_, spectrum(), field());
  examples::wait_for_gpu();
}

}  // namespace fft
