// All the meetings of a helper.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "agree/meeting.h"

namespace thinwire::nccl::agree {

class Meetings {
 public:
  Meetings(Loop& loop, Messenger& messenger, const Meeting::Times& times, Meeting::Tell tell)
      : loop_(loop), messenger_(messenger), times_(times), tell_(std::move(tell)) {}

  // An id with this secret was made here.
  void expect(const Secret& secret);
  // Here is one of the first ranks of the communicator with this secret: ranks of its parts come
  // here.
  void expect_parts_of(const Secret& secret) { parents_[name_of(secret)] = secret; }
  // Notes that this communicator has ended. Ranks of its parts may still come, if it is one of the
  // latest that ended.
  void note_end_of(const Secret& secret);

  // The communicator of a rank that claims to come here; nothing: nobody knows of it.
  std::optional<Introduction> find(const Hello& hello) const;
  // False: nobody knows of it, and the link stays with the caller.
  bool take(std::unique_ptr<Link>& link, const Register& said);
  // A rank of a part has come over the tree, which ends here.
  void take_of_tree(const Register& said, std::function<bool(const Message&)> tree);
  // Notes that the ranks with this secret cannot be connected.
  void failed(const Secret& secret, const std::string& why);
  // The process ends.
  void leave();

 private:
  void forget_one();

  Loop& loop_;
  Messenger& messenger_;
  const Meeting::Times times_;
  const Meeting::Tell tell_;
  struct Expected {
    Secret secret{};
    std::unique_ptr<Meeting> meeting;
  };
  std::map<Name, Expected> meetings_;
  std::deque<Name> by_age_;
  std::map<Name, Secret> parents_;
  std::deque<Name> ended_parents_;
};

}  // namespace thinwire::nccl::agree
