#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "capi/boundary.h"
#include "capi/convert.h"
#include "capi/handles.h"
#include "capi/stats.h"
#include "capi/transports.h"
#include "comm/communicator.h"

using namespace thinwire;
using namespace thinwire::capi;

struct tw_comm {
  std::unique_ptr<comm::Communicator> communicator;
  std::optional<comm::Choice> planned = {};  // by the last tw_comm_plan(), until the next run
  std::atomic<bool> is_busy = false;  // a thread is in a call that takes turns with the ranks
};

namespace {

bool usable(const tw_transport& table) {
  return table.reserved == 0 && table.ranks > 0 && table.rank >= 0 && table.rank < table.ranks &&
         table.send != nullptr && table.receive != nullptr && table.test != nullptr;
}

comm::Options to_options(const tw_comm_options& from, int ranks) {
  comm::Options options;
  options.spec.kind = codec::Spec::Kind::kAuto;
  if (from.codec != nullptr) options.spec = from.codec->spec;
  options.threshold = from.threshold;
  options.same_node = from.same_node != 0;
  options.link_bytes_per_second = from.link_bytes_per_second;
  options.piece_bytes = from.piece_bytes;
  options.reference_bytes = from.reference_bytes;
  if (from.costs != nullptr) options.costs = from.costs->table;
  if (from.nodes != nullptr) options.nodes.assign(from.nodes, from.nodes + ranks);
  if (from.job != nullptr) {
    const ByteView job{bytes_at(static_cast<const void*>(from.job)), from.job_bytes};
    options.mark = frame::job_mark(job);
    options.mark_text.assign(from.job, from.job_bytes);
  }
  return options;
}

comm::Call to_call(const tw_collective& from, const comm::Options& options) {
  comm::Call call;
  call.operation = static_cast<plan::Operation>(from.operation);
  call.dtype = static_cast<Dtype>(std::min<std::uint32_t>(from.dtype, kDtypeCount));
  call.reduction = static_cast<plan::Reduction>(from.reduction);
  call.root = from.root;
  call.algorithm = static_cast<plan::Algorithm>(from.algorithm);
  call.coding = static_cast<plan::Coding>(from.coding);
  call.in_place = (from.flags & TW_IN_PLACE) != 0;
  call.varied = (from.flags & TW_VARIED) != 0;
  call.verify = (from.flags & TW_VERIFY) != 0;
  call.unable = (from.flags & TW_UNABLE) != 0;
  call.root_decodes = (from.flags & TW_ROOT_DECODES) != 0;
  call.as_agreed = (from.flags & TW_AS_AGREED) != 0;
  call.forced = (from.flags & TW_FORCED) != 0;
  call.send = bytes_at(from.send);
  call.receive = bytes_at(from.receive);
  call.count = from.count;
  call.send_counts = from.send_counts;
  call.send_displacements = from.send_displacements;
  call.receive_counts = from.receive_counts;
  call.receive_displacements = from.receive_displacements;
  call.spec = from.codec != nullptr ? from.codec->spec : options.spec;
  return call;
}

tw_collective_report report_of(const comm::Choice& choice) {
  tw_collective_report to{};
  to.reason = static_cast<uint32_t>(choice.reason);
  to.algorithm = static_cast<uint32_t>(choice.algorithm);
  to.coding = static_cast<uint32_t>(choice.coding);
  to.predicted_seconds = choice.seconds;
  to.predicted_raw_seconds = choice.raw_seconds;
  return to;
}

tw_collective_report report_of(const comm::Report& from) {
  tw_collective_report to = report_of(from.choice);
  to.raw_bytes = from.tally.raw_bytes;
  to.wire_bytes = from.tally.wire_bytes;
  to.packets = from.tally.packets;
  to.raw_packets = from.tally.raw_packets;
  static_assert(plan::kReasonCount <= std::size(decltype(to.raw_packets_by_reason){}));
  std::ranges::copy(from.tally.raw_by_reason, to.raw_packets_by_reason);
  to.delta_packets = from.tally.delta_packets;
  to.delta_bytes = from.tally.delta_bytes;
  to.delta_wire_bytes = from.tally.delta_wire_bytes;
  to.reference_bytes = from.reference_bytes;
  to.reference_results = from.reference_results;
  to.workspace_bytes = from.workspace_bytes;
  to.seconds = from.seconds;
  to.encode_seconds = from.tally.encode_seconds;
  to.decode_seconds = from.tally.decode_seconds;
  to.bound = from.bound;
  to.max_error = from.max_error;
  return to;
}

constexpr std::uint32_t kCollectiveFlags = TW_IN_PLACE | TW_VERIFY | TW_VARIED | TW_UNABLE |
                                           TW_PLANNED | TW_ROOT_DECODES | TW_AS_AGREED | TW_FORCED;

bool usable(const Taken<tw_collective>& collective) {
  return collective && (collective->flags & ~kCollectiveFlags) == 0 &&
         is_none_or_open(collective->codec);
}

bool are_sound(const tw_comm_options& options) {
  return is_rate(options.link_bytes_per_second) && is_size(options.piece_bytes) &&
         is_size(options.reference_bytes) && is_none_or_open(options.codec) &&
         is_none_or_open(options.costs);
}

// A thread's turn on a communicator. Two threads on one end would wait for each other's messages
// without end, so the second is told.
class Turn {
 public:
  explicit Turn(tw_comm& comm)
      : comm_(comm), is_ours_(!comm.is_busy.exchange(true, std::memory_order_acquire)) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (is_ours_) comm_.is_busy.store(false, std::memory_order_release);
  }
  explicit operator bool() const { return is_ours_; }

