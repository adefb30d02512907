<#
.SYNOPSIS
Removes what amlwizard has set up in the workspace, and amlwizard itself; datasets, models, jobs and notebooks stay.

.DESCRIPTION
Exit codes: 0 done, 1618 try again later, 3010 done, restart wanted, 1 failed, 2 refused.
#>
[CmdletBinding()]
param(
    [string] $Root = (Join-Path $env:SystemDrive 'aml'),
    [string] $Command = (Join-Path $env:ProgramFiles 'amlwizard\amlwizard-cli.exe'),
    [switch] $KeepProgram
)

if (Test-Path -LiteralPath $Command) {
    $lines = @(& $Command uninstall --root $Root.TrimEnd('\') --json 2>$null)
    $code = $LASTEXITCODE
    $end = $lines | Where-Object { $_ -like '{*' } | Select-Object -Last 1
    if ($end) { Write-Output ($end | ConvertFrom-Json).message }
    if ($code -eq 4) { exit 1618 }
    if ($code -ne 0) { exit $code }
}
if ($KeepProgram) { exit 0 }

# Not Win32_Product: asking that repairs every program of the machine.
$places = 'HKLM:\SOFTWARE\Microsoft\Windows\CurrentVersion\Uninstall\*'
$program = Get-ItemProperty -Path $places -ErrorAction SilentlyContinue |
    Where-Object { $_.PSObject.Properties['DisplayName'] -and $_.DisplayName -eq 'amlwizard' -and $_.PSChildName -like '{*}' } |
    Select-Object -First 1
if (-not $program) { exit 0 }
$setup = Start-Process -FilePath msiexec.exe -ArgumentList @('/x', $program.PSChildName, '/qn', '/norestart') -Wait -PassThru
exit $setup.ExitCode
