#include "capi/transports.h"

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <utility>

namespace thinwire::capi {
namespace {

using transport::Arrival;
using transport::Ticket;
using transport::Transport;
using Clock = std::chrono::steady_clock;

// Seldom enough that a question which takes an interpreter's lock costs nothing, and soon enough
// for a person who waits.
constexpr std::chrono::milliseconds kBetweenQuestions{50};

// Others may go on waiting while an interpreter ends, which the function may be of.
bool is_first_thread() { return gettid() == getpid(); }

class Interruptible final : public Transport {
 public:
  Interruptible(std::unique_ptr<Transport> inner, Interrupted interrupted, void* context)
      : inner_(std::move(inner)), interrupted_(interrupted), context_(context) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }

  Result<Ticket> post_send(int peer, ByteView bytes) override {
    if (!ended_.ok()) return ended_;
    return inner_->post_send(peer, bytes);
  }

  Result<Ticket> post_receive(int peer, MutableByteView into) override {
    if (!ended_.ok()) return ended_;
    return inner_->post_receive(peer, into);
  }

  Result<std::uint32_t> test(std::span<const Ticket> tickets, Arrival* arrivals) override {
    if (!ended_.ok()) return ended_;
    return inner_->test(tickets, arrivals);
  }

  void idle() override {
    if (ended_.ok() && Clock::now() - asked_ >= kBetweenQuestions) ask();
    inner_->idle();
  }

  void give_up() override { inner_->give_up(); }

 private:
  void ask() {
    const tw_status status = is_first_thread() ? interrupted_(context_) : TW_OK;
    asked_ = Clock::now();
    if (status != TW_OK) ended_ = {static_cast<StatusCode>(status), "the caller ended the wait"};
  }

  std::unique_ptr<Transport> inner_;
  const Interrupted interrupted_;
  void* const context_;
  Clock::time_point asked_ = Clock::now();
  Status ended_;
};

}  // namespace

std::unique_ptr<Transport> interruptible(std::unique_ptr<Transport> transport,
                                         Interrupted interrupted, void* context) {
  return std::make_unique<Interruptible>(std::move(transport), interrupted, context);
}

}  // namespace thinwire::capi
