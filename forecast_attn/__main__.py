"""The program `forecast`, also as `python -m forecast_attn`."""

from typing import NoReturn

from forecast_attn import memory


def main() -> NoReturn:
    """Run the command line; garbage collection is resumed when a command begins (`cli.flags.Command`)."""
    memory.pause_collection()
    from forecast_attn.cli import main as run

    run()


if __name__ == "__main__":
    main()
