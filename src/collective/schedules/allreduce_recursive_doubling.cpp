// In each round a rank and its peer exchange their sums. Each replaces its own by what its packet
// holds: both then add the same two. Ranks above a power of two give theirs to a neighbour before,
// and get both packets of its last round after, so that the result is not coded once more for them.
#include <bit>

#include "collective/schedules/nodes.h"
#include "collective/schedules/schedules.h"

namespace thinwire::collective {

namespace {

constexpr std::uint32_t kBlock = 0;
// Two rounds' packets: one may be on its way while the next is encoded.
constexpr std::uint32_t kSlots = 4;

// The lowest ranks stand in pairs, of which the odd one takes part for both.
class Fold {
 public:
  explicit Fold(const Topology& topology)
      : places_(static_cast<int>(std::bit_floor(static_cast<unsigned>(topology.size)))),
        paired_(2 * (topology.size - places_)) {}

  int places() const { return places_; }
  bool paired(int rank) const { return rank < paired_; }
  bool takes_part(int rank) const { return !paired(rank) || rank % 2 == 1; }
  int place(int rank) const { return paired(rank) ? rank / 2 : rank - paired_ / 2; }
  int rank(int place) const { return place < paired_ / 2 ? 2 * place + 1 : place + paired_ / 2; }

 private:
  int places_;
  int paired_;
};

void stand_aside(std::vector<Step>& steps, int neighbour) {
  steps.push_back(encode(kBlock, Area::kInput, 0));
  steps.push_back(send(kBlock, 0, neighbour));
  steps.push_back(receive(kBlock, 1, neighbour));
  steps.push_back(decode(kBlock, Area::kOutput, 1));
  steps.push_back(receive(kBlock, 2, neighbour));
  steps.push_back(reduce(kBlock, Area::kOutput, 2));
}

// A packet that stayed raw is its values: it is passed on before they change.
void exchange(std::vector<Step>& steps, int peer, Area from, Rotation& slots, int listener) {
  const auto going = slots.take();
  const auto coming = slots.take();
  steps.push_back(encode(kBlock, from, going));
  steps.push_back(send(kBlock, going, peer));
  if (listener >= 0) steps.push_back(send(kBlock, going, listener));
  steps.push_back(decode(kBlock, Area::kOutput, going));
  steps.push_back(receive(kBlock, coming, peer));
  if (listener >= 0) steps.push_back(send(kBlock, coming, listener));
  steps.push_back(reduce(kBlock, Area::kOutput, coming));
}

void take_part(std::vector<Step>& steps, const Fold& fold, int rank) {
  Rotation slots(0, kSlots);
  Area from = Area::kInput;
  if (fold.paired(rank)) {
    const auto slot = slots.take();
    steps.push_back(copy(kBlock, Area::kOutput, Area::kInput));
    steps.push_back(receive(kBlock, slot, rank - 1));
    steps.push_back(reduce(kBlock, Area::kOutput, slot));
    from = Area::kOutput;
  }
  for (int reach = 1; reach < fold.places(); reach *= 2) {
    const bool last = 2 * reach == fold.places();
    const int listener = last && fold.paired(rank) ? rank - 1 : -1;
    exchange(steps, fold.rank(fold.place(rank) ^ reach), from, slots, listener);
    from = Area::kOutput;
  }
}

}  // namespace

Schedule allreduce_recursive_doubling(const Topology& topology) {
  const Fold fold(topology);
  std::vector<Step> steps;
  if (topology.size == 1) {
    steps.push_back(copy(kBlock, Area::kOutput, Area::kInput));
  } else if (fold.takes_part(topology.rank)) {
    take_part(steps, fold, topology.rank);
  } else {
    stand_aside(steps, topology.rank + 1);
  }
  return assemble(1, std::move(steps));
}

}  // namespace thinwire::collective
