// Settings of the user in the environment, read at the first call of NCCL.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "thinwire/thinwire.h"

namespace thinwire::nccl {

// A codec, and what decides about calls under it.
struct CodecUse {
  tw_codec* codec = nullptr;        // never destroyed
  std::uint32_t dtypes = 0;         // bit 1 << tw_dtype for each that it takes; none: "off"
  bool lacks_link = false;          // it needs a link's rate, and nobody tells one
  bool goes_by_machine = false;     // it needs one, and the machine alone tells it
  bool sums = false;                // it takes reductions
  bool orders = false;              // and has them added in the order of the ranks
  bool exact = false;               // and exactly: `orders` holds too, as what one needs both do
  bool sums_alone = false;          // and nothing else
  bool sizes_follow_error = false;  // it is lossy, and how large its frames are is open
  bool lossless = true;

  bool has_fixed_size() const { return !lossless && !sizes_follow_error; }
  bool could_compress() const { return dtypes != 0 && !lacks_link; }
};

struct Settings {
  bool disabled = false;  // THINWIRE_DISABLE=1: NCCL as it was
  // THINWIRE_CODEC, "auto" by default; after it those that rules name, each once.
  std::vector<CodecUse> codecs;
  const tw_policy* policy = nullptr;    // THINWIRE_POLICY; null: none, or a wrong one
  std::vector<unsigned> codec_of_rule;  // of `codecs`
  std::uint64_t threshold = 0;          // THINWIRE_THRESHOLD
  bool same_node = false;               // THINWIRE_SAME_NODE=1: ranks of one node compress, too
  bool force = false;                   // THINWIRE_FORCE=1: what fits is coded, whatever it costs
  bool orders = false;                  // some sums are added in the order of the ranks
  bool joins = false;                   // some calls are decided on by siblings together
  bool rounds = false;                  // THINWIRE_ALGORITHM=pairwise: see TW_STREAM_ROUNDS
  bool graphs = false;                  // THINWIRE_GRAPHS=1: codecs of any size in CUDA graphs
  double link = 0;                   // THINWIRE_LINK, of a host in bytes per second; 0: not stated
  std::uint64_t most_connected = 0;  // THINWIRE_CONNECTIONS: ranks, on each communicator
  std::uint64_t references = 0;      // THINWIRE_REFERENCES
  bool asked_for = false;  // compression was, by somebody: the end says why there was none
  // Whether some call could be compressed: only then it is asked who has the library.
  bool could_compress = false;
  std::string report;   // THINWIRE_REPORT: "", "1" (standard error) or a file's path
  std::string trace;    // THINWIRE_TRACE: "" or the first part of a path
  std::string metrics;  // THINWIRE_METRICS: likewise
};

// The process's one, read at first use. Wrong and unknown settings are named once a job by the
// core.
const Settings& settings();

}  // namespace thinwire::nccl
