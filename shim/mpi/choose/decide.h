// Decides once how a message of the threshold or more goes; others carry it out.
#pragma once

#include <cstdint>

#include "choose/link.h"
#include "shim/mpi/choose/message_kinds.h"
#include "shim/mpi/choose/peers.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/state/outgoing.h"
#include "shim/mpi/state/settings.h"

namespace thinwire::mpi {

struct Decision {
  tw_reason reason = TW_COMPRESS;
  double least_ratio = 0;  // the frame is sent if it is so much shorter; 0: if it is shorter at all
  choose::LinkRate link;   // by which it was decided
  double raw_seconds = 0;  // predicted; 0 if no rate is known
  double seconds = 0;  // predicted, compressed; before it is tried at the best that is hoped for
  double encode_seconds = 0;  // predicted, of the codec as it was measured once; 0: it was not
  double codec_seconds = 0;   // predicted, encoding and decoding
  double decode_seconds = 0;
  TimedTurn turn;  // of a kind whose messages are timed both ways
};

// The settings, what is known of the link, what earlier attempts took, and what messages of the
// kind took both ways. Of a lossy codec only what its kind of messages (where to, type, size from
// one power of two to the next) was decided at its first message, for the whole run: what a
// receiver gets must not depend on the time that messages take.
Decision decide(const Outgoing& message, const CodecUse& use, const TypeFacts& type,
                std::uint64_t bytes, const Peer& peer);

// Why a message goes raw, as the log has it: the times of its kind are a reason of their own
// there.
NativeReason timed_reason(const Decision& decision);

// Nanoseconds that a frame saved: as predicted, and no more than messages of its kind were timed to
// save.
std::int64_t saved_nanoseconds(const Decision& decision, double raw_seconds, double whole_seconds);

// Seconds predicted in all for a frame of that ratio; 0 if no rate is known.
double predicted_seconds(const Decision& decision, double ratio);

// Seconds that a frame takes in all: `encode_seconds` as measured, transfer and decoding as
// predicted.
double took_seconds(const Decision& decision, double encode_seconds, std::uint64_t bytes,
                    std::uint64_t wire_bytes);

// The same decision with the raw time that the report tells (choose/link_rate.h: rate_of_raw()).
Decision as_told(Decision decision, std::uint64_t bytes, tw_peer place);

// An attempt took so long and made a frame of `wire_bytes`; 0: it was declined. Says whether the
// frame is to be sent: of the first message of a lossy codec's kind this decides for all.
bool attempted(const Decision& decision, const Outgoing& message, const CodecUse& use,
               const TypeFacts& type, std::uint64_t bytes, const Peer& peer, double seconds,
               std::uint64_t wire_bytes);

}  // namespace thinwire::mpi
