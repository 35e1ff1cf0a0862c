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

namespace {

using plan::Operation;

// A block a rank, where the displacements say or one after the other.
std::uint64_t end_of(const std::uint64_t* counts, const std::uint64_t* places, std::uint64_t count,
                     int size) {
  std::uint64_t end = 0;
  for (int rank = 0; rank < size; ++rank) {
    end = std::max(end, place_of(places, count, rank) + count_of(counts, count, rank));
  }
  return end;
}

}  // namespace

std::uint64_t sum_of(const std::uint64_t* counts, std::uint64_t count, int size) {
  std::uint64_t sum = 0;
  for (int rank = 0; rank < size; ++rank) sum += count_of(counts, count, rank);
  return sum;
}

Regions regions_of(const Call& call, int rank, int size) {
  const bool is_root = rank == call.root;
  const std::uint64_t sent = end_of(call.send_counts, call.send_displacements, call.count, size);
  const auto received = [&] {
    return end_of(call.receive_counts, call.receive_displacements, call.count, size);
  };
  Regions regions;
  switch (call.operation) {
    case Operation::kBcast:
      return {.receive = call.count};
    case Operation::kReduce:
      regions = {.send = call.count, .receive = is_root ? call.count : 0};
      break;
    case Operation::kAllreduce:
      regions = {.send = call.count, .receive = call.count};
      break;
    case Operation::kReduceScatter: {
      const std::uint64_t all = sum_of(call.receive_counts, call.count, size);
      const std::uint64_t own = count_of(call.receive_counts, call.count, rank);
      regions = {.send = all, .receive = call.in_place ? all : own};
      break;
    }
    case Operation::kAllgather:
      regions = {.send = call.count, .receive = received()};
      break;
    case Operation::kGather:
      regions = {.send = call.count, .receive = is_root ? received() : 0};
      break;
    case Operation::kScatter:
      return {.send = is_root ? sent : 0, .receive = call.in_place && is_root ? 0 : call.count};
    case Operation::kAlltoall:
      regions = {.send = sent, .receive = received()};
      break;
  }
  if (call.in_place && (call.operation != Operation::kGather || is_root)) {
    if (call.operation != Operation::kReduce || is_root) regions.send = 0;
  }
  return regions;
}

}  // namespace thinwire::comm
