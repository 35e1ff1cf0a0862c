#include "state/communicators.h"

#include <mutex>
#include <unordered_map>

#include "state/policy.h"

namespace thinwire::nccl {
namespace {

struct Table {
  std::mutex mutex;
  std::unordered_map<ncclComm_t, Communicator*> living;
  std::vector<Communicator*> all;
  std::size_t ended = 0;  // of these, that were let go
  std::size_t readers = 0;
  Communicator* together =
      nullptr;  // the first one, with the figures of those that are none any more
  std::atomic<std::uint64_t> endings{0};  // how often a handle has lost its meaning
};

// Never destroyed: other threads may still call NCCL while the process ends.
Table& table() {
  static Table* const made = new Table;
  return *made;
}

// The last one that this thread asked for: a lookup costs a lock.
struct Last {
  ncclComm_t comm = nullptr;
  std::uint64_t endings = 0;
  Communicator* communicator = nullptr;
};

Communicator& look_up(ncclComm_t comm, Complete complete) {
  Table& known = table();
  const std::lock_guard lock(known.mutex);
  Communicator*& found = known.living[comm];
  if (found == nullptr) {
    found = new Communicator;
    known.all.push_back(found);
  }
  // It is used, so that NCCL has made it.
  if (found->ranks == 0 && comm != nullptr) complete(comm, *found);
  return *found;
}

}  // namespace

Communicator& find_or_begin(ncclComm_t comm, Complete complete) {
  static thread_local Last last;
  const std::uint64_t endings = table().endings.load(std::memory_order_acquire);
  if (last.communicator == nullptr || last.comm != comm || last.endings != endings) {
    last = {comm, endings, &look_up(comm, complete)};
  }
  return *last.communicator;
}

namespace {

void put(ncclComm_t comm, Communicator* made) {
  Table& known = table();
  const std::lock_guard lock(known.mutex);
  known.living[comm] = made;
  known.all.push_back(made);
  known.endings.fetch_add(1, std::memory_order_release);
}

}  // namespace

void begin(ncclComm_t comm, int ranks, int rank, agree::CommunicatorRef agreed, bool blocks,
           bool has_siblings, const std::string& name) {
  auto* const made = new Communicator;
  made->ranks = ranks;
  made->rank = rank;
  made->agreed = std::move(agreed);
  made->blocks = blocks;
  made->has_siblings = has_siblings;
  made->name = name;
  made->rules = rules_for(name, ranks);
  put(comm, made);
}

void begin_split_off(ncclComm_t comm, SplitOff from) {
  auto* const made = new Communicator;
  made->blocks = from.blocks;
  made->name = from.name;
  made->split_off = std::move(from);
  put(comm, made);
}

void with_begun(ncclComm_t comm, const std::function<void(Communicator*)>& then) {
  Table& known = table();
  const std::lock_guard lock(known.mutex);
  const auto found = known.living.find(comm);
  then(found == known.living.end() ? nullptr : found->second);
}

agree::CommunicatorRef agreed_of(const Communicator& communicator) {
  const std::lock_guard lock(table().mutex);
  return communicator.agreed;
}

Communicator* begun(ncclComm_t comm) {
  Table& known = table();
  const std::lock_guard lock(known.mutex);
  const auto found = known.living.find(comm);
  return found == known.living.end() ? nullptr : found->second;
}

void forget(ncclComm_t comm, const Communicator* ended) {
  Table& known = table();
  const std::lock_guard lock(known.mutex);
  const auto found = known.living.find(comm);
  if (found != known.living.end() && found->second == ended) known.living.erase(found);
  known.endings.fetch_add(1, std::memory_order_release);
}

bool is_any_living() {
  Table& known = table();
  const std::lock_guard lock(known.mutex);
  return !known.living.empty();
}

namespace {

// The latest ones are kept each by itself, some 8 KiB each; the figures of earlier ones together.
constexpr std::size_t kMostEnded = 256;

// Its figures count with those of `all`.
void add_figures(Communicator& all, const Communicator& ended) {
  ++all.together;
  if (ended.ranks > all.ranks) {
    all.ranks = ended.ranks;
    all.rank = ended.rank;
  }
  for (std::size_t at = 0; at < kOperations; ++at) add(all.of[at], ended.of[at]);
}

// The earliest ones that nobody needs, beyond the latest: their figures are put together. Under the
// lock, but for their destruction.
std::vector<Communicator*> take_retired(Table& known, bool (*is_free)(const Communicator&)) {
  std::vector<Communicator*> retired;
  if (known.readers > 0 || known.ended <= kMostEnded) return retired;
  retired.reserve(known.all.size());
  for (Communicator* const each : known.all) {
    if (known.ended - retired.size() <= kMostEnded) break;
    if (is_free(*each)) retired.push_back(each);
  }
  if (retired.empty()) return retired;
  if (known.together == nullptr) {
    known.together = new Communicator;
    known.all.insert(known.all.begin(), known.together);
  }
  for (const Communicator* const each : retired) add_figures(*known.together, *each);
  const auto is_retired = [&, at = retired.begin()](const Communicator* each) mutable {
    const bool found = at != retired.end() && *at == each;
    if (found) ++at;
    return found;
  };
  std::erase_if(known.all, is_retired);
  known.ended -= retired.size();
  return retired;
}

}  // namespace

std::vector<Communicator*> note_let_go(Communicator& ended, bool (*is_free)(const Communicator&)) {
  Table& known = table();
  const std::lock_guard lock(known.mutex);
  ended.is_let_go = true;
  ++known.ended;
  return take_retired(known, is_free);
}

bool had_communicators() {
  Table& known = table();
  const std::lock_guard lock(known.mutex);
  return !known.all.empty();
}

Reading::Reading() {
  Table& known = table();
  const std::lock_guard lock(known.mutex);
  all = known.all;
  ++known.readers;
}

Reading::~Reading() {
  Table& known = table();
  const std::lock_guard lock(known.mutex);
  --known.readers;
}

}  // namespace thinwire::nccl
