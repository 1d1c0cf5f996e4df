#!/bin/sh
# Install a .deb into a bare Debian and work with it there: packaging/deb_smoke.sh PACKAGE.deb [ROOT] [PYTHON]
#
# As root, with debootstrap, xvfb and xdotool. ROOT (build/bare by default) is made if it is not there: a minimal
# system of the release that RELEASE names, bookworm by default, from DEBIAN_MIRROR; without it from where this
# system gets its packages, if it is of that release.
# PYTHON needs PySide6 and what tests/e2e needs: the environment that built the program has it.
set -eu
cd "$(dirname "$0")/.."
package=$(realpath "$1")
root=$(realpath -m "${2:-build/bare}")
python=${3:-python3}
release=${RELEASE:-bookworm}

if [ ! -x "$root/usr/bin/dpkg" ]; then
    mkdir -p "$(dirname "$root")"
    debootstrap --variant=minbase "$release" "$root" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"}
    . /etc/os-release
    if [ -z "${DEBIAN_MIRROR:-}" ] && [ "${VERSION_CODENAME:-}" = "$release" ]; then
        for file in /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf.d /etc/hosts /etc/resolv.conf; do
            [ -e "$file" ] || continue
            rm -rf "$root$file"
            cp -rL "$file" "$root$file"
        done
    fi
fi
before=$(du -sm "$root" | cut -f1)
cp "$package" "$root/tmp/package.deb"
chroot "$root" env DEBIAN_FRONTEND=noninteractive sh -c '
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends /tmp/package.deb >/dev/null
    rm /tmp/package.deb
    apt-get clean
    dpkg --verify sce-desktop && dpkg-query -W -f "installed: \${Package} \${Version}, \${Installed-Size} KiB\n" sce-desktop
'
echo "the system: $before MB before, $(du -sm "$root" | cut -f1) MB with the package and what it depends on"
"$python" packaging/smoke.py --root "$root"
chroot "$root" apt-get purge -y -qq sce-desktop >/dev/null
if [ -e "$root/usr/lib/sce-desktop" ]; then
    echo "FAILED: something was left behind" >&2
    exit 1
fi
echo "removed without a trace"
