// Cannon's algorithm: blocks of both factors go round the rings of a square of ranks.
#pragma once

#include <cstddef>
#include <vector>

#include "examples/common/memory.h"
#include "exchange.h"
#include "matrix.h"
#include "multiplier.h"

namespace cannon {

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
