#include "state/windows.h"

#include <algorithm>

namespace thinwire::nccl {

void Windows::add(const void* memory, std::size_t bytes, const ncclWindow_t* handle,
                  bool in_group) {
  const std::lock_guard lock(mutex_);
  making_.push_back({reinterpret_cast<std::uintptr_t>(memory), bytes, handle, in_group});
  unmade_ = making_.size();
}

void Windows::end_group() {
  const std::lock_guard lock(mutex_);
  for (Making& each : making_) each.in_group = false;
}

// Null where the memory cannot be shared: NCCL does without a window then.
void Windows::learn() {
  if (unmade_ == 0) return;
  const std::lock_guard lock(mutex_);
  for (const Making& each : making_) {
    if (each.in_group || *each.handle == nullptr) continue;
    made_.push_back({each.first, each.bytes, *each.handle});
  }
  std::erase_if(making_, [](const Making& each) { return !each.in_group; });
  unmade_ = making_.size();
  count_ = made_.size();
}

void Windows::drop_unmade() {
  const std::lock_guard lock(mutex_);
  making_.clear();
  unmade_ = 0;
}

void Windows::remove(ncclWindow_t handle) {
  const std::lock_guard lock(mutex_);
  std::erase_if(made_, [&](const Made& each) { return each.handle == handle; });
  count_ = made_.size();
}

bool Windows::hold(const void* array) const {
  if (count_ == 0 || array == nullptr) return false;
  const auto first = reinterpret_cast<std::uintptr_t>(array);
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(made_, [&](const Made& each) {
    return first >= each.first && first - each.first < each.bytes;
  });
}

}  // namespace thinwire::nccl
