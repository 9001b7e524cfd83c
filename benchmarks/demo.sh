#!/bin/sh
# The README's first five minutes: check, train, predict and inspect on bundled data. Usage: demo.sh path/to/forecast
set -eu
forecast=$1
run=runs/demo
say() { printf '\n$ forecast %s\n' "$*"; "$forecast" "$@"; }

rm -rf "$run"
say check data/city_load.csv
say train data/city_load.csv --attention luong-general --max-epochs 6 --seed 1 --out "$run"
say predict "$run"
say inspect "$run" --png "$run/attention.png"
printf '\nThe demo is in %s: predictions.csv, attention.parquet, attention.png. Delete it whenever you like.\n' "$run"
