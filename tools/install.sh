#!/bin/sh
# Make the development environment in the folder $1, from the tested versions.
set -eu
venv=$1

if [ ! -x "$venv/bin/python" ]; then
    for python in "${PYTHON:-python3}" python3.13 python3.12 python3.11; do
        if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            "$python" -m venv "$venv"
            break
        fi
    done
fi
if [ ! -x "$venv/bin/python" ]; then
    echo "Python 3.11 or newer with its venv module is needed: install it, or name it with PYTHON=..." >&2
    exit 1
fi

echo "Installing into $venv (a few minutes the first time)"
pip="$venv/bin/python -m pip --disable-pip-version-check --quiet"
# torch first and by its exact version: an index that has a CPU-only build of it then gives that one, where
# resolving it as somebody's dependency may bring gigabytes of CUDA.
$pip install "$(grep '^torch==' constraints.txt)"
$pip install --constraint constraints.txt --editable '.[dev]'
