"""Learning merges: byte-level BPE, and BPE over characters."""
