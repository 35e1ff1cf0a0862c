// Results that a case must come to, computed without any slot.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "calls.h"

namespace thinwire::slots {
namespace {

std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

Bytes part(const Bytes& whole, std::uint64_t first, std::uint64_t bytes) {
  const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(bytes)};
}

// As spec/slot.md has it.
std::uint64_t slot_bytes(std::uint64_t raw_bytes, std::uint32_t capacity) {
  const std::uint64_t bytes = (raw_bytes * capacity + 511) / 512;
  return std::max<std::uint64_t>(512, (bytes + 511) / 512 * 512);
}

class Expected {
 public:
  Expected(const Case& given, const std::vector<Bytes>& sent)
      : case_(given), sent_(sent), codec_(given.spec) {}

  Bytes of(int rank) const {
    const std::uint64_t whole = bytes(case_.count);
    switch (case_.operation) {
      case TW_STREAM_ALLGATHER:
        return gathered(rank);
      case TW_STREAM_BCAST:
        return rank == case_.root && case_.in_place ? sent_[index(rank)]
                                                    : through(sent_[index(case_.root)], whole);
      case TW_STREAM_RECEIVE:
        return case_.are_together(0, rank) ? sent_[0] : through(sent_[0], whole);
      case TW_STREAM_ALLTOALL:
        return blocks_of_all(
            rank, [&](int from) { return part(sent_[index(from)], whole * index(rank), whole); });
      case TW_STREAM_GATHER_AT_ROOT:
        if (rank != case_.root) return {};
        return blocks_of_all(rank, [&](int from) { return sent_[index(from)]; });
      case TW_STREAM_SCATTER: {
        const Bytes own = part(sent_[index(case_.root)], whole * index(rank), whole);
        return case_.are_together(rank, case_.root) ? own : through(own, whole);
      }
      case TW_STREAM_REDUCE_SCATTER:
        return sum_at(rank, whole * index(rank), whole, slot_bytes(whole, case_.capacity));
      case TW_STREAM_REDUCE:
        if (rank != case_.root) return {};
        return case_.is_direct() ? direct_sum(rank)
                                 : block_sum(rank, 0, whole, slot_bytes(whole, case_.capacity));
      default:
        return case_.is_direct() ? direct_sum() : gathered_sum();
    }
  }

 private:
  std::uint64_t bytes(std::uint64_t count) const { return count * value_bytes(case_.dtype); }
  Bytes through(const Bytes& values, std::uint64_t longest) const {
    if (case_.ranks == 1) return values;
    return through_slot(codec_, case_.dtype, values, slot_bytes(longest, case_.capacity));
  }
  Bytes gathered(int rank) const {
    Bytes all;
    for (int from = 0; from < case_.ranks; ++from) {
      const Bytes& own = sent_[index(from)];
      const Bytes came = from == rank && case_.in_place ? own : through(own, own.size());
      all.insert(all.end(), came.begin(), came.end());
    }
    return all;
  }

  // This rank's own as it is.
  template <typename Block>
  Bytes blocks_of_all(int rank, Block block_of) const {
    Bytes all;
    for (int from = 0; from < case_.ranks; ++from) {
      const Bytes own = block_of(from);
      const Bytes came = case_.are_together(from, rank) ? own : through(own, own.size());
      all.insert(all.end(), came.begin(), came.end());
    }
    return all;
  }

  Bytes gathered_sum() const {
    std::vector<Bytes> arrays;
    for (const Bytes& own : sent_) arrays.push_back(through(own, own.size()));
    return case_.sum(arrays);
  }

  Bytes block_sum(int owner, std::uint64_t first, std::uint64_t length, std::uint64_t slot) const {
    std::vector<Bytes> arrays;
    for (int rank = 0; rank < case_.ranks; ++rank) {
      const Bytes own = part(sent_[index(rank)], first, length);
      const bool plain = case_.are_together(rank, owner);
      arrays.push_back(plain ? own : through_slot(codec_, case_.dtype, own, slot));
    }
    return case_.sum(arrays);
  }

  // Node by node: each adds its ranks' values, and all but the owner's send that sum. An average's
  // is the mean of the node's values.
  Bytes sum_of_nodes(int owner, std::uint64_t first, std::uint64_t length,
                     std::uint64_t slot) const {
    std::vector<std::uint32_t> order;
    for (const std::uint32_t node : case_.nodes) {
      if (std::ranges::find(order, node) == order.end()) order.push_back(node);
    }
    const double scale = case_.scale != 0 ? case_.scale : 1;
    const double share = static_cast<double>(case_.ranks) / case_.node_sizes().second;
    const double inside = scale < 1 ? std::min(1.0, scale * share) : 1.0;
    std::vector<Bytes> arrays;
    for (const std::uint32_t node : order) {
      std::vector<Bytes> of_node;
      std::vector<int> ranks;
      for (int rank = 0; rank < case_.ranks; ++rank) {
        if (case_.nodes[index(rank)] != node) continue;
        of_node.push_back(part(sent_[index(rank)], first, length));
        ranks.push_back(rank);
      }
      const bool factors = case_.factors != Factors::kNone;
      const Bytes sum = sum_of(case_.dtype, of_node, inside, factors, ranks);
      const bool plain = case_.nodes[index(owner)] == node;
      arrays.push_back(plain ? sum : through_slot(codec_, case_.dtype, sum, slot));
    }
    return sum_of(case_.dtype, arrays, scale / inside, false);
  }

