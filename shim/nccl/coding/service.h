// The thread that serves mailboxes of calls under way and takes their reports. One a process, from
// the first call on that is coded or tried; it sleeps while nothing is under way.
#pragma once

#include "coding/coder.h"

namespace thinwire::nccl {

// Something is under way on it, or it ends.
void look_after(Coder& coder);

// Takes the reports of what is complete, as far as nobody hinders it; for the end of the process.
void take_last_reports();

}  // namespace thinwire::nccl
