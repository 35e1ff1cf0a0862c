// What the user set in the environment, read at the first call of NCCL.
#pragma once

#include <cstdint>
#include <string>

#include "thinwire/thinwire.h"

namespace thinwire::nccl {

struct Settings {
  bool disabled = false;            // THINWIRE_DISABLE=1: NCCL as it was
  tw_codec* codec = nullptr;        // THINWIRE_CODEC, "auto" by default; never destroyed
  std::uint64_t threshold = 0;      // THINWIRE_THRESHOLD
  bool lacks_link = false;          // the codec needs THINWIRE_LINK, which is not stated
  bool sums = false;                // the codec takes reductions
  bool sums_alone = false;          // and nothing else
  bool sizes_follow_error = false;  // the codec is lossy, and how large its frames are is open
  bool same_node = false;           // THINWIRE_SAME_NODE=1: ranks of one node compress, too
  bool rounds = false;              // THINWIRE_ALGORITHM=pairwise: see TW_STREAM_ROUNDS
  std::uint32_t codec_dtypes = 0;   // bit 1 << tw_dtype for each that the codec takes
  // Whether some call could be compressed: only then it is asked who has the library.
  bool could_compress = false;
  std::string report;  // THINWIRE_REPORT: "", "1" (standard error) or a file's path
};

// The process's one, read at first use. Wrong and unknown settings are named once a job by the
// core.
const Settings& settings();

}  // namespace thinwire::nccl
