#include "stack.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "examples/common/program.h"

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

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kBatch = 1 << 14;  // values that are looked at together

// A tally of some of the values.
struct Tally {
  double least = kInfinity;
  double most = -kInfinity;
  double max_error = 0;
  double squares = 0;

  void add(double exact, double found) {
    least = std::min(least, exact);
    most = std::max(most, exact);
    const double error = std::isfinite(found) ? std::abs(found - exact) : kInfinity;
    max_error = std::max(max_error, error);
    squares += error * error;
  }
};

Tally compare(const Images& images, int ranks, std::size_t first, std::size_t end,
              const std::vector<float>& stack) {
  Tally tally;
  std::vector<float> image(kBatch);
  std::vector<double> exact(kBatch);
  for (std::size_t at = first; at < end; at += kBatch) {
    const std::size_t count = std::min(kBatch, end - at);
    std::fill(exact.begin(), exact.end(), 0.0);
    for (int rank = 0; rank < ranks; ++rank) {
      images.read(rank, at, count, image.data());
      for (std::size_t i = 0; i < count; ++i) exact[i] += image[i];
    }
    for (std::size_t i = 0; i < count; ++i) tally.add(exact[i], stack[at + i]);
  }
  return tally;
}

}  // namespace

double Quality::nrmse() const { return rmse == 0 ? 0 : rmse / range; }
double Quality::psnr() const { return -20 * std::log10(nrmse()); }

Quality measure(MPI_Comm comm, const Images& images, const std::vector<float>& stack) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const std::size_t size = stack.size();
  const Tally own = compare(images, ranks, size * rank / ranks, size * (rank + 1) / ranks, stack);
  Quality quality;
  quality.range = examples::largest(comm, own.most) - examples::smallest(comm, own.least);
  quality.max_error = examples::largest(comm, own.max_error);
  quality.rmse = std::sqrt(examples::total(comm, own.squares) / static_cast<double>(size));
  return quality;
}

}  // namespace stacking
