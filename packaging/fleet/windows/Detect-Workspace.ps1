<#
.SYNOPSIS
Tells Intune or Configuration Manager whether the workspace works and holds the expected packages.

.DESCRIPTION
Both take an app as installed where a detection script ends with 0 and has written something to standard output, and as not
installed where it ends with 0 and has written nothing. Any other exit code means that the detection itself failed.
#>
[CmdletBinding()]
param(
    [string] $Root = (Join-Path $env:SystemDrive 'aml'),
    [string] $Lock = 'PUT-THE-SHA-256-OF-THE-LOCK-HERE',
    [string] $Command = (Join-Path $env:ProgramFiles 'amlwizard\amlwizard-cli.exe')
)

if (-not (Test-Path -LiteralPath $Command)) { exit 0 }

$lines = @(& $Command verify --root $Root.TrimEnd('\') --expect $Lock --json 2>$null)
switch ($LASTEXITCODE) {
    0 { Write-Output ($lines | Select-Object -Last 1); exit 0 }  # it works
    3 { exit 0 }                                                  # it is to be installed
    default { exit 1 }                                            # nobody knows, such as during another run
}
