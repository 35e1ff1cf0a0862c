#include "run/call.h"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstring>

#include "native/call_native.h"
#include "state/reason.h"

namespace thinwire::nccl {
namespace {

constexpr unsigned kMagic = 0xcafebeef;
constexpr int kUnset = INT_MIN;

// Sizes of the configuration: of 2.31, the first version that has one; of the latest that is known;
// and more than any.
constexpr std::size_t kFirst = offsetof(ncclCollConfig_t, launchCompletionEvent);
constexpr std::size_t kKnown = sizeof(ncclCollConfig_t);
constexpr std::size_t kMost = 4096;

static_assert(kFirst == 64 && kKnown == 72 && offsetof(ncclCollConfig_t, minCTAs) == 24 &&
              offsetof(ncclCollConfig_t, algSelection) == 40 &&
              offsetof(ncclCollConfig_t, CTAPolicy) == 52);

}  // namespace

bool may_be_sound(const ncclCollConfig_t& config) {
  return config.magic == kMagic && config.size >= kFirst && config.size <= kMost;
}

bool asks_nothing(const ncclCollConfig_t& config) {
  if (!may_be_sound(config) || config.size > kKnown) return false;
  const bool names_one = config.algSelection != nullptr && *config.algSelection != '\0';
  const bool has_event = config.size >= kKnown && config.launchCompletionEvent != nullptr;
  return config.ext == nullptr && config.minCTAs == kUnset && config.maxCTAs == kUnset &&
         config.nvlsCTAs == kUnset && config.cgaClusterSize == kUnset && !names_one &&
         config.CTAPolicy == kUnset && !has_event;
}

KeptConfig::KeptConfig(const ncclCollConfig_t& of)
    : words_((std::max(of.size, kKnown) + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t)) {
  std::memcpy(words_.data(), &of, of.size);
  if (of.algSelection == nullptr) return;
  selection_ = of.algSelection;
  const char* const own = selection_.c_str();
  std::memcpy(
      reinterpret_cast<std::byte*>(words_.data()) + offsetof(ncclCollConfig_t, algSelection), &own,
      sizeof own);
}

namespace {

// An NCCL before 2.28 has no such function, and a program that finds one here shall have it: as
// messages, which is what programs make of it themselves.
ncclResult_t pass_as_messages(const Call& call) {
  int ranks = 0, rank = 0;
  ncclResult_t result = THINWIRE_PASS(CommCount, call.comm, &ranks);
  if (result == ncclSuccess) result = THINWIRE_PASS(CommUserRank, call.comm, &rank);
  if (result == ncclSuccess) result = THINWIRE_PASS(GroupStart);
  if (result != ncclSuccess) return result;
  const std::uint64_t block = call.elements * element_bytes(call.type);
  const bool gives_many = call.blocks(ranks) > 1, gives = call.reads(rank);
  const bool takes_many = !call.does(kOfRoot), takes = call.writes(rank);
  for (int peer = 0; peer < ranks && result == ncclSuccess; ++peer) {
    const auto at = block * static_cast<std::uint64_t>(peer);
    const auto* const from = static_cast<const std::byte*>(call.send) + (gives_many ? at : 0);
    auto* const to = static_cast<std::byte*>(call.receive) + (takes_many ? at : 0);
    if (peer == rank && gives && takes && from == to) continue;  // in place
    if (gives && (!call.does(kAtRoot) || peer == call.peer)) {
      result = THINWIRE_PASS(Send, from, call.elements, call.type, peer, call.comm, call.stream);
    }
    if (result == ncclSuccess && takes && (!call.does(kOfRoot) || peer == call.peer)) {
      result = THINWIRE_PASS(Recv, to, call.elements, call.type, peer, call.comm, call.stream);
    }
  }
  const ncclResult_t ended = THINWIRE_PASS(GroupEnd);
  return result != ncclSuccess ? result : ended;
}

}  // namespace

// As the table of collectives has it.
#define THINWIRE_NCCL_GIVES_MOVES
#define THINWIRE_NCCL_GIVES_ROOT call.peer,
#define THINWIRE_NCCL_GIVES_SUM call.op,
#define THINWIRE_NCCL_GIVES_SUM_AT_ROOT call.op, call.peer,

ncclResult_t pass(const Call& call) {
  switch (call.operation) {
#define THINWIRE_NCCL_CALL(name, kind, ...)                                                 \
  case k##name:                                                                             \
    if (call.config != nullptr) {                                                           \
      return THINWIRE_PASS(name##Config, call.send, call.receive, call.elements, call.type, \
                           THINWIRE_NCCL_GIVES_##kind call.comm, call.stream, call.config); \
    }                                                                                       \
    if (call.is_of_messages() && real().name == nullptr) return pass_as_messages(call);     \
    return THINWIRE_PASS(name, call.send, call.receive, call.elements, call.type,           \
                         THINWIRE_NCCL_GIVES_##kind call.comm, call.stream);
    THINWIRE_NCCL_COLLECTIVES(THINWIRE_NCCL_CALL)
#undef THINWIRE_NCCL_CALL
    case kSend:
      return THINWIRE_PASS(Send, call.send, call.elements, call.type, call.peer, call.comm,
                           call.stream);
    default:
      return THINWIRE_PASS(Recv, call.receive, call.elements, call.type, call.peer, call.comm,
                           call.stream);
  }
}

}  // namespace thinwire::nccl
