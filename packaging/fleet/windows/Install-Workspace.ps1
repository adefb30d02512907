<#
.SYNOPSIS
Installs amlwizard and sets a workspace up from a bundle, without a network; for Intune and Configuration Manager.

.DESCRIPTION
Put this script, amlwizard's .msi and the bundle into one folder, which is the content of the app. It runs as SYSTEM:

  powershell.exe -NoProfile -ExecutionPolicy Bypass -File Install-Workspace.ps1

Exit codes: 0 done, 1618 try again later (another run holds the workspace, or it is in use), 3010 done, restart wanted by
the .msi, 1 failed, 2 refused. What amlwizard said is on standard output and in the log.
#>
[CmdletBinding()]
param(
    [string] $Root = (Join-Path $env:SystemDrive 'aml'),
    [string] $Msi = (Join-Path $PSScriptRoot 'amlwizard.msi'),
    [string] $Bundle = (Join-Path $PSScriptRoot 'team.amlbundle'),
    [string] $BundleSha256 = 'PUT-THE-SHA-256-OF-THE-BUNDLE-HERE',
    [string] $Command = (Join-Path $env:ProgramFiles 'amlwizard\amlwizard-cli.exe'),
    [string] $Log = (Join-Path $env:ProgramData 'amlwizard\install.log')
)

$ErrorActionPreference = 'Stop'
$restart = $false

# Start-Process joins its arguments with spaces and quotes none: what may hold a space gets its quotes here.
function Get-Quoted([string] $Text) { '"' + $Text + '"' }

# Users may read and run what is in the folder, and change nothing. Rights are set before anything is there.
# The numbers are SYSTEM, Administrators and Users, whatever Windows calls them in its language.
function Set-Rights([string] $Folder) {
    & icacls.exe $Folder /inheritance:r /grant:r '*S-1-5-18:(OI)(CI)F' '*S-1-5-32-544:(OI)(CI)F' '*S-1-5-32-545:(OI)(CI)RX' | Out-Null
    if ($LASTEXITCODE -ne 0) { throw "icacls could not set the rights of $Folder." }
}

try {
    # Every user may make folders in ProgramData, and amlwizard obeys the settings that lie in this one.
    $own = Join-Path $env:ProgramData 'amlwizard'
    foreach ($place in $own, (Join-Path $own 'settings.json')) {
        if (Test-Path -LiteralPath $place) {
            $owner = (Get-Acl -LiteralPath $place).GetOwner([Security.Principal.SecurityIdentifier]).Value
            if ($owner -notin 'S-1-5-18', 'S-1-5-32-544') {
                throw "$place belongs to $owner and not to the administrators. Look at it, and remove it or make it theirs."
            }
        }
    }
    New-Item -ItemType Directory -Force -Path $own, (Split-Path -Parent $Log) | Out-Null
    Set-Rights $own

    if (Test-Path -LiteralPath $Msi) {
        $options = @('/i', (Get-Quoted $Msi), '/qn', '/norestart', 'ALLUSERS=1')
        $setup = Start-Process -FilePath msiexec.exe -ArgumentList $options -Wait -PassThru
        if ($setup.ExitCode -notin 0, 3010) {
            Write-Output "msiexec ended with $($setup.ExitCode)."
            exit $setup.ExitCode
        }
        $restart = $setup.ExitCode -eq 3010
    }

    New-Item -ItemType Directory -Force -Path $Root | Out-Null
    Set-Rights $Root.TrimEnd('\')

    # The call operator hands each argument over as it is, spaces included.
    # A quotation mark after a backslash would be taken for part of a path.
    $options = @('install', '--root', $Root.TrimEnd('\'), '--bundle', $Bundle, '--bundle-sha256', $BundleSha256, '--offline', '--json')
    $ErrorActionPreference = 'Continue'  # what a program writes to standard error is no error of this script
    $lines = @(& $Command @options 2>$null)
    $code = $LASTEXITCODE
    $ErrorActionPreference = 'Stop'
    Add-Content -LiteralPath $Log -Value $lines -Encoding UTF8

    $end = $lines | Where-Object { $_ -like '{*' } | Select-Object -Last 1
    if ($end) {
        $finished = $end | ConvertFrom-Json
        Write-Output "$($finished.message) $($finished.hint) ($($finished.code))"
    }
    switch ($code) {
        0 { if ($restart) { exit 3010 } else { exit 0 } }
        4 { exit 1618 }
        default { exit $code }
    }
}
catch {
    Write-Output "$_"
    exit 1
}
