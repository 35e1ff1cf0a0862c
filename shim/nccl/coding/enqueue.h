// Enqueues calls in slots, one alone or those of a group.
#pragma once

#include <span>

#include "coding/coder.h"
#include "coding/transport.h"

namespace thinwire::nccl {

// A call and what was decided about it; its plans are in use.
struct Planned {
  Call call;
  Decision decision;
  Coder* coder = nullptr;
  Counters* counters = nullptr;
};

// Where NCCL's group of the program is open on this thread: what stays raw in it behind a coded
// call. Else null.
using RawOfGroup = const std::vector<KeptRaw>*;

// One exchange of all of them together. With `raw` NCCL's group of the program is ended too.
ncclResult_t enqueue_coded(std::span<const Planned> calls, RawOfGroup raw);

// Beside a raw call, before or behind it; what hinders it hinders nothing else.
void enqueue_trial(const Planned& tried, Part part);

}  // namespace thinwire::nccl
