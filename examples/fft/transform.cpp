#include "transform.h"

#include "blocks.h"

namespace fft {
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
