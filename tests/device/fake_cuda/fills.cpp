// Stands for the kernels of missing values: on a stream of the fake CUDA, what the CPU does.
#include "message/fills/fills.h"

#include "device/driver.h"
#include "fake_cuda/fake_cuda.h"
#include "message/find_fill.h"
#include "message/host.h"

namespace thinwire::message::fills {
namespace {

constexpr std::byte kUsed{0xA5};

Status enqueue(device::StreamHandle stream, std::function<void()> work) {
  return device::device_status("cannot code missing values",
                               fake_cuda::enqueue(stream, std::move(work)));
}

}  // namespace

std::uint64_t scratch_bytes(const Coder&, const codec::Chunk& array) { return array.raw_bytes(); }

Status enqueue_encode(const Coder& coder, const codec::Chunk& array, const std::byte* source,
                      std::byte* frame, std::uint64_t limit, const EncodeOptions& options,
                      const Room& room) {
  return enqueue(options.stream, [=] {
    std::memset(room.scratch, static_cast<int>(kUsed), array.raw_bytes());
    EncodeOptions own = options;
    own.decline = true;
    own.declines_fill_values = false;
    const auto fill = find_fill(coder.fill, array, source);
    if (room.told != nullptr) *room.told = {fill ? 1u : 0u, fill.value_or(0)};
    std::vector<std::byte> made(*bound(coder, array));
    const auto written = encode_on_host(coder, array, source, made, own);
    const bool fits = written.ok() && *written < limit;
    if (fits) std::memcpy(frame, made.data(), *written);
    const StatusCode code = written.ok() ? StatusCode::kDeclined : written.status().code();
    *room.outcome =
        fits ? device::make_outcome(StatusCode::kOk, *written) : device::make_outcome(code, 0);
  });
}

Status enqueue_decode(const Info& info, ByteView frame, std::byte* destination,
                      const codec::Accumulate& accumulate, device::StreamHandle stream,
                      const Room& room) {
  return enqueue(stream, [=] {
    std::memset(room.scratch, static_cast<int>(kUsed), info.header.raw_bytes());
    const Status status = decode_on_host(info, frame, accumulate, destination);
    *room.outcome = device::make_outcome(status.code(), 0);
  });
}

}  // namespace thinwire::message::fills
