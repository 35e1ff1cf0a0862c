// One rank's helper in agreeing on values: gathers the offers of its subtree, and carries out the
// rounds in which a value is committed. Knows no sockets: what is to be said goes out by functions.
//
// The root decides nothing by itself about kinds with kJoined. It says what its ranks offer to
// those who join it with what its siblings' ranks do, as an inner rank says it to its parent.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "agree/ledger.h"
#include "agree/messages.h"

namespace thinwire::nccl::agree {

class Rounds {
 public:
  using Say = std::function<void(const Message&)>;
  struct Way {
    Say up;    // none: this rank is the root
    Say down;  // to every child
    int children = 0;
  };

  // `most`: kinds, so that others cannot fill the memory with them.
  explicit Rounds(Ledger& ledger, std::size_t most = kMostKinds) : ledger_(&ledger), most_(most) {}
  // For siblings: makes no calls of its own, and decides about kinds with kJoined alone.
  Rounds() = default;

  // Before this, own offers wait. Once more if the other side of a pair has begun anew.
  void start(Way way);
  // Nothing is agreed any more: what holds goes on. Messages that are still to come are for nobody.
  void stop();
  // The same, but hosts that a round holds are not let go on: ranks may differ in whether it has
  // ended. The ledger ends with it.
  void give_up() { stopped_ = true; }
  // Not started, and nobody knows when: own kinds are raw for this reason until then.
  void explain(std::uint16_t reason);
  bool started() const { return way_.has_value(); }

  // At the root: to whom it says what is offered of kinds with kJoined. Before, these wait.
  void join(Say siblings);
  // There is nobody any more who joins them: what holds goes on.
  void part();
  bool is_joined() const { return static_cast<bool>(siblings_); }
  // A child makes no more calls, and says nothing more.
  void drop(int child);

  void offer(std::uint64_t key, Offer offer);
  // Takes a message from a child, 0 to children - 1. False: it does not fit.
  bool take(int child, const Offered& offered);
  bool take(int child, const Limit& limit);
  // Takes a message from the parent.
  bool take(const Ask& ask);
  bool take(const Commit& commit);

 private:
  struct Kind {
    std::optional<Offer> own;
    std::map<int, Offer> of_children;
    std::optional<Offer> said;      // up
    Value in_force{0, kUndecided};  // at the root of a communicator, or of siblings

    bool running = false;
    bool looks = false;
    bool is_urgent = false;  // at the root
    std::uint64_t round = 0;
    std::uint64_t limit = 0;
    std::set<int> awaited;  // children whose limit has not come
  };

  // The kind that others speak of, made if it is new; null: there would be too many.
  Kind* known(std::uint64_t key);
  // Whom to tell what the subtree offers and where it stops; null: nobody.
  const Say* above(std::uint64_t key) const;
  bool decides(std::uint64_t key) const;
  std::optional<Offer> of_subtree(const Kind& of) const;
  void pass_on(std::uint64_t key, Kind& of);
  void look(std::uint64_t key, Kind& of);
  void looked(std::uint64_t key, Kind& of);
  void begin(std::uint64_t key, Kind& of, bool is_urgent);
  void freeze(std::uint64_t key, Kind& of, bool is_urgent);
  void await_children(Kind& of);
  void answered(std::uint64_t key, Kind& of);
  void finish(Kind& of, const Commit& commit);

  Ledger* ledger_ = nullptr;
  const std::size_t most_ = kMostKinds;
  Say siblings_;
  std::set<int> dropped_;
  std::optional<Way> way_;
  bool stopped_ = false;
  std::uint16_t reason_ = 0;
  std::map<std::uint64_t, Kind> kinds_;
};

}  // namespace thinwire::nccl::agree
