#include "exchange.h"

#include <algorithm>

namespace fake_nccl {

Exchange::Peer& Exchange::peer_of(int peer) {
  Peer& found = peers_[peer];
  if (found.sends.is_empty() && found.receives.is_empty()) busy_.push_back(peer);
  return found;
}

void Exchange::send(int peer, const Call& call, const void* data, std::size_t bytes) {
  auto* const from = static_cast<std::byte*>(const_cast<void*>(data));
  peer_of(peer).sends.parts.push_back({call, from, bytes, 0, {}});
  if (peer != rank_) bytes_out_ += bytes;
}

void Exchange::receive(int peer, const Call& call, void* data, std::size_t bytes) {
  auto* const to = static_cast<std::byte*>(data);
  peer_of(peer).receives.parts.push_back({call, to, bytes, 0, {}});
}

bool Exchange::advance_send(int peer) {
  Queue& queue = peers_[peer].sends;
  if (queue.is_empty()) return false;
  Part& part = queue.parts[queue.next];
  Ring& ring = segment_.ring(rank_, peer, ranks_);
  const std::size_t size = ring_bytes(ranks_), before = part.done;
  if (part.done < sizeof(Call)) {
    part.done += ring.put(size, reinterpret_cast<const std::byte*>(&part.call) + part.done,
                          sizeof(Call) - part.done);
  }
  if (part.done >= sizeof(Call)) {
    const std::size_t sent = part.done - sizeof(Call);
    part.done += ring.put(size, part.data + sent, part.bytes - sent);
  }
  const bool moved = part.done != before;
  if (part.done == sizeof(Call) + part.bytes) ++queue.next;
  if (moved && peer != rank_) segment_.bell(peer).ring();
  return moved;
}

bool Exchange::advance_receive(int peer) {
  Queue& queue = peers_[peer].receives;
  if (queue.is_empty()) return false;
  Part& part = queue.parts[queue.next];
  Ring& ring = segment_.ring(peer, rank_, ranks_);
  const std::size_t size = ring_bytes(ranks_), before = part.done;
  if (part.done < sizeof(Call)) {
    part.done += ring.take(size, reinterpret_cast<std::byte*>(&part.got) + part.done,
                           sizeof(Call) - part.done);
    mismatch_ = mismatch_ || (part.done == sizeof(Call) && part.got != part.call);
  }
  if (part.done >= sizeof(Call) && !mismatch_) {
    const std::size_t taken = part.done - sizeof(Call);
    part.done += ring.take(size, part.data + taken, part.bytes - taken);
  }
  const std::size_t moved = part.done - before;
  if (part.done == sizeof(Call) + part.bytes) ++queue.next;
  // Whoever waits for room has filled the ring: few bytes are no news.
  if (moved >= size / 2 && peer != rank_) segment_.bell(peer).ring();
  return moved != 0;
}

Outcome Exchange::run() {
  for (Rest rest(segment_.bell(rank_), ranks_);;) {
    rest.look();
    bool moved = false;
    std::erase_if(busy_, [&](int peer) {
      moved = advance_send(peer) || moved;
      moved = advance_receive(peer) || moved;
      return peers_[peer].sends.is_empty() && peers_[peer].receives.is_empty();
    });
    if (mismatch_) {
      segment_.failed = 1;
      return Outcome::kMismatch;
    }
    if (busy_.empty()) return Outcome::kDone;
    if (segment_.failed != 0) return Outcome::kStopped;
    if (moved) {
      rest.did_something();
    } else {
      rest.rest();
    }
  }
}

}  // namespace fake_nccl
