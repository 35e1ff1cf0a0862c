#include "device_memory.h"

#include <cstdlib>
#include <mutex>
#include <set>
#include <utility>

#include "comm.h"
#include "group.h"

namespace fake_nccl {
namespace {

std::size_t bytes_of(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? 0 : static_cast<std::size_t>(std::strtod(text, nullptr));
}

struct Device {
  std::mutex mutex;
  const std::size_t whole = bytes_of("FAKE_GPU_BYTES");
  const std::size_t of_pair = bytes_of("FAKE_NCCL_PEER_BYTES");
  std::size_t taken = 0;
  std::set<std::pair<const ncclComm*, int>> pairs;

  std::size_t left() const { return whole - taken; }
};

Device& device() {
  static Device* const made = new Device;
  return *made;
}

}  // namespace

bool connect_with(const ncclComm* comm, int peer) {
  Device& of = device();
  const std::lock_guard lock(of.mutex);
  if (of.whole == 0 || peer == comm->rank || of.pairs.contains({comm, peer})) return true;
  if (of.left() < of.of_pair) return false;
  of.pairs.insert({comm, peer});
  of.taken += of.of_pair;
  return true;
}

}  // namespace fake_nccl

using fake_nccl::device;

// As CUDA's; fails if nothing was said of a GPU.
extern "C" __attribute__((visibility("default"))) int cudaMemGetInfo(std::size_t* left,
                                                                     std::size_t* whole) {
  const std::lock_guard lock(device().mutex);
  if (device().whole == 0) return 100;
  *left = device().left();
  *whole = device().whole;
  return 0;
}

// The program takes so much, or gives it back if that is negative; no more than there is.
extern "C" __attribute__((visibility("default"))) void fakeGpuTake(long long bytes) {
  const std::lock_guard lock(device().mutex);
  const auto left = static_cast<long long>(device().left());
  device().taken += static_cast<std::size_t>(bytes < left ? bytes : left);
}
