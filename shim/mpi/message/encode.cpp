#include "shim/mpi/message/encode.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "shim/mpi/choose/backoff.h"
#include "shim/mpi/choose/decide.h"
#include "shim/mpi/choose/link_rate.h"
#include "shim/mpi/choose/peers.h"
#include "shim/mpi/choose/policy.h"
#include "shim/mpi/message/device.h"
#include "shim/mpi/message/encode_dense.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/observe/capture.h"
#include "shim/mpi/observe/plan_log.h"
#include "shim/mpi/observe/ranges.h"
#include "shim/mpi/observe/rules.h"
#include "shim/mpi/observe/silence.h"
#include "shim/mpi/observe/trace.h"
#include "shim/mpi/state/shortcut.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// A peer without the library is what users of a bare preload across nodes run into: said once.
void explain_unready_peer(int destination) {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  silence_is_explained();
  tw_log(TW_LOG_WARNING,
         ("rank " + std::to_string(process().world.rank) + " finds that the peer with rank " +
          std::to_string(destination) +
          " of its communicator does not run this Thinwire: messages to such peers go raw "
          "(start the program with `thinwire run`, or each rank with `thinwire exec`)")
             .c_str());
}

// Whether the MPI is handed a frame in GPU memory, for it to reach as it reaches the program's own.
bool wire_on_device(const Outgoing& message, const Peer& peer) {
  if (!message.on_device || !mpi_reaches_gpus()) return false;
  const GpuWire where = process().settings.gpu_wire;
  return where == GpuWire::kDevice || (where == GpuWire::kAuto && peer.place == TW_PEER_SAME_NODE);
}

// The elements of a type with gaps, one after the other where its buffer lies; empty where that
// failed.
Lease pack_elements(const Outgoing& message, std::uint64_t bytes) {
  if (!message.on_device) {
    Lease packed = process().pool.acquire(bytes);
    if (packed &&
        pack(message.buffer, message.count, message.type, packed.data(), bytes) == MPI_SUCCESS) {
      return packed;
    }
    return {};
  }
  int device = -1;
  if (find_device(message.buffer, message.type, &device) != MPI_SUCCESS) return {};
  Lease packed = acquire_counted(TW_MEMORY_DEVICE, device, bytes);
  if (packed && copy_from_device(message.buffer, message.type, packed, bytes) == MPI_SUCCESS) {
    return packed;
  }
  return {};
}

Encoded encode_elements(const Outgoing& message, const Dense& array) {
  const WatchedRange range("encode", array.use.codec.get(), array.bytes);
  if (array.type.dense) return encode_dense(message, message.buffer, array);
  const Lease packed = pack_elements(message, array.bytes);
  if (!packed) return {TW_RAW_NO_MEMORY, {}};
  return encode_dense(message, packed.data(), array);
}

std::uint64_t nanoseconds(double seconds) { return static_cast<std::uint64_t>(1e9 * seconds); }

void count_raw(tw_reason reason, std::uint64_t bytes) {
  Counters& counters = process().counters;
  ++counters.raw_by_reason[reason];
  counters.raw_bytes += bytes;
}

// What a lossy codec gives must not depend on the time that attempts take.
std::uint32_t most_skips(const CodecUse& use, const Decision& decision, double seconds) {
  if (use.is_lossy || use.plan.force != 0) return Backoff::kLongestSearch;
  return Backoff::most_skips(seconds, decision.raw_seconds);
}

void log_choice(const Outcome& outcome, const TypeFacts& type, const Peer& peer,
                const CodecUse& use, const Decision& decision) {
  log_plan(kind_key_of(use, type.leaf, outcome.bytes, peer.place),
           {decision.raw_seconds, decision.seconds, decision.least_ratio, decision.link}, outcome);
}

}  // namespace

int count_sent(const Wire& wire, int error) {
  if (error != MPI_SUCCESS || wire.form != Wire::Form::kFrame) return error;
  count_by_rule(wire.rule, wire.raw_bytes, wire.bytes, true);
  Counters& counters = process().counters;
  ++counters.compressed_messages;
  counters.compressed_bytes += wire.raw_bytes;
  counters.wire_bytes += wire.bytes;
  counters.predicted_nanoseconds += wire.predicted_nanoseconds;
  counters.predicted_raw_nanoseconds += wire.predicted_raw_nanoseconds;
  counters.saved_nanoseconds += wire.saved_nanoseconds;
  return error;
}

void count_mode(const Outgoing& message) {
  const std::uint64_t bytes = message_bytes(message.count, message.type);
  count_raw(TW_RAW_MODE, bytes);
  if (is_captured()) [[unlikely]]
    capture_message(message, peer_of(message.comm, message.destination).world_rank);
  if (!is_traced()) return;
  const Peer peer = peer_of(message.comm, message.destination);
  trace_message(message.comm, peer.place, peer.world_rank, process().settings.codecs.front(),
                TW_RAW_MODE, {bytes, bytes, 0, 0});
}

