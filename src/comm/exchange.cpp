#include "comm/exchange.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace thinwire::comm {
namespace {

struct Wanted {
  std::array<transport::Ticket, 2> tickets;
  std::size_t count = 0;
  std::size_t receives = 0;  // the first ones are receives
  std::uint64_t length = 0;  // of what is received
};

Status wait(transport::Transport& transport, Wanted wanted) {
  std::array<transport::Arrival, 2> arrivals;
  std::array<bool, 2> is_receive{wanted.receives > 0, false};
  while (wanted.count > 0) {
    const auto done = transport.test({wanted.tickets.data(), wanted.count}, arrivals.data());
    if (!done.ok()) return done.status();
    if (*done == 0) transport.idle();
    for (std::uint32_t at = *done; at-- > 0;) {
      const std::uint32_t index = arrivals[at].index;
      if (is_receive[index] && arrivals[at].bytes != wanted.length) {
        return {StatusCode::kInternal, "a rank sent something else than was agreed"};
      }
      for (std::size_t next = index + 1; next < wanted.count; ++next) {
        wanted.tickets[next - 1] = wanted.tickets[next];
        is_receive[next - 1] = is_receive[next];
      }
      --wanted.count;
    }
  }
  return {};
}

Status begin_receive(transport::Transport& transport, int from, MutableByteView in,
                     Wanted& wanted) {
  const auto ticket = transport.post_receive(from, in);
  if (!ticket.ok()) return ticket.status();
  wanted.tickets[wanted.count++] = *ticket;
  wanted.receives = 1;
  wanted.length = in.size();
  return {};
}

Status begin_send(transport::Transport& transport, int to, ByteView out, Wanted& wanted) {
  const auto ticket = transport.post_send(to, out);
  if (!ticket.ok()) return ticket.status();
  wanted.tickets[wanted.count++] = *ticket;
  return {};
}

}  // namespace

Status exchange(transport::Transport& transport, int to, ByteView out, int from,
                MutableByteView in) {
  Wanted wanted;
  if (Status status = begin_receive(transport, from, in, wanted); !status.ok()) return status;
  if (Status status = begin_send(transport, to, out, wanted); !status.ok()) return status;
  return wait(transport, wanted);
}

Status send(transport::Transport& transport, int to, ByteView out) {
  Wanted wanted;
  if (Status status = begin_send(transport, to, out, wanted); !status.ok()) return status;
  return wait(transport, wanted);
}

Status receive(transport::Transport& transport, int from, MutableByteView in) {
  Wanted wanted;
  if (Status status = begin_receive(transport, from, in, wanted); !status.ok()) return status;
  return wait(transport, wanted);
}

// A binomial tree: whoever has it passes it on to the rank `step` further.
Status broadcast(transport::Transport& transport, int root, MutableByteView bytes) {
  const int size = transport.size();
  const int place = (transport.rank() - root + size) % size;
  int step = 1;
  while (step < size && (place & step) == 0) step <<= 1;
  if (place != 0) {
    Status status = receive(transport, (place - step + root) % size, bytes);
    if (!status.ok()) return status;
  }
  for (step >>= 1; step > 0; step >>= 1) {
    if (place + step >= size) continue;
    Status status = send(transport, (place + step + root) % size, bytes);
    if (!status.ok()) return status;
  }
  return {};
}

// Up a binomial tree to rank 0, and down again.
Status sum_upwards(transport::Transport& transport, std::span<double> values) {
  const int size = transport.size(), rank = transport.rank();
  std::vector<double> theirs(values.size());
  for (int step = 1; step < size; step <<= 1) {
    if ((rank & step) != 0) {
      Status status = send(transport, rank - step, std::as_bytes(values));
      if (!status.ok()) return status;
      break;
    }
    if (rank + step >= size) continue;
    Status status = receive(transport, rank + step, std::as_writable_bytes(std::span(theirs)));
    if (!status.ok()) return status;
    for (std::size_t at = 0; at < values.size(); ++at) {
      values[at] = std::nextafter(values[at] + theirs[at], HUGE_VAL);
    }
  }
  return broadcast(transport, 0, std::as_writable_bytes(values));
}

// By dissemination: after round k everyone knows the largest of the 2^k ranks before it.
Status largest(transport::Transport& transport, std::uint64_t* value) {
  const std::int64_t size = transport.size(), rank = transport.rank();
  for (std::int64_t step = 1; step < size; step <<= 1) {
    std::uint64_t theirs = 0;
    Status status =
        exchange(transport, static_cast<int>((rank + step) % size),
                 std::as_bytes(std::span(value, 1)), static_cast<int>((rank - step + size) % size),
                 std::as_writable_bytes(std::span(&theirs, 1)));
    if (!status.ok()) return status;
    *value = std::max(*value, theirs);
  }
  return {};
}

}  // namespace thinwire::comm
