#include "agree/spare_bytes.h"

#include <mutex>
#include <utility>
#include <vector>

namespace thinwire::nccl::agree {
namespace {

// Of all communicators, 8 MiB at most: what is on its way at once between two that are near.
constexpr std::size_t kMostKept = 32;
constexpr std::size_t kLeastRoom = 16U << 10;  // smaller ones cost nothing
constexpr std::size_t kMostRoom = kPieceBytes + 1024;

struct Kept {
  std::mutex mutex;
  std::vector<Bytes> all;
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
  if (spare.all.empty()) return {};
  Bytes taken = std::move(spare.all.back());
  spare.all.pop_back();
  return taken;
}

void keep_spare(Bytes&& used) {
  if (used.capacity() < kLeastRoom || used.capacity() > kMostRoom) return;
  used.clear();
  Kept& spare = kept();
  const std::lock_guard lock(spare.mutex);
  if (spare.all.capacity() == 0) spare.all.reserve(kMostKept);
  if (spare.all.size() < kMostKept) spare.all.push_back(std::move(used));
}

SharedBytes pack_part(const Message& message) {
  const auto keep = [](const Bytes* packed) {
    const std::unique_ptr<Bytes> used(const_cast<Bytes*>(packed));
    keep_spare(std::move(*used));
  };
  return {new Bytes(pack(message, spare_bytes())), keep};
}

}  // namespace thinwire::nccl::agree
