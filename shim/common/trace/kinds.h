// The cells of a trace as programs read them (tw_stats_read_kind()).
#pragma once

#include "shim/common/trace/cells.h"
#include "shim/common/trace/lines.h"
#include "thinwire/thinwire.h"

namespace thinwire::shim {

void read_kind(const Cell& cell, const Names& names, const Describe& describe, tw_stats_kind& kind);

}  // namespace thinwire::shim