  Bytes sum_at(int owner, std::uint64_t first, std::uint64_t length, std::uint64_t slot) const {
    return case_.has_levels() ? sum_of_nodes(owner, first, length, slot)
                              : block_sum(owner, first, length, slot);
  }

  // The owner of each block of a sum, in the order of the blocks: in levels those of one local
  // number follow each other, in the order of their nodes, and ranks that lack a peer own none.
  std::vector<int> owners() const {
    std::vector<int> all(index(case_.ranks));
    std::iota(all.begin(), all.end(), 0);
    if (!case_.has_levels()) return all;
    const int columns = case_.node_sizes().first;
    std::erase_if(all, [&](int rank) { return case_.local_of(rank) >= columns; });
    std::ranges::stable_sort(all, [&](int one, int other) {
      return std::pair(case_.local_of(one), first_of_node(one)) <
             std::pair(case_.local_of(other), first_of_node(other));
    });
    return all;
  }

  std::ptrdiff_t first_of_node(int rank) const {
    return std::ranges::find(case_.nodes, case_.nodes[index(rank)]) - case_.nodes.begin();
  }

  // `root`: the rank that alone gets the sums, by which its own and its node's are not coded.
  Bytes direct_sum(int root = -1) const {
    const std::uint64_t blocks = owners().size();
    const std::uint64_t step = bytes(((case_.count + blocks - 1) / blocks + 1023) / 1024 * 1024);
    const std::uint64_t whole = bytes(case_.count);
    const std::uint64_t slot = slot_bytes(std::min(step, whole), case_.capacity);
    Bytes all;
    std::uint64_t first = 0;
    for (const int owner : owners()) {
      const Bytes sums = sum_at(owner, first, std::min(step, whole - first), slot);
      const bool plain = root >= 0 && case_.are_together(owner, root);
      const Bytes came = plain ? sums : through_slot(codec_, case_.dtype, sums, slot);
      all.insert(all.end(), came.begin(), came.end());
      first = std::min(whole, first + step);
    }
    return all;
  }

  const Case& case_;
  const std::vector<Bytes>& sent_;
  Codec codec_;
};

}  // namespace

bool Case::are_together(int one, int other) const {
  if (one == other) return true;
  if (nodes.empty() || (factors != Factors::kNone && !has_levels())) return false;
  return nodes[index(one)] == nodes[index(other)];
}

bool Case::is_in_order() const { return is_exact() || spec.ends_with("reductions=ordered"); }

Bytes Case::sum(const std::vector<Bytes>& arrays) const {
  const bool multiplied = factors != Factors::kNone;
  return is_exact() ? exact_sum_of(dtype, arrays, scale, multiplied)
                    : sum_of(dtype, arrays, scale, multiplied);
}

bool Case::is_direct() const {
  if (way != TW_STREAM_PLANNED) return way == TW_STREAM_DIRECT && ranks > 1;
  return ranks > 2 && count * value_bytes(dtype) > 64 * 1024;
}

bool Case::has_levels() const {
  const bool whole = operation == TW_STREAM_ALLREDUCE || operation == TW_STREAM_REDUCE;
  const bool could = operation == TW_STREAM_ALLGATHER || operation == TW_STREAM_REDUCE_SCATTER ||
                     (whole && is_direct());
  if (!could || is_in_order() || nodes_count() < 2) return false;
  const auto [least, most] = node_sizes();
  const bool rounds = scale != 0 && std::fabs(scale) < 1 && value_bytes(dtype) == 2;
  const bool adds = operation != TW_STREAM_ALLGATHER;
  return most > 1 && (adds && rounds ? least == most : 2 * least >= most);
}

std::pair<int, int> Case::node_sizes() const {
  int least = ranks, most = 0;
  for (const std::uint32_t node : nodes) {
    const auto size = static_cast<int>(std::ranges::count(nodes, node));
    least = std::min(least, size);
    most = std::max(most, size);
  }
  return {least, most};
}

int Case::local_of(int rank) const {
  return static_cast<int>(std::count(nodes.begin(), nodes.begin() + rank, nodes[index(rank)]));
}

Bytes expected_of(const Case& given, const std::vector<Bytes>& sent, int rank) {
  if (given.as_is) return sent.front();
  return Expected(given, sent).of(rank);
}

}  // namespace thinwire::slots
