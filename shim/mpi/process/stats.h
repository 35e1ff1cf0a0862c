// What tw_stats_read() tells of the program's MPI calls.
#pragma once

#include "thinwire/thinwire.h"

namespace thinwire::mpi {

tw_stats stats_now();

}  // namespace thinwire::mpi
