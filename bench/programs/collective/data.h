// The values of a file, what every rank's buffers hold of them, and whether a collective left that.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "thinwire/thinwire.h"

namespace thinwire::bench {

// The value at `at`, of any float dtype at any alignment.
double number_at(tw_dtype dtype, const char* at);

// Writes a number, rounded to the dtype, ties to even.
void put_number(tw_dtype dtype, double number, char* at);

// The distance from 1 to the next number of the dtype.
double epsilon_of(tw_dtype dtype);

// Data that each operation moves.

struct Group {
  int rank = 0;
  int size = 1;
  int root = 0;

  bool is_root() const { return rank == root; }
};

inline bool is_reduction(tw_operation operation) {
  return operation == TW_REDUCE || operation == TW_ALLREDUCE || operation == TW_REDUCE_SCATTER;
}

// Whether this rank is one of those that must end with the same values: of a broadcast those that
// receive, as the root keeps its own.
inline bool gets_shared(tw_operation operation, const Group& group) {
  if (operation == TW_BCAST) return !group.is_root();
  return operation == TW_ALLGATHER || operation == TW_ALLREDUCE;
}

std::int64_t size_of(tw_dtype dtype);

// Elements of this rank's buffers. `count` is of the array, or of one rank's block. Bcast has the
// receive buffer alone.
std::int64_t sent_count(tw_operation operation, const Group& group, std::int64_t count);
std::int64_t received_count(tw_operation operation, const Group& group, std::int64_t count);

// Which value of the data is first in this rank's send buffer, and in its receive buffer's block
// `block` of `count` elements; of a reduction, which values are reduced.
std::int64_t first_sent(tw_operation operation, const Group& group, std::int64_t count);
std::int64_t first_received(tw_operation operation, const Group& group, std::int64_t count,
                            std::int64_t block);

// The same on every rank, repeated without end. In data movement rank r's buffers hold stretches
// of it; in a reduction rank r contributes the same stretch times 1 - r / (2 ranks).
class Data {
 public:
  Data(const std::string& path, tw_dtype dtype);

  // Whether there is no value in the file, or no file.
  bool empty() const { return count_ == 0; }

  // This rank's send buffer; of Bcast the root's receive buffer.
  std::vector<char> sent(tw_operation operation, const Group& group, std::int64_t count) const;

  // The bytes that data movement leaves in this rank's receive buffer.
  std::vector<char> received(tw_operation operation, const Group& group, std::int64_t count) const;

  // The exact sum of all ranks' contributions in this rank's receive buffer, to twice the digits of
  // its type, and the sum of their magnitudes.
  struct Sum {
    double value;
    double magnitude;
  };
  std::vector<Sum> reduced(tw_operation operation, const Group& group, std::int64_t count) const;

 private:
  std::vector<char> stretch(std::int64_t first, std::int64_t count) const;
  // One value of a rank's part of a reduction, in the values' own type.
  void contribute(std::int64_t index, const Group& group, int rank, char* to) const;

  tw_dtype dtype_;
  std::vector<char> bytes_;
  std::int64_t count_ = 0;
};

// The difference that is allowed: none, if `lossless`; up to `bound`, if that is stated; any finite
// value for a finite one otherwise. Sums differ by rounding besides.
struct Tolerance {
  bool lossless = true;
  double bound = 0;
};

struct Judgement {
  std::int64_t wrong = 0;  // elements
  double max_error = 0;    // of finite values
  // Sums of squares of what is expected and of the errors, over finite values that differ.
  double energy = 0, error_energy = 0;
  std::uint64_t hash = 0;  // of all bits
};

std::uint64_t hash_of(std::span<const char> bytes);

// Judges what one operation at one size left in this rank's receive buffer.
class Check {
 public:
  Check(const Data& data, tw_operation operation, tw_dtype dtype, const Group& group,
        std::int64_t count);
  // Checks data movement that leaves these bytes.
  Check(std::vector<char> expected, tw_dtype dtype);

  Judgement judge(std::span<const char> received, const Tolerance& tolerance) const;

 private:
  void judge_value(double expected, double value, double allowed, Judgement* judgement) const;
  void judge_moved(std::span<const char> received, const Tolerance& tolerance,
                   Judgement* judgement) const;
  void judge_sums(std::span<const char> received, const Tolerance& tolerance,
                  Judgement* judgement) const;

  tw_dtype dtype_;
  int ranks_;
  std::vector<char> moved_;      // expected of data movement
  std::vector<Data::Sum> sums_;  // expected of a reduction
};

}  // namespace thinwire::bench
