// A stream transport of the C ABI as the library's own kind.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "thinwire/thinwire.h"
#include "transport/stream_transport.h"

namespace thinwire::capi {

bool is_usable(const tw_stream_transport& table);

// Owns what `table` stands for: `release` is called when the result goes.
std::unique_ptr<transport::StreamTransport> adopt(const tw_stream_transport& table);

// Who enqueues on stream communicators: one thread at a time.

// The group of calls that is being enqueued on a communicator; nullptr: none.
using Enqueuer = std::atomic<const void*>;

// A group's turn on all communicators of its calls, of which several may be of one. Two threads
// would mix the messages of their groups, so the second is told. `Calls` has count() and
// enqueuer(at).
template <class Calls>
class StreamTurns {
 public:
  explicit StreamTurns(const Calls& calls) : calls_(calls) {
    while (taken_ < calls.count() && take(calls.enqueuer(taken_))) ++taken_;
  }
  StreamTurns(const StreamTurns&) = delete;
  StreamTurns& operator=(const StreamTurns&) = delete;
  ~StreamTurns() {
    for (std::uint32_t at = 0; at < taken_; ++at) give_back(calls_.enqueuer(at));
  }
  explicit operator bool() const { return taken_ == calls_.count(); }

 private:
  bool take(Enqueuer& of) const {
    const void* holder = nullptr;
    return of.compare_exchange_strong(holder, this, std::memory_order_acquire) || holder == this;
  }
  void give_back(Enqueuer& of) const {
    const void* holder = this;
    of.compare_exchange_strong(holder, nullptr, std::memory_order_release);
  }

  const Calls& calls_;
  std::uint32_t taken_ = 0;
};

}  // namespace thinwire::capi
