// The thread that serves mailboxes of calls under way and takes their reports. One a process, from
// before the first call on that is coded or tried; it sleeps while nothing is under way.
#pragma once

#include "run/compressor.h"

namespace thinwire::nccl {

// Whether the thread runs; starts it, again if the system refused it before.
bool start_service();

// Something is under way on it. The service has been started.
void look_after(Compressor& compressor);
// Serves a compressor that has ended, and whose mutex nobody has, to the end of what is under way.
void see_to_its_end(Compressor& compressor);

// Takes the reports of what is complete, as far as nobody hinders it; for the end of the process.
void take_last_reports();

}  // namespace thinwire::nccl
