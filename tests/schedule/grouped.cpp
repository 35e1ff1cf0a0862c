#include "grouped.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "collective/enqueued/phases.h"

namespace thinwire::collective::testing {

namespace {

struct Message {
  std::uint32_t task = 0;
  std::uint32_t phase = 0;
  int peer = 0;
  bool sends = false;
  const Message* other = nullptr;
};

struct Rank {
  Program program;
  Phases phases;
  std::vector<Message> messages;  // in the order of the groups
  std::uint32_t now = 0;          // the group that it is in
  std::size_t reached = 0;        // the messages of earlier groups
};

class Ranks {
 public:
  Ranks(const Collective& collective, const Pieces& pieces)
      : collective_(collective), ranks_(static_cast<std::size_t>(collective.size)) {
    for (int number = 0; number < collective.size; ++number) build(number, pieces);
    if (fault_.empty()) match();
    if (fault_.empty()) run();
  }

  const std::string& fault() const { return fault_; }

 private:
  const Schedule& schedule(int rank) const {
    return collective_.ranks[static_cast<std::size_t>(rank)];
  }

  void build(int number, const Pieces& pieces) {
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    std::vector<Block> blocks(schedule(number).blocks);
    for (std::uint32_t at = 0; at < blocks.size(); ++at) {
      const bool empty = is_empty(collective_, meaning(collective_, number, at));
      blocks[at].pieces = empty ? 0 : pieces.count;
      blocks[at].shape = Shape::line(blocks[at].pieces);
    }
    rank.program.build(schedule(number), blocks, collective_.in_place, pieces.window);
    rank.phases.build(schedule(number), rank.program);
    check_order(number, rank);
    for (std::uint32_t phase = 0; phase < rank.phases.count(); ++phase) {
      for (const std::uint32_t task : rank.phases.messages(phase)) {
        const Step& step = schedule(number).steps[rank.program.tasks()[task].step];
        rank.messages.push_back(
            {.task = task, .phase = phase, .peer = step.peer, .sends = is_send(step.action)});
      }
    }
  }

  // A task waits for tasks of earlier phases, or for local ones of its own that come before it.
  void check_order(int number, const Rank& rank) {
    constexpr std::uint32_t kNever = ~std::uint32_t{0};
    std::vector<std::uint32_t> turn(rank.program.tasks().size(), kNever);
    std::uint32_t now = 0;
    const auto happen = [&](std::uint32_t task) {
      if (turn[task] != kNever) fault_ = "rank " + std::to_string(number) + ": a task comes twice";
      turn[task] = now;
    };
    for (std::uint32_t phase = 0; phase < rank.phases.count(); ++phase) {
      for (const std::uint32_t task : rank.phases.locals(phase)) happen(task), ++now;
      for (const std::uint32_t task : rank.phases.messages(phase)) happen(task);
      ++now;
    }
    for (std::uint32_t task = 0; task < turn.size(); ++task) {
      if (turn[task] == kNever) fault_ = "rank " + std::to_string(number) + ": a task lacks";
      for (const std::uint32_t follower : rank.program.followers(task)) {
        if (turn[task] < turn[follower]) continue;
        fault_ = "rank " + std::to_string(number) + ", task " + std::to_string(follower) +
                 ": comes before what it waits for";
      }
    }
  }

  // What a message carries must be what its other end awaits.
  std::tuple<std::uint32_t, std::uint32_t, bool> content(int rank, const Message& message) const {
    const Task& task = ranks_[static_cast<std::size_t>(rank)].program.tasks()[message.task];
    const Step& step = schedule(rank).steps[task.step];
    const bool packet = step.action == Action::kSend || step.action == Action::kReceive;
    return {meaning(collective_, rank, step.block), task.piece, packet};
  }

  void match() {
    std::map<std::pair<int, int>, std::vector<Message*>> sent, received;
    for (int number = 0; number < collective_.size; ++number) {
      for (Message& message : ranks_[static_cast<std::size_t>(number)].messages) {
        if (message.sends) {
          sent[{number, message.peer}].push_back(&message);
        } else {
          received[{message.peer, number}].push_back(&message);
        }
      }
    }
    for (const auto& side : {received, sent}) {
      for (const auto& [pair, unused] : side) meet(pair, sent[pair], received[pair]);
    }
  }

  void meet(const std::pair<int, int>& pair, const std::vector<Message*>& sent,
            const std::vector<Message*>& received) {
    const auto between =
        "from " + std::to_string(pair.first) + " to " + std::to_string(pair.second);
    if (sent.size() != received.size()) {
      fault_ = between + ": not all messages have another end";
      return;
    }
    for (std::size_t at = 0; at < sent.size(); ++at) {
      if (content(pair.first, *sent[at]) != content(pair.second, *received[at])) {
        fault_ = between + ": a message meets another's end";
      }
      sent[at]->other = received[at];
      received[at]->other = sent[at];
    }
  }

  // Goes on to the next group where the other ends of all messages of its own have been reached.
  bool advance(Rank& rank) {
    std::size_t at = rank.reached;
    for (; at < rank.messages.size() && rank.messages[at].phase == rank.now; ++at) {
      const Message& message = rank.messages[at];
      if (message.other->phase > ranks_[static_cast<std::size_t>(message.peer)].now) return false;
    }
    rank.reached = at;
    ++rank.now;
    return true;
  }

  void run() {
    for (bool progressed = true; progressed;) {
      progressed = false;
      for (Rank& rank : ranks_) {
        while (rank.now < rank.phases.count() && advance(rank)) progressed = true;
      }
    }
    for (std::size_t number = 0; number < ranks_.size(); ++number) {
      if (ranks_[number].now == ranks_[number].phases.count()) continue;
      fault_ = "rank " + std::to_string(number) + " waits for ever in group " +
               std::to_string(ranks_[number].now);
      return;
    }
  }

  const Collective& collective_;
  std::vector<Rank> ranks_;
  std::string fault_;
};

}  // namespace

std::string fault_of_groups(const Collective& collective, const Pieces& pieces) {
  return Ranks(collective, pieces).fault();
}

}  // namespace thinwire::collective::testing
