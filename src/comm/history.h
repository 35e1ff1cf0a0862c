// Results of earlier calls, in bounded memory. What is kept and what gives way follows from the
// calls alone, so that every rank has the same results under the same numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/dtype.h"
#include "plan/operation.h"

namespace thinwire::comm {

// Properties that results must share for one to be a reference of another; alike on all ranks.
struct ResultClass {
  plan::Operation operation = plan::Operation::kBcast;
  Dtype dtype = Dtype::kBytes;
  std::uint64_t bytes = 0;   // of all blocks
  std::uint64_t counts = 0;  // a checksum of the blocks' sizes
  friend bool operator==(const ResultClass&, const ResultClass&) = default;
};

// Elements out of many places of a block, one after the other: to tell which results are alike
// without reading them.
inline constexpr std::uint64_t kSketchElements = 128;
using Sketch = std::array<std::byte, kSketchElements * 8>;
Sketch sketch_of(Dtype dtype, ByteView block);

class History {
 public:
  struct Entry {
    ResultClass of;
    std::uint64_t number = 0;           // of the call that gave it
    std::uint64_t last_used = 0;        // the call that was coded against it, or gave it
    std::unique_ptr<std::byte[]> data;  // null if there was no memory
    std::byte* values() const { return data.get(); }
    std::byte* sketch() const { return data.get() + of.bytes; }
  };

  // More would take long to look through.
  static constexpr std::size_t kMostEntries = 1024;
  // One in so many of the results that found no reference takes the place of others in full memory.
  // If a program's step has more results than there is room for, the others are met again.
  static constexpr std::uint64_t kGivesWay = 16;

  explicit History(std::uint64_t limit) : limit_(limit) { entries_.reserve(kMostEntries); }

  // Bytes that a result counts in addition to its own, wherever it is built.
  static constexpr std::uint64_t kBesideBytes = 1080;
  static_assert(sizeof(Sketch) + sizeof(Entry) <= kBesideBytes);

  static std::uint64_t bytes_of(const ResultClass& of) { return of.bytes + kBesideBytes; }
  bool fits(const ResultClass& of) const { return bytes_of(of) <= limit_; }

  // The entry of that class whose own block's sketch is most like `sketch`; nullptr if none is
  // alike.
  const Entry* most_alike(const ResultClass& of, const Sketch& sketch) const;
  const Entry* find(std::uint64_t number) const;

  // The place of one more result: that of the reference `replaces`, which has had its use, or a new
  // one, or none (nullptr). An entry without memory is one on the other ranks.
  Entry* keep(const ResultClass& of, std::uint64_t replaces);

  // A call that neither looks for a reference nor keeps its result.
  void pass() { ++calls_; }

  // All but the number of calls, which is the same on all ranks.
  void clear();

  std::uint64_t limit() const { return limit_; }
  std::uint64_t bytes() const { return bytes_; }
  std::size_t entries() const { return entries_.size(); }

 private:
  void evict_one();

  std::uint64_t limit_;
  std::uint64_t bytes_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t without_room_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace thinwire::comm
