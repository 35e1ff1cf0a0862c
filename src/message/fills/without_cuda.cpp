// A build without CUDA: no value lies on a GPU.
#include "message/fills/fills.h"

namespace thinwire::message::fills {
namespace {

Status absent() { return {StatusCode::kUnsupported, "this build of Thinwire has no CUDA"}; }

}  // namespace

std::uint64_t scratch_bytes(const Coder&, const codec::Chunk&) { return 0; }

Status enqueue_encode(const Coder&, const codec::Chunk&, const std::byte*, std::byte*,
                      std::uint64_t, const EncodeOptions&, const Room&) {
  return absent();
}

Status enqueue_decode(const Info&, ByteView, std::byte*, const codec::Accumulate&,
                      device::StreamHandle, const Room&) {
  return absent();
}

}  // namespace thinwire::message::fills
