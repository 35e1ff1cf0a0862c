#include "shim/mpi/observe/attempt.h"

#include <atomic>
#include <bit>
#include <string>

#include "shim/mpi/observe/capture.h"
#include "shim/mpi/observe/report.h"
#include "shim/mpi/observe/rules.h"
#include "shim/mpi/observe/trace.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// A peer without the library is what users of a bare preload across nodes run into: said once.
// Without a launcher nobody is ready, and MPI_Init has said so.
void explain_unready_peer(const Attempt& attempt) {
  if (attempt.place == TW_PEER_UNKNOWN || !attempt.is_known || !process().job.reachable()) return;
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  silence_is_explained();
  tw_log(TW_LOG_WARNING,
         ("rank " + std::to_string(process().world.rank) + " finds that the peer with rank " +
          std::to_string(attempt.message.destination) +
          " of its communicator does not run this Thinwire: messages to such peers go raw "
          "(start the program with `thinwire run`, or each rank with `thinwire exec`)")
             .c_str());
}

void count_raw(const Attempt& attempt) {
  Counters& counters = process().counters;
  ++counters.raw_by_reason[attempt.reason];
  counters.raw_bytes += attempt.bytes;
  counters.predicted_of_raw_nanoseconds += attempt.raw_nanoseconds;
  if (attempt.raw_nanoseconds != 0 && attempt.encode_nanoseconds != 0) {
    counters.saved_nanoseconds -= static_cast<std::int64_t>(attempt.encode_nanoseconds);
  }
  count_by_rule(attempt.rule, attempt.bytes, attempt.bytes, false);
}

void log_choice(const Attempt& attempt) {
  // Nobody has chosen the mode of a send.
  if (attempt.reason == TW_RAW_MODE) return;
  log_plan(kind_key_of(*attempt.use, attempt.dtype, attempt.bytes, attempt.place), attempt.planned,
           {attempt.logged, attempt.bytes, attempt.wire_bytes,
            1e-9 * static_cast<double>(attempt.encode_nanoseconds)});
}

void trace(const Attempt& attempt) {
  const bool is_raw = attempt.reason != TW_COMPRESS;
  trace_message(attempt.message.comm, attempt.place, attempt.world_rank, *attempt.use,
                attempt.reason,
                {attempt.bytes, is_raw ? attempt.bytes : attempt.wire_bytes,
                 attempt.planned_encode_nanoseconds, attempt.encode_nanoseconds,
                 attempt.raw_nanoseconds, attempt.whole_nanoseconds});
}

}  // namespace

void observe(const Attempt& attempt) {
  if (attempt.reason == TW_RAW_PEER_NOT_READY) explain_unready_peer(attempt);
  if (is_captured()) [[unlikely]]
    capture_message(attempt.message, attempt.world_rank);
  if (plans_are_logged) [[unlikely]]
    log_choice(attempt);
  process().counters.encode_nanoseconds += attempt.encode_nanoseconds;
  if (attempt.reason != TW_COMPRESS) count_raw(attempt);
  if (is_traced()) trace(attempt);
}

void observe_sent(const Attempt& attempt) {
  count_by_rule(attempt.rule, attempt.bytes, attempt.wire_bytes, true);
  Counters& counters = process().counters;
  ++counters.compressed_messages;
  counters.compressed_bytes += attempt.bytes;
  counters.wire_bytes += attempt.wire_bytes;
  counters.predicted_nanoseconds += attempt.predicted_nanoseconds;
  counters.predicted_raw_nanoseconds += attempt.raw_nanoseconds;
  counters.saved_nanoseconds += attempt.saved_nanoseconds;
}

bool wants_receiver() { return is_captured() || is_traced(); }

}  // namespace thinwire::mpi
