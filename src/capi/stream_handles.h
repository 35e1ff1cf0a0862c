// The handles of collectives in stream order.
#pragma once

#include <memory>

#include "capi/handles.h"
#include "capi/stream_transports.h"
#include "collective/slots/enqueue.h"

struct tw_stream_comm {
  thinwire::collective::SlotLink link;
  thinwire::codec::Spec spec;
  thinwire::frame::Mark mark;
  std::shared_ptr<const thinwire::collective::SlotNodes> nodes;
  thinwire::capi::Enqueuer enqueuer = nullptr;
};

struct tw_stream_plan {
  std::unique_ptr<thinwire::collective::SlotPlan> plan;
  tw_stream_comm* comm;
};
