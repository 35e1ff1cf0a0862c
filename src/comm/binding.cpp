#include "comm/binding.h"

#include <algorithm>

namespace thinwire::comm {
namespace {

using plan::Operation;

// Steps only read what is an input.
std::byte* readable(const std::byte* data) { return const_cast<std::byte*>(data); }

std::byte* at(const std::byte* data, std::uint64_t values, Dtype dtype) {
  return data == nullptr ? nullptr : readable(data) + values * dtype_size(dtype);
}

}  // namespace

void Binding::resize(std::size_t blocks) {
  blocks_.resize(blocks);
  input_.assign(blocks, nullptr);
  output_.assign(blocks, nullptr);
}

// One array on every rank, cut into parts.
void Binding::bind_parts(const Call& call, const collective::Cutter& cutter, int rank,
                         std::uint32_t parts) {
  resize(parts);
  const bool has_output = call.operation != Operation::kReduce || rank == call.root;
  const std::byte* input = call.in_place && has_output ? call.receive : call.send;
  for (std::uint32_t part = 0; part < parts; ++part) {
    blocks_[part] = cutter.part(call.count, part, parts);
    input_[part] = at(input, blocks_[part].offset, call.dtype);
    if (has_output) output_[part] = at(call.receive, blocks_[part].offset, call.dtype);
  }
}

void Binding::bind_reduce_scatter(const Call& call, const collective::Cutter& cutter, int rank,
                                  int size) {
  resize(static_cast<std::size_t>(size));
  std::uint64_t before = 0;
  for (int owner = 0; owner < size; ++owner) {
    const auto block = static_cast<std::size_t>(owner);
    const std::uint64_t count = count_of(call.receive_counts, call.count, owner);
    blocks_[block] = cutter.whole(count);
    input_[block] = at(call.send, before, call.dtype);
    before += count;
  }
  output_[static_cast<std::size_t>(rank)] = call.receive;
}

// A block a rank: Allgather, Gather, Scatter.
void Binding::bind_ranks(const Call& call, const collective::Cutter& cutter, int rank, int size,
                         const std::uint64_t* counts) {
  resize(static_cast<std::size_t>(size));
  const bool is_root = rank == call.root, scatters = call.operation == Operation::kScatter;
  const bool in_place = call.in_place && (call.operation == Operation::kAllgather || is_root);
  // The side that holds all blocks, and its lists.
  const bool holds_all = call.operation == Operation::kAllgather || is_root;
  const std::byte* all = scatters ? call.send : call.receive;
  const std::uint64_t* places = scatters ? call.send_displacements : call.receive_displacements;
  for (int owner = 0; owner < size; ++owner) {
    const auto block = static_cast<std::size_t>(owner);
    blocks_[block] = cutter.whole(count_of(counts, call.count, owner));
    if (!holds_all) continue;
    (scatters ? input_ : output_)[block] = at(all, place_of(places, call.count, owner), call.dtype);
  }
  const auto own = static_cast<std::size_t>(rank);
  if (scatters) {
    output_[own] = in_place ? input_[own] : call.receive;
  } else {
    input_[own] = in_place ? output_[own] : readable(call.send);
  }
}

void Binding::bind_alltoall(const Call& call, const collective::Cutter& cutter, int rank,
                            int size) {
  resize(2 * static_cast<std::size_t>(size));
  for (int peer = 0; peer < size; ++peer) {
    const auto to = static_cast<std::size_t>(peer), from = to + static_cast<std::size_t>(size);
    blocks_[to] = cutter.whole(count_of(call.send_counts, call.count, peer));
    blocks_[from] = cutter.whole(count_of(call.receive_counts, call.count, peer));
    input_[to] = at(call.send, place_of(call.send_displacements, call.count, peer), call.dtype);
    output_[from] =
        at(call.receive, place_of(call.receive_displacements, call.count, peer), call.dtype);
  }
  // A message of a rank to itself is one block with both ends.
  input_[static_cast<std::size_t>(size + rank)] = input_[static_cast<std::size_t>(rank)];
}

void Binding::bind(const Call& call, const collective::Cutter& cutter, int rank, int size,
                   std::uint32_t parts, const std::uint64_t* counts) {
  switch (call.operation) {
    case Operation::kBcast:
    case Operation::kReduce:
    case Operation::kAllreduce:
      return bind_parts(call, cutter, rank, parts);
    case Operation::kReduceScatter:
      return bind_reduce_scatter(call, cutter, rank, size);
    case Operation::kAllgather:
      return bind_ranks(call, cutter, rank, size, call.receive_counts);
    case Operation::kGather:
    case Operation::kScatter:
      return bind_ranks(call, cutter, rank, size, counts);
    case Operation::kAlltoall:
      return bind_alltoall(call, cutter, rank, size);
  }
}

}  // namespace thinwire::comm
