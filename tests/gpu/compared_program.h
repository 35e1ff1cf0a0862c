// The frame of programs that compare what a GPU does with slots and frames with what the host does.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <string_view>
#include <vector>

#include "slots_ranks.h"
#include "slots_runs.h"

namespace thinwire::collective {

// Memory for the results of calls that are coded against earlier ones, of both sides; `given` has
// it as long as this lives.
class RoomsOfReferences {
 public:
  RoomsOfReferences(Where where, Case& given, std::uint64_t bytes) : given_(given) {
    given.call.reference_bytes = bytes;
    for (int rank = 0; rank < given.call.ranks; ++rank) {
      host_.emplace_back(Where::kHost, bytes);
      other_.emplace_back(where, bytes);
    }
    given.host_references = &host_;
    given.other_references = &other_;
  }
  RoomsOfReferences(const RoomsOfReferences&) = delete;
  RoomsOfReferences& operator=(const RoomsOfReferences&) = delete;
  ~RoomsOfReferences() { given_.host_references = given_.other_references = nullptr; }

 private:
  Case& given_;
  std::vector<Room> host_, other_;
};

// Runs a comparison. The exit code is that of `run`, 77 if there is no GPU, 1 for an exception. The
// word "host" has the host on both sides.
inline int run_compared(std::string_view word, const std::function<int(Where)>& run) {
  const bool on_host = word == "host";
  int devices = 0;
  if (!on_host && (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)) {
    std::printf("no GPU\n");
    return 77;
  }
  try {
    return run(on_host ? Where::kHost : Where::kGpu);
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
}

}  // namespace thinwire::collective
