"""The version of this package, also when it runs from a checkout that was never installed."""


def package_version() -> str:
    """The installed version, or `unknown` in a checkout."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("forecast-attn")
    except PackageNotFoundError:
        return "unknown"
