// Packets that go round a ring of nodes, each from its owner to all others.
#pragma once

#include "collective/schedules/nodes.h"

namespace thinwire::collective {

enum class Forward { kUntouched, kCodedAgain };

// Slots that a ring of blocks of single ranks needs, for the one that comes while others leave.
inline constexpr std::uint32_t kRingSlots = 3;
inline constexpr std::uint32_t kRingSlotsCodedAgain = 4;

// This rank's steps for the packet of the node that lies `distance` before its own in the ring; of
// its own one (distance 0) the values are in `from`. All ranks of a ring take its packets in the
// order of their distances. Afterwards kOutput has what the packet holds.
void pass_round(std::vector<Step>& steps, const Nodes& nodes, int distance, std::uint32_t block,
                Area from, Rotation& slots, Forward forward);

}  // namespace thinwire::collective
