// Ranks of collectives in slots that one thread drives on one stream: of a GPU, or of host
// functions that run at once.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "collective/slots/enqueue.h"
#include "device/enqueue.h"

namespace thinwire::collective {

inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}
inline void check(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}

enum class Where { kHost, kGpu };

// Memory that streams of that kind work on; pinned memory is the host's, too.
class Room {
 public:
  Room(Where where, std::uint64_t bytes, bool pinned = false) : where_(where), pinned_(pinned) {
    void* made = nullptr;
    if (where == Where::kHost) {
      made = std::aligned_alloc(512, (bytes + 511) / 512 * 512 + 512);
    } else {
      check(pinned ? cudaMallocHost(&made, bytes + 512) : cudaMalloc(&made, bytes + 512));
    }
    at_ = static_cast<std::byte*>(made);
  }
  Room(Room&& other) noexcept : where_(other.where_), pinned_(other.pinned_) {
    std::swap(at_, other.at_);
  }
  ~Room() {
    if (where_ == Where::kHost) {
      std::free(at_);
    } else if (at_ != nullptr) {
      (void)(pinned_ ? cudaFreeHost(at_) : cudaFree(at_));
    }
  }
  std::byte* get() const { return at_; }

 private:
  Where where_;
  bool pinned_;
  std::byte* at_ = nullptr;
};

// Changes a message, the given one of those from a rank to another, in host memory.
using Change = std::function<void(MutableByteView message, int from, int to, int number)>;

// Messages between the ranks: copies on the stream, after both ends have been posted.
struct Board {
  struct Posted {
    const std::byte* from;
    std::byte* to;
    std::uint64_t bytes;
  };
  Where where;
  bool damages;   // what goes from rank 0 to rank 2, if it is a slot
  Change change;  // may be none
  std::map<std::pair<int, int>, std::deque<Posted>> sent = {}, received = {};
  std::map<std::pair<int, int>, int> carried = {};

  Status post(int from, int to, bool sends, Posted posted, device::StreamHandle stream) {
    (sends ? sent : received)[{from, to}].push_back(posted);
    auto &out = sent[{from, to}], &in = received[{from, to}];
    if (out.empty() || in.empty()) return {};
    const Posted source = out.front(), target = in.front();
    out.pop_front();
    in.pop_front();
    if (source.bytes != target.bytes) return {StatusCode::kInternal, "lengths differ"};
    if (change) {
      carry_changed(source, target, from, to, stream);
      return {};
    }
    if (where == Where::kHost) {
      std::copy_n(source.from, source.bytes, target.to);
    } else if (const Status copied =
                   device::enqueue_copy(target.to, source.from, source.bytes, stream);
               !copied.ok()) {
      return copied;
    }
    const bool is_damaged = damages && from == 0 && to == 2 && source.bytes > slot::kSlotUnit;
    return is_damaged ? clear(target.to, stream) : Status();  // the mark of a slot
  }

  // By way of the host, which waits for the stream.
  void carry_changed(const Posted& source, const Posted& target, int from, int to,
                     device::StreamHandle stream) {
    const bool on_gpu = where == Where::kGpu;
    std::vector<std::byte> message(source.bytes);
    if (on_gpu) check(cudaStreamSynchronize(stream));
    move(on_gpu, message.data(), source.from, source.bytes);
    change(message, from, to, carried[{from, to}]++);
    move(on_gpu, target.to, message.data(), source.bytes);
  }

  static void move(bool on_gpu, std::byte* to, const std::byte* from, std::uint64_t bytes) {
    if (!on_gpu) {
      std::copy_n(from, bytes, to);
      return;
    }
    check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
    check(cudaStreamSynchronize(cudaStreamLegacy));
  }

  Status clear(std::byte* word, device::StreamHandle stream) const {
    if (where == Where::kGpu) return device::enqueue_clear(word, 8, stream);
    std::fill_n(word, 8, std::byte{0});
    return {};
  }
};

class BoardEnd : public transport::StreamTransport {
 public:
  BoardEnd(Board& board, int rank, int size) : board_(board), rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Status begin_group() override { return {}; }
  Status end_group() override { return {}; }
  Status check() override { return {}; }
  bool on_host() const override { return board_.where == Where::kHost; }

  Status send(int peer, ByteView bytes, device::StreamHandle stream) override {
    return board_.post(rank_, peer, true, {bytes.data(), nullptr, bytes.size()}, stream);
  }
  Status receive(int peer, MutableByteView into, device::StreamHandle stream) override {
    return board_.post(peer, rank_, false, {nullptr, into.data(), into.size()}, stream);
  }
  Status call(void (*function)(void*), void* argument, device::StreamHandle) override {
    function(argument);
    return {};
  }

 private:
  Board& board_;
  int rank_, size_;
};

// Serves the ranks' mailboxes on a thread of its own.
class Server {
 public:
  explicit Server(std::vector<Mailbox*> mailboxes)
      : mailboxes_(std::move(mailboxes)), thread_([this] { work(); }) {}
  ~Server() {
    ends_ = true;
    thread_.join();
  }

 private:
  using Key = std::array<std::int64_t, 2>;  // block, receiver (-1: all)

  void work() {
    while (!ends_) {
      for (std::size_t rank = 0; rank < mailboxes_.size(); ++rank) serve(rank, *mailboxes_[rank]);
      std::this_thread::yield();
    }
  }

  void serve(std::size_t rank, Mailbox& mailbox) {
    MailChunk chunk;
    if (under_way(mailbox, mailbox.out, &chunk)) {
      auto& block = blocks_[{static_cast<std::int64_t>(chunk.block), chunk.rank}];
      block.insert(block.end(), mailbox.out_data(), mailbox.out_data() + chunk.bytes);
      (void)finish_chunk(mailbox.out);
    }
    if (!under_way(mailbox, mailbox.in, &chunk)) return;
    for (const std::int64_t receiver : {static_cast<std::int64_t>(rank), std::int64_t{-1}}) {
      const auto at = blocks_.find({static_cast<std::int64_t>(chunk.block), receiver});
      if (at == blocks_.end() || at->second.size() < chunk.offset + chunk.bytes) continue;
      std::copy_n(at->second.data() + chunk.offset, chunk.bytes, mailbox.in_data());
      (void)finish_chunk(mailbox.in);
      return;
    }
  }

  std::vector<Mailbox*> mailboxes_;
  std::map<Key, std::vector<std::byte>> blocks_;
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

}  // namespace thinwire::collective
