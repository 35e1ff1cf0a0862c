#include "transport/stream_transport.h"

namespace thinwire::transport {

Status StreamTransport::all_gather(MutableByteView blocks, device::StreamHandle stream) {
  const std::size_t bytes = blocks.size() / static_cast<std::size_t>(size());
  const auto block = [&](int of) {
    return blocks.subspan(bytes * static_cast<std::size_t>(of), bytes);
  };
  for (int step = 1; step < size(); ++step) {
    // Each rank begins with another one.
    const int to = (rank() + step) % size(), from = (rank() + size() - step) % size();
    if (Status status = send(to, block(rank()), stream); !status.ok()) return status;
    if (Status status = receive(from, block(from), stream); !status.ok()) return status;
  }
  return {};
}

Status StreamTransport::broadcast(int root, MutableByteView bytes, device::StreamHandle stream) {
  if (rank() != root) return receive(root, bytes, stream);
  for (int step = 1; step < size(); ++step) {
    if (Status status = send((root + step) % size(), bytes, stream); !status.ok()) return status;
  }
  return {};
}

Status StreamTransport::call(void (*)(void*), void*, device::StreamHandle) {
  return {StatusCode::kUnsupported, "the streams of this transport take no host functions"};
}

}  // namespace thinwire::transport
