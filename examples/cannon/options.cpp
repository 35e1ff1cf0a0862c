#include "options.h"

namespace cannon {

examples::CommandLine command_line(Options* options) {
  examples::CommandLine line;
  line.integer("--size", 1, 1 << 20, &options->size);
  line.choice<Precision>("--precision", {{"fp32", Precision::kFp32}, {"fp64", Precision::kFp64}},
                         &options->precision);
  line.text("--matrix", "kernel|random|FILE", &options->matrix);
  line.number("--length", 1e-6, &options->length);
  line.integer("--repeat", 1, 1 << 20, &options->repeat);
  line.number("--tolerance", 0, &options->tolerance);
  line.flag("--json", &options->json);
  examples::add_device_options(&line, &options->device);
  return line;
}

}  // namespace cannon
