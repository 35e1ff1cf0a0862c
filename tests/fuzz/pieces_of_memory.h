// A frame and an array in memory, for decoders that ask for pieces of the one and write pieces of
// the other. Both check that pieces lie within.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "fuzz/target.h"

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
