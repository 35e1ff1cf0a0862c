#include "shim/mpi/message/persistent.h"

#include <mutex>
#include <unordered_map>
#include <utility>

#include "shim/mpi/message/continuations.h"
#include "shim/mpi/native/immortal.h"
#include "shim/mpi/native/real.h"

namespace thinwire::mpi {

std::atomic<std::uint64_t> live_persistent{0};
HandleFilter persistent_requests;

namespace {

struct PersistentTable {
  std::mutex mutex;
  std::unordered_map<MPI_Request, std::unique_ptr<Persistent>> entries;
};

PersistentTable& persistent_table() { return immortal<PersistentTable>(); }

}  // namespace

int Persistent::free_active() {
  if (active == MPI_REQUEST_NULL) return MPI_SUCCESS;
  if (ContinuationPointer continuation = take_continuation(active)) {
    keep_orphan(active, std::move(continuation));
    return MPI_SUCCESS;
  }
  return real().Request_free(&active);
}

int Persistent::wait_for_active() {
  if (active == MPI_REQUEST_NULL) return MPI_SUCCESS;
  take_continuation(active);
  return real().Wait(&active, MPI_STATUS_IGNORE);
}

void add_persistent(MPI_Request token, std::unique_ptr<Persistent> persistent) {
  PersistentTable& all = persistent_table();
  const std::lock_guard lock(all.mutex);
  std::unique_ptr<Persistent>& entry = all.entries[token];
  if (!entry) persistent_requests.add(token);
  entry = std::move(persistent);
  live_persistent.store(all.entries.size(), std::memory_order_relaxed);
}

std::unique_ptr<Persistent> take_persistent(MPI_Request token) {
  if (!persistent_requests.may_have(token)) return nullptr;
  PersistentTable& all = persistent_table();
  const std::lock_guard lock(all.mutex);
  const auto found = all.entries.find(token);
  if (found == all.entries.end()) return nullptr;
  auto persistent = std::move(found->second);
  all.entries.erase(found);
  persistent_requests.remove(token);
  live_persistent.store(all.entries.size(), std::memory_order_relaxed);
  return persistent;
}

Persistent* find_persistent(MPI_Request token) {
  if (!persistent_requests.may_have(token)) return nullptr;
  PersistentTable& all = persistent_table();
  const std::lock_guard lock(all.mutex);
  const auto found = all.entries.find(token);
  return found == all.entries.end() ? nullptr : found->second.get();
}

std::size_t find_persistent(const MPI_Request* requests, std::span<Persistent*> found) {
  PersistentTable& all = persistent_table();
  std::unique_lock lock(all.mutex, std::defer_lock);
  std::size_t tokens = 0;
  for (std::size_t at = 0; at < found.size(); ++at) {
    found[at] = nullptr;
    if (!persistent_requests.may_have(requests[at])) continue;
    if (!lock) lock.lock();
    const auto entry = all.entries.find(requests[at]);
    if (entry == all.entries.end()) continue;
    found[at] = entry->second.get();
    ++tokens;
  }
  return tokens;
}

}  // namespace thinwire::mpi
