"""`python -m forecast_attn …` is `forecast …`."""

from forecast_attn.cli import main

if __name__ == "__main__":
    main()
