// The command line of nccl, and what its launcher says of the rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "thinwire/thinwire.h"

namespace thinwire::bench::nccl {

enum class Operation {
  kAllGather,
  kReduceScatter,
  kAllReduce,
  kBroadcast,
  kSendRecv,
  kAllToAll,
  kAllToAllGrouped,  // as a group of sends and receives
  kScatter           // the same, from rank 0
};
enum class Way {
  kRaw,     // NCCL's own function
  kCoded,   // the name that programs call
  kPerHop,  // a ring or chain of coded messages
  kNaive,   // the same of messages that the program codes itself on the GPU, and
  kHost     // on the host
};

inline constexpr int kWays = 5;

const char* name_of(Operation operation);
// Whether it is done in this way.
bool goes(Operation operation, Way way);
const char* name_of(Way way);

struct Options {
  std::vector<Operation> operations;
  std::vector<std::int64_t> sizes;  // bytes: of the array, or of one rank's block
  std::vector<Way> ways{Way::kRaw, Way::kCoded};
  std::string library = "libnccl.so.2";
  std::string data;                // a file of values
  std::string codec = "lossless";  // of kNaive and kHost
  tw_dtype dtype = TW_F32;
  int iterations = 5;
  int calls = 1;                      // back to back in one timed turn
  std::int64_t filler = 0;            // bytes
  std::int64_t threshold = 64 << 10;  // bytes; what the preload library compresses from
  bool lossless = true;               // the codec
  double bound = 0;                   // of one coding of a lossy codec; 0: not stated
  double sum_bound = 0, sum_rel = 0;  // of a reduction's result, as allreduce-abs and -rel
};

// As torchrun and its kin set it in the environment.
struct Place {
  int rank = 0, ranks = 1, local_rank = 0;
  std::string address = "127.0.0.1", port = "29500";
};

// False and a sentence in `error` if the words make no sense.
bool parse_options(int argc, char** argv, Options* options, std::string* error);
bool read_place(Place* place, std::string* error);

const char* usage();

}  // namespace thinwire::bench::nccl
