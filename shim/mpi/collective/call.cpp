#include "shim/mpi/collective/call.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "shim/mpi/collective/native_count.h"
#include "shim/mpi/collective/operand.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/observe/collective_calls.h"
#include "shim/mpi/observe/ranges.h"
#include "shim/mpi/state/fast_path.h"
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

namespace {

enum : int { kSent, kReceived };

using Way = std::array<std::uint32_t, 3>;  // operation, algorithm, coding

// The library's schedules, each also under PLANNED in the place of its words.
std::set<Way> all_ways() {
  std::set<Way> ways;
  Way own{};
  for (std::uint32_t at = 0; tw_schedule_describe(at, &own[0], &own[1], &own[2]) != 0; ++at) {
    for (const std::uint32_t algorithm : {own[1], std::uint32_t{TW_ALGORITHM_PLANNED}}) {
      for (const std::uint32_t coding : {own[2], std::uint32_t{TW_CODING_PLANNED}}) {
        ways.insert({own[0], algorithm, coding});
      }
    }
  }
  return ways;
}

// A schedule that the user named, if the operation has it.
void choose_schedule(tw_collective& collective) {
  const CollectiveSettings& settings = process().settings.collectives;
  if (settings.algorithm == TW_ALGORITHM_PLANNED && settings.coding == TW_CODING_PLANNED) return;
  if (!has_schedule(collective.operation, settings.algorithm, settings.coding)) return;
  collective.algorithm = settings.algorithm;
  collective.coding = settings.coding;
}

// The lists of a side that has some, in floats; where the blocks lie is found out when it is
// compressed.
void list(const Side& side, const Part& part, Lists& lists, int which, const std::uint64_t*& counts,
          const std::uint64_t*& displacements) {
  if (!side.counts.is_list()) return;
  auto& listed = lists.counts[which];
  listed.resize(static_cast<std::size_t>(part.ranks));
  for (int rank = 0; rank < part.ranks; ++rank) {
    listed[static_cast<std::size_t>(rank)] =
        message_bytes(side.counts.count(rank), side.type_of(rank)) / part.leaf_bytes;
  }
  counts = listed.data();
  if (!side.counts.has_places()) return;
  lists.displacements[which].resize(listed.size());
  displacements = lists.displacements[which].data();
}

// Others wait for this rank, also if it is not `ready`.
int run(tw_collective& collective, const Operand& sent, const Operand& received, bool ready,
        const Part& part, CallQueue& queue) {
  if (!ready) collective.flags |= TW_UNABLE;
  collective.send = sent.data();
  collective.receive = received.data();
  tw_collective_report report{};
  report.size = sizeof report;
  const WatchedRange range(part.form->name, part.codec, part.bytes);
  const tw_status status = tw_comm_run(queue.comm(), &collective, &report);
  if (status != TW_OK) {
    tw_log(TW_LOG_ERROR, ("rank " + std::to_string(process().world.rank) + ": " + part.form->name +
                          ", compressed: " + tw_last_error())
                             .c_str());
    // As of a communicator that was revoked: the program asks for its class.
    const int error = queue.take_error();
    if (error != MPI_SUCCESS) return error;
    return status == TW_TOO_SMALL ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER;
  }
  observe_compressed({part.form->call, part.traced_name, kind_key_of(part), part.planned.link,
                      part.rule, part.gain},
                     report);
  return MPI_SUCCESS;
}

}  // namespace

bool has_schedule(std::uint32_t operation, std::uint32_t algorithm, std::uint32_t coding) {
  static const std::set<Way> ways = all_ways();
  return ways.contains({operation, algorithm, coding});
}

tw_collective describe(const CollectiveArguments& arguments, const Part& part, Lists& lists) {
  tw_collective collective{};
  collective.size = sizeof collective;
  collective.operation = part.form->operation;
  collective.dtype = part.leaf;
  collective.reduction = part.reduction;
  collective.codec = part.codec;
  collective.root = arguments.root < 0 ? 0 : arguments.root;
  const bool varied =
      arguments.call == CollectiveCall::kGatherv || arguments.call == CollectiveCall::kScatterv;
  if (part.in_place) collective.flags |= TW_IN_PLACE;
  if (varied) collective.flags |= TW_VARIED;
  if (part.is_forced || process().settings.plan.force != 0) collective.flags |= TW_FORCED;
  if (process().settings.collectives.root_decodes) collective.flags |= TW_ROOT_DECODES;
  const bool scatters = part.form->operation == TW_REDUCE_SCATTER;
  if (part.sent_blocks > 1 && !scatters) {
    list(arguments.sent, part, lists, kSent, collective.send_counts, collective.send_displacements);
  }
  if (part.received_blocks > 1 || scatters) {
    list(arguments.received, part, lists, kReceived, collective.receive_counts,
         collective.receive_displacements);
  }
  // A side that is here, and of both the one whose count is this rank's own.
  const bool of_sent = part.sent_blocks == 1 || part.received_blocks == 0 || part.disagrees;
  const Side& side = of_sent ? arguments.sent : arguments.received;
  collective.count =
      message_bytes(side.counts.count(part.rank), side.type_of(part.rank)) / part.leaf_bytes;
  // The plan asks which processor holds them.
  if (part.sent_blocks > 0) collective.send = arguments.sent.buffer;
  if (part.received_blocks > 0) collective.receive = const_cast<void*>(arguments.received.buffer);
  choose_schedule(collective);
  return collective;
}

int run_described(const CollectiveArguments& arguments, const Part& part, tw_collective& collective,
                  CallQueue& queue) {
  const Form& form = *part.form;
  const bool scatters_in_place = form.operation == TW_REDUCE_SCATTER && part.in_place;
  const bool broadcasts = form.operation == TW_BCAST;
  const bool is_source = broadcasts && part.rank == arguments.root;
  Operand sent, received;
  if (part.sent_blocks > 0) {
    sent = Operand(arguments.sent, part.first_block(form.sent), part.sent_blocks, part.leaf_bytes);
    if (collective.send_displacements != nullptr)
      sent.find_places(queue.lists.displacements[kSent]);
  }
  if (part.received_blocks > 0) {
    const int first = part.received_blocks > 1 ? 0 : part.first_block(form.received);
    received = Operand(arguments.received, first, part.received_blocks, part.leaf_bytes);
    if (collective.receive_displacements != nullptr) {
      received.find_places(queue.lists.displacements[kReceived]);
    }
  }
  if (part.overlaps) sent.set_aside();
  int error = MPI_SUCCESS;
  if (part.disagrees) {
    tw_log(TW_LOG_ERROR, ("rank " + std::to_string(process().world.rank) + ": " + form.name +
                          ": its send and receive sides say different lengths of one block")
                             .c_str());
    error = MPI_ERR_TRUNCATE;
  }
  if (error == MPI_SUCCESS) error = sent.prepare(true);
  if (error == MPI_SUCCESS) error = received.prepare(part.in_place || is_source);
  const int ran = run(collective, sent, received, error == MPI_SUCCESS, part, queue);
  if (error == MPI_SUCCESS) error = ran;
  // If the root's values stay, there is nothing to bring back, and its buffer may be read-only.
  const bool keeps = is_source && (collective.flags & TW_ROOT_DECODES) == 0;
  if (error != MPI_SUCCESS || keeps) return error;
  return scatters_in_place ? received.write_back(collective.count) : received.write_back();
}

}  // namespace thinwire::mpi
