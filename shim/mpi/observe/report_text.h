// The report's figures and their words.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "shim/mpi/observe/rules.h"
#include "shim/mpi/state/native_reason.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// 64-bit words alone, so that ranks add them up.
struct Totals {
  // Figures of a kind of scratch memory, as tw_pool_counters has them.
  struct Pool {
    std::uint64_t idle_bytes;
    std::uint64_t loaned_bytes;
    std::uint64_t allocations;
    std::uint64_t loans;
    std::uint64_t peak_bytes;
  };

  std::array<std::uint64_t, TW_REASON_COUNT> raw_by_reason;
  std::uint64_t raw_bytes;
  std::uint64_t compressed_messages;
  std::uint64_t compressed_bytes;
  std::uint64_t wire_bytes;
  std::uint64_t decoded_messages;
  std::uint64_t damaged_messages;
  std::uint64_t messages_without_memory;
  std::uint64_t encode_nanoseconds;
  std::uint64_t decode_nanoseconds;
  std::uint64_t predicted_nanoseconds;
  std::uint64_t saved_nanoseconds;  // of two's complement: adding wraps around
  std::uint64_t device_messages;
  std::uint64_t staged_messages;
  std::uint64_t staged_bytes;
  std::uint64_t staging_nanoseconds;
  std::uint64_t device_failures;
  std::uint64_t receives_in_place;
  std::uint64_t receives_through_scratch;
  std::uint64_t copied_receives;
  std::uint64_t deferred_writes;
  std::uint64_t continuations;
  std::uint64_t received_ahead;
  std::uint64_t raw_received_ahead;
  std::uint64_t allocations;
  Pool host_pool;
  Pool pinned_pool;
  Pool gpu_pools;
  std::array<std::uint64_t, kNativeReasons> collectives;
  std::array<std::uint64_t, kNativeReasons> native_bytes;
  std::uint64_t sums_in_rank_order;
  std::uint64_t collective_raw_bytes;
  std::uint64_t collective_wire_bytes;
  std::uint64_t collective_packets;
  std::array<std::uint64_t, TW_REASON_COUNT> collective_raw_packets;
  std::uint64_t collective_nanoseconds;
  std::uint64_t collective_encode_nanoseconds;
  std::uint64_t collective_decode_nanoseconds;
  std::uint64_t collective_predicted_nanoseconds;
  std::uint64_t collective_saved_nanoseconds;  // of two's complement
  std::uint64_t integers_declined;             // as tw_integer_counters has them
  std::uint64_t integers_coded;
  std::array<RuleTotals, kMostRules> rules;  // of the policy
};

std::string as_json(const Totals& totals);

// `whose` says which ranks' figures these are.
std::string as_text(const Totals& totals, const std::string& whose);

}  // namespace thinwire::mpi
