#!/bin/sh
# Sign, notarise and pack the app bundle: packaging/macos/package.sh "dist/SCE Desktop.app" [dist]
#
# From the environment, each step only where its variables are set:
#   SCE_DESKTOP_SIGN_IDENTITY   "Developer ID Application: NAME (TEAM)": the bundle is signed with the hardened runtime
#   SCE_DESKTOP_NOTARY_PROFILE  of `xcrun notarytool store-credentials`: the image is sent to Apple, and stapled
# Without the first, the bundle stays signed for this machine alone, and others are warned when they open it.
set -eu
app=$1
out=${2:-dist}
here=$(cd "$(dirname "$0")" && pwd)
version=$(defaults read "$(cd "$app" && pwd)/Contents/Info" CFBundleShortVersionString)
image="$out/SCE-Desktop-$version-$(uname -m).dmg"

if [ -n "${SCE_DESKTOP_SIGN_IDENTITY:-}" ]; then
    # From the inside out: a bundle's signature seals what lies in it.
    find "$app/Contents" -type f \( -name '*.dylib' -o -name '*.so' \) -print0 |
        xargs -0 codesign --force --timestamp --options runtime --sign "$SCE_DESKTOP_SIGN_IDENTITY"
    codesign --force --timestamp --options runtime --entitlements "$here/entitlements.plist" \
        --sign "$SCE_DESKTOP_SIGN_IDENTITY" "$app"
    codesign --verify --deep --strict "$app"
fi

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
cp -R "$app" "$stage/"
ln -s /Applications "$stage/Applications"
hdiutil create -volname "SCE Desktop" -srcfolder "$stage" -format ULMO -ov "$image"

if [ -n "${SCE_DESKTOP_SIGN_IDENTITY:-}" ]; then
    codesign --timestamp --sign "$SCE_DESKTOP_SIGN_IDENTITY" "$image"
    if [ -n "${SCE_DESKTOP_NOTARY_PROFILE:-}" ]; then
        xcrun notarytool submit "$image" --keychain-profile "$SCE_DESKTOP_NOTARY_PROFILE" --wait
        xcrun stapler staple "$image"
    fi
fi
echo "$image"
