// Every rank talks to every other one. In its lane each node owns one block: those from
// `first_block` on, in the order of the nodes.
#pragma once

#include "collective/schedules/nodes.h"

namespace thinwire::collective {

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
