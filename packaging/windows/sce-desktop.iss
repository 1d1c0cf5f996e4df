; Installer for Windows, by Inno Setup 6: ISCC /DVersion=0.1.0 packaging\windows\sce-desktop.iss
; It takes dist\sce-desktop, the folder that PyInstaller made, and writes dist\sce-desktop-VERSION-setup.exe.
; SCE_DESKTOP_SIGN_TOOL in the environment is a command that signs the file whose name replaces $f, such as
;   signtool sign /fd sha256 /tr http://timestamp.example /td sha256 /sha1 THUMBPRINT $f
; Without it, nothing is signed.

#ifndef Version
  #error "Say which version: ISCC /DVersion=0.1.0"
#endif
#define SignCommand GetEnv("SCE_DESKTOP_SIGN_TOOL")

[Setup]
; Of this program for ever: an upgrade finds the older version by it.
AppId={{6C1B7B5E-3B7C-4F0B-9A56-0E0B0B6C2D11}
AppName=SCE Desktop
AppVersion={#Version}
AppPublisher=The authors of SCE Desktop
DefaultDirName={autopf}\SCE Desktop
DefaultGroupName=SCE Desktop
DisableProgramGroupPage=yes
; For this user alone unless the administrator asks for all: no password is needed.
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog commandline
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0.17763
OutputDir=..\..\dist
OutputBaseFilename=sce-desktop-{#Version}-setup
Compression=lzma2/max
SolidCompression=yes
LZMAUseSeparateProcess=yes
LicenseFile=..\..\LICENSE
UninstallDisplayIcon={app}\sce-desktop.exe
ChangesAssociations=yes
CloseApplications=yes
#if SignCommand != ""
SignTool=sign
SignedUninstaller=yes
#endif

[Languages]
Name: "en"; MessagesFile: "compiler:Default.isl"
Name: "de"; MessagesFile: "compiler:Languages\German.isl"
Name: "ar"; MessagesFile: "compiler:Languages\Arabic.isl"

[Tasks]
Name: "desktopicon"; Description: "{cm:CreateDesktopIcon}"; GroupDescription: "{cm:AdditionalIcons}"; Flags: unchecked

[InstallDelete]
; What an older version had and this one has not.
Type: filesandordirs; Name: "{app}\_internal"

[Files]
Source: "..\..\dist\sce-desktop\*"; DestDir: "{app}"; Flags: ignoreversion recursesubdirs createallsubdirs; Excludes: "_internal\share\*"

[Icons]
Name: "{group}\SCE Desktop"; Filename: "{app}\sce-desktop.exe"; AppUserModelID: "alt.scedesktop.app"
Name: "{autodesktop}\SCE Desktop"; Filename: "{app}\sce-desktop.exe"; AppUserModelID: "alt.scedesktop.app"; Tasks: desktopicon

[Registry]
Root: HKA; Subkey: "Software\Classes\.sce\OpenWithProgids"; ValueType: string; ValueName: "alt.scedesktop.app.project"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\alt.scedesktop.app.project"; ValueType: string; ValueData: "SCE Desktop project"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\alt.scedesktop.app.project\DefaultIcon"; ValueType: string; ValueData: "{app}\sce-desktop.exe,0"
Root: HKA; Subkey: "Software\Classes\alt.scedesktop.app.project\shell\open\command"; ValueType: string; ValueData: """{app}\sce-desktop.exe"" gui ""%1"""
Root: HKA; Subkey: "Software\Classes\Applications\sce-desktop.exe\shell\open\command"; ValueType: string; ValueData: """{app}\sce-desktop.exe"" gui ""%1"""

[Run]
Filename: "{app}\sce-desktop.exe"; Description: "{cm:LaunchProgram,SCE Desktop}"; Flags: nowait postinstall skipifsilent
