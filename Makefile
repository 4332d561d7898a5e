# Wraps tasks.py, which does the same on Windows: `python tasks.py demo`, `python tasks.py test`.
PYTHON ?= python3

.PHONY: help demo check test setup oracles s3-server wheel
help:
	@$(CHECK_PYTHON)
	@$(PYTHON) tasks.py --help

demo check test setup oracles s3-server wheel:
	@$(CHECK_PYTHON)
	@$(PYTHON) tasks.py $@

CHECK_PYTHON = $(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null || { \
	echo "'$(PYTHON)' is not Python 3.11 or newer: install it (https://www.python.org/downloads), or name one" \
	"that is there, as in 'make PYTHON=python3.12 demo'." >&2; exit 1; }
