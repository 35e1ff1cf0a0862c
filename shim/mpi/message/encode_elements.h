// From the elements of a message, wherever they lie, to the frame that travels.
#pragma once

#include "shim/mpi/choose/chosen.h"
#include "shim/mpi/message/encode_dense.h"

namespace thinwire::mpi {

Encoded encode_elements(const Chosen& chosen);

}  // namespace thinwire::mpi
