#include "comm/workspace.h"

#include <algorithm>
#include <new>

namespace thinwire::comm {
namespace {

Result<std::byte*> keep(Result<device::Lease> lease, device::Lease& kept) {
  if (!lease.ok()) return lease.status();
  kept = std::move(*lease);
  return kept.data();
}

}  // namespace

Result<std::byte*> Buffer::on_host(std::uint64_t bytes) {
  if (host_ == nullptr || bytes > host_bytes_) {
    host_.reset();
    host_bytes_ = 0;
    const std::uint64_t wanted = std::max<std::uint64_t>(bytes, 4096);
    host_.reset(
        static_cast<std::byte*>(::operator new(wanted, std::align_val_t{256}, std::nothrow)));
    if (host_ == nullptr) return {StatusCode::kInternal, "out of memory for a collective"};
    host_bytes_ = wanted;
  }
  return host_.get();
}

Result<std::byte*> Buffer::pinned(std::uint64_t bytes) {
  return keep(device::acquire_pinned(std::max<std::uint64_t>(bytes, 1)), lease_);
}

Result<std::byte*> Buffer::on_device(int device, std::uint64_t bytes) {
  return keep(device::acquire_device(device, std::max<std::uint64_t>(bytes, 1)), lease_);
}

}  // namespace thinwire::comm
