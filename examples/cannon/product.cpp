#include "product.h"

#include <mpi.h>

#include <utility>
#include <vector>

namespace cannon {

using examples::Array;

namespace {

constexpr int kTagOfA = 1;
constexpr int kTagOfB = 2;

}  // namespace

template <typename Real>
Product<Real>::Product(const Grid& grid, int rows, examples::Place place)
    : grid_(grid),
      rows_(rows),
      values_(static_cast<std::size_t>(rows) * rows),
      a_{Array<Real>(place, values_), Array<Real>(place, values_)},
      b_{Array<Real>(place, values_), Array<Real>(place, values_)},
      c_(place, values_) {}

template <typename Real>
void Product<Real>::load(const Matrix<Real>& a, const Matrix<Real>& b) {
  fill(a, &a_);
  fill(b, &b_);
}

template <typename Real>
void Product<Real>::fill(const Matrix<Real>& matrix, Blocks* blocks) const {
  std::vector<Real> values(values_);
  for (int row = 0; row < rows_; ++row) {
    matrix.read_row(grid_.row * rows_ + row, grid_.column * rows_, rows_,
                    values.data() + static_cast<std::size_t>(row) * rows_);
  }
  examples::copy(blocks->current.data(), values.data(), values_);
  examples::wait_for_gpu();
}

template <typename Real>
void Product<Real>::shift(Exchange* exchange, int steps_left, int steps_up, Times* times) {
  Shift shifts[2];
  std::size_t count = 0;
  if (steps_left % grid_.side != 0) {
    shifts[count++] = {kTagOfA, left(grid_, steps_left), a_.current.data(), a_.next.data()};
    std::swap(a_.current, a_.next);
  }
  if (steps_up % grid_.side != 0) {
    shifts[count++] = {kTagOfB, up(grid_, steps_up), b_.current.data(), b_.next.data()};
    std::swap(b_.current, b_.next);
  }
  // Whoever computes longer makes its neighbours wait: that is not the messages' time.
  const double before = MPI_Wtime();
  MPI_Barrier(grid_.comm);
  const double start = MPI_Wtime();
  exchange->move({shifts, count});
  times->communication += MPI_Wtime() - start;
  times->waiting += start - before;
}

template <typename Real>
void Product<Real>::run(Exchange* exchange, Multiplier<Real>* multiplier, Times* times) {
  MPI_Barrier(grid_.comm);
  const double start = MPI_Wtime();
  // Row i of A goes i places to the left and column j of B j places up: then the blocks that have
  // met on a rank belong together, and keep doing so when all go on by one.
  shift(exchange, grid_.row, grid_.column, times);
  for (int step = 0; step < grid_.side; ++step) {
    if (step > 0) shift(exchange, 1, 1, times);
    const double before = MPI_Wtime();
    multiplier->multiply(a_.current.data(), b_.current.data(), c_.data(), step > 0);
    times->computation += MPI_Wtime() - before;
  }
  times->whole += MPI_Wtime() - start;
}

template <typename Real>
std::vector<Real> Product<Real>::result() const {
  std::vector<Real> values(values_);
  examples::copy(values.data(), c_.data(), values_);
  examples::wait_for_gpu();
  return values;
}

template class Product<float>;
template class Product<double>;

}  // namespace cannon
