// A rank of a communicator, as its helper sees it: from registration to the end.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agree/pairs.h"
#include "agree/registration.h"
#include "agree/shared.h"
#include "agree/siblings.h"
#include "agree/tree.h"

namespace thinwire::nccl::agree {

class Core;

// The beginning of each text that says why a communicator is raw for ever.
constexpr std::string_view kRawText = "raw: ";

// A part of a communicator that this process has, by the split that has made it.
struct PartOf {
  std::uint64_t parent = 0;  // its member; 0: none
  std::uint64_t split = 0;
  std::int32_t color = 0;
  bool operator==(const PartOf&) const = default;
};

class Member {
 public:
  Member(Core& core, std::uint64_t id, std::shared_ptr<Shared> shared, int rank, int ranks);
  ~Member() { shared_->set_gone(); }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  // ---- how it begins ----
  struct Origin {
    Address registrar;
    Secret secret;
    std::optional<Lineage> child_of;
    std::string terms;
    std::uint64_t domain = 0;  // as Helper::open() has it
  };
  using ByTree =
      std::function<bool(bool failed, const std::string& text)>;  // as Registration has it
  void register_with(const Origin& origin, ByTree up);
  // Over the tree of the communicator, if all its ranks make parts together.
  void register_as(const PartOf& part, const Origin& origin);
  // `is_told`: all ranks are, by who decides it.
  void become_raw(const std::string& why, bool is_told = false);
  // Calls `then` after it is known who has the library, with the addresses of the first ranks if
  // all have, or had; else with none.
  using WhenKnown = std::function<void(const std::vector<Address>& first, const std::string& why)>;
  void when_known(WhenKnown then);

  // ---- connections that other ranks make ----
  const Secret& secret() const { return secret_; }
  const Name& name() const { return name_; }
  int rank() const { return rank_; }
  bool is_ready() const { return state_ == State::kReady; }
  bool is_closed() const { return closed_; }
  bool is_registered() const { return tree_ != nullptr; }
  // False: it is not expected, and the link stays with the caller.
  bool adopt_parent(std::unique_ptr<Link>& link, int from);
  bool adopt_sender(std::unique_ptr<Link>& link, int from);
  bool adopt_again(std::unique_ptr<Link>& link, const Again& again);

  // ---- parts of it, and what it is a part of ----
  const PartOf& part_of() const { return part_of_; }
  // A line of this rank's up the tree. False: that is no way.
  bool enrol(Enrol line);
  // The registrar's word to a rank, at rank 0. False: the same.
  bool send_word(const Word& word);
  // The registrar's word to this rank.
  void hear(Message&& message);
  // The tree of the communicator that this is a part of is no way any more.
  void lose_tree();

  // ---- siblings: member_kin.cpp ----
  // Finds this one's siblings over the tree of `whole`, which has all the job's ranks.
  void relate(Member& whole, std::uint64_t split, const Kindred& kindred);
  void become_whole() { is_whole_ = true; }
  bool is_whole() const { return is_whole_; }
  int ranks() const { return ranks_; }
  // The member over whose tree siblings are found; 0: there is none.
  std::uint64_t whole() const { return is_whole_ ? id_ : whole_; }
  // A number that all siblings have.
  std::uint64_t family() const { return family_; }
  // Sends a message up this one's tree, to rank 0, which keeps the sets of siblings.
  void send_to_sets(const Message& message);
  // Notes that this one carries nothing for related members any more.
  void lose_kin();

  // ---- what the host asks for ----
  void offer(std::uint64_t key, Offer offer) { rounds_.offer(key, offer); }
  // `outgoing`: of what this rank sends.
  void offer_to_pair(int rank, bool outgoing, std::uint64_t key, Offer offer);
  void give(int to, SharedBytes packed);
  void close();
  void abort();
  void revoke();

  // ---- the end of the process ----
  // Whether it ought to stay a little.
  bool is_needed() const;
  void lose_helper();

 private:
  void miss_registrar(const std::string& why);
  void form();
  std::vector<Address> first() const;
  void become_ready();
  void take(int from, Message&& message);
  void pass_on(int from, const Part& part);
  void keep(const Part& part);
  void give_to_one(int to, SharedBytes packed);
  bool carry(int from, const Carried& carried);
  bool is_another(int rank) const;
  bool take_line(int from, const Enrol& line);
  void meet(const Enrol& line);
  bool take_word(int from, const Word& word);
  void tell_part(const Word& word);
  void break_off(const std::string& why, int but);
  void lose_collectives(const std::string& why, int but);
  void lose_pair(int rank, bool outgoing, const std::string& why);
  void leave();
  void end_collectives(int but);
  void remove_if_done();
  void say_lost(int rank, const std::string& why);
  void tell_waiting(const std::vector<Address>& first, const std::string& why);
  void say_kin();
  void leave_kin();
  bool take_kin(int from, const Message& message);
  bool send_below(std::uint32_t to, const Message& message);
  void send_to_rank(std::uint32_t to, const Message& message);
  void hand_to_related(const Message& message);
  void hear_from_sets(const Message& message);
  void know_siblings(bool known);
  void lose_siblings();

  Core& core_;
  const std::uint64_t id_;
  const std::shared_ptr<Shared> shared_;
  const int rank_;
  const int ranks_;
  Secret secret_{};
  Name name_{};
  PartOf part_of_;
  State state_ = State::kForming;
  bool closed_ = false;    // by its program
  bool leaves_ = false;    // and it carries nothing for others any more
  std::string waits_for_;  // what is said of late ranks
  bool has_left_ = false;  // some rank, or this one: no collective can be made any more
  bool has_lost_ = false;  // the same as a rank has died, so that collectives under way may fail
  std::unique_ptr<Registration> registration_;
  std::unique_ptr<Tree> tree_;
  std::unique_ptr<Pairs> pairs_;
  Rounds rounds_;
  std::vector<WhenKnown> waiting_;

  // For one that may have siblings:
  std::uint64_t whole_ = 0;
  std::uint64_t family_ = 0;
  Kin kin_;
  bool has_said_kin_ = false;
  // For one over whose tree others find theirs:
  bool is_whole_ = false;
  std::set<std::uint64_t> related_;                               // members
  std::map<std::pair<int, std::uint64_t>, std::uint64_t> kinds_;  // how many there were of each
  std::unique_ptr<SiblingSets> sets_;                             // at rank 0
};

}  // namespace thinwire::nccl::agree
