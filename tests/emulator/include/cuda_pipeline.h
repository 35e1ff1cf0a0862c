// Stands for CUDA's: a copy is made when it is waited for, so that nothing may count on it before.
#pragma once

#include <cstring>
#include <vector>

namespace thinwire::emulator {

struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;
};

// The calling kernel thread's copies: those not committed, then a list a commit.
std::vector<std::vector<Copy>>& copies();

}  // namespace thinwire::emulator

inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes) {
  thinwire::emulator::copies().back().push_back({to, from, bytes});
}

inline void __pipeline_commit() { thinwire::emulator::copies().emplace_back(); }

// All but the last `left` that were committed are complete after it.
inline void __pipeline_wait_prior(std::size_t left) {
  auto& lists = thinwire::emulator::copies();
  while (lists.size() > left + 1) {
    for (const auto& each : lists.front()) std::memcpy(each.to, each.from, each.bytes);
    lists.erase(lists.begin());
  }
}
