#include "comm/exchange.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/float_mode.h"

namespace thinwire::comm {
namespace {

// Bytes received; of a send undefined.
Result<std::uint64_t> wait(transport::Transport& transport, transport::Ticket ticket) {
  while (true) {
    transport::Arrival arrival{};
    const auto done = transport.test({&ticket, 1}, &arrival);
    if (!done.ok()) return done.status();
    if (*done > 0) return arrival.bytes;
    transport.idle();
  }
}

Status finish_receive(transport::Transport& transport, const Result<transport::Ticket>& ticket,
                      std::uint64_t length) {
  if (!ticket.ok()) return ticket.status();
  const auto received = wait(transport, *ticket);
  if (!received.ok()) return received.status();
  if (*received == length) return {};
  return {StatusCode::kInternal, "a rank sent something else than was agreed"};
}

Status finish_send(transport::Transport& transport, const Result<transport::Ticket>& ticket) {
  return ticket.ok() ? wait(transport, *ticket).status() : ticket.status();
}

}  // namespace

Status exchange(transport::Transport& transport, int to, ByteView out, int from,
                MutableByteView in) {
  const auto receiving = transport.post_receive(from, in);
  if (!receiving.ok()) return receiving.status();
  const auto sending = transport.post_send(to, out);
  if (!sending.ok()) return sending.status();
  if (Status status = finish_receive(transport, receiving, in.size()); !status.ok()) return status;
  return finish_send(transport, sending);
}

Status send(transport::Transport& transport, int to, ByteView out) {
  return finish_send(transport, transport.post_send(to, out));
}

Status receive(transport::Transport& transport, int from, MutableByteView in) {
  return finish_receive(transport, transport.post_receive(from, in), in.size());
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
    const DefaultFloatMode mode;
    for (std::size_t at = 0; at < values.size(); ++at) {
      values[at] = std::nextafter(values[at] + theirs[at], HUGE_VAL);
    }
  }
  return broadcast(transport, 0, std::as_writable_bytes(values));
}

// After round k everyone knows the numbers of the 2^k ranks from its own on.
Status gather_all(transport::Transport& transport, std::uint64_t own,
                  std::vector<std::uint64_t>& all) {
  const auto size = static_cast<std::size_t>(transport.size());
  const auto rank = static_cast<std::size_t>(transport.rank());
  std::vector<std::uint64_t> from_here(size);
  from_here[0] = own;
  for (std::size_t step = 1; step < size; step <<= 1) {
    const std::size_t count = std::min(step, size - step);
    Status status = exchange(transport, static_cast<int>((rank + size - step) % size),
                             std::as_bytes(std::span(from_here).first(count)),
                             static_cast<int>((rank + step) % size),
                             std::as_writable_bytes(std::span(from_here).subspan(step, count)));
    if (!status.ok()) return status;
  }
  all.resize(size);
  for (std::size_t at = 0; at < size; ++at) all[(rank + at) % size] = from_here[at];
  return {};
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
