#include <algorithm>
#include <map>

#include "message.h"

namespace legality {
namespace {

void draw_send(Random& random, Message& message, bool ordered) {
  using enum SendBy;
  static const std::vector<SendBy> any{kSend,     kSend,     kSsend,     kBsend,     kRsend,
                                       kIsend,    kIsend,    kIssend,    kIbsend,    kIrsend,
                                       kSendInit, kSendInit, kSsendInit, kBsendInit, kRsendInit};
  static const std::vector<SendBy> free{kIsend, kIsend,    kIssend,   kIbsend,
                                        kBsend, kSendInit, kSsendInit};
  static const std::vector<SendBy> blocking{kSend, kSend, kSsend, kBsend};
  if (ordered) {
    message.send = message.source == message.target ? kIsend : random.pick(blocking);
  } else {
    message.send = random.pick(message.early() ? any : free);
  }
}

void draw_receive(Random& random, Message& message, bool early) {
  using enum ReceiveBy;
  static const std::vector<ReceiveBy> late{kRecv,   kRecv,    kProbe,  kIprobe,
                                           kMprobe, kImprobe, kImrecv, kLateIrecv};
  message.receive = early ? (random.chance(30) ? kRecvInit : kIrecv) : random.pick(late);
}

void widen(Random& random, Message& message) {
  message.room = message.signature;
  if (!random.chance(25)) return;
  message.room.units += random.between(1, 1 + message.room.units);
  mark(Feature::larger_receive_);
}

// Messages to one rank that any of its receives may get: one make of receive for all of them.
void funnel_in(Random& random, std::vector<Message>& messages, int target, int tag) {
  const bool any_tag = allowed(Feature::any_tag_) && random.chance(50);
  Signature room = draw_signature(random);
  if (room.unit.size() > 1) room.unit.resize(1);
  for (Message& message : messages) {
    if (message.target != target) continue;
    message.signature.unit = room.unit;
    room.units = std::max(room.units, message.signature.units);
  }
  const std::uint64_t key = random.next();
  for (Message& message : messages) {
    if (message.target != target) continue;
    message.any_source = true, message.any_tag = any_tag;
    message.room = room, message.receive_key = key;
    message.freed_early = false;
    if (!any_tag) message.tag = tag;
  }
  mark(Feature::any_source_);
  if (any_tag) mark(Feature::any_tag_);
}

Message draw_message(const Group& group, Random random, int index, int tag) {
  Message message;
  message.index = index, message.tag = tag;
  message.source = random.below(group.size), message.target = random.below(group.size);
  message.signature = draw_signature(random);
  message.content = draw_content(random);
  widen(random, message);
  message.read_only = random.chance(15), message.freed_early = random.chance(15);
  message.key = random.next(), message.receive_key = join(message.key, 1);
  if (message.source == message.target) mark(Feature::to_self_);
  return message;
}

}  // namespace

Plan draw_plan(const Group& group, Random random) {
  Plan plan;
  plan.ordered = random.chance(20);
  plan.rounds = random.chance(25) ? random.between(2, 3) : 1;
  const int count = random.between(1, 3 + group.size);
  const int tag = group.phase * 64;
  for (int index = 0; index < count; ++index)
    plan.messages.push_back(
        draw_message(group, random.part(static_cast<std::uint64_t>(index)), index, tag + index));
  // Those between two ranks are received early all, or late all, so that their order is one.
  std::map<std::pair<int, int>, bool> early;
  for (int target = 0; target < group.size; ++target) {
    const bool drawn = random.chance(35), at_once = random.chance(60);
    // If messages are ordered, a receive must not take a later one's.
    const bool funnel = drawn && !plan.ordered && allowed(Feature::any_source_);
    if (funnel) funnel_in(random, plan.messages, target, tag + 60);
    for (int source = 0; source < group.size; ++source)
      early[{source, target}] = funnel ? at_once : random.chance(60);
  }
  for (Message& message : plan.messages) {
    Random own = random.part(1000 + static_cast<std::uint64_t>(message.index));
    draw_receive(own, message, early[{message.source, message.target}] && !plan.ordered);
    draw_send(own, message, plan.ordered);
    // Some MPIs send the first round's values again.
    if (message.send == SendBy::kBsendInit && plan.rounds > 1 &&
        !admit(Feature::persistent_bsend_again_))
      message.send = SendBy::kSendInit;
    if (!message.any_source && allowed(Feature::any_tag_) && own.chance(15))
      message.any_tag = true, mark(Feature::any_tag_);
    plan.ready = plan.ready || is_ready(message.send);
    plan.fenced = plan.fenced || message.any_source;
  }
  std::erase_if(plan.messages,
                [&](const Message& message) { return dropped(group.phase, message.index); });
  return plan;
}

}  // namespace legality
