// A fuzz target: what is done with one input. Every codec of the registry has targets of its own by
// being in it. libfuzzer.cpp runs them under libFuzzer, replay.cpp without.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "codec/codec.h"

namespace thinwire::fuzz {

using Bytes = std::vector<std::byte>;

struct Target {
  std::string name;
  const codec::Codec* codec;  // nullptr for targets of no codec in particular

  // Does the work, and ends the process if a promise is broken.
  void (*run)(const Target& target, ByteView input);

  // Makes a mutated input consistent again (checksums), as most mutations must be to get past the
  // first check; changes `input` in place within `capacity` bytes and returns its length. nullptr
  // where there is nothing to make consistent.
  std::size_t (*mend)(const Target& target, MutableByteView input, std::size_t length,
                      unsigned seed);

  // Inputs to start from, the same in every call.
  std::vector<Bytes> (*seeds)(const Target& target);
};

const std::vector<Target>& all_targets();

// nullptr for a name that no target has.
const Target* find_target(std::string_view name);

inline void fail(const char* file, int line, const char* what) {
  std::fprintf(stderr, "%s:%d: broken: %s\n", file, line, what);
  std::abort();
}

// In every build, unlike assert().
#define THINWIRE_FUZZ_CHECK(condition) \
  ((condition) ? void() : ::thinwire::fuzz::fail(__FILE__, __LINE__, #condition))

}  // namespace thinwire::fuzz
