#!/bin/sh
# Run the tests: those of the window and all others side by side, each half in one process with one thread for
# torch, as two that share the cores would wait for each other. With arguments: one process, as pytest reads them.
# usage: test.sh PYTHON [ARGUMENT ...]
python=$1
shift
if [ $# -gt 0 ]; then
    exec "$python" -m pytest "$@"
fi
export OMP_NUM_THREADS=1
log=$(mktemp)
"$python" -m pytest tests/ui -p no:cacheprovider >"$log" 2>&1 &
window=$!
trap 'kill $window 2>/dev/null; rm -f "$log"; exit 130' INT TERM
"$python" -m pytest tests --ignore tests/ui
others=$?
wait $window
window=$?
cat "$log"
rm -f "$log"
echo "Tests of the window: exit status $window. All others: exit status $others."
[ $others -eq 0 ] && [ $window -eq 0 ]
