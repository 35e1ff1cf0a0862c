#include "members/membership.h"

#include <netinet/in.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/mix.h"
#include "members/host.h"
#include "members/terms.h"
#include "native/call_native.h"
#include "native/cuda.h"
#include "native/refused.h"
#include "run/compressor.h"
#include "run/device.h"
#include "shim/common/silence.h"
#include "state/job.h"
#include "state/policy.h"
#include "state/settings.h"

namespace thinwire::nccl {
namespace {

void warn(const std::string& text) {
  shim::silence_is_explained();
  tw_log(TW_LOG_WARNING, ("Thinwire on the ranks of an NCCL communicator: " + text).c_str());
}

// How long the ranks of a communicator whose sums are added in their order may take to find each
// other, for which its first sum waits: ranks may have kernels to compile before they come. Tests
// are less patient (THINWIRE_TEST_REGISTRATION).
std::chrono::seconds ordered_registration() {
  constexpr int kSeconds = 120;
  const char* const named = std::getenv("THINWIRE_TEST_REGISTRATION");
  return std::chrono::seconds(named == nullptr ? kSeconds : std::atoi(named));
}

agree::Helper& helper() {
  agree::Options options;
  options.tell = warn;
  options.warn = [](const std::string& text) {
    tw_log(TW_LOG_WARNING, ("helpers of NCCL communicators: " + text).c_str());
  };
  options.host = host_of_this_process();
  const auto text = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (settings().orders) options.registration = ordered_registration();
  options.interfaces = text("NCCL_SOCKET_IFNAME");
  options.family = text("NCCL_SOCKET_FAMILY");
  return agree::process_helper(options);
}

// Nobody finds anybody: each rank sees it by itself, and the second says it, as who makes an id is
// the first one mostly, and lacks the library.
void warn_of_id(const std::string& text, int rank) {
  static std::atomic<bool> said{false};
  const std::int64_t of_job = tw_job_rank();
  shim::silence_is_explained();
  if (rank == 1 && (of_job == 1 || of_job < 0) && !said.exchange(true)) warn(text);
}

// Before NCCL says which GPU a communicator has.
constexpr int kUnknownDevice = -1;

std::span<std::byte, agree::kIdBytes> bytes_of(ncclUniqueId& id) {
  return std::as_writable_bytes(std::span(id.internal));
}

// As NCCL's are, on the loopback.
ncclUniqueId id_of_this_process() {
  constexpr std::size_t kAddressAt = 8;
  ncclUniqueId id{};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::memcpy(id.internal + kAddressAt, &address, sizeof address);
  stamp(id);
  return id;
}

agree::Terms with_order(agree::Terms terms, int device, int rank) {
  for (auto& each : order_terms(device, rank)) terms.push_back(std::move(each));
  return terms;
}

// The helper tells whoever still needs this process, and stays a moment if it must. After the
// report, which says what it knows.
constexpr int kAfterTheReport = 1000;
__attribute__((destructor(kAfterTheReport))) void leave() { allowed(agree::leave_process_helper); }

}  // namespace

void stamp(ncclUniqueId& id) {
  // There every process may make the id for itself, and they have to be alike.
  if (!settings().could_compress || std::getenv("NCCL_COMM_ID") != nullptr) return;
  helper().stamp(bytes_of(id));
}

void opened(ncclComm_t comm, const ncclUniqueId& id, int rank, int ranks, bool blocks,
            const std::string& name) {
  if (!settings().could_compress || comm == nullptr) return;
  ncclUniqueId copy = id;
  const bool has_siblings = note_ranks(ranks);
  const std::uint64_t rules = rules_for(name, ranks);
  const int device = blocks ? device_of(comm) : kUnknownDevice;
  if (blocks && settings().orders) prepare_device_of(comm);
  auto agreed =
      helper().open(bytes_of(copy), rank, ranks, with_order(all_terms(blocks, rules), device, rank),
                    kindred(ranks, rules, name), domain_of(device));
  if (!agree::is_stamped(bytes_of(copy))) warn_of_id(agreed->membership().text, rank);
  begin(comm, ranks, rank, std::move(agreed), blocks, has_siblings, name);
  // After it has registered: kernels may have to be compiled. NCCL does not say which GPU it is
  // before it is ready.
  if (blocks) prepare_device_of(comm);
}

void opened_all(const ncclComm_t* comms, int ranks, bool blocks) {
  if (!settings().could_compress) return;
  const ncclUniqueId id = id_of_this_process();
  for (int rank = 0; rank < ranks; ++rank) opened(comms[rank], id, rank, ranks, blocks, "");
}

SplitOff next_split(ncclComm_t parent, int color) {
  SplitOff from;
  with_begun(parent, [&](Communicator* of) {
    if (of == nullptr) return;
    if (of->split_off) complete(parent, *of);
    from = {of->agreed, of->splits++, color, of->blocks, 0, of->name};
  });
  return from;
}

// Ranks that are lost do not count along: who is left counts how often these were lost.
SplitOff next_shrink(ncclComm_t parent, std::vector<int> lost) {
  constexpr int kColor = INT_MIN;  // no split has it
  std::ranges::sort(lost);
  std::uint64_t number = 0;
  for (const int rank : lost) number = mix_of(number, rank);
  SplitOff from;
  with_begun(parent, [&](Communicator* of) {
    if (of == nullptr) return;
    if (of->split_off) complete(parent, *of);
    from = {of->agreed, number + of->shrinks[number]++, kColor, of->blocks, 0, of->name};
    from.lost = number;
    from.is_all = !of->has_siblings;
  });
  while (std::ranges::binary_search(lost, from.meets)) ++from.meets;
  return from;
}

namespace {

constexpr int kColorOfGrowth = INT_MIN + 1;  // nor has this one

}  // namespace

SplitOff next_growth(ncclComm_t parent) {
  SplitOff from;
  with_begun(parent, [&](Communicator* of) {
    if (of == nullptr) return;
    if (of->split_off) complete(parent, *of);
    from = {of->agreed, of->grows++, kColorOfGrowth, of->blocks, 0, of->name};
    from.grown = true;
    from.is_all = !of->has_siblings;
  });
  return from;
}

void take_back(ncclComm_t parent, const SplitOff& from) {
  with_begun(parent, [&](Communicator* of) {
    if (of == nullptr) return;
    std::uint64_t& counter = from.grown  ? of->grows
                             : from.lost ? of->shrinks[*from.lost]
                                         : of->splits;
    if (counter > 0) --counter;
  });
}

void stamp_growth(ncclComm_t parent, ncclUniqueId& id) {
  agree::CommunicatorRef agreed;
  std::uint64_t number = 0;
  with_begun(parent, [&](Communicator* of) {
    if (of == nullptr) return;
    if (of->split_off) complete(parent, *of);
    agreed = of->agreed;
    number = of->grows;
  });
  if (agreed) helper().stamp_part(bytes_of(id), agreed, number, kColorOfGrowth);
}

void left_out(const SplitOff& of) {
  if (settings().joins && of.parent) helper().leave_out(of.parent, of.number);
}

Communicator& counted(ncclComm_t comm) { return find_or_begin(comm, complete); }

void complete(ncclComm_t comm, Communicator& communicator) {
  const Inside inside;
  int ranks = 0, rank = 0;
  if (real().CommCount == nullptr || real().CommCount(comm, &ranks) != ncclSuccess) return;
  if (real().CommUserRank != nullptr) real().CommUserRank(comm, &rank);
  communicator.ranks = ranks;
  communicator.rank = rank;
  communicator.rules = rules_for(communicator.name, ranks);
  const auto from = std::exchange(communicator.split_off, std::nullopt);
  if (!from || !from->parent) return;
  if (from->is_all) note_ranks_left(ranks);
  communicator.has_siblings = note_ranks(ranks);
  const std::uint64_t rules = communicator.rules;
  const int device = device_of(comm);
  // A communicator that does not block may be complete before its GPU is prepared.
  const int ordered_on = from->blocks ? device : kUnknownDevice;
  auto terms = from->grown ? all_terms(from->blocks, rules) : policy_terms(rules);
  communicator.agreed =
      helper().open_child(from->parent, from->number, from->color, rank, ranks, from->meets,
                          with_order(std::move(terms), ordered_on, rank),
                          kindred(ranks, rules, communicator.name), domain_of(device));
}

ncclResult_t seen_ready(ncclComm_t comm) {
  ncclResult_t error = ncclSuccess;
  bool prepares = false;
  with_begun(comm, [&](Communicator* found) {
    if (found == nullptr) return;
    if (found->split_off) {
      complete(comm, *found);
      prepares = found->agreed != nullptr;
    }
    if (!found->blocks && !std::exchange(found->prepared, true)) prepares = true;
    const Compressor* const compressor = found->compressor.load();
    if (compressor != nullptr && !found->revoked) error = compressor->error();
  });
  // Not while nobody else may ask for a communicator.
  if (prepares) prepare_device_of(comm);
  return error;
}

std::string printable(std::string text) {
  const auto is_special = [](char each) { return each < ' ' || each == '"' || each == '\\'; };
  std::ranges::replace_if(text, is_special, '\'');
  return text;
}

std::string membership_text(const Communicator& communicator) {
  if (communicator.together > 0)
    return std::to_string(communicator.together) + " that have ended, together";
  const agree::CommunicatorRef agreed = agreed_of(communicator);
  return agreed ? printable(agreed->membership().text) : "not asked who has it";
}

}  // namespace thinwire::nccl
