#include "simulate/simulate.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "collective/slots/groups.h"
#include "collective/slots/host_slots.h"
#include "collective/slots/plan.h"
#include "simulate/resources.h"

namespace thinwire::simulate {
namespace {

using collective::SlotExchange;
using collective::SlotPlan;
using collective::SlotTask;
using collective::TaskGroup;
using Kind = collective::SlotExchange::Kind;

// Ranks that do the same: the root, its mates, those of other nodes.
struct Class {
  std::unique_ptr<SlotPlan> plan;
  double ranks = 0;  // of all nodes
  double first = 0;  // of the root's node
};

struct Traffic {
  double out = 0, in = 0, messages = 0;
};

Status add_class(std::vector<Class>& classes, const StreamCall& call, int rank, double ranks,
                 double first, const std::shared_ptr<const collective::SlotNodes>& nodes) {
  if (ranks <= 0) return {};
  collective::SlotCall slots;
  slots.operation = call.operation;
  slots.dtype = call.dtype;
  slots.count = call.count;
  slots.capacity = call.capacity;
  slots.spec = call.spec;
  slots.rank = rank;
  slots.ranks = call.ranks();
  slots.nodes = nodes;
  auto plan = SlotPlan::make(slots, collective::host_needs);
  if (!plan.ok()) return plan.status();
  classes.push_back({std::move(*plan), ranks, first});
  return {};
}

class Stages {
 public:
  Stages(const StreamCall& call, const Machine& machine, const std::vector<Class>& classes)
      : call_(call), machine_(machine), classes_(classes) {}

  Figures figures;

  void pass(int number) {
    const SlotExchange& exchange = classes_.front().plan->exchange(number);
    if (exchange.kind == Kind::kNone) return;
    figures.seconds += slowest([&](const Class& each) { return encodes(each, number); });
    figures.seconds += exchange.kind == Kind::kMessages ? messages(number) : rings(exchange);
    figures.seconds += slowest([&](const Class& each) { return opens(each, number); });
  }

 private:
  template <typename Seconds>
  double slowest(Seconds&& seconds) const {
    double most = 0;
    for (const Class& each : classes_) most = std::max(most, seconds(each));
    return most;
  }

  // Blocks that are coded in one step cost one step.
  template <typename Takes>
  double codes(const Class& each, const std::vector<SlotTask>& tasks, double rate,
               Takes&& takes) const {
    double seconds = 0;
    (void)for_each_group(tasks, each.plan->blocks_at_once(), takes, [&](TaskGroup group) {
      const double bytes = static_cast<double>(group.front()->raw_bytes * group.size());
      seconds += machine_.coding + time_at(bytes, rate);
      return Status();
    });
    return seconds;
  }

  double encodes(const Class& each, int number) const {
    return copies(each.plan->packs(), number) + codes(each, each.plan->exchange(number).out,
                                                      machine_.codec.encode_bytes_per_second,
                                                      collective::is_encoded);
  }

  // Copies of blocks that are packed for an exchange, or brought back to where they belong.
  double copies(const std::vector<collective::SlotRows>& all, int number) const {
    double seconds = 0;
    for (const auto& rows : all) {
      if (rows.exchange != number) continue;
      seconds +=
          machine_.coding + time_at(static_cast<double>(rows.rows * rows.row_bytes), machine_.copy);
    }
    return seconds;
  }

  double opens(const Class& each, int number) const {
    const auto width = static_cast<double>(dtype_size(call_.dtype));
    double seconds = copies(each.plan->unpacks(), number) +
                     codes(each, each.plan->exchange(number).in,
                           machine_.codec.decode_bytes_per_second, collective::comes_in_slot);
    for (const auto& sum : each.plan->sums()) {
      if (sum.after != number) continue;
      const double bytes = static_cast<double>(sum.count) * sum.arrays * width;
      seconds += machine_.coding + time_at(bytes, machine_.copy);
    }
    return seconds;
  }

