"""Other people's programs as players: engines that speak UCI, USI or GTP."""
