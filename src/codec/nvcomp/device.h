// The GPU side of the codecs of nvCOMP, for any of the rows.
#pragma once

#include "codec/job.h"
#include "codec/nvcomp/rows.h"

namespace thinwire::codec::nvcomp {

Status encode(const Row& row, const EncodeJob& job);
Status decode(const Row& row, const DecodeJob& job);

// The answer to jobs without checksums.
Status unchecked(const Row& row);

}  // namespace thinwire::codec::nvcomp