  // Adds up what one rank sends and gets, across its node and inside.
  void add(const Class& each, int number, Traffic& between, Traffic& inside) const {
    const SlotExchange& exchange = each.plan->exchange(number);
    const auto slot = static_cast<double>(exchange.slot_bytes);
    for (const auto& task : exchange.out) {
      (task.is_raw ? inside : between).out +=
          task.is_raw ? static_cast<double>(task.raw_bytes) : slot;
      ++(task.is_raw ? inside : between).messages;
    }
    for (const auto& task : exchange.in) {
      if (!task.own) {
        (task.is_raw ? inside : between).in +=
            task.is_raw ? static_cast<double>(task.raw_bytes) : slot;
      }
    }
  }

  double messages(int number) {
    double first_out = 0, first_in = 0, other_out = 0, other_in = 0, inside_most = 0, posts = 0;
    for (const Class& each : classes_) {
      Traffic between, inside;
      add(each, number, between, inside);
      const double other = call_.nodes > 1 ? (each.ranks - each.first) / (call_.nodes - 1) : 0;
      first_out += each.first * between.out, first_in += each.first * between.in;
      other_out += other * between.out, other_in += other * between.in;
      inside_most = std::max({inside_most, inside.out, inside.in});
      const double sent = between.messages + inside.messages;
      posts = std::max(posts, sent);
      count(each.ranks * between.out, each.ranks * inside.out, each.ranks * sent, sent);
    }
    const double busiest = std::max({first_out, first_in, other_out, other_in});
    return std::max(busiest / machine_.link, time_at(inside_most, machine_.inside)) +
           posts * machine_.message + (busiest > 0 ? machine_.latency : machine_.inside_latency);
  }

  double rings(const SlotExchange& exchange) {
    const double ranks = call_.ranks(), nodes = call_.nodes;
    const double round = exchange.kind == Kind::kGather ? ranks - 1 : 1;
    const double bytes = round * static_cast<double>(exchange.slot_bytes);
    const bool gathers = exchange.kind == Kind::kGather;
    const double edges = nodes > 1 ? (gathers ? nodes : nodes - 1) : 0;
    const double inside_edges = nodes > 1 ? ranks - nodes : (gathers ? ranks : ranks - 1);
    count(edges * bytes, inside_edges * bytes, gathers ? ranks * (ranks - 1) : ranks - 1, round);
    const double hops = (nodes - 1) * (machine_.latency + machine_.message) +
                        (ranks - nodes) * (machine_.inside_latency + machine_.message);
    const double between = nodes > 1 ? bytes / machine_.link : 0;
    return std::max(between, call_.per_node > 1 ? time_at(bytes, machine_.inside) : 0) + hops;
  }

  void count(double link, double inside, double all, double most) {
    figures.link_bytes = counted(link_ += link);
    figures.inside_bytes = counted(inside_ += inside);
    figures.messages = counted(all_ += all);
    figures.most_messages = counted(most_ += most);
  }

  const StreamCall& call_;
  const Machine& machine_;
  const std::vector<Class>& classes_;
  double link_ = 0, inside_ = 0, all_ = 0, most_ = 0;
};

}  // namespace

Result<Figures> simulate(const StreamCall& call, const Machine& machine) {
  if (call.spec.kind == codec::Spec::Kind::kOff) return all_counted(native(call, machine));
  const auto nodes = std::make_shared<const collective::SlotNodes>(nodes_of<std::uint32_t>(call));
  const double mates = call.per_node - 1, others = call.ranks() - call.per_node;
  std::vector<Class> classes;
  for (const auto& [rank, ranks, first] :
       {std::tuple{0, 1.0, 1.0}, {1, mates, mates}, {call.per_node, others, 0.0}}) {
    if (Status status = add_class(classes, call, rank, ranks, first, nodes); !status.ok()) {
      return status;
    }
  }
  Stages stages(call, machine, classes);
  for (int number = 0; number < collective::kMostExchanges; ++number) stages.pass(number);
  Figures& figures = stages.figures;
  figures.seconds += machine.call;
  figures.simulated = static_cast<std::uint32_t>(classes.size());
  for (const Class& each : classes) {
    const auto copied = static_cast<double>(each.plan->copy().bytes);
    figures.workspace = std::max(figures.workspace, each.plan->device_bytes());
    if (&each == &classes.front()) figures.seconds += time_at(copied, machine.copy);
  }
  return all_counted(figures);
}

}  // namespace thinwire::simulate
