"""Schemas of a run's JSON files, checked once when a file is read."""

from __future__ import annotations

from forecast_attn.config.options import MOST_STEPS
from forecast_attn.runs.validators import (
    aligned,
    anything,
    digest,
    equally_long,
    every,
    flag,
    key_of,
    many,
    nullable,
    number,
    one_of,
    path,
    positive,
    record,
    table,
    text,
    together,
    whole,
)

MOST_MEMBERS = 1_000

_column = many(number)
_ERRORS = {"mae": number, "rmse": number, "mase": nullable(number)}

CONFIG = record(
    {
        "data": record({"file": path, "sha256": nullable(digest), "vintages_sha256": nullable(digest)}),
        # The values are checked as those of the command line are, when they are read.
        "options": record({"data": table(anything), "model": table(anything), "training": table(anything)}),
    },
    {"package_version": text},
)

SCHEMA = record(
    {
        "roles": record(
            {
                "time": text,
                "target": text,
                "item_id": nullable(text),
                **{f"{kind}_covariates": many(text) for kind in ("past", "future", "static")},
                **{f"{kind}_categories": many(text) for kind in ("past", "future", "static")},
                "ignored": table(text),
                "reasons": table(text),
            },
            {"known_steps": table(whole(0)), "weight": nullable(text)},
        ),
        "frequency": record(
            {
                "alias": text,
                "season": whole(1),
                "default_horizon": whole(1),
                "default_lookback": whole(1),
                "evidence": text,
            }
        ),
        "lookback": whole(1, MOST_STEPS),
        "horizon": whole(1, MOST_STEPS),
        "calendar": record(
            {
                "features": many(text, most=100),
                "holidays": nullable(
                    record({"regions": many(text), "package_version": nullable(text), "dates": many(text)})
                ),
            }
        ),
        "scaler": record(
            {
                "method": text,
                "item_ids": many(text),
                "target": record({"loc": _column, "scale": many(positive)}),
                "past": record({"loc": many(_column), "scale": many(many(positive))}),
                "future": record({"loc": many(_column), "scale": many(many(positive))}),
                "static": record({"loc": _column, "scale": many(positive)}),
                "constant": many(text),
            },
            {"transform": record({"kind": one_of("none", "arcsinh", "log"), "loc": _column, "scale": many(positive)})},
        ),
        "zone": record({"name": nullable(text), "axis": one_of("utc", "local")}),
        "vocabulary": table(many(text)),
        "masked": flag,
        "padded": flag,
        "date_order": nullable(text),
    }
)

_ENDED = one_of("max-epochs", "patience", "max-time", "interrupted")
_SCORED = record(
    {"windows": whole(0), "windows_available": whole(0), "after": text, **_ERRORS},
    {
        "pinball": nullable(table(nullable(number))),
        "interval": nullable(record({"lower": number, "upper": number, "coverage": number, "nominal": number})),
        "calibrated_on_these_windows": flag,
    },
)
_WEIGHT_NEED = nullable(record({"needed": flag, "mae": number, "mae_equal": number, "windows": whole(0)}))
_FINAL_FIT = record({"epochs": whole(0), "windows": whole(0)}, {"until": text})
_HELD_OUT = record({"mae": nullable(number), "mase": nullable(number), "loss": number})
_UPDATE = record(
    {
        "parent": text,
        "parent_sha256": digest,
        "number": whole(1),
        "rows": whole(1),
        "from": text,
        "until": text,
        "table": record({"file": path, "sha256": nullable(digest)}, {"vintages_sha256": nullable(digest)}),
        "held_out": whole(0),
        "kept": one_of("new", "old"),
        "epochs": whole(1),
    },
    {"old": _HELD_OUT, "new": _HELD_OUT},
)
_METRICS = record(
    {"ended": _ENDED, "validation": _SCORED, "skill_per_cent": nullable(number)},
    {
        "best_epoch": whole(0),
        "epochs": whole(0),
        "seasonal_naive": record({"season": whole(1), **_ERRORS}),
        "baselines": table(record({**_ERRORS, "skill_per_cent": nullable(number)})),
        "short_series": many(record({"item_id": text, "rows": whole(0), "needed": whole(0)})),
        "manifest": text,
        "final_fit": _FINAL_FIT,
        "no_final_fit": nullable(text),
        "combination": record(
            {"weights": table(number), "validation": record(_ERRORS)},
            {"by_series": table(table(number)), "alone": table(record(_ERRORS))},
        ),
        "weight_need": _WEIGHT_NEED,
        "update": _UPDATE,
        "model_sha256": nullable(digest),
        "calibration_sha256": nullable(digest),
        "members": many(
            record(
                {"ended": _ENDED, "best_epoch": whole(0), "epochs": whole(0), "validation": _SCORED},
                {
                    "final_fit": _FINAL_FIT,
                    "seed": nullable(whole(0, 2**32)),
                    "model_sha256": nullable(digest),
                    "weight_need": _WEIGHT_NEED,
                },
            ),
            most=MOST_MEMBERS,
        ),
    },
)
METRICS = every(_METRICS, key_of("best_baseline", "baselines"), together("best_epoch", "epochs"))

