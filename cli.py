"""`python cli.py …` from a checkout is `forecast …`."""

from forecast_attn.cli import main

if __name__ == "__main__":
    main()
