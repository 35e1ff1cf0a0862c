#include "host_stream.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

namespace thinwire::collective::testing {

namespace {

constexpr auto kLongest = std::chrono::seconds(30);

struct Posted {
  MutableByteView bytes;
  bool* complete;
};

struct Wires {
  std::mutex mutex;
  std::condition_variable moved;
  std::map<std::pair<int, int>, std::deque<Posted>> sent, received;  // from, to
  bool broken = false;
};

class GroupedTransport : public transport::StreamTransport {
 public:
  GroupedTransport(std::shared_ptr<Wires> wires, int rank, int size)
      : wires_(std::move(wires)), rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  Status begin_group() override {
    messages_.clear();
    return {};
  }

  Status send(int peer, ByteView bytes, device::StreamHandle) override {
    const MutableByteView view(const_cast<std::byte*>(bytes.data()), bytes.size());
    messages_.push_back({peer, true, view, false});
    return {};
  }

  Status receive(int peer, MutableByteView into, device::StreamHandle) override {
    messages_.push_back({peer, false, into, false});
    return {};
  }

  Status end_group() override {
    std::unique_lock lock(wires_->mutex);
    for (Message& message : messages_) post(message);
    wires_->moved.notify_all();
    const bool done = wires_->moved.wait_for(lock, kLongest, [&] {
      return wires_->broken || std::all_of(messages_.begin(), messages_.end(),
                                           [](const Message& message) { return message.complete; });
    });
    if (done && !wires_->broken) return {};
    wires_->broken = true;
    wires_->moved.notify_all();
    return {StatusCode::kInternal, "a group waits for ever, or lengths differ"};
  }

  Status check() override { return {}; }

 private:
  struct Message {
    int peer;
    bool sends;
    MutableByteView bytes;
    bool complete;
  };

  void post(Message& message) {
    const std::pair<int, int> way =
        message.sends ? std::pair(rank_, message.peer) : std::pair(message.peer, rank_);
    auto& sent = wires_->sent[way];
    auto& received = wires_->received[way];
    (message.sends ? sent : received).push_back({message.bytes, &message.complete});
    while (!sent.empty() && !received.empty()) {
      const Posted from = sent.front(), to = received.front();
      if (from.bytes.size() != to.bytes.size() || from.bytes.empty()) wires_->broken = true;
      if (wires_->broken) return;
      std::memcpy(to.bytes.data(), from.bytes.data(), from.bytes.size());
      *from.complete = *to.complete = true;
      sent.pop_front();
      received.pop_front();
    }
  }

  std::shared_ptr<Wires> wires_;
  int rank_, size_;
  std::vector<Message> messages_;
};

}  // namespace

std::vector<std::unique_ptr<transport::StreamTransport>> make_grouped(int size) {
  const auto wires = std::make_shared<Wires>();
  std::vector<std::unique_ptr<transport::StreamTransport>> ends;
  for (int rank = 0; rank < size; ++rank) {
    ends.push_back(std::make_unique<GroupedTransport>(wires, rank, size));
  }
  return ends;
}

}  // namespace thinwire::collective::testing
