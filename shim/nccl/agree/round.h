// One rank's helper in agreeing on values: gathers the offers of its subtree, and carries out the
// rounds in which a value is committed. Knows no sockets: what is to be said goes out by functions.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "agree/ledger.h"
#include "agree/messages.h"

namespace thinwire::nccl::agree {

class Rounds {
 public:
  struct Way {
    std::function<void(const Message&)> up;    // none: this rank is the root
    std::function<void(const Message&)> down;  // to every child
    int children = 0;
  };

  // `most`: classes, so that others cannot fill the memory with them.
  explicit Rounds(Ledger& ledger, std::size_t most = kMostClasses) : ledger_(ledger), most_(most) {}

  // Before this, own offers wait. Once more where the other side of a pair has begun anew.
  void start(Way way);
  // Nothing is agreed any more: what holds goes on. Messages that are still to come are for nobody.
  void stop();
  // The same, but hosts that a round holds are not let go on: ranks may differ in whether it has
  // ended. The ledger ends with it.
  void give_up() { stopped_ = true; }
  // Not started, and nobody knows when: own classes are raw for this reason until then.
  void explain(std::uint16_t reason);
  bool started() const { return way_.has_value(); }

  void offer(std::uint64_t key, Offer offer);
  // From a child, 0 to children - 1. False: it does not fit.
  bool take(int child, const Offered& offered);
  bool take(const Limit& limit);
  // From the parent.
  bool take(const Ask& ask);
  bool take(const Commit& commit);

 private:
  struct Class {
    std::optional<Offer> own;
    std::map<int, Offer> of_children;
    std::optional<Offer> said;      // up
    Value in_force{0, kUndecided};  // at the root

    bool running = false;
    bool looks = false;
    bool is_urgent = false;  // at the root
    std::uint64_t round = 0;
    std::uint64_t limit = 0;
    int awaited = 0;  // children whose limit has not come
  };

  // Of a class that others speak of; null: there would be too many.
  Class* known(std::uint64_t key);
  std::optional<Offer> of_subtree(const Class& of) const;
  void pass_on(std::uint64_t key, Class& of);
  void look(std::uint64_t key, Class& of);
  void looked(std::uint64_t key, Class& of);
  void begin(std::uint64_t key, Class& of, bool is_urgent);
  void answered(std::uint64_t key, Class& of);

  Ledger& ledger_;
  const std::size_t most_;
  std::optional<Way> way_;
  bool stopped_ = false;
  std::uint16_t reason_ = 0;
  std::map<std::uint64_t, Class> classes_;
};

}  // namespace thinwire::nccl::agree
