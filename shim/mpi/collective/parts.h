// Messages of collectives that travel in parts: spec/mpi-message.md, "Collectives".
//
// An MPI sends a long message in three steps: it asks, is answered, and sends. Open MPI has one TCP
// connection to a peer, and its answers wait there after all that goes the same way. So two ranks
// that send to each other come to do it by turns, and get half of what the link carries. A short
// message goes at once. It is copied for that, which on fast links takes longer than the turns.
#pragma once

#include <cstdint>
#include <vector>

#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

// MPICH's answers overtake what waits: whole messages are faster there.
#ifdef OPEN_MPI
inline constexpr bool kAnswersWait = true;
#else
inline constexpr bool kAnswersWait = false;
#endif

// Bytes of a part. Open MPI sends up to 64 KiB at once over TCP.
inline constexpr std::uint64_t kPartBytes = 48 * 1024;

// A transport's tag, up to the last one, stands for tags of the MPI, which promises tags up to
// 32767: of whole messages and of parts, of lengths, and of answers.
inline constexpr int kTagsOfQueue = 3;
inline constexpr int kLastTag = 32767 / kTagsOfQueue - 1;
constexpr int tag_of_data(int tag) { return kTagsOfQueue * tag; }
constexpr int tag_of_lengths(int tag) { return kTagsOfQueue * tag + 1; }
constexpr int tag_of_answers(int tag) { return kTagsOfQueue * tag + 2; }

// Whether messages between `nodes` that are joined at such a rate are to travel in parts, if
// answers wait; a rate of 0 is not known. Decision 0067 has what was measured.
bool pays_in_parts(double link_bytes_per_second, const std::vector<std::int32_t>& nodes);

}  // namespace thinwire::mpi
