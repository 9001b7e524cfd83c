"""The program `forecast`, also as `python -m forecast_attn`."""

import gc
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; it starts without looking for garbage, until a command begins (`cli.flags.Command`)."""
    gc.disable()
    from forecast_attn.cli import main as run

    run()


if __name__ == "__main__":
    main()
