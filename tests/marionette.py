"""A page of ours in Debian's Firefox, driven by its own Marionette: Playwright drives only a Firefox that it has built."""

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")

#: Seconds that a busy machine may take to start it, or to answer.
PATIENCE = 180

#: Nothing is fetched or asked; the port is one that is free, which the file beside says.
_PREFERENCES = {
    "marionette.port": 0,
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
}


class Firefox:
    """A browser with one page (https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html)."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self._stream = self._socket.makefile("rb")
        self._count = 0
        self._read()  # it introduces itself
        self._ask("WebDriver:NewSession", capabilities={"alwaysMatch": {"acceptInsecureCerts": False}})
        self._ask("WebDriver:SetTimeouts", script=PATIENCE * 1000, pageLoad=PATIENCE * 1000)

    @classmethod
    @contextmanager
    def started(cls, profile: Path, *, is_dark: bool = False) -> "Iterator[Self]":
        """One with a profile of its own, in the folder that is given."""
        assert FIREFOX is not None
        preferences = {**_PREFERENCES, "ui.systemUsesDarkTheme": int(is_dark)}
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items()]
        (profile / "user.js").write_text("".join(lines), encoding="utf-8")
        command = [FIREFOX, "--headless", "--no-remote", "--marionette", "--profile", str(profile)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with closing(cls(_port(profile / "MarionetteActivePort", process))) as firefox:
                yield firefox
        finally:
            process.terminate()
            process.wait(timeout=60)

    def _read(self) -> Any:
        length = b""
        while (byte := self._stream.read(1)) != b":":
            assert byte, "Firefox has ended"
            length += byte
        return json.loads(self._stream.read(int(length)))

    def _ask(self, command: str, **parameters: Any) -> Any:
        self._count += 1
        message = json.dumps([0, self._count, command, parameters]).encode()
        self._socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, answer = self._read()
        assert error is None, error
        return answer

    def close(self) -> None:
        """Ends the connection."""
        self._stream.close()
        self._socket.close()

    def open(self, address: str) -> None:
        """Shows a page."""
        self._ask("WebDriver:Navigate", url=address)

    def resize(self, width: int, height: int) -> None:
        """Makes its window so many pixels wide and high."""
        self._ask("WebDriver:SetWindowRect", width=width, height=height)

    def run(self, body: str) -> Any:
        """What the body of an asynchronous function returns in the page."""
        script = f"return (async () => {{ {body} }})()"
        return self._ask("WebDriver:ExecuteScript", script=script, args=[], sandbox=None)["value"]


def _port(file: Path, process: "subprocess.Popen[bytes]") -> int:
    """The port that Firefox has opened."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        if file.is_file() and (text := file.read_text(encoding="utf-8").strip()):
            return int(text)
        time.sleep(0.1)
    raise AssertionError("Firefox has not started")
