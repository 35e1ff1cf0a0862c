// Plain arrays of floats that every rank can name, for phases that are about calls and not about
// types.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "buffer.h"
#include "program.h"

namespace legality {

// Values of a key: whole numbers that rise slowly, so that every codec finds something to do.
inline float float_of(std::uint64_t key, int at) {
  return static_cast<float>(key % 1000) + static_cast<float>(at / 8);
}

inline std::vector<float> floats_of(std::uint64_t key, int count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (int at = 0; at < count; ++at) values[static_cast<std::size_t>(at)] = float_of(key, at);
  return values;
}

// Says what is not as it was sent, but for what a lossy codec may have changed.
inline void check_floats(const float* got, std::uint64_t key, int count, const char* what,
                         Record& record) {
  const double off = options.lossy ? options.tolerance * 1.001 : 0;
  for (int at = 0; at < count && std::isfinite(off); ++at) {
    if (std::abs(double{got[at]} - double{float_of(key, at)}) <= off) continue;
    complain(std::string(what) + ": value " + std::to_string(at) + " of " + std::to_string(count));
    break;
  }
  record.add(hash_bytes(got, sizeof(float) * static_cast<std::size_t>(count)),
             static_cast<std::uint64_t>(count));
}

inline int next_of(const Group& group) { return (group.rank + 1) % group.size; }
inline int last_of(const Group& group) { return (group.rank + group.size - 1) % group.size; }

}  // namespace legality
