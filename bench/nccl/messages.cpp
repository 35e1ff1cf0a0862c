#include "nccl/messages.h"

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

}  // namespace thinwire::bench::nccl
