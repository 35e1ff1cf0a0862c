#include "device/enqueue.h"
#include "message/enqueue.h"
#include "message/fills/fills.h"
#include "message/fills/work.h"
#include "message/find_fill.h"
#include "message/gpu.h"

namespace thinwire::message::fills {
namespace {

Coder without_fill(const Coder& coder) { return {coder.codec, coder.parameter, coder.as_line}; }

// Hands out parts of the scratch memory; adds up what they take if there is none.
class Parts {
 public:
  explicit Parts(std::byte* at) : at_(at) {}

  template <typename Item>
  void take(Item*& part, std::uint64_t count) {
    if (at_ != nullptr) part = reinterpret_cast<Item*>(at_ + bytes_);
    bytes_ += aligned(count * sizeof(Item));
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::byte* at_;
  std::uint64_t bytes_ = 0;
};

// Gives the work its parts of the scratch memory.
std::uint64_t lay_out(const Coder& coder, const codec::Chunk& array, std::byte* scratch,
                      Common& work, std::uint32_t*& before, std::uint32_t*& after) {
  Parts parts(scratch);
  const std::uint64_t chunks = work.layout.chunks;
  std::byte* state = nullptr;
  parts.take(state, kStateBytes);
  work.state = reinterpret_cast<State*>(state);
  parts.take(work.masks, chunks);
  parts.take(work.holed_at, chunks);
  parts.take(work.plain_at, chunks);
  parts.take(work.bits, chunks * work.words);
  parts.take(before, chunks * work.words);
  parts.take(after, chunks * work.words);
  parts.take(work.values, array.raw_bytes());
  const auto plain = bound(without_fill(coder), array);
  parts.take(work.plain, plain.ok() ? *plain : 0);
  return parts.bytes();
}

// Describes the work of either direction, but for the memory.
void describe(const codec::Codec& codec, const codec::Layout& layout, Common& work) {
  work.layout = layout;
  work.words = ceil_div(layout.chunk(0).shape.count(), 32);
  work.fixed = codec.fixed_size;
}

// Puts the lent memory into the state that kernels want.
Status prepare(const Common& work, const Room& room, device::StreamHandle stream) {
  const Status status = device::enqueue_clear(room.workspace, room.unknown_bytes, stream);
  if (!status.ok()) return status;
  return device::enqueue_clear(reinterpret_cast<std::byte*>(work.state), kStateBytes, stream);
}

Status check_chunks(const codec::Layout& layout) {
  if (layout.chunks <= INT32_MAX) return {};
  return {StatusCode::kUnsupported, "the array has too many chunks for one launch"};
}

}  // namespace

std::uint64_t scratch_bytes(const Coder& coder, const codec::Chunk& array) {
  Common work{};
  describe(*coder.codec, coder.layout(array), work);
  std::uint32_t* unused = nullptr;
  return lay_out(coder, array, nullptr, work, unused, unused);
}

Status enqueue_encode(const Coder& coder, const codec::Chunk& array, const std::byte* source,
                      std::byte* frame, std::uint64_t limit, const EncodeOptions& options,
                      const Room& room) {
  EncodeWork work{};
  describe(*coder.codec, coder.layout(array), work);
  if (Status status = check_chunks(work.layout); !status.ok()) return status;
  lay_out(coder, array, room.scratch, work, work.before, work.after);
  const Coder plain = without_fill(coder);
  work.header = frame::unsealed(make_header(plain, array, options.chunk_checksums), options.mark);
  work.checksums = options.chunk_checksums;
  work.source = source;
  work.kind = coder.fill.kind;
  if (work.kind == codec::Fill::Kind::kValue) {
    const auto wanted = named_bits(coder.fill.value, array.dtype);
    work.wanted = wanted.value_or(0);
    if (!wanted) work.kind = codec::Fill::Kind::kNone;
  }
  work.looks_for_integers = declines_integers(coder, array, options);
  work.frame = frame;
  work.limit = limit;
  work.outcome = room.outcome;
  work.told = reinterpret_cast<unsigned long long*>(room.told);
  Status status = prepare(work, room, options.stream);
  if (status.ok()) status = enqueue_find(work, options.stream);
  if (status.ok()) status = enqueue_close(work, options.stream);
  if (!status.ok()) return status;
  EncodeOptions own = options;
  own.chunk_checksums = false;
  own.declines_integers = false;  // of the caller's array, not of what is in its holes
  codec::EncodeJob job = make_encode_job(plain, array, work.values, own);
  job.frame = work.plain;
  job.limit = UINT64_MAX;
  job.workspace = room.workspace;
  job.outcome = &work.state->coded;
  job.stream = options.stream;
  status = coder.codec->device->encode(job);
  return status.ok() ? enqueue_join(work, options.stream) : status;
}

Status enqueue_decode(const Info& info, ByteView frame, std::byte* destination,
                      const codec::Accumulate& accumulate, device::StreamHandle stream,
                      const Room& room) {
  const codec::Chunk array{info.header.dtype, info.header.shape};
  const Coder coder{info.codec, info.header.parameter, info.header.as_line};
  DecodeWork work{};
  describe(*info.codec, info.layout(), work);
  if (Status status = check_chunks(work.layout); !status.ok()) return status;
  std::uint32_t* unused = nullptr;
  lay_out(coder, array, room.scratch, work, unused, unused);
  Info plain = info;
  plain.header.has_fill = false;
  plain.header.fill = 0;
  work.header = frame::unsealed(plain.header, info.mark);
  work.checksums = info.header.chunk_checksums;
  plain.header.chunk_checksums = false;  // the payloads have been compared with theirs
  work.plain_header = frame::unsealed(plain.header, info.mark);
  work.frame = frame.data();
  work.length = frame.size();
  work.open = info.codec->open(info.header.parameter);
  if (work.fixed) {
    const auto bytes_of = [&](std::uint64_t chunk) {
      return static_cast<std::uint32_t>(
          info.codec->bound(work.layout.chunk(chunk), info.header.parameter));
    };
    work.whole_bytes = bytes_of(0);
    work.last_bytes = bytes_of(work.layout.chunks - 1);
  }
  work.destination = destination;
  work.accumulate = accumulate;
  work.outcome = room.outcome;
  Status status = prepare(work, room, stream);
  if (status.ok()) status = enqueue_part(work, stream);
  if (!status.ok()) return status;
  codec::DecodeJob job = make_decode_job(plain, {work.plain, *bound(coder, array)},
                                         accumulate.adds ? work.values : destination, {});
  job.workspace = room.workspace;
  job.outcome = &work.state->coded;
  job.stream = stream;
  status = info.codec->device->decode(job);
  return status.ok() ? enqueue_put(work, stream) : status;
}

}  // namespace thinwire::message::fills
