#include "shim/mpi/collective/call_queue.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include "shim/mpi/native/real.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {

namespace {
std::atomic<int> g_live_private{0};
}  // namespace

PrivateComm::PrivateComm(MPI_Comm comm) : comm_(comm) { ++g_live_private; }

PrivateComm::~PrivateComm() {
  real().Comm_free(&comm_);
  --g_live_private;
}

int PrivateComm::live() { return g_live_private.load(); }

CallQueue::~CallQueue() { tw_comm_destroy(comm_); }

tw_status CallQueue::open(PrivateCommPointer own, int tag, const std::vector<std::int32_t>& nodes,
                          double link, double rate) {
  const Process& self = process();
  own_ = std::move(own);
  // Who wants peers on his own node compressed to has every rank on a node of its own.
  const bool is_apart = self.settings.plan.same_node != 0;
  std::vector<std::int32_t> as_planned = nodes;
  if (is_apart) std::iota(as_planned.begin(), as_planned.end(), 0);
  transport_ = std::make_unique<MpiTransport>(own_->comm(), tag, std::move(as_planned));
  transport_->set_rate(rate);
  tw_comm_options options{};
  options.size = sizeof options;
  options.codec = self.settings.codec();
  options.threshold = self.settings.plan.threshold;
  options.link_bytes_per_second = link;
  options.same_node = self.settings.plan.same_node;
  if (!is_apart) options.nodes = nodes.data();
  options.job = self.job.name().data();
  options.job_bytes = self.job.name().size();
  options.costs = tw_costs_of_machine();
  const tw_transport table = transport_->table();
  const auto here = std::ranges::count(nodes, nodes[static_cast<std::size_t>(table.rank)]);
  if (outnumber_processors(static_cast<int>(here))) transport_->share_processors();
  const tw_status status = tw_comm_create(&table, &options, &comm_);
  if (status != TW_OK) comm_ = nullptr;
  return status;
}

}  // namespace thinwire::mpi
