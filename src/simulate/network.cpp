#include "simulate/network.h"

namespace thinwire::simulate {

using Kind = Event::Kind;

Network::Network(const Graph& graph, const Machine& machine, const Call& call, const Fold& fold,
                 Events& events)
    : graph_(graph),
      machine_(machine),
      coded_(call.coded()),
      fold_(fold),
      events_(events),
      out_(static_cast<std::size_t>(fold.actors())),
      in_(static_cast<std::size_t>(fold.actors())) {
  const auto actors = static_cast<std::uint32_t>(fold.actors());
  const int nodes = fold.node_of(fold.actors() - 1) + 1;
  // More than there can be work for would only cost time.
  const std::uint32_t most = actors * (machine.threads + 2);
  nodes_.assign(static_cast<std::size_t>(nodes), Node(std::min(machine.cores, most)));
}

Cores& Network::cores_of(std::uint32_t actor) {
  return machine_.one_machine ? nodes_.front().cores : node_of(actor).cores;
}

double Network::wire_bytes(const Item& send) const {
  const bool is_coded = coded_ && send.action == collective::Action::kSend;
  return is_coded ? send.bytes / machine_.codec.ratio : send.bytes;
}

double Network::software(const Item& send) const {
  return machine_.message + (send.inside ? 0 : time_at(wire_bytes(send), machine_.stack));
}

void Network::begin(std::uint32_t send, double now) {
  const std::uint32_t actor = graph_.items[send].actor;
  out_[actor].queue.push_back(send);
  if (!out_[actor].busy) send_next(actor, now);
}

// Bytes flow on while the software works on those after them.
void Network::send_next(std::uint32_t actor, double now) {
  Side& side = out_[actor];
  side.busy = side.next < side.queue.size();
  if (!side.busy) return;
  const std::uint32_t send = side.queue[side.next++];
  const Item& item = graph_.items[send];
  const double sent = cores_of(actor).work(now, software(item));
  const double bytes = wire_bytes(item);
  const double seconds = item.inside ? time_at(bytes, machine_.inside) : bytes / machine_.link;
  Line& line = item.inside ? node_of(actor).memory : node_of(actor).out;
  const double left = line.pass(now + machine_.message, seconds);
  side.debt += (1 - machine_.overlap) * seconds;
  const double latency = item.inside ? machine_.inside_latency : machine_.latency;
  events_.push({sent, send, Kind::kSent});
  events_.push({std::max(left, sent), send, Kind::kDone});
  events_.push({left - seconds + latency, item.mate, Kind::kArrived});
}

void Network::arrive(std::uint32_t receive, double now) {
  const Item& item = graph_.items[receive];
  const Item& send = graph_.items[item.mate];
  const double bytes = wire_bytes(send);
  const double seconds = item.inside ? time_at(bytes, machine_.inside) : bytes / machine_.link;
  const double came =
      item.inside ? now + seconds : node_of(item.actor).in.pass(now, seconds, machine_.incast);
  in_[item.actor].debt += (1 - machine_.overlap) * seconds;
  events_.push({std::max(now, came - software(send)), receive, Kind::kTaken});
}

void Network::take_next(std::uint32_t actor, double now) {
  Side& side = in_[actor];
  side.busy = side.next < side.queue.size();
  if (!side.busy) return;
  const std::uint32_t receive = side.queue[side.next++];
  const double seconds = software(graph_.items[graph_.items[receive].mate]);
  events_.push({cores_of(actor).work(now, seconds), receive, Kind::kDone});
}

void Network::received(std::uint32_t receive, double now) {
  take_next(graph_.items[receive].actor, now);
}

void Network::go_on(const Event& event) {
  const std::uint32_t actor = graph_.items[event.item].actor;
  switch (event.kind) {
    case Kind::kSent:
      return send_next(actor, event.at);
    case Kind::kArrived:
      return arrive(event.item, event.at);
    case Kind::kTaken:
      in_[actor].queue.push_back(event.item);
      if (!in_[actor].busy) take_next(actor, event.at);
      return;
    case Kind::kDone:
      break;
  }
}

// Both ways go on at once.
double Network::take_debt(std::uint32_t actor) {
  Side &out = out_[actor], &in = in_[actor];
  const double debt = std::max(out.debt, in.debt);
  out.debt = in.debt = 0;
  return debt;
}

}  // namespace thinwire::simulate
