// The command line of p2p.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "p2p/buffers.h"

namespace thinwire::bench {

enum class Mode { kLatency, kBandwidth };

struct Options {
  std::vector<std::int64_t> sizes = {65536, 262144, 1048576, 4194304};  // bytes, of fp32 values
  int iterations = 20;
  std::int64_t filler = 0;  // bytes
  std::string data;         // a file of fp32 values; empty: the pattern
  std::string pattern = "smooth";
  Mode mode = Mode::kLatency;
  Memory memory = Memory::kHost;

  std::int64_t largest() const;
};

// False and a sentence in `error` if the words make no sense.
bool parse_options(int argc, char** argv, Options* options, std::string* error);

// As the command line spells it.
const char* name_of(Memory memory);

const char* usage();

}  // namespace thinwire::bench
