#include "capi/stats.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "capi/boundary.h"

using namespace thinwire;
using namespace thinwire::capi;

namespace {

using Count = std::atomic<std::uint64_t>;

struct Counts {
  Count messages, compressed_messages, bytes, wire_bytes, compressed_bytes, compressed_wire_bytes,
      decoded_messages, damaged_messages, collectives, collective_bytes, collective_wire_bytes,
      collective_nanoseconds, delta_packets, delta_bytes, delta_wire_bytes, declined, integers;
};

Counts counts;

void add(Count& count, std::uint64_t more) { count.fetch_add(more, std::memory_order_relaxed); }

// The function of a preload library, which has its own copy of this library: it fills what it is
// given.
using OfPreload = tw_status (*)(tw_stats*, std::uint64_t*, std::uint32_t);
OfPreload of_preload(tw_stats_of whose) {
  const char* const name = whose == TW_STATS_NCCL ? "tw_nccl_preload_stats" : "tw_preload_stats";
  return reinterpret_cast<OfPreload>(dlsym(RTLD_DEFAULT, name));
}

tw_status no_preload(tw_stats_of whose) {
  const char* const of = whose == TW_STATS_NCCL ? "NCCL" : "MPI";
  return report({StatusCode::kUnsupported,
                 std::string("no preload library for ") + of + " is in this process"});
}

// The same of its kinds: `number` null asks how many there are.
using KindsOfPreload = tw_status (*)(const std::uint32_t* number, std::uint32_t* kinds,
                                     tw_stats_kind*);
tw_status read_kinds(tw_stats_of whose, const std::uint32_t* number, std::uint32_t* kinds,
                     tw_stats_kind* kind) {
  if (whose != TW_STATS_PRELOAD) {
    return report({StatusCode::kUnsupported, "kinds are kept of MPI calls alone"});
  }
  const auto read = reinterpret_cast<KindsOfPreload>(dlsym(RTLD_DEFAULT, "tw_preload_stats_kinds"));
  return read == nullptr ? no_preload(whose) : read(number, kinds, kind);
}

bool is_known(tw_stats_of whose) {
  return whose == TW_STATS_LIBRARY || whose == TW_STATS_PRELOAD || whose == TW_STATS_NCCL;
}

tw_stats own_stats() {
  tw_stats stats{};
  stats.messages = counts.messages;
  stats.compressed_messages = counts.compressed_messages;
  stats.bytes = counts.bytes;
  stats.wire_bytes = counts.wire_bytes;
  stats.compressed_bytes = counts.compressed_bytes;
  stats.compressed_wire_bytes = counts.compressed_wire_bytes;
  stats.decoded_messages = counts.decoded_messages;
  stats.damaged_messages = counts.damaged_messages;
  stats.collectives = counts.collectives;
  stats.collective_bytes = counts.collective_bytes;
  stats.collective_wire_bytes = counts.collective_wire_bytes;
  stats.collective_nanoseconds = counts.collective_nanoseconds;
  stats.delta_packets = counts.delta_packets;
  stats.delta_bytes = counts.delta_bytes;
  stats.delta_wire_bytes = counts.delta_wire_bytes;
  return stats;
}

}  // namespace

namespace thinwire::capi {

void count_encode(std::uint64_t bytes, const Result<std::uint64_t>& length) {
  const StatusCode code = length.status().code();
  const bool smaller = length.ok() && *length < bytes;
  const bool left_raw = length.ok() && !smaller;
  if (!length.ok() && code != StatusCode::kDeclined && code != StatusCode::kHoldsIntegers) return;
  add(counts.messages, 1);
  add(counts.bytes, bytes);
  add(counts.wire_bytes, length.ok() ? *length : bytes);
  if (left_raw || code == StatusCode::kDeclined) add(counts.declined, 1);
  if (code == StatusCode::kHoldsIntegers) add(counts.integers, 1);
  if (!smaller) return;
  add(counts.compressed_messages, 1);
  add(counts.compressed_bytes, bytes);
  add(counts.compressed_wire_bytes, *length);
}

void count_decode(const Status& status) {
  if (status.ok()) add(counts.decoded_messages, 1);
  if (status.code() == StatusCode::kDamaged) add(counts.damaged_messages, 1);
}

void count_collective(const tw_collective_report& report) {
  add(counts.collectives, report.reason == TW_COMPRESS ? 1 : 0);
  add(counts.collective_bytes, report.raw_bytes);
  add(counts.collective_wire_bytes, report.wire_bytes);
  add(counts.delta_packets, report.delta_packets);
  add(counts.delta_bytes, report.delta_bytes);
  add(counts.delta_wire_bytes, report.delta_wire_bytes);
  add(counts.collective_nanoseconds, static_cast<std::uint64_t>(1e9 * report.seconds));
}

}  // namespace thinwire::capi

tw_status tw_stats_read(tw_stats_of whose, tw_stats* stats) {
  if (!has_size(stats) || !is_known(whose)) {
    return misuse("tw_stats_read: null pointer, size not set, or not known whose");
  }
  if (whose == TW_STATS_LIBRARY) {
    give(own_stats(), stats);
    return TW_OK;
  }
  const OfPreload read = of_preload(whose);
  if (read == nullptr) return no_preload(whose);
  tw_stats found{};
  found.size = sizeof found;
  const tw_status status = read(&found, nullptr, 0);
  if (status == TW_OK) give(found, stats);
  return status;
}

tw_status tw_stats_raw(tw_stats_of whose, uint64_t* messages, uint32_t reasons) {
  if (messages == nullptr || !is_known(whose)) {
    return misuse("tw_stats_raw: null pointer, or not known whose");
  }
  std::fill_n(messages, reasons, 0);
  if (whose == TW_STATS_LIBRARY) {
    if (reasons > TW_RAW_DECLINED) messages[TW_RAW_DECLINED] = counts.declined;
    if (reasons > TW_RAW_INTEGERS) messages[TW_RAW_INTEGERS] = counts.integers;
    return TW_OK;
  }
  const OfPreload read = of_preload(whose);
  return read == nullptr ? no_preload(whose) : read(nullptr, messages, reasons);
}

tw_status tw_stats_kinds(tw_stats_of whose, uint32_t* kinds) {
  if (kinds == nullptr || !is_known(whose)) {
    return misuse("tw_stats_kinds: null pointer, or not known whose");
  }
  *kinds = 0;
  return read_kinds(whose, nullptr, kinds, nullptr);
}

tw_status tw_stats_read_kind(tw_stats_of whose, uint32_t number, tw_stats_kind* kind) {
  if (!has_size(kind) || !is_known(whose)) {
    return misuse("tw_stats_read_kind: null pointer, size not set, or not known whose");
  }
  tw_stats_kind found{};
  found.size = sizeof found;
  const tw_status status = read_kinds(whose, &number, nullptr, &found);
  if (status == TW_OK) give(found, kind);
  if (status == TW_INVALID_ARGUMENT) return misuse("tw_stats_read_kind: there are not so many");
  return status;
}
