#!/bin/sh
# Run the tests in three processes side by side: two begin with those of the window, which wait much of their time,
# and the first of them goes on with those of files. Each has one thread for torch, as processes that share the cores
# would wait for each other. With arguments: one process, as pytest reads them.
# usage: test.sh PYTHON [ARGUMENT ...]
python=$1
shift
if [ $# -gt 0 ]; then
    exec "$python" -m pytest "$@"
fi
export OMP_NUM_THREADS=1
logs=$(mktemp -d)
(
    status=0
    "$python" -m pytest tests/ui/test_[a-l]*.py -p no:cacheprovider || status=1
    "$python" -m pytest tests/store tests/data tests/faults -p no:cacheprovider || status=1
    exit $status
) >"$logs/first" 2>&1 &
first=$!
"$python" -m pytest tests/ui/test_[m-z]*.py -p no:cacheprovider >"$logs/second" 2>&1 &
second=$!
trap 'kill $first $second 2>/dev/null; rm -rf "$logs"; exit 130' INT TERM
"$python" -m pytest tests --ignore tests/ui --ignore tests/store --ignore tests/data --ignore tests/faults
others=$?
wait $first
first=$?
wait $second
second=$?
cat "$logs/first" "$logs/second"
rm -rf "$logs"
echo "Tests of the window and of files: exit statuses $first and $second. All others: exit status $others."
[ $others -eq 0 ] && [ $first -eq 0 ] && [ $second -eq 0 ]
