"""Folders of cloud services on every system: the real algorithm on simulated facts."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

import pytest

from amlwizard.core.cloud_folders import cloud_service

WINDOWS = {"OneDrive": "D:\\Cloud", "OneDriveCommercial": "C:\\Users\\Ana\\Firm", "OneDriveConsumer": ""}


@pytest.mark.parametrize(
    ("root", "service"),
    [
        ("C:\\Users\\Ana\\OneDrive\\Documents\\aml", "OneDrive"),
        ("C:\\Users\\Ana\\OneDrive - Example AG\\Desktop\\aml", "OneDrive"),
        ("d:\\cloud\\aml", "OneDrive"),
        ("C:\\Users\\Ana\\FIRM", "OneDrive"),
        ("C:\\Users\\Ana\\Dropbox (Example)\\aml", "Dropbox"),
        ("C:\\Users\\Ana\\iCloudDrive\\aml", "iCloud"),
        ("D:\\Cloudy\\aml", None),
        ("C:\\Users\\Ana\\aml", None),
        ("C:\\Users\\Ana\\OneDriver\\aml", None),
    ],
)
def test_b37_on_windows_by_variable_or_by_name(root: str, service: str | None) -> None:
    assert cloud_service(PureWindowsPath(root), WINDOWS, "windows") == service


@pytest.mark.parametrize(
    ("root", "service"),
    [
        ("/Users/ana/Library/Mobile Documents/com~apple~CloudDocs/aml", "iCloud"),
        ("/Users/ana/Library/CloudStorage/OneDrive-ExampleAG/aml", "OneDrive"),
        ("/Users/ana/Library/CloudStorage/Box-Box/aml", "Box"),
        ("/Users/ana/Library/CloudStorage/GoogleDrive-ana@example.org/My Drive/aml", "Google Drive"),
        ("/Users/ana/Dropbox/aml", "Dropbox"),
        ("/Users/ana/Library/aml", None),
    ],
)
def test_b37_on_macos_by_the_places_of_the_system(root: str, service: str | None) -> None:
    assert cloud_service(PurePosixPath(root), WINDOWS, "macos") == service


def test_b37_on_linux_by_name_alone() -> None:
    assert cloud_service(PurePosixPath("/home/ana/OneDrive/aml"), {}, "linux") == "OneDrive"
    assert cloud_service(PurePosixPath("/home/ana/Library/CloudStorage/Box-Box/aml"), {}, "linux") is None
    assert cloud_service(PurePosixPath("/home/ana/aml"), {"OneDrive": "/home/ana"}, "linux") is None
