#include "collective/enqueued/sized_exchange.h"

#include <algorithm>

#include "base/aligned.h"
#include "device/enqueue.h"
#include "device/work_stream.h"
#include "message/enqueue.h"

namespace thinwire::collective {
namespace {

// The words, in device memory and on the host.
constexpr int kOwnLength = 0;
constexpr int kPeersLength = 1;
constexpr int kEnd = 2;

constexpr std::uint32_t kPollsBetweenChecks = 1 << 12;

device::Outcome read(const device::Outcome* outcome) {
  return __atomic_load_n(outcome, __ATOMIC_ACQUIRE);
}

// Of the frame, or of the values where there is none.
std::uint64_t length_of(device::Outcome outcome, const SizedMessage& message) {
  const bool framed = device::outcome_status(outcome) == StatusCode::kOk;
  return framed ? device::outcome_bytes(outcome) : message.array.raw_bytes();
}

}  // namespace

Status SizedExchange::prepare(const message::Coder& coder, const frame::Mark& mark,
                              const SizedMessage& sent, const SizedMessage& received) {
  coder_ = coder;
  mark_ = mark;
  sent_ = sent;
  received_ = received;
  cleared_ = nullptr;
  stage_ = Stage::kIdle;
  std::uint64_t outgoing = 0, incoming = 0, workspace = 0;
  for (const SizedMessage* message : {&sent_, &received_}) {
    if (!message->travels()) continue;
    const auto needed = message::workspace_bytes(coder_, message->array);
    if (!needed.ok()) return needed.status();
    workspace = std::max(workspace, *needed);
  }
  if (sent_.travels()) {
    const auto most = message::bound(coder_, sent_.array);
    if (!most.ok()) return most.status();
    outgoing = *most;
  }
  // A frame is shorter than the values.
  if (received_.travels()) incoming = received_.array.raw_bytes();
  places_.outgoing = aligned(kOutcomes * sizeof(device::Outcome));
  places_.incoming = places_.outgoing + aligned(outgoing);
  places_.workspace = places_.incoming + aligned(incoming);
  places_.end = places_.workspace + aligned(workspace);
  return {};
}

Status SizedExchange::start(std::byte* memory, device::Outcome* outcomes,
                            transport::StreamTransport& transport, device::StreamHandle stream) {
  if (stage_ != Stage::kIdle) {
    return {StatusCode::kInvalidArgument, "the exchange before is not over"};
  }
  if (device::is_capturing(stream)) {
    return {StatusCode::kUnsupported, "lengths that depend on the data cannot be captured"};
  }
  memory_ = memory;
  outcomes_ = outcomes;
  transport_ = &transport;
  stream_ = stream;
  sent_bytes_ = received_bytes_ = 0;
  if (!sent_.travels() && !received_.travels()) return {};
  std::fill_n(outcomes, kOutcomes, 0);
  const std::uint64_t words = kOutcomes * sizeof(device::Outcome);
  Status status = device::enqueue_clear(memory, words, stream);
  if (status.ok() && cleared_ != memory) {
    const auto workspace = part(places_.workspace, places_.end);
    status = device::enqueue_clear(workspace.data(), workspace.size(), stream);
    cleared_ = memory;
  }
  if (status.ok()) status = exchange_lengths();
  if (status.ok()) stage_ = Stage::kLengths;
  return status;
}

Status SizedExchange::exchange_lengths() {
  const auto as_bytes = [&](int number) {
    return MutableByteView(reinterpret_cast<std::byte*>(word(number)), sizeof(device::Outcome));
  };
  Status status;
  if (sent_.travels()) {
    const auto workspace = part(places_.workspace, places_.end);
    status = message::enqueue_encode(coder_, sent_.array, sent_.values,
                                     part(places_.outgoing, places_.incoming), options(),
                                     {workspace.data(), workspace.size(), word(kOwnLength)});
  }
  if (status.ok()) status = transport_->begin_group();
  if (!status.ok()) return status;
  if (sent_.travels()) status = transport_->send(sent_.peer, as_bytes(kOwnLength), stream_);
  if (status.ok() && received_.travels()) {
    status = transport_->receive(received_.peer, as_bytes(kPeersLength), stream_);
  }
  const Status ended = transport_->end_group();
  if (!status.ok() || !ended.ok()) return status.ok() ? ended : status;
  return device::enqueue_report(word(kOwnLength), outcomes_, kEnd, stream_);
}

Status SizedExchange::exchange_frames() {
  const bool sends = sent_.travels(), receives = received_.travels();
  const device::Outcome own = read(outcomes_ + kOwnLength);
  const device::Outcome peers = read(outcomes_ + kPeersLength);
  const bool framed = device::outcome_status(own) == StatusCode::kOk;
  const bool comes_framed = device::outcome_status(peers) == StatusCode::kOk;
  if (sends) sent_bytes_ = length_of(own, sent_);
  if (receives) received_bytes_ = length_of(peers, received_);
  if (received_bytes_ > (receives ? received_.array.raw_bytes() : 0) ||
      (receives && received_bytes_ == 0)) {
    return {StatusCode::kDamaged, "the peer's frame has an impossible length"};
  }
  Status status = transport_->begin_group();
  if (!status.ok()) return status;
  if (sends) {
    const std::byte* const from = framed ? memory_ + places_.outgoing : sent_.values;
    status = transport_->send(sent_.peer, {from, sent_bytes_}, stream_);
  }
  if (status.ok() && receives) {
    std::byte* const to = comes_framed ? memory_ + places_.incoming : received_.values;
    status = transport_->receive(received_.peer, {to, received_bytes_}, stream_);
  }
  const Status ended = transport_->end_group();
  if (!status.ok() || !ended.ok()) return status.ok() ? ended : status;
  if (receives && comes_framed) status = decode();
  return status.ok() ? device::enqueue_report(word(kEnd), outcomes_ + kEnd, 1, stream_) : status;
}

Status SizedExchange::decode() {
  const auto workspace = part(places_.workspace, places_.end);
  return message::enqueue_decode(coder_, received_.array,
                                 {memory_ + places_.incoming, received_bytes_},
                                 {received_.values, received_.array.raw_bytes()}, {}, options(),
                                 {workspace.data(), workspace.size(), word(kEnd)});
}

// What has failed never writes its word.
Status SizedExchange::check_progress() {
  if (++polls_ % kPollsBetweenChecks != 0) return {};
  if (Status status = transport_->check(); !status.ok()) return status;
  const auto idle = device::is_idle(stream_);
  if (!idle.ok()) return idle.status();
  const int awaited = stage_ == Stage::kLengths ? kPeersLength : kEnd;
  if (!*idle || read(outcomes_ + awaited) != 0) return {};
  return {StatusCode::kDevice, "the GPU's work ended without an outcome"};
}

Result<bool> SizedExchange::advance() {
  if (stage_ == Stage::kLengths && read(outcomes_ + kOwnLength) != 0 &&
      read(outcomes_ + kPeersLength) != 0) {
    if (Status status = exchange_frames(); !status.ok()) return status;
    stage_ = Stage::kFrames;
  }
  if (stage_ == Stage::kFrames) {
    if (const device::Outcome outcome = read(outcomes_ + kEnd); outcome != 0) {
      stage_ = Stage::kIdle;
      if (device::outcome_status(outcome) == StatusCode::kOk) return true;
      return {StatusCode::kDamaged, "what came is no frame of the array"};
    }
  }
  if (stage_ == Stage::kIdle) return true;
  if (Status status = check_progress(); !status.ok()) return status;
  return false;
}

}  // namespace thinwire::collective