CALIBRATION = record(
    {
        "kind": one_of("split", "cqr", "adaptive"),
        "levels": many(number),
        "offsets": many(many(number)),
        "values": many(whole(0, 2**62)),
    },
    {"unit": many(number), "after": whole(-(2**63), 2**63 - 1)},
)

MANIFEST = record({"files": table(record({"bytes": whole(0, 2**62), "sha256": digest}))})

_YARDSTICK = record(
    {"low": nullable(number), "high": nullable(number)}, {"draws": nullable(whole(0)), "of": nullable(text)}
)
_CURVE = aligned(
    "share",
    ("forecast_change",),
    record({"label": text, "share": many(number)}, {"forecast_change": table(nullable(many(nullable(number))))}),
)
_STATISTIC = record(
    {"name": text, "label": text, "value": nullable(number)}, {"unit": text, "yardstick": nullable(_YARDSTICK)}
)
_GROUP = record(
    {"name": text, "windows": whole(0), "mae": number, "mae_equal": number, "rise_relative": nullable(number)},
    {"kind": text, "chance": nullable(number), "needed": nullable(flag)},
)
_CHECK = record(
    {"name": text, "title": text, "passed": nullable(flag), "verdict": text, "statistics": many(_STATISTIC)},
    {"curves": many(_CURVE), "groups": many(_GROUP)},
)
_IMPORTANCE = record(
    {"name": text, "mae_change": nullable(number)},
    {name: nullable(number) for name in ("relative", "low", "high")} | {"matters": nullable(flag)},
)
AUDIT = record(
    {
        "header": record(
            {"windows": whole(0), "windows_available": whole(0)},
            {"target": nullable(text), "looks": text, "patch_length": whole(1)},
        ),
    },
    {
        "verdict": nullable(record({"level": text, "sentence": text}, {"caveats": many(text)})),
        "checks": many(_CHECK),
        "profiles": nullable(equally_long),
        "covariates": nullable(
            record(
                {},
                {
                    "verdict": nullable(text),
                    "groups": nullable(many(_IMPORTANCE)),
                    "columns": nullable(many(_IMPORTANCE)),
                },
            )
        ),
    },
)

SEARCH = record(
    {
        "study": text,
        "seed": whole(0, 2**32),
        "metric": text,
        "scored_on": text,
        "trials": table(whole(0)),
        "best": record({"trial": whole(0), "value": number}),
        "best_options": table(anything),
        "space": table(anything),
        "importance": table(number),
        "leaderboard": many(table(anything)),
    },
    {"package_version": text},
)

TRACKING = record({"logger": text, "log_to": nullable(text), "id": nullable(text)})
