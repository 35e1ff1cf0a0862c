// Cannon's algorithm: blocks of both factors go round the rings of a square of ranks, and each rank
// multiplies those that it has.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "examples/common/memory.h"
#include "exchange.h"
#include "matrix.h"

namespace cannon {

// Products of square blocks, on the CPU or on a GPU.
template <typename Real>
class Multiplier {
 public:
  virtual ~Multiplier() = default;

  // c = a b, or c += a b: blocks of the size it was made for, row after row, in host memory or in
  // GPU memory as the multiplier is. Done on return.
  virtual void multiply(const Real* a, const Real* b, Real* c, bool add) = 0;

  // The name of what does the work, as "cblas".
  virtual const char* name() const = 0;
};

// By the BLAS that the build found, or by loops if it found none.
template <typename Real>
std::unique_ptr<Multiplier<Real>> make_cpu_multiplier(int rows);

// By cuBLAS on the GPU that examples::choose_gpu() has chosen. Errors end in std::runtime_error;
// a build without cuBLAS has nothing else.
template <typename Real>
std::unique_ptr<Multiplier<Real>> make_gpu_multiplier(int rows);

// Seconds of one rank.
struct Times {
  double whole = 0;
  double communication = 0;  // moving blocks, staging copies included
  double computation = 0;
  double waiting = 0;  // for the other ranks, before blocks move
};

template <typename Real>
class Product {
 public:
  // One rank's blocks of `rows` rows and columns, in GPU memory or in the host's.
  Product(const Grid& grid, int rows, examples::Place place);

  // Sets the factors' blocks that are this rank's before the first step.
  void load(const Matrix<Real>& a, const Matrix<Real>& b);

  // Computes this rank's block of the product of what was loaded, which is used up by it.
  // Collective over the grid.
  void run(Exchange* exchange, Multiplier<Real>* multiplier, Times* times);

  // Row [grid.row], column [grid.column] of the product's blocks, in host memory.
  std::vector<Real> result() const;

 private:
  // A block of one of the factors, and room for its successor.
  struct Blocks {
    examples::Array<Real> current;
    examples::Array<Real> next;
  };

  void fill(const Matrix<Real>& matrix, Blocks* blocks) const;
  void shift(Exchange* exchange, int steps_left, int steps_up, Times* times);

  Grid grid_;
  int rows_;
  std::size_t values_;  // of a block
  Blocks a_;
  Blocks b_;
  examples::Array<Real> c_;
};

}  // namespace cannon
