"""The program `forecast`, also as `python -m forecast_attn`."""

from typing import NoReturn

from forecast_attn import garbage


def main() -> NoReturn:
    """Run the command line; garbage is looked for when a command begins (`cli.flags.Command`)."""
    garbage.hold_back()
    from forecast_attn.cli import main as run

    run()


if __name__ == "__main__":
    main()
