// How the ranks of a job talk beside NCCL: over TCP, by way of rank 0.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "nccl/options.h"

namespace thinwire::bench::nccl {

// Every call is made by all ranks, in the same order. Throws std::runtime_error where a rank does
// not come within half a minute, or goes.
class Meeting {
 public:
  explicit Meeting(const Place& place);
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;
  ~Meeting();

  void barrier() { all(char{0}); }

  // The values of all ranks, in the order of ranks.
  template <typename Value>
  std::vector<Value> all(const Value& own) {
    const std::string bytes = exchange(&own, sizeof own);
    std::vector<Value> values(bytes.size() / sizeof own);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  // The same of texts of any length.
  std::vector<std::string> texts(const std::string& own);

 private:
  std::string exchange(const void* own, std::size_t bytes);

  int rank_, ranks_;
  std::vector<int> peers_;  // of rank 0: to each other rank, by its number less 1; else to rank 0
};

}  // namespace thinwire::bench::nccl
