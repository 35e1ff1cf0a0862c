// The same figures as Prometheus reads them (docs/reference/trace.md).
#pragma once

#include <cstdint>
#include <string>

#include "shim/common/trace/cells.h"
#include "shim/common/trace/lines.h"

namespace thinwire::shim {

// Metrics of all that was counted so far. Peers are not told apart: a job of thousands has too
// many.
std::string metrics_text(const Cells& cells, const Names& names, const Describe& describe,
                         const ProcessFigures& figures, const PoolBytes& pool,
                         const std::string& rank);

}  // namespace thinwire::shim
