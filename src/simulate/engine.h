// Runs a graph of tasks against a machine, event by event.
#pragma once

#include "simulate/graph.h"
#include "simulate/model.h"

namespace thinwire::simulate {

// When the last task is done. kInternal if tasks wait for each other in a circle.
Result<double> run(const Graph& graph, const Machine& machine, const Call& call, const Fold& fold);

}  // namespace thinwire::simulate
