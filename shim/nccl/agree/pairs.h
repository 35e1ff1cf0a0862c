// A rank's connections to single other ranks: one for each direction in which something is sent,
// made by the sender when there is something to say.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agree/link.h"
#include "agree/round.h"

namespace thinwire::nccl::agree {

class Pairs {
 public:
  struct Told {
    // Looks the rank's address up, and calls found() now or later.
    std::function<void(int rank)> find;
    std::function<Ledger&(int rank, bool outgoing)> ledger;
    std::function<void(const Part& part)> part;
    std::function<void(const std::string& why)> failed;
  };

  // `time`: for a connection, once the address is known.
  Pairs(Loop& loop, const Secret& secret, int rank, std::chrono::milliseconds time, Told told)
      : loop_(loop), secret_(secret), rank_(rank), time_(time), told_(std::move(told)) {}
  ~Pairs();
  Pairs(const Pairs&) = delete;
  Pairs& operator=(const Pairs&) = delete;

  void offer(int rank, bool outgoing, std::uint64_t key, Offer offer);
  void send_part(int rank, SharedBytes packed);

  void found(int rank, const Address& address);
  void adopt(std::unique_ptr<Link> link, int from);

  bool has_unsent() const;
  void dismiss();

 private:
  struct End {
    explicit End(Ledger& ledger) : rounds(ledger) {}
    std::unique_ptr<Link> link;
    Rounds rounds;
    // Of outgoing ones, until the connection is made:
    bool is_asked_for = false;
    std::vector<SharedBytes> waiting;
    Address address;
    Loop::Clock::time_point deadline{};
    Loop::TimerId retry{};
    std::chrono::milliseconds delay = kFirstRetry;
  };

  End& end(int rank, bool outgoing);
  End& outgoing_open(int rank);
  void connect(int rank);
  void connected(int rank);
  void outgoing_ended(int rank, const std::string& why);
  void take_from_receiver(int rank, Message&& message);
  void take_from_sender(int rank, Message&& message);

  Loop& loop_;
  const Secret secret_;
  const int rank_;
  const std::chrono::milliseconds time_;
  const Told told_;
  std::map<std::pair<int, bool>, std::unique_ptr<End>> ends_;
};

}  // namespace thinwire::nccl::agree
