#include "agree/spare_bytes.h"

#include <unistd.h>

#include <array>
#include <memory>
#include <mutex>
#include <utility>

namespace thinwire::nccl::agree {

std::uint64_t quarter_of_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || bytes <= 0) return UINT64_MAX / 4;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes) / 4;
}

// Never destroyed: host threads may still take blocks while the process ends.
Budget& process_budget() {
  static Budget* const made = new Budget(2 * quarter_of_memory());
  return *made;
}

namespace {

// Buffers that are kept for all communicators, 8 MiB at most: what is on its way at once between
// two that are near.
constexpr std::size_t kMostKept = 32;
constexpr std::size_t kLeastRoom = 16U << 10;  // smaller ones cost nothing
constexpr std::size_t kMostRoom = kPieceBytes + 1024;

// Whoever gives one back may not fail: there is room for all from the start.
struct Kept {
  std::mutex mutex;
  std::array<Bytes, kMostKept> all;
  std::size_t count = 0;
};

// Never destroyed: helpers go on while the process ends.
Kept& kept() {
  static Kept* const made = new Kept;
  return *made;
}

}  // namespace

Bytes spare_bytes() {
  Kept& spare = kept();
  const std::lock_guard lock(spare.mutex);
  return spare.count == 0 ? Bytes{} : std::move(spare.all[--spare.count]);
}

void keep_spare(Bytes&& used) noexcept {
  if (used.capacity() < kLeastRoom || used.capacity() > kMostRoom) return;
  used.clear();
  Kept& spare = kept();
  const std::lock_guard lock(spare.mutex);
  if (spare.count < kMostKept) spare.all[spare.count++] = std::move(used);
}

SharedBytes pack_part(const Message& message) {
  const auto keep = [](const Bytes* packed) {
    const std::unique_ptr<Bytes> used(const_cast<Bytes*>(packed));
    keep_spare(std::move(*used));
  };
  return {new Bytes(pack(message, spare_bytes())), keep};
}

}  // namespace thinwire::nccl::agree
