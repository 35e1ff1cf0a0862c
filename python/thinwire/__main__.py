"""`python -m thinwire` is the `thinwire` command."""

from thinwire.start import main

main()
