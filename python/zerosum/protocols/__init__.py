"""One engine behind the protocols that board programs speak: UCI, USI and GTP."""
