// Stands for src/codec/registry.cpp and the kernels: codec raw, with a device side that does on a
// stream of the fake CUDA what kernels do, and cast, whose device side nobody may call.
#include <array>

#include "base/checksum.h"
#include "codec/registry.h"
#include "device/driver.h"
#include "device/places.h"
#include "fake_cuda/fake_cuda.h"
#include "message/host.h"

namespace thinwire::codec {
namespace {

constexpr auto kCodecs = std::to_array<const Codec*>({&kRaw, &kCast});

void run_encode(const EncodeJob& job) {
  std::byte* const table = job.frame + job.header.bytes();
  std::byte* out = table + job.layout.table_bytes();
  const std::uint64_t body = job.layout.table_bytes() + job.layout.array.raw_bytes();
  if (job.header.bytes() + body >= job.limit) {
    *job.outcome = device::make_outcome(StatusCode::kDeclined, 0);
    return;
  }
  for (std::uint64_t index = 0; index < job.layout.chunks; ++index) {
    const std::uint64_t bytes = job.layout.chunk(index).raw_bytes();
    std::memcpy(out, job.source + job.layout.raw_offset(index), bytes);
    const std::uint64_t sum = job.checksums ? checksum({out, bytes}) << 32 : 0;
    store(table + index * kTableRowBytes, sum | bytes);
    out += bytes;
  }
  frame::HeaderWords header = job.header;
  frame::seal(header, body);
  std::memcpy(job.frame, header.word, header.bytes());
  *job.outcome = device::make_outcome(StatusCode::kOk, header.bytes() + body);
}

void run_decode(const DecodeJob& job) {
  const frame::Mark mark{{job.header.word[0], job.header.word[1]}};
  const auto header = frame::unpack({job.frame, job.length}, mark);
  Status status = header.status();
  if (header.ok()) {
    status = message::decode_on_host({*header, &kRaw, mark}, {job.frame, job.length},
                                     job.accumulate, job.destination);
  }
  *job.outcome = device::make_outcome(status.code(), 0);
}

std::uint64_t workspace_bytes(const Layout&, std::uint64_t) { return 64; }

Status encode(const EncodeJob& job) {
  return device::device_status("cannot start a codec",
                               fake_cuda::enqueue(job.stream, [job] { run_encode(job); }));
}

Status decode(const DecodeJob& job) {
  return device::device_status("cannot start a codec",
                               fake_cuda::enqueue(job.stream, [job] { run_decode(job); }));
}

}  // namespace

const DeviceCodec kRawDevice = {
    .workspace_bytes = workspace_bytes, .encode = encode, .decode = decode};

const DeviceCodec kCastDevice = {
    .workspace_bytes = workspace_bytes,
    .encode = [](const EncodeJob&) { return Status(StatusCode::kInternal, "called"); },
    .decode = [](const DecodeJob&) { return Status(StatusCode::kInternal, "called"); }};

std::span<const Codec* const> all_codecs() { return kCodecs; }
const Codec* find_codec(CodecId id) {
  return id == kRaw.id ? &kRaw : id == kCast.id ? &kCast : nullptr;
}
const Codec* find_codec(std::string_view name) {
  return name == kRaw.name ? &kRaw : name == kCast.name ? &kCast : nullptr;
}
const Codec& raw_codec() { return kRaw; }

}  // namespace thinwire::codec

namespace thinwire::device {

Status enqueue_gather(const Places& places, const std::byte* array, std::byte* out,
                      StreamHandle stream) {
  return device_status(
      "cannot gather places of an array",
      fake_cuda::enqueue(stream, [places, array, out] { gather_on_host(places, array, out); }));
}

}  // namespace thinwire::device
