#include "host_stream.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "collective/reduce.h"
#include "message/message.h"

namespace thinwire::collective::testing {

namespace {

constexpr auto kLongest = std::chrono::seconds(30);

// Floats of 32 bits alone are tested so.
void make_nan(std::byte* at, const Shape& shape) {
  for (std::uint64_t i = 0; i < shape.count(); ++i) {
    store(at + i * sizeof(float), std::numeric_limits<float>::quiet_NaN());
  }
}

}  // namespace

// ---- Local steps ----

Result<WorkMemory> HostWork::memory_for(const Shape& shape) const {
  return WorkMemory{.workspace_bytes = 1, .spare_bytes = array(shape).raw_bytes()};
}

Status HostWork::begin(MutableByteView, std::byte* spare) {
  spare_ = spare;
  return {};
}

Status HostWork::clear(std::byte* at, std::uint64_t bytes) {
  if (bytes > 0) std::memset(at, 0, bytes);
  return {};
}

Status HostWork::copy(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  if (bytes > 0) std::memmove(to, from, bytes);
  return {};
}

Status HostWork::combine(std::byte* to, const std::byte* from, const Shape& shape) {
  collective::combine(settings_->reduction, settings_->dtype, shape.count(), to, from);
  return {};
}

Status HostWork::encode(const std::byte* from, const Shape& shape, MutableByteView slot,
                        device::Outcome* outcome) {
  const message::Coder coder{settings_->spec.codec, settings_->spec.parameter};
  std::vector<std::byte> room(*message::bound(coder, array(shape)));
  message::EncodeOptions options;
  options.mark = settings_->mark;
  options.decline = true;
  const auto bytes = message::encode(coder, array(shape), from, room, options);
  std::memset(slot.data(), 0, slot.size());
  if (bytes.ok() && *bytes != slot.size()) {
    return {StatusCode::kInternal, "a frame of another size"};
  }
  if (bytes.ok()) std::memcpy(slot.data(), room.data(), slot.size());
  *outcome = device::make_outcome(bytes.status().code(), bytes.ok() ? *bytes : 0);
  return {};
}

Status HostWork::decode(ByteView frame, const Shape& shape, std::byte* to,
                        device::Outcome* outcome) {
  const auto info = message::decode(frame, {to, array(shape).raw_bytes()}, settings_->mark);
  *outcome = device::make_outcome(info.status().code(), 0);
  if (!info.ok()) make_nan(to, shape);
  return {};
}

Status HostWork::reduce(ByteView frame, const Shape& shape, std::byte* to,
                        device::Outcome* outcome) {
  if (Status status = decode(frame, shape, spare_, outcome); !status.ok()) return status;
  return combine(to, spare_, shape);
}

// ---- Messages ----

namespace {

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
