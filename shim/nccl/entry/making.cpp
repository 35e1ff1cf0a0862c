// Which communicators NCCL is making, and when the helper is told of each.
#include "entry/making.h"

#include <climits>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "entry/ending.h"
#include "entry/group.h"
#include "entry/windows.h"
#include "members/membership.h"
#include "native/call_native.h"
#include "native/nccl_number.h"

namespace thinwire::nccl {
namespace {

// Communicators that this thread makes in a group.
std::vector<Making>& made_in_group() { return of_thread<std::vector<Making>>(); }

constexpr int kUndefined = INT_MIN;  // NCCL_CONFIG_UNDEF_INT

// Parts of communicators that do not block: NCCL gives the program its handle when the parent is no
// longer in progress.
struct Parts {
  std::mutex mutex;
  std::vector<Making> makings;
};

Parts& parts() {
  static Parts* const made = new Parts;
  return *made;
}

void note_zero_ctas(ncclComm_t comm, const Making& making) {
  if (!making.zero_ctas) return;
  if (Communicator* const of = begun(comm)) of->zero_ctas = true;
}

// A split has no part for this rank: what it points to is not looked at.
bool is_left_out(const Making& making) {
  return making.by_split && making.from.color == NCCL_SPLIT_NOCOLOR;
}

void tell(const Making& making) {
  if (is_left_out(making)) return left_out(making.from);
  const ncclComm_t comm = *making.made;
  if (comm == nullptr) return;
  if (!making.by_split) {
    opened(comm, making.id, making.rank, making.ranks, making.blocks, making.name);
    return note_zero_ctas(comm, making);
  }
  begin_split_off(comm, making.from);
  note_zero_ctas(comm, making);
  ncclResult_t state = ncclInProgress;
  const Inside inside;
  if (real().CommGetAsyncError != nullptr) real().CommGetAsyncError(comm, &state);
  if (state == ncclSuccess) seen_ready(comm);
}

// By its handle, not by what the call has returned: NCCL returns success also if the parent is
// in progress.
void tell_then(const Making& making) {
  const bool is_known = making.parent_blocks || is_left_out(making) || *making.made != nullptr;
  if (is_known) return tell(making);
  const std::lock_guard lock(parts().mutex);
  parts().makings.push_back(making);
}

// The name that NCCL from 2.27 on has in its configuration, after what is declared here.
std::string name_in(const ncclConfig_t* config) {
  constexpr std::size_t kAt = 48;
  constexpr unsigned kSince = 22700;
  const char* name = nullptr;
  if (config != nullptr && config->size >= kAt + sizeof name && config->version >= kSince) {
    std::memcpy(&name, reinterpret_cast<const char*>(config) + kAt, sizeof name);
  }
  return name == nullptr ? "" : name;
}

}  // namespace

bool is_blocking(const ncclConfig_t* config, bool otherwise) {
  const long long forced = nccl_number("NCCL_COMM_BLOCKING", kUndefined);
  if (forced == 0 || forced == 1) return forced == 1;
  return config == nullptr || config->blocking == kUndefined ? otherwise : config->blocking != 0;
}

ncclResult_t tell_after(ncclResult_t result, const Making& making) {
  if (Inside::now() || !settings().could_compress || !is_taken(result)) return result;
  if (in_group()) {
    made_in_group().push_back(making);
  } else {
    tell_then(making);
  }
  return result;
}

Making by_id(ncclComm_t* made, const ncclUniqueId& id, int rank, int ranks,
             const ncclConfig_t* config) {
  return {made,
          false,
          id,
          rank,
          ranks,
          is_blocking(config, true),
          {},
          nullptr,
          true,
          name_in(config),
          has_zero_ctas(config)};
}

// Without a configuration of its own it has its parent's.
Making part(ncclComm_t* made, SplitOff from, ncclComm_t parent, const ncclConfig_t* config) {
  const bool parent_blocks = from.blocks;
  from.blocks = is_blocking(config, from.blocks);
  if (config != nullptr) from.name = name_in(config);
  const bool blocks = from.blocks;
  const Communicator* const of_parent = config == nullptr ? begun(parent) : nullptr;
  const bool zero_ctas = of_parent != nullptr ? of_parent->zero_ctas.load() : has_zero_ctas(config);
  return {made, true, {}, 0, 0, blocks, std::move(from), parent, parent_blocks, {}, zero_ctas};
}

// Other ranks have made a part under its number only if this one has, too. A group may fail after
// that: the handle shows it.
void tell_made_in_group(ncclResult_t result) {
  if (made_in_group().empty()) return;
  const std::vector<Making> makings = std::exchange(made_in_group(), {});
  for (const Making& each : makings) {
    const bool has_part = each.by_split && !is_left_out(each) && *each.made != nullptr;
    if (is_taken(result) || has_part) {
      tell_then(each);
    } else if (each.by_split) {
      take_back(each.parent, each.from);
    }
  }
}

void tell_parts_of(ncclComm_t parent) {
  const std::lock_guard lock(parts().mutex);
  std::erase_if(parts().makings, [&](const Making& each) {
    if (each.parent != parent) return false;
    tell(each);
    return true;
  });
}

void forget_parts_of(ncclComm_t parent) {
  if (!settings().could_compress) return;
  const std::lock_guard lock(parts().mutex);
  std::erase_if(parts().makings, [&](const Making& each) { return each.parent == parent; });
}

}  // namespace thinwire::nccl
