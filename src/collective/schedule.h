// Steps of one rank in a collective, as data. Nothing here moves a byte or knows a codec.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/operation.h"

namespace thinwire::collective {

using plan::Operation;

// Places of values: the user's send buffer, his receive buffer (Bcast has this one alone), or
// memory that the schedule asks for.
enum class Area : std::uint8_t { kInput, kOutput, kScratch };

// A packet is what travels: the values of a block, encoded or as they are.
enum class Action : std::uint8_t {
  kCopy,           // to <- from
  kCombine,        // to <- to (+) from
  kEncode,         // slot <- from
  kDecode,         // to <- slot
  kReduce,         // to <- to (+) slot
  kSend,           // slot -> peer
  kReceive,        // slot <- peer
  kSendValues,     // from -> peer, never encoded
  kReceiveValues,  // to <- peer, never encoded
  kAddExactly,     // scratch 0 <- the exact sum of all scratch
};

constexpr bool is_send(Action action) {
  return action == Action::kSend || action == Action::kSendValues;
}

constexpr bool is_message(Action action) {
  return is_send(action) || action == Action::kReceive || action == Action::kReceiveValues;
}

// One step of one rank. A step may run after all earlier ones that touch the same values, scratch
// or slot have, unless both only read; messages to or from one peer are posted in the order of the
// steps. What reads a slot also reads the values that it was encoded from: a packet that stayed raw
// is not copied, so those values stay as they are until the slot's last reader has run. Only the
// slot's own decoding may replace them.
struct Step {
  Action action;
  Area to = Area::kOutput;
  Area from = Area::kInput;
  std::uint32_t block = 0;    // which values; how many they are, in scratch and slots too
  std::uint32_t slot = 0;     // which packet
  std::uint32_t scratch = 0;  // which one, if an area is kScratch
  std::int32_t peer = -1;
  bool is_raw = false;  // kEncode: never coded
};

// Blocks are numbered as follows; a rank touches those alone that it has:
//   Bcast: the parts of the array, in kOutput of all. There is no kInput.
//   Reduce, Allreduce: the parts of the array, in kInput of all, and in kOutput of the root or all.
//   Reduce-scatter: block r is the part that rank r gets in kOutput; kInput has all.
//   Allgather, Gather: block r is what rank r has in kInput; kOutput of all or the root has all.
//   Scatter: block r is what rank r gets in kOutput; kInput of the root has all.
//   Alltoall: block j is what goes to rank j, in kInput; block size + i what comes from rank i, in
//     kOutput. What a rank keeps is block size + rank in both.
// Of Allgather, Gather, Scatter, Reduce and Allreduce both areas of a block may be the same memory.
struct Schedule {
  std::uint32_t blocks = 1;
  std::uint32_t slots = 0;
  std::uint32_t scratch = 0;
  std::vector<Step> steps;
};

// Who takes part. Ranks of one node are those with the same number in `node_of`, which is empty
// where every rank is a node of its own.
struct Topology {
  int rank = 0;
  int size = 1;
  int root = 0;
  std::vector<std::int32_t> node_of;

  // Bcast: the root's values become what the others get too. Else nothing is written there.
  bool root_decodes = false;

  int node(int rank_in_question) const {
    return node_of.empty() ? rank_in_question : node_of[static_cast<std::size_t>(rank_in_question)];
  }
};

// ---- Steps as schedules write them ----

constexpr Step copy(std::uint32_t block, Area to, Area from, std::uint32_t scratch = 0) {
  return {.action = Action::kCopy, .to = to, .from = from, .block = block, .scratch = scratch};
}
constexpr Step combine(std::uint32_t block, Area to, Area from, std::uint32_t scratch = 0) {
  return {.action = Action::kCombine, .to = to, .from = from, .block = block, .scratch = scratch};
}
constexpr Step encode(std::uint32_t block, Area from, std::uint32_t slot,
                      std::uint32_t scratch = 0) {
  return {
      .action = Action::kEncode, .from = from, .block = block, .slot = slot, .scratch = scratch};
}
constexpr Step decode(std::uint32_t block, Area to, std::uint32_t slot, std::uint32_t scratch = 0) {
  return {.action = Action::kDecode, .to = to, .block = block, .slot = slot, .scratch = scratch};
}
constexpr Step reduce(std::uint32_t block, Area to, std::uint32_t slot, std::uint32_t scratch = 0) {
  return {.action = Action::kReduce, .to = to, .block = block, .slot = slot, .scratch = scratch};
}
constexpr Step add_exactly(std::uint32_t block) {
  return {.action = Action::kAddExactly, .to = Area::kScratch, .block = block};
}
constexpr Step send(std::uint32_t block, std::uint32_t slot, int peer) {
  return {.action = Action::kSend, .block = block, .slot = slot, .peer = peer};
}
constexpr Step receive(std::uint32_t block, std::uint32_t slot, int peer) {
  return {.action = Action::kReceive, .block = block, .slot = slot, .peer = peer};
}
constexpr Step send_values(std::uint32_t block, Area from, int peer, std::uint32_t scratch = 0) {
  return {.action = Action::kSendValues,
          .from = from,
          .block = block,
          .scratch = scratch,
          .peer = peer};
}
constexpr Step receive_values(std::uint32_t block, Area to, int peer, std::uint32_t scratch = 0) {
  return {
      .action = Action::kReceiveValues, .to = to, .block = block, .scratch = scratch, .peer = peer};
}

}  // namespace thinwire::collective
