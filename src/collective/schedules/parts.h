// Steps that schedules are put together of: between ranks of one node, round a ring of nodes, and
// from every rank to every other one.
#pragma once

#include "collective/schedules/nodes.h"

namespace thinwire::collective {

// ---- inside.cpp: between ranks of one node, by values. All of them make these for the same blocks
// in the same order: the messages between two of them then match. ----

// Adds one block up over the node in a chain that ends at member `target`. `sum` is where that one
// gets it: kOutput, or kScratch of the number `scratch`, which all of them use on the way.
void add_inside(std::vector<Step>& steps, const Nodes& nodes, int target, std::uint32_t block,
                Area sum, std::uint32_t scratch);

// kOutput of member `source`, or what it has in scratch 0 instead, goes to kOutput of all others in
// a binomial tree.
void spread_inside(std::vector<Step>& steps, const Nodes& nodes, int source, std::uint32_t block,
                   Area from = Area::kOutput);

// ---- ring.cpp: packets that go round a ring of nodes, each from its owner to all others ----

enum class Forward { kUntouched, kCodedAgain };

// Slots that a ring of blocks of single ranks needs, for the one that comes while others leave.
inline constexpr std::uint32_t kRingSlots = 3;
inline constexpr std::uint32_t kRingSlotsCodedAgain = 4;

// This rank's steps for the packet of the node that lies `distance` before its own in the ring; of
// its own one (distance 0) the values are in `from`. All ranks of a ring take its packets in the
// order of their distances. Afterwards kOutput has what the packet holds.
void pass_round(std::vector<Step>& steps, const Nodes& nodes, int distance, std::uint32_t block,
                Area from, Rotation& slots, Forward forward);

// ---- direct.cpp: every rank talks to every other one. In its lane each node owns one block: those
// from `first_block` on, in the order of the nodes. ----

// Packets going out, and as many coming in, that a rank holds at a time: one travels while the next
// is coded. More would only send to more ranks at once.
inline constexpr std::uint32_t kDirectSlots = 2;

// Each part of a block goes to its owner, which adds them to its own one. `from` has this rank's
// parts and `sum` its own one already.
void add_at_owners(std::vector<Step>& steps, const Nodes& nodes, std::uint32_t first_block,
                   Area from, Area sum, Rotation& out, Rotation& in);

// Each owner encodes its block, which is in `from`, once into `slot` and sends it to all. All have
// what the packets hold in kOutput then.
void give_to_all(std::vector<Step>& steps, const Nodes& nodes, std::uint32_t first_block, Area from,
                 std::uint32_t slot, Rotation& in);

}  // namespace thinwire::collective
