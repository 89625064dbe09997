"""`python -m synth sheets -n 20 -o sheets`."""

from synth.cli import main

main()
