// Numbers into bytes and back, little-endian; a reader that runs past the end says so once, at
// last.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agree/limits.h"

namespace thinwire::nccl::agree {

static_assert(std::endian::native == std::endian::little);

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

class FieldWriter {
 public:
  FieldWriter() = default;
  explicit FieldWriter(Bytes empty) : bytes_(std::move(empty)) {}

  template <std::integral T>
  FieldWriter& put(T value) {
    return put(std::as_bytes(std::span(&value, 1)));
  }
  FieldWriter& put(ByteView bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  FieldWriter& put_text(std::string_view text) {
    text = text.substr(0, kMostText);
    put(static_cast<std::uint16_t>(text.size()));
    return put(std::as_bytes(std::span(text)));
  }
  Bytes& bytes() { return bytes_; }

 private:
  Bytes bytes_;
};

class FieldReader {
 public:
  explicit FieldReader(ByteView bytes) : left_(bytes) {}

  template <std::integral T>
  T take() {
    T value{};
    const ByteView from = take_bytes(sizeof value);
    if (good_) std::memcpy(&value, from.data(), sizeof value);
    return value;
  }
  // Empty if there are not so many.
  ByteView take_bytes(std::size_t count) {
    if (!good_ || count > left_.size()) {
      good_ = false;
      return {};
    }
    const ByteView taken = left_.first(count);
    left_ = left_.subspan(count);
    return taken;
  }
  template <std::size_t kCount>
  std::array<std::byte, kCount> take_array() {
    std::array<std::byte, kCount> taken{};
    const ByteView from = take_bytes(kCount);
    if (good_) std::memcpy(taken.data(), from.data(), kCount);
    return taken;
  }
  std::string take_text() {
    const auto count = take<std::uint16_t>();
    if (count > kMostText) good_ = false;
    const ByteView from = take_bytes(count);
    return {reinterpret_cast<const char*>(from.data()), from.size()};
  }
  ByteView rest() {
    const ByteView all = left_;
    left_ = {};
    return all;
  }

  std::size_t left() const { return left_.size(); }
  bool good() const { return good_; }
  // All was there, and nothing is after it.
  bool done() const { return good_ && left_.empty(); }

 private:
  ByteView left_;
  bool good_ = true;
};

}  // namespace thinwire::nccl::agree
