#include "nccl/per_hop.h"

#include <utility>

#include "collective/data.h"

namespace thinwire::bench::nccl {

void exchange(const Calls& calls, const End& end, const Buffer& from, Buffer& to, std::size_t count,
              ncclDataType_t type) {
  const int rank = end.group.rank, ranks = end.group.size;
  check(calls.group_start(), "ncclGroupStart");
  check(calls.send(from.at(), count, type, (rank + 1) % ranks, end.comm, end.stream), "ncclSend");
  check(calls.receive(to.at(), count, type, (rank + ranks - 1) % ranks, end.comm, end.stream),
        "ncclRecv");
  check(calls.group_end(), "ncclGroupEnd");
}

void exchange_with_all(const Calls& calls, const End& end, const Buffer& from, Buffer& to,
                       std::size_t count, ncclDataType_t type, std::size_t width) {
  check(calls.group_start(), "ncclGroupStart");
  for (int peer = 0; peer < end.group.size; ++peer) {
    const std::size_t block = static_cast<std::size_t>(peer) * count * width;
    check(calls.send(from.at(block), count, type, peer, end.comm, end.stream), "ncclSend");
    check(calls.receive(to.at(block), count, type, peer, end.comm, end.stream), "ncclRecv");
  }
  check(calls.group_end(), "ncclGroupEnd");
}

void scatter(const Calls& calls, const End& end, const Buffer& from, Buffer& to, std::size_t count,
             ncclDataType_t type, std::size_t width) {
  check(calls.group_start(), "ncclGroupStart");
  for (int peer = 0; end.group.rank == 0 && peer < end.group.size; ++peer) {
    const std::size_t block = static_cast<std::size_t>(peer) * count * width;
    check(calls.send(from.at(block), count, type, peer, end.comm, end.stream), "ncclSend");
  }
  check(calls.receive(to.at(), count, type, 0, end.comm, end.stream), "ncclRecv");
  check(calls.group_end(), "ncclGroupEnd");
}

ncclDataType_t type_of(tw_dtype dtype) {
  if (dtype == TW_F32) return ncclFloat32;
  if (dtype == TW_F64) return ncclFloat64;
  return dtype == TW_F16 ? ncclFloat16 : ncclBfloat16;
}

void PlainMessages::exchange(const Sent& sent, const Received& received) {
  check(calls_.group_start(), "ncclGroupStart");
  if (sent.rank >= 0) {
    check(calls_.send(sent.at, static_cast<std::size_t>(sent.count), type_, sent.rank, comm_,
                      device_.stream()),
          "ncclSend");
  }
  if (received.rank >= 0) {
    check(calls_.receive(received.at, static_cast<std::size_t>(received.count), type_,
                         received.rank, comm_, device_.stream()),
          "ncclRecv");
  }
  check(calls_.group_end(), "ncclGroupEnd");
}

PerHop::PerHop(std::unique_ptr<Messages> messages, Device& device, const Place& place,
               tw_dtype dtype, std::int64_t most)
    : messages_(std::move(messages)),
      device_(device),
      rank_(place.rank),
      ranks_(place.ranks),
      dtype_(dtype),
      width_(size_of(dtype)),
      partial_{{device, static_cast<std::size_t>(most * width_)},
               {device, static_cast<std::size_t>(most * width_)}} {}

void PerHop::exchange(const char* send, std::int64_t sent, char* receive, std::int64_t received,
                      std::int64_t distance) {
  messages_->exchange({send, sent, static_cast<int>(wrapped(rank_ + distance))},
                      {receive, received, static_cast<int>(wrapped(rank_ - distance))});
}

void PerHop::gather_ring(char* array, std::int64_t count) {
  for (std::int64_t step = 0; step + 1 < ranks_; ++step) {
    const std::int64_t out = wrapped(rank_ - step), in = wrapped(rank_ - step - 1);
    exchange(block_of(array, out, count), length_of(out, count),
             array + first_of(in, count) * width_, length_of(in, count));
  }
}

void PerHop::sum_ring(const char* array, std::int64_t count, char* own_block) {
  const char* sent = block_of(array, wrapped(rank_ - 1), count);
  for (std::int64_t step = 0; step + 1 < ranks_; ++step) {
    const std::int64_t out = wrapped(rank_ - step - 1), in = wrapped(rank_ - step - 2);
    char* const sum = in == rank_ ? own_block : partial_[step % 2].at();
    exchange(sent, length_of(out, count), sum, length_of(in, count));
    device_.add(sum, block_of(array, in, count), length_of(in, count), dtype_);
    sent = sum;
  }
}

void PerHop::all_gather(const char* send, char* receive, std::int64_t count) {
  device_.copy(receive + rank_ * count * width_, send, static_cast<std::size_t>(count * width_));
  gather_ring(receive, count * ranks_);
}

void PerHop::reduce_scatter(const char* send, char* receive, std::int64_t count) {
  sum_ring(send, count * ranks_, receive);
}

void PerHop::all_reduce(const char* send, char* receive, std::int64_t count) {
  sum_ring(send, count, receive + first_of(rank_, count) * width_);
  gather_ring(receive, count);
}

void PerHop::broadcast(const char* send, char* receive, std::int64_t count) {
  constexpr int kNone = -1;
  if (rank_ == 0) {
    device_.copy(receive, send, static_cast<std::size_t>(count * width_));
  } else {
    messages_->exchange({nullptr, 0, kNone}, {receive, count, static_cast<int>(rank_ - 1)});
  }
  if (rank_ + 1 == ranks_) return;
  messages_->exchange({receive, count, static_cast<int>(rank_ + 1)}, {nullptr, 0, kNone});
}

void PerHop::all_to_all(const char* send, char* receive, std::int64_t count) {
  const std::int64_t block = count * width_;
  device_.copy(receive + rank_ * block, send + rank_ * block, static_cast<std::size_t>(block));
  for (std::int64_t distance = 1; distance < ranks_; ++distance) {
    exchange(send + wrapped(rank_ + distance) * block, count,
             receive + wrapped(rank_ - distance) * block, count, distance);
  }
}

void PerHop::scatter(const char* send, char* receive, std::int64_t count) {
  constexpr int kNone = -1;
  if (rank_ != 0) return messages_->exchange({nullptr, 0, kNone}, {receive, count, 0});
  const std::int64_t block = count * width_;
  device_.copy(receive, send, static_cast<std::size_t>(block));
  for (int peer = 1; peer < ranks_; ++peer) {
    messages_->exchange({send + peer * block, count, peer}, {nullptr, 0, kNone});
  }
}

void PerHop::send_receive(const char* send, char* receive, std::int64_t count) {
  exchange(send, count, receive, count);
}

}  // namespace thinwire::bench::nccl
