; The installer for one user: no administrator is asked for, and nothing is written outside the user's own places.
; Called by package_windows.py, which defines VERSION, VERSION_FOUR, PROGRAM (folder), PARTS (lists), ICON and OUT.
; Silent: /S, with /D=FOLDER as the last option. Exit codes: 0 done, 2 refused, 3 the program is running.
Unicode True
ManifestDPIAware true
SetCompressor /SOLID lzma
SetCompressorDictSize 64
!include MUI2.nsh
!include LogicLib.nsh
!include WordFunc.nsh
!include FileFunc.nsh
!include x64.nsh
!include "${PARTS}/lists.nsh"

!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\amlwizard"
!define CLASSES "Software\Classes"
!define TYPE "amlwizard.bundle"

Name "amlwizard"
OutFile "${OUT}"
InstallDir "$LOCALAPPDATA\Programs\amlwizard"
InstallDirRegKey HKCU "${KEY}" "InstallLocation"
RequestExecutionLevel user
BrandingText "amlwizard ${VERSION}"
VIProductVersion "${VERSION_FOUR}"
VIAddVersionKey /LANG=0 "ProductName" "amlwizard"
VIAddVersionKey /LANG=0 "ProductVersion" "${VERSION}"
VIAddVersionKey /LANG=0 "FileDescription" "amlwizard installer"
VIAddVersionKey /LANG=0 "FileVersion" "${VERSION}"
VIAddVersionKey /LANG=0 "LegalCopyright" "MIT licence"

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_WELCOMEFINISHPAGE_BITMAP "${ICON}.bmp"
!define MUI_ABORTWARNING
!define MUI_FINISHPAGE_RUN "$INSTDIR\amlwizard.exe"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "SimpChinese"

LangString NEWER ${LANG_ENGLISH} "amlwizard $0 is installed, which is newer than ${VERSION}. To go back, uninstall it first; workspaces stay."
LangString NEWER ${LANG_SIMPCHINESE} "已安装的 amlwizard $0 比 ${VERSION} 更新。如需退回旧版本，先卸载已安装的版本；工作区会保留。"
LangString RUNNING ${LANG_ENGLISH} "amlwizard is running. Close its window, then start this again."
LangString RUNNING ${LANG_SIMPCHINESE} "amlwizard 正在运行。关闭其窗口，然后重新运行本程序。"
LangString OLD ${LANG_ENGLISH} "amlwizard needs a 64-bit Windows."
LangString OLD ${LANG_SIMPCHINESE} "amlwizard 需要 64 位的 Windows。"
LangString FOREIGN ${LANG_ENGLISH} "$INSTDIR holds other files. Choose an empty folder."
LangString FOREIGN ${LANG_SIMPCHINESE} "$INSTDIR 中有其他文件。另选一个空文件夹。"
LangString BUNDLE_NAME ${LANG_ENGLISH} "Offline bundle of amlwizard"
LangString BUNDLE_NAME ${LANG_SIMPCHINESE} "amlwizard 离线安装包"

; Says a sentence in a window, or on the console where there is to be no window, and ends.
!macro Refuse text code
  ${If} ${Silent}
    System::Call 'kernel32::AttachConsole(i -1)'
    System::Call 'kernel32::GetStdHandle(i -12) p .r9'
    ${If} $9 P<> 0
      FileWriteUTF16LE $9 ""
      FileWrite $9 "${text}$\r$\n"
    ${EndIf}
  ${Else}
    MessageBox MB_OK|MB_ICONEXCLAMATION "${text}"
  ${EndIf}
  SetErrorLevel ${code}
  Quit
!macroend

