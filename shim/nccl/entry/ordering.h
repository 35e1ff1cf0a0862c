// Sums that are to be added in the order of the ranks (decision 0099): which they are, and whether
// they were.
#pragma once

#include "observe/count.h"
#include "run/planned.h"

namespace thinwire::nccl {

// True if the communicator takes no more calls.
bool has_ended(const Communicator& communicator);

// Whether the values of a call depend on the order of additions, which its codec names: that of the
// side on which the communicator's ranks are; of either, before that is known or if it never is.
bool wants_order(const Call& call, const Communicator& communicator);
// Waits until that is known, if a policy has an order on one side alone.
void await_side(const Call& call, const Communicator& communicator);
// Notes in a call that wants an order whether it is added in that one. Returns the reason for which
// NCCL adds it, by its arguments; 0: there is none. `reason`: why it is not compressed.
int reason_in_order(Call& call, int reason, const Communicator& communicator);

// The order of a call that has been decided about, and of a sound one that goes to NCCL for that
// reason; said once, if it is NCCL's.
Order order_of(const Planned& planned);
Order order_of_native(const Call& call, const Communicator& communicator, int why);

}  // namespace thinwire::nccl
