#include "comm/history.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "message/delta.h"

namespace thinwire::comm {
namespace {

// Elements are alike whose difference, on average, has at least two bits fewer than their mantissa:
// unrelated values of one magnitude differ in all of it.
std::uint64_t most_bits_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return 21;
    case Dtype::kF64:
      return 50;
    case Dtype::kF16:
      return 8;
    case Dtype::kBf16:
      return 5;
    case Dtype::kE4m3:
    case Dtype::kE5m2:
      return 1;
    case Dtype::kBytes:
      break;
  }
  return 4;
}

}  // namespace

Sketch sketch_of(Dtype dtype, ByteView block) {
  Sketch sketch{};
  const std::uint64_t width = dtype_size(dtype), count = block.size() / width;
  if (count == 0) return sketch;
  for (std::uint64_t at = 0; at < kSketchElements; ++at) {
    const std::uint64_t place =
        count / kSketchElements * at + count % kSketchElements * at / kSketchElements;
    std::memcpy(sketch.data() + at * width, block.data() + place * width, width);
  }
  return sketch;
}

const History::Entry* History::most_alike(const ResultClass& of, const Sketch& sketch) const {
  const std::uint64_t bytes = kSketchElements * dtype_size(of.dtype);
  std::uint64_t least = kSketchElements * most_bits_of(of.dtype) + 1;
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    if (!(entry.of == of) || entry.data == nullptr) continue;
    const std::uint64_t bits =
        message::difference_bits(of.dtype, bytes, sketch.data(), entry.sketch());
    // Among equal ones it takes the last, which is the same on all ranks too.
    if (bits < least || (bits == least && found != nullptr && entry.number > found->number)) {
      least = bits;
      found = &entry;
    }
  }
  return found;
}

const History::Entry* History::find(std::uint64_t number) const {
  const auto found = std::ranges::find(entries_, number, &Entry::number);
  return found == entries_.end() ? nullptr : &*found;
}

void History::evict_one() {
  const auto oldest = std::ranges::min_element(entries_, {}, &Entry::last_used);
  bytes_ -= bytes_of(oldest->of);
  *oldest = std::move(entries_.back());
  entries_.pop_back();
}

History::Entry* History::keep(const ResultClass& of, std::uint64_t replaces) {
  const std::uint64_t number = ++calls_;
  const auto found =
      replaces == 0 ? entries_.end() : std::ranges::find(entries_, replaces, &Entry::number);
  // Another rank's word may name what it should not: the memory is as large as its class.
  if (found != entries_.end() && found->of == of) {
    found->number = found->last_used = number;
    return &*found;
  }
  const auto has_room = [&] {
    return bytes_ + bytes_of(of) <= limit_ && entries_.size() < kMostEntries;
  };
  if (!has_room() && without_room_++ % kGivesWay != 0) return nullptr;
  while (!has_room()) evict_one();
  bytes_ += bytes_of(of);
  Entry& entry = entries_.emplace_back();
  entry.of = of;
  entry.number = entry.last_used = number;
  entry.data.reset(new (std::nothrow) std::byte[of.bytes + sizeof(Sketch)]);
  return &entry;
}

void History::clear() {
  entries_.clear();
  bytes_ = 0;
  without_room_ = 0;
}

}  // namespace thinwire::comm
