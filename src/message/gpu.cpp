#include "message/gpu.h"

#include <algorithm>

#include "device/work_stream.h"
#include "message/fill_values.h"
#include "message/fills/fills.h"
#include "message/host.h"

namespace thinwire::message {
namespace {

using device::acquire_work_stream;
using device::Place;
using device::StreamHandle;
using device::WorkStream;

constexpr std::uint64_t kNoLimit = UINT64_MAX;

// Gives a job of `side` the work stream's memory and stream.
template <typename Job>
Status put_on_stream(Job& job, const codec::DeviceCodec& side, WorkStream& work) {
  Status status = work.reserve(side.workspace_bytes(job.layout, job.parameter), side.leaves_zeros);
  job.workspace = work.workspace();
  job.outcome = work.outcome();
  job.stream = work.stream();
  return status;
}

// The memory of work on an array with missing values, the codec's side being that of `layout`.
Result<fills::Room> make_fill_room(const Coder& coder, const codec::Chunk& array,
                                   WorkStream& work) {
  const codec::DeviceCodec& side = *coder.codec->device;
  Status status =
      work.reserve(side.workspace_bytes(coder.layout(array), coder.parameter), side.leaves_zeros);
  if (!status.ok()) return status;
  const auto scratch = work.borrow_on_device(fills::scratch_bytes(coder, array));
  if (!scratch.ok()) return scratch.status();
  return fills::Room{work.workspace(), *scratch, work.outcome()};
}

// start_encode() under "fill="; where `told` is once the outcome is known.
Result<const fills::Told*> start_encode_with_fill(const Coder& coder, const codec::Chunk& array,
                                                  const std::byte* source, std::byte* frame,
                                                  std::uint64_t limit, const EncodeOptions& options,
                                                  WorkStream& work) {
  auto room = make_fill_room(coder, array, work);
  if (!room.ok()) return room.status();
  const auto told = work.borrow_pinned(sizeof(fills::Told));
  if (!told.ok()) return told.status();
  room->told = reinterpret_cast<fills::Told*>(*told);
  EncodeOptions own = options;
  own.stream = work.stream();
  const Status status = fills::enqueue_encode(coder, array, source, frame, limit, own, *room);
  if (!status.ok()) return status;
  return static_cast<const fills::Told*>(room->told);
}

// Enqueues the copy of an array's sample to pinned memory, before the work that is waited for.
Result<std::byte*> take_fill_sample(const Sample& sample, const std::byte* source,
                                    WorkStream& work) {
  const std::uint64_t bytes = sample.array.raw_bytes();
  const auto values = work.borrow_pinned(bytes);
  if (!values.ok()) return values.status();
  const Status status = sample.is_whole()
                            ? work.copy(*values, source, bytes)
                            : device::enqueue_gather(sample.places, source, *values, work.stream());
  if (!status.ok()) return status;
  return *values;
}

// As start_encode(), to its end: the frame's size, or kDeclined at `limit`, or kHoldsIntegers.
Result<std::uint64_t> run_encode(const Coder& coder, const codec::Chunk& array,
                                 const std::byte* source, std::byte* frame, std::uint64_t limit,
                                 const EncodeOptions& options, WorkStream& work) {
  std::byte* sampled = nullptr;
  const Sample sample = fill_sample(array);
  if (looks_for_fill_values(coder, array, options)) {
    const auto taken = take_fill_sample(sample, source, work);
    if (!taken.ok()) return taken.status();
    sampled = *taken;
  }
  const fills::Told* told = nullptr;
  if (coder.fill.exists() && array.shape.count() > 0) {
    const auto started = start_encode_with_fill(coder, array, source, frame, limit, options, work);
    if (!started.ok()) return started.status();
    told = *started;
  } else {
    Status status = start_encode(coder, array, source, frame, limit, options, work);
    if (!status.ok()) return status;
  }
  auto outcome = work.wait();
  if (!outcome.ok()) return outcome.status();
  const auto fill = told != nullptr ? told->value() : std::nullopt;
  if (sampled != nullptr && destroys_most_besides(sample.array, sampled, fill)) {
    return declined_for_fill_values(coder);
  }
  const StatusCode code = device::outcome_status(*outcome);
  if (code == StatusCode::kOk) return device::outcome_bytes(*outcome);
  if (code == StatusCode::kHoldsIntegers) return holds_integers(coder);
  return {code, "the data is declined, or would not shrink"};
}

// As encode_on_host(), on the GPU.
Result<std::uint64_t> encode_frame(const Coder& coder, const codec::Chunk& array,
                                   const std::byte* source, std::byte* frame,
                                   const EncodeOptions& options, WorkStream& work) {
  if (!is_hopeless(coder, array)) {
    auto written = run_encode(coder, array, source, frame, array.raw_bytes(), options, work);
    if (written.ok() || !is_declined(written.status().code()) || options.decline) {
      return written;
    }
  }
  if (options.decline) {
    return {StatusCode::kDeclined, "the frame would not be smaller than the data"};
  }
  return run_encode(raw_coder(), array, source, frame, kNoLimit, options, work);
}

// Encodes by way of the host, as the codec has no GPU side.
Result<std::uint64_t> encode_through_host(const Coder& coder, const codec::Chunk& array,
                                          const std::byte* source, MutableByteView destination,
                                          std::uint64_t most, const EncodeOptions& options,
                                          WorkStream& work) {
  const auto staged = work.borrow_pinned(array.raw_bytes());
  if (!staged.ok()) return staged.status();
  const auto frame = work.borrow_pinned(most);
  if (!frame.ok()) return frame.status();
  Status status = work.copy(*staged, source, array.raw_bytes());
  if (status.ok()) status = work.finish();
  if (!status.ok()) return status;
  auto written = encode_on_host(coder, array, *staged, {*frame, most}, options);
  if (!written.ok()) return written;
  status = work.copy(destination.data(), *frame, *written);
  if (status.ok()) status = work.finish();
  if (!status.ok()) return status;
  return written;
}

// Enqueues a decode; the work stream's outcome comes last.
Status start_decode(const Info& info, ByteView frame, std::byte* destination,
                    const codec::Accumulate& accumulate, WorkStream& work) {
  if (info.header.has_fill) {
    const auto room = make_fill_room(coder_of(info), {info.header.dtype, info.header.shape}, work);
    if (!room.ok()) return room.status();
    return fills::enqueue_decode(info, frame, destination, accumulate, work.stream(), *room);
  }
  codec::DecodeJob job = make_decode_job(info, frame, destination, accumulate);
  const codec::DeviceCodec& side = *info.codec->device;
  Status status = put_on_stream(job, side, work);
  return status.ok() ? side.decode(job) : status;
}

Status run_decode(const Info& info, const std::byte* frame, std::byte* destination,
                  const codec::Accumulate& accumulate, WorkStream& work) {
  Status status =
      start_decode(info, {frame, info.header.frame_bytes()}, destination, accumulate, work);
  if (!status.ok()) return status;
  // The outcome of a decode comes after the last access to either side: nothing else to wait for.
  auto outcome = work.wait_for_last();
  if (!outcome.ok()) return outcome.status();
  if (device::outcome_status(*outcome) == StatusCode::kOk) return {};
  return {device::outcome_status(*outcome), "a chunk of the frame is damaged"};
}

// Whether kernels code the missing values of such an array: not of none, nor of one that no encode
// takes.
bool has_fills_on_device(const Info& info) {
  const codec::Chunk array{info.header.dtype, info.header.shape};
  return array.shape.count() > 0 && bound(coder_of(info), array).ok();
}

// Decodes by way of the host, as the codec has no GPU side, or missing values none of such arrays.
Status decode_through_host(const Info& info, const std::byte* source, Place source_place,
                           std::byte* destination, const codec::Accumulate& accumulate,
                           WorkStream& work) {
  const std::uint64_t bytes = info.header.raw_bytes();
  const auto array = work.borrow_pinned(bytes);
  if (!array.ok()) return array.status();
  Status status;
  if (accumulate.adds) {
    status = work.copy(*array, destination, bytes);
    if (status.ok()) status = work.finish();
    if (!status.ok()) return status;
  }
  status = source_place.on_device()
               ? decode_to_host(info, source, source_place.device, *array, accumulate, nullptr)
               : decode_on_host(info, {source, info.header.frame_bytes()}, accumulate, *array);
  if (status.ok()) status = work.copy(destination, *array, bytes);
  return status.ok() ? work.finish() : status;
}

}  // namespace

Result<WorkStream> prepared_work_stream(int device, StreamHandle stream) {
  if (stream != nullptr && device::is_capturing(stream)) {
    return {StatusCode::kUnsupported,
            "the stream is being captured: a call that returns a size must wait for it"};
  }
  auto work = acquire_work_stream(device, 0);
  if (work.ok() && stream != nullptr) {
    if (Status status = work->order_after(stream); !status.ok()) return status;
  }
  return work;
}

Status start_encode(const Coder& coder, const codec::Chunk& array, const std::byte* source,
                    std::byte* frame, std::uint64_t limit, const EncodeOptions& options,
                    WorkStream& work) {
  codec::EncodeJob job = make_encode_job(coder, array, source, options);
  job.frame = frame;
  job.limit = limit;
  const codec::DeviceCodec& side = *coder.codec->device;
  Status status = put_on_stream(job, side, work);
  return status.ok() ? side.encode(job) : status;
}

Result<std::uint64_t> encode_from_device(const Coder& coder, const codec::Chunk& array,
                                         const std::byte* source, int device,
                                         MutableByteView destination, const Place& to,
                                         std::uint64_t most, const EncodeOptions& options) {
  auto work = prepared_work_stream(device, options.stream);
  if (!work.ok()) return work.status();
  if (coder.codec->device == nullptr) {
    return encode_through_host(coder, array, source, destination, most, options, *work);
  }
  if (to.on_device() && to.device == device) {
    auto written = encode_frame(coder, array, source, destination.data(), options, *work);
    if (Status status = work->finish(); written.ok() && !status.ok()) return status;
    return written;
  }
  const auto frame = work->borrow_on_device(most);
  if (!frame.ok()) return frame.status();
  auto written = encode_frame(coder, array, source, *frame, options, *work);
  if (!written.ok()) return written;
  Status status = work->copy(destination.data(), *frame, *written);
  if (status.ok()) status = work->finish();
  if (!status.ok()) return status;
  return written;
}

Result<std::uint64_t> encode_to_device(const Coder& coder, const codec::Chunk& array,
                                       const std::byte* source, MutableByteView destination,
                                       int device, std::uint64_t most,
                                       const EncodeOptions& options) {
  auto work = prepared_work_stream(device, options.stream);
  if (!work.ok()) return work.status();
  const auto frame = work->borrow_pinned(most);
  if (!frame.ok()) return frame.status();
  auto written = encode_on_host(coder, array, source, {*frame, most}, options);
  if (!written.ok()) return written;
  Status status = work->copy(destination.data(), *frame, *written);
  if (status.ok()) status = work->finish();
  if (!status.ok()) return status;
  return written;
}

Status decode_to_device(const Info& info, const std::byte* source, Place source_place,
                        std::byte* destination, int device, const codec::Accumulate& accumulate,
                        StreamHandle stream) {
  auto work = prepared_work_stream(device, stream);
  if (!work.ok()) return work.status();
  const std::uint64_t frame_bytes = info.header.frame_bytes();
  if (info.codec->device == nullptr || (info.header.has_fill && !has_fills_on_device(info))) {
    return decode_through_host(info, source, source_place, destination, accumulate, *work);
  }
  if (source_place.on_device() && source_place.device == device) {
    return run_decode(info, source, destination, accumulate, *work);
  }
  const auto frame = work->borrow_on_device(frame_bytes);
  if (!frame.ok()) return frame.status();
  Status status = work->copy(*frame, source, frame_bytes);
  return status.ok() ? run_decode(info, *frame, destination, accumulate, *work) : status;
}

Status decode_to_host(const Info& info, const std::byte* source, int source_device,
                      std::byte* destination, const codec::Accumulate& accumulate,
                      StreamHandle stream) {
  auto work = prepared_work_stream(source_device, stream);
  if (!work.ok()) return work.status();
  const std::uint64_t frame_bytes = info.header.frame_bytes();
  const auto frame = work->borrow_pinned(frame_bytes);
  if (!frame.ok()) return frame.status();
  Status status = work->copy(*frame, source, frame_bytes);
  if (status.ok()) status = work->finish();
  if (!status.ok()) return status;
  return decode_on_host(info, {*frame, frame_bytes}, accumulate, destination);
}

Result<FrameStart> read_start(const std::byte* source, std::uint64_t length, int device,
                              StreamHandle stream) {
  auto work = prepared_work_stream(device, stream);
  if (!work.ok()) return work.status();
  const auto staged = work->borrow_pinned(frame::kMaxHeaderBytes);
  if (!staged.ok()) return staged.status();
  FrameStart start{};
  start.count = static_cast<std::size_t>(std::min<std::uint64_t>(length, start.bytes.size()));
  Status status = work->copy(*staged, source, start.count);
  if (status.ok()) status = work->finish();
  if (!status.ok()) return status;
  std::copy_n(*staged, start.count, start.bytes.begin());
  return start;
}

}  // namespace thinwire::message
