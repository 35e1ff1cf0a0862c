// Reading numbers off an input, and memory: with watched ends, or read and written in pieces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "base/bytes.h"
#include "fuzz/target.h"

#if defined(__SANITIZE_ADDRESS__)
#define THINWIRE_FUZZ_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define THINWIRE_FUZZ_ASAN 1
#endif
#endif

namespace thinwire::fuzz {

// Takes values from the front of an input; zeros after its end.
class Reader {
 public:
  explicit Reader(ByteView input) : left_(input) {}

  template <typename T>
  T take() {
    std::byte bytes[sizeof(T)] = {};
    const std::size_t count = std::min(sizeof(T), left_.size());
    std::copy_n(left_.data(), count, bytes);
    left_ = left_.subspan(count);
    return load<T>(bytes);
  }

  ByteView rest() const { return left_; }

 private:
  ByteView left_;
};

// Heap memory of exactly so many bytes, `shift` bytes off the allocator's alignment. The address
// sanitizer watches what lies after; without it, and in front, canaries are checked at the end.
class WatchedBuffer {
 public:
  WatchedBuffer(std::uint64_t bytes, std::byte fill, std::size_t shift = 0)
      : front_(kFront + shift), bytes_(bytes), memory_(new std::byte[front_ + bytes + kBehind]) {
    std::fill_n(memory_.get(), front_, kCanary);
    std::fill_n(data(), bytes, fill);
    std::fill_n(data() + bytes, kBehind, kCanary);
  }
  explicit WatchedBuffer(ByteView content, std::size_t shift = 0)
      : WatchedBuffer(content.size(), std::byte{0}, shift) {
    std::copy(content.begin(), content.end(), data());
  }
  WatchedBuffer(const WatchedBuffer&) = delete;
  WatchedBuffer& operator=(const WatchedBuffer&) = delete;
  ~WatchedBuffer() {
    const auto is_canary = [](std::byte byte) { return byte == kCanary; };
    THINWIRE_FUZZ_CHECK(std::all_of(memory_.get(), data(), is_canary));
    const std::byte* const end = data() + bytes_;
    THINWIRE_FUZZ_CHECK(std::all_of(end, end + kBehind, is_canary));
  }

  std::byte* data() const { return memory_.get() + front_; }
  MutableByteView view() const { return {data(), bytes_}; }

 private:
#ifdef THINWIRE_FUZZ_ASAN
  static constexpr std::size_t kFront = 0;
  static constexpr std::size_t kBehind = 0;
#else
  static constexpr std::size_t kFront = 64;
  static constexpr std::size_t kBehind = 64;
#endif
  static constexpr std::byte kCanary{0xC5};

  std::size_t front_;
  std::uint64_t bytes_;
  std::unique_ptr<std::byte[]> memory_;
};

// `out` filled with `period` again and again, with zeros if that is empty.
inline void repeat(ByteView period, MutableByteView out) {
  std::fill(out.begin(), out.begin() + (period.empty() ? out.size() : 0), std::byte{0});
  for (std::size_t at = 0; at < out.size() && !period.empty(); at += period.size()) {
    std::copy_n(period.data(), std::min(period.size(), out.size() - at), out.data() + at);
  }
}

inline bool same(ByteView one, ByteView other) {
  return one.size() == other.size() &&
         (one.empty() || std::memcmp(one.data(), other.data(), one.size()) == 0);
}

// A small generator whose numbers are the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ ^ state_ >> 29) * 0xBF58476D1CE4E5B9u >> 16;
  }
  std::uint64_t below(std::uint64_t end) { return next() % end; }

 private:
  std::uint64_t state_;
};

}  // namespace thinwire::fuzz

// A frame and an array in memory, for decoders that ask for pieces of the one and write pieces of
// the other. Both check that pieces lie within.
namespace thinwire::fuzz {

struct Memory {
  ByteView frame;
  MutableByteView array;
};

inline std::int32_t read_piece(void* context, std::uint64_t offset, std::uint64_t bytes, void* to) {
  const ByteView frame = static_cast<Memory*>(context)->frame;
  THINWIRE_FUZZ_CHECK(offset <= frame.size() && bytes <= frame.size() - offset);
  std::memcpy(to, frame.data() + offset, bytes);
  return 0;
}

inline std::int32_t write_piece(void* context, std::uint64_t offset, std::uint64_t bytes,
                                const void* from) {
  const MutableByteView array = static_cast<Memory*>(context)->array;
  THINWIRE_FUZZ_CHECK(offset <= array.size() && bytes <= array.size() - offset);
  std::memcpy(array.data() + offset, from, bytes);
  return 0;
}

}  // namespace thinwire::fuzz
