// The parts of a seed's program, as every rank draws them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "random.h"
#include "values.h"

namespace legality {

// A codec spec that the program's calls may name.
struct Spec {
  std::string text;  // empty: none is named
  std::shared_ptr<const tw_codec> codec;
  bool lossless = true;
  double absolute = 0;         // of one coding; 0: not promised
  double result = 0;           // of a reduction's result
  std::uint32_t dtypes = ~0u;  // bits of those that it takes
};

// All codecs of the registry that this machine can run, and "off", "auto" and none.
const std::vector<Spec>& all_specs();

// A communicator, or several of one make side by side: each rank is in one of them.
struct Make {
  std::vector<std::vector<int>> groups;  // ranks of the program, in the communicator's order
  Spec spec;
  std::uint64_t threshold = 0, piece_bytes = 0;
  double link = 0;
  bool same_node = false, has_nodes = false, has_job = false;
  std::uint64_t key = 0;

  std::vector<std::int32_t> nodes(int size) const;
};

Make draw_make(Random random, int ranks, bool whole);

enum class Mistake { kNone, kRoot, kDtype, kOperation, kReduction, kLoneCounts, kSize };

// One operation on a communicator.
struct Drawn {
  tw_operation operation = TW_BCAST;
  std::uint32_t dtype = TW_F32, reduction = TW_SUM;
  std::uint32_t algorithm = TW_ALGORITHM_PLANNED, coding = TW_CODING_PLANNED;
  int root = 0;
  bool lists = false, in_place = false, verify = false, planned = false, root_decodes = false;
  int unable = -1;  // rank
  Mistake mistake = Mistake::kNone;
  Spec spec;  // of the call or, if it names none, the communicator's
  bool names_codec = false;
  std::uint64_t count = 0;           // without lists
  std::vector<std::uint64_t> steps;  // block from sender to receiver, or of each rank
  Content content;
  std::uint64_t key = 0;

  bool reduces() const { return operation >= TW_REDUCE; }
  bool is_rooted() const;
  std::uint64_t block(int size, int sender, int receiver) const;
  Content content_of(int rank, int block) const;
};

Drawn draw_operation(Random random, const Make& make, int size);
void mark_operation(const Drawn& drawn);

}  // namespace legality
