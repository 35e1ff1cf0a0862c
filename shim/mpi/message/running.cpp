#include "shim/mpi/message/running.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "shim/mpi/native/immortal.h"

namespace thinwire::mpi {

std::atomic<std::uint64_t> running_requests{0};

namespace {

struct Running {
  MPI_Request request;
  std::shared_ptr<Runner> runner;
};

struct RunningTable {
  std::mutex mutex;  // guards the list
  std::vector<Running> list;
};

RunningTable& running_table() { return immortal<RunningTable>(); }

std::shared_ptr<Runner> runner_of(MPI_Request request) {
  RunningTable& all = running_table();
  const std::lock_guard lock(all.mutex);
  const auto found = std::ranges::find(all.list, request, &Running::request);
  return found == all.list.end() ? nullptr : found->runner;
}

}  // namespace

void add_running(MPI_Request request, std::shared_ptr<Runner> runner) {
  RunningTable& all = running_table();
  const std::lock_guard lock(all.mutex);
  all.list.push_back({request, std::move(runner)});
  running_requests.store(all.list.size(), std::memory_order_relaxed);
}

void remove_running(MPI_Request request) {
  RunningTable& all = running_table();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.list, [request](const Running& one) { return one.request == request; });
  running_requests.store(all.list.size(), std::memory_order_relaxed);
}

bool is_running(MPI_Request request) {
  return running_requests.load(std::memory_order_relaxed) != 0 && runner_of(request) != nullptr;
}

void wait_for_running(int count, const MPI_Request* requests) {
  for (int at = 0; at < count; ++at) {
    if (const auto runner = runner_of(requests[at])) runner->run_until_done(requests[at]);
  }
}

}  // namespace thinwire::mpi
