// Which requests may be in a table: most calls are about requests that are not, and need no lock to
// find that out.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

class HandleFilter {
 public:
  // Under the table's lock. A handle may be added several times.
  void add(MPI_Request request) { change(request, 1); }
  void remove(MPI_Request request) { change(request, ~std::uint32_t{0}); }

  // False: the table does not have it. Whoever holds a request sees what was added before it was
  // given the request.
  bool may_have(MPI_Request request) const {
    return counts_[place_of(request)].load(std::memory_order_relaxed) != 0;
  }

 private:
  static constexpr int kBits = 11;

  // Handles are addresses, or numbers one after the other.
  static std::size_t place_of(MPI_Request request) {
    const std::uint64_t number = std::hash<MPI_Request>()(request);
    return (number * 0x9E3779B97F4A7C15u) >> (64 - kBits);
  }
  void change(MPI_Request request, std::uint32_t by) {
    std::atomic<std::uint32_t>& count = counts_[place_of(request)];
    count.store(count.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  std::array<std::atomic<std::uint32_t>, std::size_t{1} << kBits> counts_{};
};

}  // namespace thinwire::mpi
