// The C boundary: Status in, tw_status and the thread's last-error text out; and structs that may
// grow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/status.h"
#include "thinwire/thinwire.h"

namespace thinwire::capi {

// Records the status' message for tw_last_error() and returns its code.
tw_status report(const Status& status);

// A null pointer or a struct whose `size` is not set.
tw_status misuse(const char* what);

// Runs `body` and turns an exception into a status: none may cross the C boundary.
template <typename Body>
tw_status guarded(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return report({StatusCode::kInternal, "out of memory"});
  } catch (...) {
    return report({StatusCode::kInternal, "unexpected exception"});
  }
}

// Callers have structs as their header did, older or newer than this library
// (decision 0033). Every version of one is whole words, so none ends
// inside a field; a size beyond the limit is memory that nobody has set.
constexpr std::uint32_t kLargestStruct = 4096;
constexpr bool is_size_of_struct(std::uint32_t size) {
  return size >= 8 && size % 8 == 0 && size <= kLargestStruct;
}

// An output struct that can be filled.
template <class Struct>
bool has_size(const Struct* out) {
  return out != nullptr && is_size_of_struct(out->size);
}

// An input struct as this library knows it: the caller's own if it is of today's size, else a
// copy in which fields that the caller's has not are zero, the default of every field. False for a
// null pointer, a size that is not set, and fields that are set and not known here.
template <class Struct>
class Taken {
 public:
  explicit Taken(const Struct* given) {
    if (!has_size(given)) return;
    at_ = given->size == sizeof(Struct) ? given : converted(given);
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

  explicit operator bool() const { return at_ != nullptr; }
  const Struct* operator->() const { return at_; }
  const Struct& operator*() const { return *at_; }

 private:
  [[gnu::noinline]] const Struct* converted(const Struct* given) {
    const std::uint32_t size = given->size;
    const auto* const bytes = reinterpret_cast<const std::byte*>(given);
    for (std::size_t at = sizeof(Struct); at < size; ++at) {
      if (bytes[at] != std::byte{0}) return nullptr;
    }
    own_ = Struct{};
    std::memcpy(&own_, bytes, std::min<std::size_t>(size, sizeof(Struct)));
    own_.size = sizeof(Struct);
    return &own_;
  }

  const Struct* at_ = nullptr;
  Struct own_;
};

// Fills an output struct as far as the caller's goes; what lies after is cleared, so that fields
// that are not known here read as their defaults.
template <class Struct>
void give(Struct own, Struct* out) {
  const std::uint32_t size = out->size;
  own.size = size;
  if (size == sizeof(Struct)) {
    *out = own;
    return;
  }
  auto* const bytes = reinterpret_cast<std::byte*>(out);
  std::memcpy(bytes, &own, std::min<std::size_t>(size, sizeof(Struct)));
  if (size > sizeof(Struct)) std::memset(bytes + sizeof(Struct), 0, size - sizeof(Struct));
}

// An output struct that is filled field by field: the caller's own if it is of today's size, so
// that a call on the path of every message copies nothing.
template <class Struct>
class Filled {
 public:
  explicit Filled(Struct* out) : out_(out), at_(out->size == sizeof(Struct) ? out : &own_) {}
  Filled(const Filled&) = delete;
  Filled& operator=(const Filled&) = delete;
  ~Filled() {
    if (at_ == &own_) give(own_, out_);
  }
  Struct* operator->() { return at_; }

 private:
  Struct* const out_;
  Struct* const at_;
  Struct own_;
};

// Whether the caller's struct has the field that ends `end` bytes from its start.
template <class Struct>
bool reaches(const Struct* given, std::size_t end) {
  return given->size >= end;
}

}  // namespace thinwire::capi
