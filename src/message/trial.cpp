#include "message/trial.h"

#include <array>
#include <optional>

#include "device/work_stream.h"
#include "message/gpu.h"

namespace thinwire::message {
namespace {

// On a work stream of its own, to which the frame belongs.
Result<device::WorkStream> start(const Coder& coder, const codec::Chunk& sample,
                                 const std::byte* source, int device, device::StreamHandle stream) {
  auto work = prepared_work_stream(device, stream);
  if (!work.ok()) return work.status();
  auto most = bound(coder, sample);
  if (!most.ok()) return most.status();
  const auto frame = work->borrow_on_device(*most);
  if (!frame.ok()) return frame.status();
  EncodeOptions options;
  options.chunk_checksums = false;
  Status status = start_encode(coder, sample, source, *frame, sample.raw_bytes(), options, *work);
  if (!status.ok()) return status;
  return work;
}

Status finish(device::WorkStream& running, const codec::Chunk& sample, Trial& trial) {
  const auto outcome = running.wait();
  if (!outcome.ok()) return outcome.status();
  const StatusCode code = device::outcome_status(*outcome);
  trial.bytes = code == StatusCode::kOk ? device::outcome_bytes(*outcome) : sample.raw_bytes();
  return running.finish();
}

}  // namespace

Status try_on_device(std::span<Trial> trials, const codec::Chunk& sample, const std::byte* source,
                     int device, device::StreamHandle stream) {
  std::array<std::optional<device::WorkStream>, kMostTrials> running;
  Status failure;
  for (std::size_t at = 0; at < trials.size() && failure.ok(); ++at) {
    trials[at].bytes = sample.raw_bytes();
    if (trials[at].coder.codec->device == nullptr) continue;
    auto started = start(trials[at].coder, sample, source, device, stream);
    if (started.ok()) {
      started->leave_context();
      running[at] = std::move(*started);
    } else {
      failure = started.status();
    }
  }
  for (std::size_t at = 0; at < trials.size(); ++at) {
    if (!running[at]) continue;
    Status status = finish(*running[at], sample, trials[at]);
    if (failure.ok()) failure = status;
  }
  return failure;
}

}  // namespace thinwire::message
