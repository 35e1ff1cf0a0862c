// Structs of the C ABI that may grow: callers have them as their header did, older or newer than
// this library (docs/decisions/0033-an-abi-that-can-grow.md).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace thinwire::capi {

// Every version of a struct is whole words, so none ends inside a field; a size beyond the limit is
// memory that nobody has set.
constexpr std::uint32_t kLargestStruct = 4096;
constexpr bool is_size_of_struct(std::uint32_t size) {
  return size >= 8 && size % 8 == 0 && size <= kLargestStruct;
}

// An output struct that can be filled.
template <class Struct>
bool has_size(const Struct* out) {
  return out != nullptr && is_size_of_struct(out->size);
}

// An input struct as this library knows it: fields that the caller's has not are as in `missing`.
// Nothing for a null pointer, a size that is not set, and fields that are set and not known here.
template <class Struct>
std::optional<Struct> taken(const Struct* given, const Struct& missing = {}) {
  if (!has_size(given)) return std::nullopt;
  const std::uint32_t size = given->size;
  if (size == sizeof(Struct)) return *given;
  const auto* const bytes = reinterpret_cast<const std::byte*>(given);
  for (std::size_t at = sizeof(Struct); at < size; ++at) {
    if (bytes[at] != std::byte{0}) return std::nullopt;
  }
  Struct own = missing;
  std::memcpy(&own, bytes, std::min<std::size_t>(size, sizeof(Struct)));
  own.size = sizeof(Struct);
  return own;
}

// Fills an output struct as far as the caller's goes; what lies behind is cleared, so that fields
// that are not known here read as their defaults.
template <class Struct>
void give(Struct own, Struct* out) {
  const std::uint32_t size = out->size;
  own.size = size;
  auto* const bytes = reinterpret_cast<std::byte*>(out);
  std::memcpy(bytes, &own, std::min<std::size_t>(size, sizeof(Struct)));
  if (size > sizeof(Struct)) std::memset(bytes + sizeof(Struct), 0, size - sizeof(Struct));
}

// Whether the caller's struct has the field that ends `end` bytes from its start.
template <class Struct>
bool reaches(const Struct* given, std::size_t end) {
  return given->size >= end;
}

}  // namespace thinwire::capi
