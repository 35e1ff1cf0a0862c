// How much memory of its GPU was free before and after the first compressed call of each kind of
// a communicator: with the call NCCL may have connected ranks. For the report.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace thinwire::nccl {

struct Communicator;

struct FreeMemory {
  int operation = 0;
  std::uint32_t dtype = 0;        // tw_dtype
  std::uint64_t least_bytes = 0;  // of the kind: below twice as many
  std::uint64_t before = 0, after = 0;
};

class FreeMemories {
 public:
  void add(const FreeMemory& of);
  std::vector<FreeMemory> all() const;

 private:
  // Programs whose kinds never end would fill the memory.
  static constexpr std::size_t kMost = 256;

  mutable std::mutex mutex_;
  std::vector<FreeMemory> of_kinds_;
};

// Writes it as a list of JSON objects, and as lines of a report in words.
std::string free_memory_as_json(const Communicator& communicator);
std::string free_memory_as_text(const Communicator& communicator);

}  // namespace thinwire::nccl
