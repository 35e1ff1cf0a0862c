// What the enqueue-only driver works with, on the host: every call is complete on return, as if the
// stream were waited for.
#pragma once

#include <memory>
#include <vector>

#include "collective/engine.h"
#include "collective/enqueued/stream_work.h"
#include "transport/stream_transport.h"

namespace thinwire::collective::testing {

class HostWork : public StreamWork {
 public:
  explicit HostWork(const EngineSettings& settings) : settings_(&settings) {}

  Result<WorkMemory> memory_for(const Shape& shape) const override;
  Status begin(MutableByteView workspace, std::byte* spare) override;
  Status clear(std::byte* at, std::uint64_t bytes) override;
  Status copy(std::byte* to, const std::byte* from, std::uint64_t bytes) override;
  Status combine(std::byte* to, const std::byte* from, const Shape& shape) override;
  Status encode(const std::byte* from, const Shape& shape, MutableByteView slot,
                device::Outcome* outcome) override;
  Status decode(ByteView frame, const Shape& shape, std::byte* to,
                device::Outcome* outcome) override;
  Status reduce(ByteView frame, const Shape& shape, std::byte* to,
                device::Outcome* outcome) override;

 private:
  codec::Chunk array(const Shape& shape) const { return settings_->array(shape); }

  const EngineSettings* settings_;
  std::byte* spare_ = nullptr;
};

// Ends for ranks in threads. A group is complete on return, once the ranks at the other ends of all
// its messages have ended theirs; kInternal where that takes longer than anything can.
std::vector<std::unique_ptr<transport::StreamTransport>> make_grouped(int size);

}  // namespace thinwire::collective::testing
