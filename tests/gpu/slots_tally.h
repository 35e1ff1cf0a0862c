// How many collectives in slots come to the same on two sides, and what of the others differs.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "slots_runs.h"

namespace thinwire::collective {

inline bool agree(const Found& one, const Found& other, bool receives) {
  const SlotReport &a = one.report, &b = other.report;
  return a.complete && b.complete && a.status.code() == b.status.code() &&
         a.spilled_in == b.spilled_in && a.spilled_out == b.spilled_out &&
         a.frame_bytes == b.frame_bytes && a.needed == b.needed &&
         a.difference_bytes == b.difference_bytes && (!receives || one.values == other.values);
}

// Tells what of a rank does not agree.
inline void tell(int rank, const Found& one, const Found& other) {
  const SlotReport &a = one.report, &b = other.report;
  const auto print = [](const char* what, auto host, auto gpu) {
    if (host == gpu) return;
    std::printf("    %s: %lld, %lld\n", what, static_cast<long long>(host),
                static_cast<long long>(gpu));
  };
  std::printf("  rank %d, host and GPU:\n", rank);
  print("complete", a.complete, b.complete);
  print("status", a.status.code(), b.status.code());
  print("blocks that came spilled", a.spilled_in, b.spilled_in);
  print("blocks that went spilled", a.spilled_out, b.spilled_out);
  print("bytes of frames", a.frame_bytes, b.frame_bytes);
  print("bytes as differences", a.difference_bytes, b.difference_bytes);
  print("capacity needed, of the first exchange", a.needed[0], b.needed[0]);
  print("capacity needed, of the second exchange", a.needed[1], b.needed[1]);
  const auto at = std::ranges::mismatch(one.values, other.values).in1;
  if (at == one.values.end()) return;
  const auto first = static_cast<std::size_t>(at - one.values.begin());
  std::printf("    byte %zu of %zu is the first that differs; from the word before on:\n", first,
              one.values.size());
  for (const auto* values : {&one.values, &other.values}) {
    for (std::size_t byte = first / 8 * 8; byte < std::min(first / 8 * 8 + 32, values->size());
         ++byte) {
      std::printf("%s%02x", byte % 8 == 0 ? " " : "", static_cast<unsigned>((*values)[byte]));
    }
    std::printf("\n");
  }
}

struct Tally {
  int same = 0, different = 0, damaged = 0;
  std::uint64_t spilled = 0, difference_bytes = 0;

  void compare(Where where, const Case& given, std::string_view spec) {
    const auto expected = run_on(Where::kHost, given, given.host_references);
    const auto found = run_on(where, given, given.other_references);
    bool all = true;
    for (std::size_t rank = 0; rank < expected.size(); ++rank) {
      const bool at_root = given.call.operation == SlotOperation::kGather ||
                           given.call.operation == SlotOperation::kReduce;
      const bool receives = given.call.operation == SlotOperation::kSend ? rank == 1
                            : at_root                                    ? rank == 0
                                                                         : true;
      all = all && agree(expected[rank], found[rank], receives);
      spilled += found[rank].report.spilled_out;
      difference_bytes += found[rank].report.difference_bytes;
      if (found[rank].report.status.code() == StatusCode::kDamaged) ++damaged;
    }
    (all ? same : different) += 1;
    if (all || different > 20) return;
    std::printf(
        "FAILED operation %u of %s, %.*s, %d ranks, %llu values, capacity %u, offset %llu\n",
        static_cast<unsigned>(given.call.operation), dtype_name(given.call.dtype),
        static_cast<int>(spec.size()), spec.data(), given.call.ranks,
        static_cast<unsigned long long>(given.call.count), given.call.capacity[0],
        static_cast<unsigned long long>(given.offset));
    for (std::size_t rank = 0; rank < expected.size(); ++rank) {
      tell(static_cast<int>(rank), expected[rank], found[rank]);
    }
  }
};

}  // namespace thinwire::collective
