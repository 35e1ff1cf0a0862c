// THINWIRE_LOG=plan: for each kind of messages and collectives what is chosen and why, what was
// predicted and what it took. A line at the kind's first, one at each change of the choice, up to
// a number, one if collectives were timed both ways, and one at the end; never one a message.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "choose/link.h"
#include "choose/what_came.h"
#include "shim/mpi/state/native_reason.h"
#include "shim/mpi/state/settings.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// Set in MPI_Init: nothing below is called if it is false.
extern bool plans_are_logged;

// The plan's prediction. Seconds and the ratio are 0 if no link is stated.
struct Planned {
  double raw_seconds = 0;
  double seconds = 0;
  double least_ratio = 0;
  choose::LinkRate link;
};

struct KindKey {
  std::uint32_t operation = TW_POLICY_SEND;  // or tw_operation
  std::uint32_t dtype = TW_BYTES;
  std::uint32_t size_bits = 0;            // bit_width() of the bytes
  std::uint32_t place = TW_PEER_UNKNOWN;  // tw_peer, of messages
  int ranks = 0;                          // of collectives
  const tw_codec* codec = nullptr;        // null: none was chosen yet

  friend auto operator<=>(const KindKey&, const KindKey&) = default;
};

// The kind of a message.
KindKey kind_key_of(const CodecUse& use, std::uint32_t dtype, std::uint64_t bytes, tw_peer place);

struct Outcome {
  NativeReason reason = NativeReason::kCompressed;
  std::uint64_t bytes = 0;       // as the program has them; of collectives those of its packets
  std::uint64_t wire_bytes = 0;  // as sent, if it was compressed
  double encode_seconds = 0;     // also of what was then declined
  double seconds = 0;            // of a compressed collective as a whole, on this rank
};

// Any threads.
void log_plan(const KindKey& of, const Planned& planned, const Outcome& outcome);

struct Timed {
  double raw_nanoseconds = 0;  // the typical time of calls, the mean of messages
  double coded_nanoseconds = 0;
  // The means of calls; 0: not measured.
  double raw_mean_nanoseconds = 0;
  double coded_mean_nanoseconds = 0;
  // The number by which compressed messages are faster.
  std::optional<double> standard_deviations = std::nullopt;
  bool is_coded = false;  // from now on
  std::uint32_t round = 0;
};

// Logs the result of a timing round of a kind of calls or messages.
void log_decision(const KindKey& of, const Timed& timed);

// The last line of each kind. `came` counts the messages that came whose bytes have a bit_width().
void log_plans_at_end(choose::Came (*came)(std::uint32_t size_bits));

}  // namespace thinwire::mpi