std::optional<Wire> encode(const Outgoing& message) {
  Process& self = process();
  const std::uint64_t bytes = message_bytes(message.count, message.type);
  TypeFacts type = type_facts(message.type);
  if (is_null_buffer(message.buffer, message.type)) return std::nullopt;
  const Peer peer = peer_of(message.comm, message.destination);
  if (is_captured()) [[unlikely]]
    capture_message(message, peer.world_rank);
  const auto [use, rule, holds] = choose_for_message(message.comm, type, bytes, peer.place);
  if (bytes % leaf_bytes(holds) == 0 && holds != TW_BYTES) type.leaf = holds;
  const Decision decision = decide(message, *use, type, bytes, peer);
  const Decision told = as_told(decision, bytes, peer.place);
  const auto stay_raw = [&, use = use, rule = rule](tw_reason why, std::uint64_t spent = 0) {
    if (plans_are_logged) [[unlikely]] {
      const auto reason =
          why == decision.reason ? timed_reason(decision) : static_cast<NativeReason>(why);
      log_choice({reason, bytes, 0, 1e-9 * static_cast<double>(spent)}, type, peer, *use, decision);
    }
    count_raw(why, bytes);
    note_sent(peer.place, bytes, true);
    const std::uint64_t raw = nanoseconds(told.raw_seconds);
    self.counters.predicted_of_raw_nanoseconds += raw;
    if (raw != 0 && spent != 0) {
      self.counters.saved_nanoseconds -= static_cast<std::int64_t>(spent);
    }
    count_by_rule(rule, bytes, bytes, false);
    if (is_traced()) {
      trace_message(message.comm, peer.place, peer.world_rank, *use, why,
                    {bytes, bytes, 0, spent, raw, raw + spent});
    }
    return std::nullopt;
  };
  if (decision.reason != TW_COMPRESS) {
    // Without a launcher nobody is ready, and MPI_Init has said so.
    if (decision.reason == TW_RAW_PEER_NOT_READY && peer.place != TW_PEER_UNKNOWN && peer.known &&
        self.job.reachable()) {
      explain_unready_peer(message.destination);
    }
    return stay_raw(decision.reason);
  }
  if (!is_usable(message.type)) return std::nullopt;  // for the MPI to refuse
  Backoff& channel = peer.channels->of(type.leaf, use->number);
  const Attempt attempt = channel.next(decision.least_ratio);
  if (attempt == Attempt::kSkip) return stay_raw(TW_RAW_DECLINED_LATELY);
  const auto start = std::chrono::steady_clock::now();
  Encoded encoded =
      encode_elements(message, {*use, type, bytes, peer.inspect_threshold, decision.least_ratio,
                                attempt == Attempt::kSampleFirst, channel.declines(),
                                wire_on_device(message, peer)});
  const auto spent = static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
  self.counters.encode_nanoseconds += spent;
  const bool is_declined = encoded.reason == TW_RAW_DECLINED || encoded.reason == TW_RAW_INTEGERS;
  if (is_declined) {
    channel.declined(encoded.reason == TW_RAW_DECLINED ? decision.least_ratio : 1,
                     most_skips(*use, decision, 1e-9 * static_cast<double>(spent)));
  }
  if (encoded.reason != TW_COMPRESS) return stay_raw(encoded.reason, spent);
  channel.succeeded();
  note_frame(decision.turn);
  const double seconds = 1e-9 * static_cast<double>(spent);
  if (!attempted(decision, message, *use, type, bytes, peer, seconds, encoded.wire.bytes)) {
    return stay_raw(TW_RAW_LINK_FASTER, spent);
  }
  // By now its size is known, which was only hoped for.
  const double predicted =
      predicted_seconds(told, static_cast<double>(bytes) / static_cast<double>(encoded.wire.bytes));
  if (plans_are_logged) [[unlikely]] {
    log_choice({NativeReason::kCompressed, bytes, encoded.wire.bytes, seconds}, type, peer, *use,
               decision);
  }
  note_sent(peer.place, encoded.wire.bytes, false);
  encoded.wire.rule = rule;
  encoded.wire.predicted_nanoseconds = nanoseconds(predicted);
  std::uint64_t raw = 0, whole = 0;
  if (told.raw_seconds > 0) {
    const double took = took_seconds(told, seconds, bytes, encoded.wire.bytes);
    encoded.wire.saved_nanoseconds = saved_nanoseconds(decision, told.raw_seconds, took);
    whole = nanoseconds(took);
    // What the trace and the report have are the same times.
    raw = static_cast<std::uint64_t>(std::max<std::int64_t>(
        static_cast<std::int64_t>(whole) + encoded.wire.saved_nanoseconds, 1));
  }
  encoded.wire.predicted_raw_nanoseconds = raw;
  if (is_traced()) {
    trace_message(
        message.comm, peer.place, peer.world_rank, *use, TW_COMPRESS,
        {bytes, encoded.wire.bytes, nanoseconds(decision.encode_seconds), spent, raw, whole});
  }
  return std::move(encoded.wire);
}

}  // namespace thinwire::mpi