; A program that runs keeps its file from being written.
!macro RefuseWhileRunning
  ${If} ${FileExists} "$INSTDIR\amlwizard.exe"
    ClearErrors
    FileOpen $1 "$INSTDIR\amlwizard.exe" a
    ${If} ${Errors}
      !insertmacro Refuse "$(RUNNING)" 3
    ${EndIf}
    FileClose $1
  ${EndIf}
  ${If} ${FileExists} "$INSTDIR\amlwizard-cli.exe"
    ClearErrors
    FileOpen $1 "$INSTDIR\amlwizard-cli.exe" a
    ${If} ${Errors}
      !insertmacro Refuse "$(RUNNING)" 3
    ${EndIf}
    FileClose $1
  ${EndIf}
!macroend

Function .onInit
  ${IfNot} ${RunningX64}
    !insertmacro Refuse "$(OLD)" 2
  ${EndIf}
  ReadRegStr $0 HKCU "${KEY}" "DisplayVersion"
  ${If} $0 != ""
    ${VersionCompare} "$0" "${VERSION}" $1
    ${If} $1 == 1
      !insertmacro Refuse "$(NEWER)" 2
    ${EndIf}
  ${EndIf}
FunctionEnd

Section
  !insertmacro RefuseWhileRunning
  ${If} ${FileExists} "$INSTDIR\uninstall.exe"
    ; What an older version brought goes, and settings stay.
    ExecWait '"$INSTDIR\uninstall.exe" /S /UPGRADE _?=$INSTDIR' $1
    ${If} $1 <> 0
      SetErrorLevel $1
      Abort
    ${EndIf}
    Delete "$INSTDIR\uninstall.exe"
  ${ElseIf} ${FileExists} "$INSTDIR\*.*"
    ${DirState} "$INSTDIR" $1
    ${If} $1 == 1
      !insertmacro Refuse "$(FOREIGN)" 2
    ${EndIf}
  ${EndIf}
  !insertmacro InstallProgram
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortCut "$SMPROGRAMS\amlwizard.lnk" "$INSTDIR\amlwizard.exe"
  WriteRegStr HKCU "${CLASSES}\.amlbundle" "" "${TYPE}"
  WriteRegStr HKCU "${CLASSES}\${TYPE}" "" "$(BUNDLE_NAME)"
  WriteRegStr HKCU "${CLASSES}\${TYPE}\DefaultIcon" "" "$INSTDIR\amlwizard.exe,0"
  WriteRegStr HKCU "${CLASSES}\${TYPE}\shell\open\command" "" '"$INSTDIR\amlwizard.exe" "%1"'
  WriteRegStr HKCU "${KEY}" "DisplayName" "amlwizard"
  WriteRegStr HKCU "${KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${KEY}" "DisplayIcon" "$INSTDIR\amlwizard.exe"
  WriteRegStr HKCU "${KEY}" "Publisher" "amlwizard contributors"
  WriteRegStr HKCU "${KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${KEY}" "NoRepair" 1
  WriteRegDWORD HKCU "${KEY}" "EstimatedSize" ${KILOBYTES}
  ${RefreshShellIcons}
SectionEnd

Function un.onInit
  !insertmacro RefuseWhileRunning
FunctionEnd

Section "Uninstall"
  SetOutPath "$TEMP" ; the program's folder cannot go while it is the working one
  !insertmacro RemoveProgram
  Delete "$SMPROGRAMS\amlwizard.lnk"
  ReadRegStr $0 HKCU "${CLASSES}\.amlbundle" ""
  ${If} $0 == "${TYPE}"
    DeleteRegKey HKCU "${CLASSES}\.amlbundle"
  ${EndIf}
  DeleteRegKey HKCU "${CLASSES}\${TYPE}"
  DeleteRegKey HKCU "${KEY}"
  ${GetParameters} $0
  ClearErrors
  ${GetOptions} $0 "/UPGRADE" $1
  ${If} ${Errors}
    RMDir /r "$LOCALAPPDATA\amlwizard" ; settings and what the window remembers
    Delete "$INSTDIR\uninstall.exe"
    RMDir "$INSTDIR"
    RMDir "$LOCALAPPDATA\Programs" ; where this was the only program
  ${EndIf}
  ${RefreshShellIcons}
SectionEnd
