// The executor's messages: posted peer by peer in the schedule's order, taken as they complete.
#include <algorithm>
#include <utility>

#include "collective/polled/run.h"

namespace thinwire::collective {

void Executor::make_queues(const Run& run) {
  const auto tasks = run.program.tasks();
  queues_.clear();
  queued_.clear();
  queue_of_.assign(tasks.size(), kNone);
  for (std::uint32_t at = 0; at < tasks.size(); ++at) {
    if (is_message(run.step(tasks[at]).action)) queued_.push_back(at);
  }
  const auto key = [&](std::uint32_t task) {
    const Step& step = run.step(tasks[task]);
    return std::pair(step.peer, is_send(step.action));
  };
  std::stable_sort(queued_.begin(), queued_.end(),
                   [&](std::uint32_t left, std::uint32_t right) { return key(left) < key(right); });
  for (std::uint32_t at = 0; at < queued_.size(); ++at) {
    const auto [peer, sends] = key(queued_[at]);
    if (queues_.empty() || queues_.back().peer != peer || queues_.back().sends != sends) {
      queues_.push_back({.peer = peer, .sends = sends, .first = at, .end = at, .next = at});
    }
    queues_.back().end = at + 1;
    queue_of_[queued_[at]] = static_cast<std::uint32_t>(queues_.size() - 1);
  }
}

// Counts what is sent.
void Executor::tally(Run& run, const Packet& packet, std::uint64_t raw_bytes) {
  Tally& tally = run.tally;
  tally.raw_bytes += raw_bytes;
  tally.wire_bytes += packet.bytes;
  ++tally.packets;
  if (packet.why_raw == plan::Reason::kCompress) return;
  const bool is_off = run.means.why_off != plan::Reason::kCompress;
  const plan::Reason why = is_off ? run.means.why_off : packet.why_raw;
  ++tally.raw_packets;
  ++tally.raw_by_reason[static_cast<std::size_t>(why)];
}

Status Executor::post(Run& run, std::uint32_t number, int peer, bool sends) {
  const Task& task = run.program.tasks()[number];
  const Action action = run.step(task).action;
  Result<transport::Ticket> ticket = transport::Ticket{0};
  if (sends) {
    Packet packet;
    if (action == Action::kSend) {
      packet = packets_[task.packet];
    } else if (!lost_[task.from]) {
      packet = {Packet::Kind::kValues, run.from(task), run.raw_bytes(task),
                plan::Reason::kSchedule};
    }
    if (packet.kind == Packet::Kind::kLost) packet.bytes = 0;
    tally(run, packet, run.raw_bytes(task));
    ticket = run.means.transport.post_send(peer, {packet.data, packet.bytes});
  } else {
    MutableByteView into(run.means.workspace.packets, run.means.workspace.packet_bytes);
    if (action == Action::kReceive) {
      into = run.packet_memory(task);
    } else if (run.hindrance.ok()) {
      into = {run.to(task), run.raw_bytes(task)};
    }
    ticket = run.means.transport.post_receive(peer, into);
  }
  if (!ticket.ok()) return ticket.status();
  tickets_.push_back(*ticket);
  under_way_.push_back(number);
  return {};
}

Status Executor::post_ready(Run& run, bool& progressed) {
  while (!awake_.empty()) {
    Queue& queue = queues_[awake_.back()];
    awake_.pop_back();
    while (queue.next < queue.end && waits_for_[queued_[queue.next]] == 0) {
      if (Status status = post(run, queued_[queue.next], queue.peer, queue.sends); !status.ok()) {
        return status;
      }
      ++queue.next;
      progressed = true;
    }
  }
  return {};
}

void Executor::arrive(Run& run, std::uint32_t number, std::uint64_t bytes) {
  const Task& task = run.program.tasks()[number];
  const Action action = run.step(task).action;
  const std::uint64_t raw_bytes = run.raw_bytes(task);
  if (action == Action::kReceive) {
    Packet& packet = packets_[task.packet];
    packet = {Packet::Kind::kFrame, run.packet_memory(task).data(), bytes};
    if (bytes == raw_bytes) packet.kind = Packet::Kind::kValues;
    if (bytes >= raw_bytes) packet.why_raw = plan::Reason::kPassedOn;
    if (bytes == 0 || !run.hindrance.ok()) packet = {};
  } else if (action == Action::kReceiveValues) {
    if (bytes == raw_bytes) {
      lost_[task.to] = !run.hindrance.ok();
    } else {
      fail(run, task, {StatusCode::kDamaged, "another rank could not send its data"});
    }
  }
  --run.left;
  release(run, number);
}

Status Executor::collect(Run& run, bool& progressed) {
  if (tickets_.empty()) return {};
  arrivals_.resize(tickets_.size());
  const auto count = run.means.transport.test(tickets_, arrivals_.data());
  if (!count.ok()) return count.status();
  if (*count == 0) return {};
  progressed = true;
  for (std::uint32_t at = 0; at < *count; ++at) {
    const transport::Arrival& arrival = arrivals_[at];
    arrive(run, under_way_[arrival.index], arrival.bytes);
    under_way_[arrival.index] = kNone;
  }
  std::size_t kept = 0;
  for (std::size_t at = 0; at < tickets_.size(); ++at) {
    if (under_way_[at] == kNone) continue;
    tickets_[kept] = tickets_[at];
    under_way_[kept++] = under_way_[at];
  }
  tickets_.resize(kept);
  under_way_.resize(kept);
  return {};
}

}  // namespace thinwire::collective
