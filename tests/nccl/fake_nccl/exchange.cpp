#include "exchange.h"

namespace fake_nccl {

void Exchange::send(int peer, const Call& call, const void* data, std::size_t bytes) {
  auto* const from = static_cast<std::byte*>(const_cast<void*>(data));
  sends_[peer].push_back({call, from, bytes, 0, {}});
  if (peer != rank_) bytes_out_ += bytes;
}

void Exchange::receive(int peer, const Call& call, void* data, std::size_t bytes) {
  receives_[peer].push_back({call, static_cast<std::byte*>(data), bytes, 0, {}});
}

bool Exchange::advance_send(int peer) {
  std::deque<Part>& queue = sends_[peer];
  if (queue.empty()) return false;
  Part& part = queue.front();
  Ring& ring = segment_.ring(rank_, peer, ranks_);
  const std::size_t before = part.done;
  if (part.done < sizeof(Call)) {
    part.done += ring.put(reinterpret_cast<const std::byte*>(&part.call) + part.done,
                          sizeof(Call) - part.done);
  }
  if (part.done >= sizeof(Call)) {
    const std::size_t sent = part.done - sizeof(Call);
    part.done += ring.put(part.data + sent, part.bytes - sent);
  }
  const bool moved = part.done != before;
  if (part.done == sizeof(Call) + part.bytes) queue.pop_front();
  return moved;
}

bool Exchange::advance_receive(int peer) {
  std::deque<Part>& queue = receives_[peer];
  if (queue.empty()) return false;
  Part& part = queue.front();
  Ring& ring = segment_.ring(peer, rank_, ranks_);
  const std::size_t before = part.done;
  if (part.done < sizeof(Call)) {
    part.done +=
        ring.take(reinterpret_cast<std::byte*>(&part.got) + part.done, sizeof(Call) - part.done);
    mismatch_ = mismatch_ || (part.done == sizeof(Call) && part.got != part.call);
  }
  if (part.done >= sizeof(Call) && !mismatch_) {
    const std::size_t taken = part.done - sizeof(Call);
    part.done += ring.take(part.data + taken, part.bytes - taken);
  }
  const bool moved = part.done != before;
  if (part.done == sizeof(Call) + part.bytes) queue.pop_front();
  return moved;
}

Outcome Exchange::run() {
  for (int times = 0;;) {
    bool moved = false;
    bool left = false;
    for (int peer = 0; peer < ranks_; ++peer) {
      moved = advance_send(peer) || moved;
      moved = advance_receive(peer) || moved;
      left = left || !sends_[peer].empty() || !receives_[peer].empty();
    }
    if (mismatch_) {
      segment_.failed = 1;
      return Outcome::kMismatch;
    }
    if (!left) return Outcome::kDone;
    if (segment_.failed != 0) return Outcome::kStopped;
    times = moved ? 0 : times + 1;
    if (!moved) rest(times);
  }
}

}  // namespace fake_nccl
