#!/bin/sh
# Open the window; without a display (or a window) classify the sample in the terminal. $1: the environment's bin.
set -eu
bin=$1
sample=resources/sample

if ! "$bin/python" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("sce_desktop.app") is None)'; then
    echo "This version has no window yet: classifying the bundled sample in the terminal instead."
elif [ "$(uname)" != Darwin ] && [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    echo "There is no display here: classifying the bundled sample in the terminal instead."
else
    exec "$bin/sce-desktop" gui
fi

mkdir -p build
"$bin/sce-desktop" classify "$sample/parcel_feedback.csv" --text message --labels-file "$sample/labels.txt" \
    --baseline similarity -o build/parcel_feedback_labelled.csv
"$bin/python" tools/show_labelled.py build/parcel_feedback_labelled.csv message
