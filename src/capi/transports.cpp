#include "capi/transports.h"

#include <sched.h>

#include <string>
#include <vector>

#include "capi/boundary.h"
#include "capi/convert.h"
#include "transport/local/local.h"

using namespace thinwire;
using namespace thinwire::capi;

namespace {

using transport::Arrival;
using transport::Ticket;
using transport::Transport;

class Adopted final : public Transport {
 public:
  explicit Adopted(const tw_transport& table) : table_(table) {}
  ~Adopted() override { Adopted::give_up(); }

  void give_up() override {
    if (table_.release != nullptr) table_.release(table_.context);
    table_.release = nullptr;
  }

  int rank() const override { return table_.rank; }
  int size() const override { return table_.ranks; }

  Result<Ticket> post_send(int peer, ByteView bytes) override {
    std::uint64_t request = 0;
    const tw_status status =
        table_.send(table_.context, peer, bytes.data(), bytes.size(), &request);
    if (status != TW_OK) return failed("send to", peer, status);
    return request;
  }

  Result<Ticket> post_receive(int peer, MutableByteView into) override {
    std::uint64_t request = 0;
    const tw_status status =
        table_.receive(table_.context, peer, into.data(), into.size(), &request);
    if (status != TW_OK) return failed("receive from", peer, status);
    return request;
  }

  Result<std::uint32_t> test(std::span<const Ticket> tickets, Arrival* arrivals) override {
    places_.resize(tickets.size());
    bytes_.resize(tickets.size());
    std::uint32_t done = 0;
    const tw_status status = table_.test(table_.context, static_cast<std::uint32_t>(tickets.size()),
                                         tickets.data(), places_.data(), bytes_.data(), &done);
    if (status != TW_OK) return {code_of(status), "the transport could not complete a message"};
    for (std::uint32_t at = 0; at < done; ++at) arrivals[at] = {places_[at], bytes_[at]};
    if (done > 0) idle_turns_ = 0;
    return done;
  }

  void idle() override {
    if (table_.idle != nullptr) {
      table_.idle(table_.context);
    } else if (++idle_turns_ > kTurnsBeforeYield) {
      sched_yield();
    }
  }

 private:
  static StatusCode code_of(tw_status status) { return static_cast<StatusCode>(status); }
  static Status failed(const char* what, int peer, tw_status status) {
    return {code_of(status),
            std::string("the transport could not ") + what + " rank " + std::to_string(peer)};
  }

  // On a fast network the next piece is there within this many turns, well below a millisecond; on
  // a slow one others may need the processor meanwhile.
  static constexpr std::uint32_t kTurnsBeforeYield = 1000;

  tw_transport table_;
  std::uint32_t idle_turns_ = 0;
  std::vector<std::uint32_t> places_;
  std::vector<std::uint64_t> bytes_;
};

// The context of an exposed transport.
struct Exposed {
  std::unique_ptr<Transport> transport;
  std::vector<Arrival> arrivals;
};

Exposed& exposed(void* context) { return *static_cast<Exposed*>(context); }

tw_status written(const Result<Ticket>& ticket, std::uint64_t* request) {
  if (ticket.ok()) *request = *ticket;
  return report(ticket.status());
}

tw_status send(void* context, int32_t peer, const void* data, uint64_t bytes, uint64_t* request) {
  return guarded([&] {
    return written(exposed(context).transport->post_send(peer, {bytes_at(data), bytes}), request);
  });
}

tw_status receive(void* context, int32_t peer, void* data, uint64_t capacity, uint64_t* request) {
  return guarded([&] {
    return written(exposed(context).transport->post_receive(peer, {bytes_at(data), capacity}),
                   request);
  });
}

tw_status test(void* context, uint32_t count, const uint64_t* requests, uint32_t* places,
               uint64_t* bytes, uint32_t* done) {
  return guarded([&] {
    Exposed& own = exposed(context);
    own.arrivals.resize(count);
    const auto complete = own.transport->test({requests, count}, own.arrivals.data());
    if (!complete.ok()) return report(complete.status());
    for (std::uint32_t at = 0; at < *complete; ++at) {
      places[at] = own.arrivals[at].index;
      bytes[at] = own.arrivals[at].bytes;
    }
    *done = *complete;
    return TW_OK;
  });
}

void idle(void* context) { exposed(context).transport->idle(); }
void release(void* context) { delete &exposed(context); }

}  // namespace

namespace thinwire::capi {

std::unique_ptr<Transport> adopt(const tw_transport& table) {
  return std::make_unique<Adopted>(table);
}

tw_transport expose(std::unique_ptr<Transport> transport) {
  tw_transport table{};
  table.size = sizeof table;
  table.rank = transport->rank();
  table.ranks = transport->size();
  table.send = send;
  table.receive = receive;
  table.test = test;
  table.idle = idle;
  table.release = release;
  table.context = new Exposed{.transport = std::move(transport), .arrivals = {}};
  return table;
}

}  // namespace thinwire::capi

tw_status tw_transport_local(uint32_t ranks, tw_transport* transports) {
  return guarded([&] {
    // Without room for its last function a table could not be released.
    if (ranks == 0 || ranks > INT32_MAX || !has_size(transports) ||
        !reaches(transports, offsetof(tw_transport, release) + sizeof transports->release)) {
      return misuse("tw_transport_local: no ranks, a null pointer, or size not set");
    }
    // The array is the caller's, and so is the size of its elements.
    const std::uint32_t size = transports->size;
    auto* const bytes = reinterpret_cast<std::byte*>(transports);
    auto ends = transport::make_local(static_cast<int>(ranks));
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      auto* const end = reinterpret_cast<tw_transport*>(bytes + std::size_t{rank} * size);
      end->size = size;
      give(expose(std::move(ends[rank])), end);
    }
    return TW_OK;
  });
}
