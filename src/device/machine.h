// The machine that this process runs on.
#pragma once

namespace thinwire::device {

// False on machines without a device node: no driver could find a GPU there.
bool machine_may_have_gpu();

}  // namespace thinwire::device
