#include "comm/workspace.h"

#include <algorithm>

namespace thinwire::comm {
namespace {

Result<std::byte*> keep(Result<device::Lease> lease, device::Lease& kept) {
  if (!lease.ok()) return lease.status();
  kept = std::move(*lease);
  return kept.data();
}

}  // namespace

Result<std::byte*> Buffer::on_host(std::uint64_t bytes) {
  if (bytes > 0) return keep(device::acquire_host(bytes), lease_);
  alignas(256) static std::byte nothing[256];
  return nothing;
}

Result<std::byte*> Buffer::pinned(std::uint64_t bytes) {
  return keep(device::acquire_pinned(std::max<std::uint64_t>(bytes, 1)), lease_);
}

Result<std::byte*> Buffer::on_device(int device, std::uint64_t bytes) {
  return keep(device::acquire_device(device, std::max<std::uint64_t>(bytes, 1)), lease_);
}

}  // namespace thinwire::comm
