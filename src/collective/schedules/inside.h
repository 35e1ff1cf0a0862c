// Steps between ranks of one node, by values. All of them make these for the same blocks in the
// same order: the messages between two of them then match.
#pragma once

#include "collective/schedules/nodes.h"

namespace thinwire::collective {

// Adds one block up over the node in a chain that ends at member `target`. `sum` is where that one
// gets it: kOutput, or kScratch of the number `scratch`, which all of them use on the way.
void add_inside(std::vector<Step>& steps, const Nodes& nodes, int target, std::uint32_t block,
                Area sum, std::uint32_t scratch);

// kOutput of member `source`, or what it has in scratch 0 instead, goes to kOutput of all others in
// a binomial tree.
void spread_inside(std::vector<Step>& steps, const Nodes& nodes, int source, std::uint32_t block,
                   Area from = Area::kOutput);

}  // namespace thinwire::collective