 private:
  tw_comm& comm_;
  const bool is_ours_;
};

tw_status two_threads() {
  return misuse("another thread is in a call of this communicator: one at a time may make calls");
}

}  // namespace

tw_status tw_comm_create(const tw_transport* transport, const tw_comm_options* options,
                         tw_comm** comm) {
  return guarded([&] {
    const Taken<tw_transport> table(transport);
    if (!table || !usable(*table)) return misuse("tw_comm_create: no sound transport");
    auto adopted = adopt(*table);
    const Taken<tw_comm_options> own(options);
    if (!own || comm == nullptr) {
      return misuse("tw_comm_create: null pointer, or a size or field that is not known");
    }
    if (!are_sound(*own)) {
      return misuse(
          "tw_comm_create: a rate that is none, a size that no memory has, or a destroyed handle");
    }
    if (own->interrupted != nullptr) {
      adopted = interruptible(std::move(adopted), own->interrupted, own->interrupted_context);
    }
    auto made = comm::Communicator::create(std::move(adopted), to_options(*own, table->ranks));
    if (made.ok()) *comm = Shells<tw_comm>::make(std::move(*made)).release();
    return report(made.status());
  });
}

void tw_comm_destroy(tw_comm* comm) {
  close_handle(comm, "tw_comm_destroy: the communicator is destroyed already");
}

int32_t tw_comm_rank(const tw_comm* comm) {
  return !is_open(comm) ? -1 : comm->communicator->rank();
}
int32_t tw_comm_size(const tw_comm* comm) {
  return !is_open(comm) ? 0 : comm->communicator->size();
}

tw_status tw_comm_run(tw_comm* comm, const tw_collective* collective,
                      tw_collective_report* result) {
  return guarded([&] {
    const Taken<tw_collective> own(collective);
    if (!is_open(comm) || !usable(own) || (result != nullptr && !has_size(result))) {
      return misuse(
          "tw_comm_run: null pointer, a destroyed handle, or a size, field or flag that is not "
          "known");
    }
    const Turn turn(*comm);
    if (!turn) return two_threads();
    const auto planned = std::exchange(comm->planned, std::nullopt);
    const bool holds = planned.has_value() && (own->flags & TW_PLANNED) != 0;
    comm::Report outcome;
    const Status status = comm->communicator->run(to_call(*own, comm->communicator->options()),
                                                  outcome, holds ? &*planned : nullptr);
    if (status.ok()) {
      const tw_collective_report told = report_of(outcome);
      count_collective(told);
      if (result != nullptr) give(told, result);
    }
    return report(status);
  });
}

tw_status tw_comm_plan(tw_comm* comm, const tw_collective* collective,
                       tw_collective_report* result) {
  return guarded([&] {
    const Taken<tw_collective> own(collective);
    if (!is_open(comm) || !usable(own) || !has_size(result)) {
      return misuse(
          "tw_comm_plan: null pointer, a destroyed handle, or a size, field or flag that is not "
          "known");
    }
    comm::Communicator& communicator = *comm->communicator;
    const comm::Call call = to_call(*own, communicator.options());
    std::optional<Turn> turn;  // not for plans of what is agreed, which send and keep nothing
    if (!call.as_agreed && !turn.emplace(*comm)) return two_threads();
    Status status = comm::check(call, communicator.size());
    if (status.ok() && !call.as_agreed) status = communicator.learn_cost(call);
    if (!status.ok()) return report(status);
    const auto choice = communicator.choose(call);
    if (choice.ok()) give(report_of(*choice), result);
    if (call.as_agreed) {
      if (choice.ok() && choice->reason == plan::Reason::kCostUnknown) communicator.want_cost(call);
      return report(choice.status());
    }
    comm->planned.reset();
    if (choice.ok()) comm->planned = *choice;
    return report(choice.status());
  });
}

tw_status tw_comm_settle(tw_comm* comm) {
  return guarded([&] {
    if (!is_open(comm)) return misuse("tw_comm_settle: null pointer, or destroyed");
    const Turn turn(*comm);
    return turn ? report(comm->communicator->learn_costs()) : two_threads();
  });
}

tw_status tw_comm_take_costs(tw_comm* comm, const tw_comm* from) {
  return guarded([&] {
    if (!is_open(comm) || !is_open(from)) {
      return misuse("tw_comm_take_costs: null pointer, or destroyed");
    }
    if (comm->communicator->size() != from->communicator->size() ||
        comm->communicator->rank() != from->communicator->rank()) {
      return misuse("tw_comm_take_costs: not of the same ranks");
    }
    comm->communicator->take_costs_of(*from->communicator);
    return TW_OK;
  });
}

double tw_comm_link(const tw_comm* comm) {
  return !is_open(comm) ? 0 : comm->communicator->options().link_bytes_per_second;
}

tw_status tw_comm_set_link(tw_comm* comm, double bytes_per_second) {
  return guarded([&] {
    if (!is_open(comm) || !is_rate(bytes_per_second)) {
      return misuse("tw_comm_set_link: null pointer, destroyed, or no rate");
    }
    comm->communicator->set_link(bytes_per_second);
    comm->planned.reset();
    return TW_OK;
  });
}
