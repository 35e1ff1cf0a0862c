#include "stack.h"

namespace stacking {

using examples::Place;

Stack::Stack(MPI_Comm comm, const std::vector<float>& image, bool on_gpu, bool staged)
    : comm_(comm),
      image_(on_gpu ? Place::kGpu : Place::kHost, image.size()),
      stack_(on_gpu ? Place::kGpu : Place::kHost, image.size()),
      staged_image_(on_gpu ? Place::kPinned : Place::kHost, on_gpu && staged ? image.size() : 0),
      staged_stack_(on_gpu ? Place::kPinned : Place::kHost, on_gpu && staged ? image.size() : 0) {
  examples::copy(image_.data(), image.data(), image.size());
  examples::wait_for_gpu();
}

double Stack::compute() {
  const bool staged = staged_image_.size() > 0;
  MPI_Barrier(comm_);
  const double start = MPI_Wtime();
  if (staged) {
    examples::copy(staged_image_.data(), image_.data(), image_.size());
    examples::wait_for_gpu();
  }
  const float* from = staged ? staged_image_.data() : image_.data();
  float* to = staged ? staged_stack_.data() : stack_.data();
  MPI_Allreduce(from, to, static_cast<int>(image_.size()), MPI_FLOAT, MPI_SUM, comm_);
  if (staged) {
    examples::copy(stack_.data(), staged_stack_.data(), stack_.size());
    examples::wait_for_gpu();
  }
  return MPI_Wtime() - start;
}

std::vector<float> Stack::result() const {
  std::vector<float> values(stack_.size());
  examples::copy(values.data(), stack_.data(), values.size());
  examples::wait_for_gpu();
  return values;
}

}  // namespace stacking
