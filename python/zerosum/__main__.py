"""`python -m zerosum` is the command line."""

from zerosum.cli import main

if __name__ == "__main__":
    main()
