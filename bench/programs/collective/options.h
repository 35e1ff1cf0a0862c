// The command line of collective.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "p2p/buffers.h"
#include "thinwire/thinwire.h"

namespace thinwire::bench {

// One way to run an operation compressed.
struct Case {
  std::string codec;
  tw_algorithm algorithm = TW_ALGORITHM_PLANNED;
  tw_coding coding = TW_CODING_PLANNED;
};

struct Options {
  std::vector<tw_operation> operations;
  std::vector<std::int64_t> sizes;  // bytes: of the array, or of one rank's block
  std::vector<std::string> codecs;
  std::vector<tw_algorithm> algorithms;
  std::vector<tw_coding> codings;
  std::string data;       // a file of values
  std::string transport;  // the library that has tw_mpi_transport()
  tw_dtype dtype = TW_F32;
  Memory memory = Memory::kHost;
  // The memory in which the MPI's own operation finds device arrays: staged by hand, unless it
  // takes them itself.
  Memory native_memory = Memory::kStaged;
  std::int64_t filler = 0;     // bytes
  std::int64_t threshold = 0;  // bytes
  std::int64_t piece = 0;      // bytes coded and sent at a time; 0: planned
  double link = 0;             // bytes per second; 0: not stated
  bool apart = false;          // each rank counts as a node of its own, wherever it runs
  int iterations = 5;
  int root = 0;

  // Every codec with every algorithm and coding.
  std::vector<Case> cases() const;
};

// False and a sentence in `error` if the words make no sense.
bool parse_options(int argc, char** argv, Options* options, std::string* error);

const char* usage();

}  // namespace thinwire::bench
