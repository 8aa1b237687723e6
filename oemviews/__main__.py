"""`python -m oemviews` is the command line."""

from oemviews.cli import main

if __name__ == "__main__":
    main()
