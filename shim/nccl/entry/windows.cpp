#include "entry/windows.h"

#include <strings.h>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "entry/group.h"
#include "entry/unfinished.h"
#include "members/membership.h"
#include "native/call_native.h"
#include "state/reason.h"
#include "state/settings.h"

namespace thinwire::nccl {
namespace {

constexpr int kZeroCtas = 2;   // NCCL_CTA_POLICY_ZERO, a bit since 2.30
constexpr int kSymmetric = 1;  // NCCL_WIN_COLL_SYMMETRIC; others are as ncclCommRegister's

// As NCCL reads NCCL_CTA_POLICY, which stands above what programs say: a digit, or names with "|"
// between them. None: it says nothing that NCCL knows.
std::optional<int> policy_of_environment() {
  const char* const text = std::getenv("NCCL_CTA_POLICY");
  if (text == nullptr || *text == '\0') return std::nullopt;
  if (std::isdigit(static_cast<unsigned char>(*text)) != 0) {
    if (*text > '2') return std::nullopt;
    return *text - '0';
  }
  static constexpr const char* kNames[] = {"DEFAULT", "EFFICIENCY", "ZERO"};
  std::optional<int> policy;
  std::istringstream names(text);
  for (std::string name; std::getline(names, name, '|');) {
    for (int each = 0; each < 3; ++each) {
      if (strcasecmp(name.c_str(), kNames[each]) == 0) policy = policy.value_or(0) | each;
    }
  }
  return policy;
}

// Communicators on which this thread registers in a group.
std::vector<ncclComm_t>& registered_in_group() { return of_thread<std::vector<ncclComm_t>>(); }

void note_registered(ncclComm_t comm, const void* memory, std::size_t bytes,
                     const ncclWindow_t* handle, ncclResult_t result) {
  Windows& windows = counted(comm).windows;
  windows.add(memory, bytes, handle, in_group());
  if (in_group()) {
    registered_in_group().push_back(comm);
  } else if (result == ncclSuccess) {
    windows.learn();
  }
}

}  // namespace

int why_left_to_nccl(const Call& call, const Communicator& communicator) {
  if (settings().force) return 0;
  static const std::optional<int> kPolicy = policy_of_environment();
  const bool zero = kPolicy ? (*kPolicy & kZeroCtas) != 0 : communicator.zero_ctas.load();
  if (zero) return kNoCtas;
  const bool reads = call.reads(communicator.rank) && communicator.windows.hold(call.send);
  const bool writes = call.writes(communicator.rank) && communicator.windows.hold(call.receive);
  return reads || writes ? int{kInWindow} : 0;
}

// It has it from 2.27 on, after what is declared here.
bool has_zero_ctas(const ncclConfig_t* config) {
  constexpr std::size_t kAt = 60;
  constexpr unsigned kSince = 22700;
  int policy = 0;
  if (config == nullptr || config->size < kAt + sizeof policy || config->version < kSince)
    return false;
  std::memcpy(&policy, reinterpret_cast<const char*>(config) + kAt, sizeof policy);
  return policy > 0 && (policy & kZeroCtas) != 0;
}

void tell_registered_in_group(ncclResult_t result) {
  if (registered_in_group().empty()) return;
  for (const ncclComm_t each : std::exchange(registered_in_group(), {})) {
    Communicator* const of = begun(each);
    if (of == nullptr) continue;
    of->windows.end_group();
    if (result == ncclInProgress) continue;
    result == ncclSuccess ? of->windows.learn() : of->windows.drop_unmade();
  }
}

void tell_registered_on(ncclComm_t comm) {
  if (Communicator* const of = begun(comm)) of->windows.learn();
}

}  // namespace thinwire::nccl

using namespace thinwire::nccl;

THINWIRE_EXPORTED ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* memory,
                                                      std::size_t bytes, ncclWindow_t* handle,
                                                      int flags) {
  return guarded(THINWIRE_NATIVE(CommWindowRegister, comm, memory, bytes, handle, flags),
                 [&](auto& native) {
                   const bool ours = !Inside::now() && settings().could_compress;
                   if (ours && is_unfinished(comm)) return ncclInvalidArgument;
                   const ncclResult_t result = native();
                   if (ours && is_taken(result) && (flags & kSymmetric) != 0)
                     note_registered(comm, memory, bytes, handle, result);
                   return result;
                 });
}

// Forgotten before NCCL does it: another thread may register what is free then.
THINWIRE_EXPORTED ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t handle) {
  return guarded(THINWIRE_NATIVE(CommWindowDeregister, comm, handle), [&](auto& native) {
    Communicator* const of = Inside::now() ? nullptr : begun(comm);
    if (of != nullptr) of->windows.remove(handle);
    return native();
  });
}
