#include <algorithm>

#include "collective.h"

namespace legality {
namespace {

using enum CollectiveKind;

bool has_counts(CollectiveKind kind) {
  return kind == kGatherv || kind == kScatterv || kind == kAllgatherv || kind == kAlltoallv ||
         kind == kAlltoallw || kind == kReduceScatter;
}

Flavour draw_flavour(Random& random) {
  const int drawn = random.below(100);
  if (drawn < 30 && allowed(Feature::nonblocking_collective_)) return Flavour::kStarted;
  const bool persistent = drawn >= 30 && drawn < 50 && admit(Feature::persistent_collective_);
  return persistent ? Flavour::kPersistent : Flavour::kBlocking;
}

// Items that each rank lays out as it likes: some MPIs cut a collective by the size of each rank's
// own type, or choose its algorithm by it.
bool may_have_unequal_items(CollectiveKind kind) {
  if (kind == kBcast) return admit(Feature::bcast_of_unequal_items_);
  return kind != kAllgatherv || admit(Feature::allgatherv_of_unequal_items_);
}

void mark_kind(const Drawn& drawn) {
  static const Feature features[] = {
      Feature::barrier_,   Feature::bcast_,          Feature::gather_,
      Feature::gatherv_,   Feature::scatter_,        Feature::scatterv_,
      Feature::allgather_, Feature::allgatherv_,     Feature::alltoall_,
      Feature::alltoallv_, Feature::alltoallw_,      Feature::reduce_,
      Feature::allreduce_, Feature::reduce_scatter_, Feature::reduce_scatter_block_,
      Feature::scan_,      Feature::exscan_};
  mark(features[static_cast<int>(drawn.kind)]);
  if (drawn.flavour == Flavour::kStarted) mark(Feature::nonblocking_collective_);
  if (drawn.flavour == Flavour::kPersistent) mark(Feature::persistent_collective_);
}

// Some MPIs compute something else in place.
bool may_be_in_place(const Drawn& drawn) {
  if (drawn.kind == kReduce && drawn.root != 0) return admit(Feature::reduce_in_place_off_0_);
  if (drawn.flavour == Flavour::kBlocking) return true;
  if (drawn.kind == kAlltoallv) return admit(Feature::started_alltoallv_in_place_);
  return drawn.kind != kAlltoallw || admit(Feature::started_alltoallw_in_place_);
}

// Row by sender, column by receiver. Symmetric, so that it may be in place.
std::vector<int> draw_steps(const Group& group, Random& random, bool counted) {
  const int size = group.size;
  std::vector<int> steps(static_cast<std::size_t>(size * size), 1);
  for (int row = 0; row < size && counted; ++row) {
    for (int column = row; column < size; ++column) {
      const int drawn = random.chance(25) ? 0 : random.between(1, 3);
      if (drawn == 0) mark(Feature::zero_in_v_);
      steps[static_cast<std::size_t>(row * size + column)] = drawn;
      steps[static_cast<std::size_t>(column * size + row)] = drawn;
    }
  }
  return steps;
}

Signature draw_reduced(Random& random) {
  static const std::vector<Base> bases{Base::kFloat,  Base::kFloat, Base::kFloat, Base::kDouble,
                                       Base::kDouble, Base::kInt,   Base::kLong};
  Signature signature = draw_signature(random);
  signature.unit = {random.pick(bases)};
  return signature;
}

// Complex numbers have sums, and no product whose order does not matter to the last bit, nor an
// order.
void sum_complex(Drawn& drawn) {
  Base& base = drawn.signature.unit.front();
  if (base != Base::kFloat && base != Base::kDouble) return;
  base = base == Base::kFloat ? Base::kComplex : Base::kDoubleComplex;
  mark(Feature::complex_sum_);
}

}  // namespace

Content Drawn::content_of(int rank, int block) const {
  const std::uint64_t place = static_cast<std::uint64_t>(rank * 1000 + block);
  return {content.kind, join(join(content.key, place), static_cast<std::uint64_t>(round))};
}

Drawn draw_collective(const Group& group, Random random) {
  Drawn drawn;
  drawn.kind = static_cast<CollectiveKind>(random.below(kCollectiveKinds));
  drawn.flavour = draw_flavour(random);
  drawn.root = random.below(group.size);
  drawn.content = draw_content(random);
  drawn.signature = drawn.reduces() ? draw_reduced(random) : draw_signature(random);
  if (drawn.reduces()) drawn.content.kind = Kind::kSmall;
  const bool blocks = drawn.kind != kBcast && drawn.kind != kReduce && drawn.kind != kAllreduce;
  if (blocks) drawn.signature.units = std::min(drawn.signature.units, 6000);
  drawn.in_place = random.chance(35) && allowed(Feature::in_place_);
  drawn.in_place = drawn.in_place && may_be_in_place(drawn);
  // Everybody's counts may differ there, or nobody's.
  drawn.steps = draw_steps(group, random, has_counts(drawn.kind));
  drawn.read_only = random.chance(40);
  drawn.counts_freed = random.chance(50) && allowed(Feature::counts_freed_);
  drawn.types_freed = random.chance(20) && allowed(Feature::type_freed_early_);
  drawn.operation = random.below(5);
  if (drawn.reduces() && drawn.operation == 0 && random.part(1).chance(60)) sum_complex(drawn);
  const int units = draw_units_of_item(random, drawn.signature);
  if (!may_have_unequal_items(drawn.kind)) drawn.units_of_item = units;
  drawn.key = random.next();
  drawn.same_layouts = drawn.kind == kAllgatherv && !admit(Feature::allgatherv_of_unequal_extents_);
  mark_kind(drawn);
  return drawn;
}

}  // namespace legality
