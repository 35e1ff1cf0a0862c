// A transport of one's own as a class, and ranks that are threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "thinwire/cpp/error.hpp"

namespace thinwire {

// Carries bytes between the ranks of a communicator; tw_transport says what its functions must do,
// among it when to fail. No function may block. Each reports what fails by an exception, which ends
// the collective: an Error with its status, any other with TW_INTERNAL. The exception's text is
// lost on the way: log it yourself if you need it.
class Transport {
 public:
  struct Arrival {
    std::uint32_t place;  // among the requests that were asked about
    std::uint64_t bytes;  // that a receive got; of a send not read
  };

  virtual ~Transport() = default;
  virtual std::int32_t rank() const = 0;
  virtual std::int32_t ranks() const = 0;

  // Begin a message, and return a number for it. The memory is the library's, host memory, and
  // stays until test() reports it. Between two ranks messages arrive in the order in which they
  // were begun. They may be empty, and shorter than `into`.
  virtual std::uint64_t send(std::int32_t peer, std::span<const std::byte> data) = 0;
  virtual std::uint64_t receive(std::int32_t peer, std::span<std::byte> into) = 0;

  // Adds those of `requests` that are complete to `done`, which is empty.
  virtual void test(std::span<const std::uint64_t> requests, std::vector<Arrival>& done) = 0;

  // There is nothing to do for now.
  virtual void idle() { std::this_thread::yield(); }
};

namespace detail {

struct CarriedTransport {
  std::unique_ptr<Transport> transport;
  std::vector<Transport::Arrival> done;

  static CarriedTransport& of(void* context) { return *static_cast<CarriedTransport*>(context); }

  // No exception may pass through the library, which is C at its border.
  template <class Body>
  static tw_status guarded(Body&& body) noexcept {
    try {
      body();
      return TW_OK;
    } catch (const Error& error) {
      return error.status();
    } catch (...) {
      return TW_INTERNAL;
    }
  }

  static tw_status send(void* context, std::int32_t peer, const void* data, std::uint64_t bytes,
                        std::uint64_t* request) {
    return guarded([&] {
      *request = of(context).transport->send(peer, {static_cast<const std::byte*>(data), bytes});
    });
  }

  static tw_status receive(void* context, std::int32_t peer, void* data, std::uint64_t capacity,
                           std::uint64_t* request) {
    return guarded([&] {
      *request = of(context).transport->receive(peer, {static_cast<std::byte*>(data), capacity});
    });
  }

  static tw_status test(void* context, std::uint32_t count, const std::uint64_t* requests,
                        std::uint32_t* places, std::uint64_t* bytes, std::uint32_t* done) {
    return guarded([&] {
      auto& arrivals = of(context).done;
      arrivals.clear();
      of(context).transport->test({requests, count}, arrivals);
      *done = 0;
      for (const Transport::Arrival& arrival : arrivals) {
        places[*done] = arrival.place;
        bytes[*done] = arrival.bytes;
        ++*done;
      }
    });
  }

  static void idle(void* context) {
    guarded([&] { of(context).transport->idle(); });
  }

  static void release(void* context) { delete static_cast<CarriedTransport*>(context); }
};

}  // namespace detail

// The C table of a transport, which it owns; a Communicator takes it over. If you make none, call
// its `release`.
inline tw_transport table_of(std::unique_ptr<Transport> transport) {
  using detail::CarriedTransport;
  auto table = sized<tw_transport>();
  table.rank = transport->rank();
  table.ranks = transport->ranks();
  table.send = CarriedTransport::send;
  table.receive = CarriedTransport::receive;
  table.test = CarriedTransport::test;
  table.idle = CarriedTransport::idle;
  table.release = CarriedTransport::release;
  table.context = new CarriedTransport{std::move(transport), {}};
  return table;
}

// The ends of ranks that are threads of this process, one for each; a Communicator takes each over.
// Give each rank a thread: to make a Communicator waits for the other ranks.
inline std::vector<tw_transport> local_transports(std::uint32_t ranks) {
  std::vector<tw_transport> ends(ranks, sized<tw_transport>());
  check(tw_transport_local(ranks, ends.data()));
  return ends;
}

}  // namespace thinwire
