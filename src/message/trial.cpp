#include "message/comparison.h"

#include <array>
#include <optional>

#include "base/bytes.h"
#include "device/pool.h"
#include "device/work_stream.h"
#include "message/gpu.h"
#include "message/host.h"

namespace thinwire::message {
namespace {

EncodeOptions options_of_trials() {
  EncodeOptions options;
  options.decline = true;
  options.chunk_checksums = false;
  return options;
}

// ---- On the host ----

// Each sample is gathered once, in front of the first trial of it.
Status try_on_host(std::span<Trial> trials, const std::byte* source) {
  std::uint64_t values = 0, most = 0;
  for (const Trial& trial : trials) {
    const auto own = bound(trial.coder, trial.sample->array);
    if (!own.ok()) return own.status();
    most = std::max(most, *own);
    values = std::max(values, trial.sample->places.bytes());
  }
  auto room = device::acquire_host(aligned(values) + most);
  if (!room.ok()) return room.status();
  std::byte* const frame = room->data() + aligned(values);
  const Sample* gathered = nullptr;
  for (Trial& trial : trials) {
    const Sample& sample = *trial.sample;
    if (!sample.is_whole() && &sample != gathered) {
      device::gather_on_host(sample.places, source, room->data());
      gathered = &sample;
    }
    const auto written =
        encode_on_host(trial.coder, sample.array, sample.is_whole() ? source : room->data(),
                       {frame, most}, options_of_trials());
    if (!written.ok() && !is_declined(written.status().code())) return written.status();
    trial.bytes = written.ok() ? *written : sample.array.raw_bytes();
  }
  return {};
}

// ---- On a GPU ----

// The place of a sample's values, by the time that what follows on `work` runs.
Result<const std::byte*> gather(const Sample& sample, const std::byte* source,
                                device::WorkStream& work) {
  if (sample.is_whole()) return source;
  const auto values = work.borrow_on_device(sample.places.bytes());
  if (!values.ok()) return values.status();
  Status status = device::enqueue_gather(sample.places, source, *values, work.stream());
  if (!status.ok()) return status;
  return static_cast<const std::byte*>(*values);
}

// On a work stream of its own, to which values and frame belong.
Result<device::WorkStream> start(const Trial& trial, const std::byte* source, int device,
                                 device::StreamHandle stream) {
  auto work = prepared_work_stream(device, stream);
  if (!work.ok()) return work.status();
  const codec::Chunk& array = trial.sample->array;
  auto most = bound(trial.coder, array);
  if (!most.ok()) return most.status();
  const auto frame = work->borrow_on_device(*most);
  if (!frame.ok()) return frame.status();
  const auto values = gather(*trial.sample, source, *work);
  if (!values.ok()) return values.status();
  Status status = start_encode(trial.coder, array, *values, *frame, array.raw_bytes(),
                               options_of_trials(), *work);
  if (!status.ok()) return status;
  return work;
}

Status finish(device::WorkStream& running, Trial& trial) {
  const auto outcome = running.wait();
  if (!outcome.ok()) return outcome.status();
  if (device::outcome_status(*outcome) == StatusCode::kOk) {
    trial.bytes = device::outcome_bytes(*outcome);
  }
  return running.finish();
}

Status try_on_device(std::span<Trial> trials, const std::byte* source, int device,
                     device::StreamHandle stream) {
  std::array<std::optional<device::WorkStream>, kMostTrials> running;
  Status failure;
  for (std::size_t at = 0; at < trials.size() && failure.ok(); ++at) {
    trials[at].bytes = trials[at].sample->array.raw_bytes();
    if (trials[at].coder.codec->device == nullptr) continue;
    auto started = start(trials[at], source, device, stream);
    if (started.ok()) {
      started->leave_context();
      running[at] = std::move(*started);
    } else {
      failure = started.status();
    }
  }
  for (std::size_t at = 0; at < trials.size(); ++at) {
    if (!running[at]) continue;
    Status status = finish(*running[at], trials[at]);
    if (failure.ok()) failure = status;
  }
  return failure;
}

}  // namespace

Status try_all(std::span<Trial> trials, const std::byte* source, device::StreamHandle stream) {
  const auto place = device::place_of(source);
  if (!place.ok()) return place.status();
  if (place->on_device()) return try_on_device(trials, source, place->device, stream);
  return try_on_host(trials, source);
}

}  // namespace thinwire::message
