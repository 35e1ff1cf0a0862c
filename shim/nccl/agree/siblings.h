// Which communicators are siblings, and what they decide together: at rank 0 of the communicator
// whose ranks they share out among them (decision 0074). Knows no sockets.
//
// Each rank says in which other communicators it is. Siblings are those that one split has made, or
// those that each process has made as the same of their kind, if each rank is in one of them and
// they are of one size and one layout. Or a rank says how many of a kind are siblings.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "agree/round.h"

namespace thinwire::nccl::agree {

class SiblingSets {
 public:
  using Say = std::function<void(std::uint32_t to, const Message&)>;
  // `ranks`: of the communicator. `say`: to one of them; nothing comes back before it returns.
  SiblingSets(int ranks, Say say) : ranks_(static_cast<std::size_t>(ranks)), say_(std::move(say)) {}

  // False: it does not fit.
  bool take(const Kin& kin);
  bool take(const NoKin& gone);
  bool take(const Joined& joined);
  // A rank has left: it may have been on the way to others. What holds goes on.
  void stop();

  std::size_t sets() const { return sets_.size(); }

 private:
  // Messages of ranks that are in communicators of one name, by rank.
  using Table = std::map<std::uint32_t, Kin>;
  struct Set {
    std::vector<std::uint64_t> tags;
    std::vector<std::uint32_t> roots;  // their first ranks
    std::set<int> gone;
    Rounds rounds;
  };
  struct Place {
    std::shared_ptr<Set> set;
    int number = 0;  // in the set
  };

  // The communicators of a kind of which a number was said to be siblings, and the set they make.
  struct Named {
    Table table;
    std::shared_ptr<Set> set;
    bool is_spoiled = false;  // there were more
  };

  void take_named(const Kin& kin);
  void forget_named(const NoKin& gone);
  void adopt_split(std::uint64_t split);
  void adopt_alike(std::uint64_t alike);
  bool are_siblings(const Table& table) const;
  std::shared_ptr<Set> form(const Table& table);
  // Dissolves a set; decisions that hold stay.
  void dissolve(const std::shared_ptr<Set>& set);
  static void forget(std::map<std::uint64_t, Table>& tables, const NoKin& gone);

  const std::size_t ranks_;
  const Say say_;
  bool stopped_ = false;
  std::map<std::uint64_t, Table> splits_, alike_;
  std::map<std::uint64_t, Named> named_;
  std::set<std::uint64_t> by_kind_;  // tags of those that no split has made siblings
  std::map<std::uint64_t, Place> places_;
  std::set<std::shared_ptr<Set>> sets_;
};

}  // namespace thinwire::nccl::agree
