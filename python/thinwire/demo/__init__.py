"""The demo: one unmodified MPI program over slow links, raw and compressed, side by side."""
