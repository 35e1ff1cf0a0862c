#include "collectives/call_queue.h"

#include <algorithm>
#include <utility>

#include "abi/real.h"
#include "process/process.h"

namespace thinwire::mpi {

PrivateComm::~PrivateComm() { real().Comm_free(&comm_); }

CallQueue::~CallQueue() { tw_comm_destroy(comm_); }

tw_status CallQueue::open(PrivateCommPointer own, int tag, const std::vector<std::int32_t>& nodes,
                          double link) {
  const Process& self = process();
  own_ = std::move(own);
  transport_ = std::make_unique<MpiTransport>(own_->comm(), tag);
  tw_comm_options options{};
  options.size = sizeof options;
  options.codec = self.settings.codec();
  options.threshold = self.settings.plan.threshold;
  options.link_bytes_per_second = link;
  options.same_node = self.settings.plan.same_node;
  // Who wants peers on his own node compressed to has every rank on a node of its own.
  if (self.settings.plan.same_node == 0) options.nodes = nodes.data();
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
