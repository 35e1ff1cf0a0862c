// Messages between any ranks of a group: receives posted before or after, sends in all modes.
#include <algorithm>
#include <map>

#include "completion.h"
#include "message.h"

namespace legality {
namespace {

class Exchange {
 public:
  Exchange(const Group& group, Random random)
      : group_(group),
        random_(random),
        plan_(draw_plan(group, random.part(1))),
        own_(random.part(2 + static_cast<std::uint64_t>(group.rank))) {}

  Record run() {
    for (int round = 0; round < plan_.rounds; ++round) {
      if (round > 0) renew(round);
      if (plan_.ordered) in_order();
      if (!plan_.ordered) at_once();
      finish();
      if (plan_.fenced) MUST(MPI_Barrier(group_.comm));
    }
    for (auto* sides : {&sent_, &received_})
      for (auto& [index, side] : *sides)
        if (side.request != MPI_REQUEST_NULL) MUST(MPI_Request_free(&side.request));
    return record_;
  }

 private:
  // Other contents in each round, for the requests that stay.
  void renew(int round) {
    for (Message& message : plan_.messages)
      message.content.key = join(message.content.key, static_cast<std::uint64_t>(round));
  }

  bool sends(const Message& message) const { return message.source == group_.rank; }
  bool receives(const Message& message) const { return message.target == group_.rank; }

  void at_once() {
    for (const Message& message : plan_.messages)
      if (receives(message) && message.early())
        start_early(message, received_[message.index], group_.comm);
    if (plan_.ready) MUST(MPI_Barrier(group_.comm));
    for (const Message& message : plan_.messages)
      if (sends(message)) start_send(message, sent_[message.index], group_.comm);
    for (const Message& message : plan_.messages)
      if (receives(message) && !message.early())
        receive_late(message, received_[message.index], group_.comm);
    complete_all();
  }

  void in_order() {
    for (const Message& message : plan_.messages) {
      if (sends(message)) start_send(message, sent_[message.index], group_.comm);
      if (receives(message)) receive_late(message, received_[message.index], group_.comm);
    }
    complete_all();
  }

  void complete_all() {
    std::vector<MPI_Request> requests;
    std::vector<Side*> owners;
    bool wanted = false;
    Among among = Among::kPlain;
    for (const Message& message : plan_.messages) {
      if (sends(message)) owners.push_back(&sent_[message.index]);
      if (sends(message) && is_persistent(message.send)) among = Among::kPersistent;
      if (receives(message) && message.early()) {
        owners.push_back(&received_[message.index]);
        wanted = wanted || message.any_source;
        if (message.receive == ReceiveBy::kRecvInit) among = Among::kPersistent;
      }
    }
    std::erase_if(owners, [](Side* side) { return side->request == MPI_REQUEST_NULL; });
    for (Side* side : owners) requests.push_back(side->request);
    std::vector<MPI_Status> statuses(requests.size());
    const bool known = complete(own_, requests, statuses, wanted, among);
    for (std::size_t at = 0; at < owners.size(); ++at) {
      owners[at]->request = requests[at];
      owners[at]->status = statuses[at], owners[at]->status_known = known;
    }
  }

  // The message that a receive of this rank got: its own, or another's of the same funnel.
  const Message& got(const Message& message, const Side& side, std::vector<char>& claimed) const {
    if (!message.any_source) return message;
    for (std::size_t at = 0; at < plan_.messages.size(); ++at) {
      const Message& each = plan_.messages[at];
      if (claimed[at] || !receives(each)) continue;
      if (each.source != side.status.MPI_SOURCE || each.tag != side.status.MPI_TAG) continue;
      claimed[at] = 1;
      return each;
    }
    complain("a receive got a message that nobody sent");
    return message;
  }

  void finish() {
    std::vector<char> claimed(plan_.messages.size());
    std::vector<std::uint64_t> all, kept;
    for (const Message& message : plan_.messages) {
      if (sends(message)) {
        Side& side = sent_[message.index];
        side.buffer->check(record_, "a sent buffer", 0);
      }
      if (!receives(message)) continue;
      Side& side = received_[message.index];
      Record record;
      const Message& source = got(message, side, claimed);
      if (side.status_known && !read_status(source, side, record))
        complain("a status is of another message");
      side.buffer->expect(source.content, 0, source.signature.elements());
      side.buffer->check(record, "a received buffer");
      if (message.any_source) all.push_back(record.all), kept.push_back(record.kept);
      if (!message.any_source) record_.add(record);
    }
    // Which of its receives a funnel's message came to is the MPI's choice.
    std::sort(all.begin(), all.end()), std::sort(kept.begin(), kept.end());
    for (std::size_t at = 0; at < all.size(); ++at) record_.add(all[at], kept[at]);
  }

  const Group& group_;
  Random random_;
  Plan plan_;
  Random own_;
  std::map<int, Side> sent_, received_;
  Record record_;
};

}  // namespace

Record run_exchange(const Group& group, Random random) { return Exchange(group, random).run(); }

}  // namespace legality
