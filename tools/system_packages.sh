#!/bin/sh
# Install the Debian packages that Qt needs, if this is Debian or a child of it, and we are root; else name them.
# Arguments: which sets. Never fails: what is missing shows in the tests that need it.
set -u

packages=""
for set in "$@"; do
    case $set in
    headless) # Qt with its offscreen platform
        packages="$packages libegl1 libgl1 libglib2.0-0 libdbus-1-3 libfontconfig1 libxkbcommon0" ;;
    virtual-display) # the real program in a virtual display, driven from outside; fonts for every script
        packages="$packages xvfb xauth xdotool libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4"
        packages="$packages libxcb-keysyms1 libxcb-shape0"
        packages="$packages fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji" ;;
    screen-reader) # the real program read as a screen reader does: python -m tests.atspi
        packages="$packages at-spi2-core dbus dbus-daemon python3-gi gir1.2-atspi-2.0" ;;
    *) echo "$0: no set is named $set" >&2; exit 0 ;;
    esac
done

command -v dpkg-query >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1 || exit 0

missing=""
for package in $packages; do
    # Newer releases renamed some of them for 64-bit times: libglib2.0-0t64.
    dpkg-query -W -f '${db:Status-Abbrev}\n' "$package" "${package}t64" 2>/dev/null | grep -q '^ii' ||
        missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
    echo "Qt or its tests need packages that are missing: sudo apt-get install$missing"
    exit 0
fi
echo "Installing$missing"
export DEBIAN_FRONTEND=noninteractive
{
    apt-get update -qq
    # shellcheck disable=SC2086
    apt-get install -y -qq --no-install-recommends $missing
} </dev/null >/dev/null 2>&1 || echo "They could not be installed:$missing"
exit 0
