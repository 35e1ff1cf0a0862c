// The values of a file, and what every rank's buffers hold of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collective/operation.h"

namespace thinwire::bench {

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

}  // namespace thinwire::bench
