"""Roots of programs: images of containers, what they leave out, and commands that are not there."""

import io
import json
import os
import shutil
import struct
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from sojourn import programs
from sojourn.backends.linux import commands
from sojourn.errors import InputError
from sojourn.linux import cache, images
from sojourn.specification import FOLDER, specify
from test_programs import kernel, on_a_kernel, scenario_of

#: Files by their names: their contents, or where links lead.
Files = Mapping[str, bytes | str]


def tar(files: Files) -> bytes:
    """Returns an archive of files, links (texts) and folders (names that end with a slash)."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.mode = 0o755
            if isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
                archive.addfile(member)
            elif name.endswith("/"):
                member.type = tarfile.DIRTYPE
                archive.addfile(member)
            else:
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return written.getvalue()


LOWER = tar({"etc/": b"", "etc/one": b"1", "etc/two": b"2", "var/old/a": b"a", "var/old/b": b"b", "sh": "/bin/busybox"})
UPPER = tar({"etc/.wh.one": b"", "var/old/.wh..wh..opq": b"", "var/old/c": b"c"})


def saved() -> bytes:
    """Returns what `docker save` writes of two layers."""
    manifest = [{"Config": "c.json", "Layers": ["x/layer.tar", "y/layer.tar"]}]
    return tar({"x/layer.tar": LOWER, "y/layer.tar": UPPER, "manifest.json": json.dumps(manifest).encode()})


def layout(*architectures: str) -> bytes:
    """Returns an OCI layout of two layers, for each of some machines."""
    manifest = json.dumps({"layers": [{"digest": "sha256:x"}, {"digest": "sha256:y"}]}).encode()
    index = {"manifests": [{"digest": "sha256:m", "platform": {"architecture": each}} for each in architectures]}
    blobs = {"blobs/sha256/m": manifest, "blobs/sha256/x": LOWER, "blobs/sha256/y": UPPER}
    return tar({**blobs, "index.json": json.dumps(index).encode()})


@pytest.fixture
def unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], Path]:
    """Returns a function that unpacks an archive into a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def unpack(content: bytes) -> Path:
        archive = tmp_path / "image.tar"
        archive.write_bytes(content)
        images.unpack(archive, "sha256:abc")
        return images.place("sha256:abc")

    return unpack


@pytest.mark.parametrize("content", [saved(), layout("amd64"), layout("arm64", "amd64")], ids=["save", "layout", "several"])
def test_layers_are_added_in_order(unpacked: Callable[[bytes], Path], content: bytes) -> None:
    """A layer removes the files that its whiteouts name, and all of a folder that it marks opaque (layer.md)."""
    folder = unpacked(content)
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}
    assert found == {"etc/two", "var/old/c", "sh"}
    assert (folder / "sh").readlink() == Path("/bin/busybox")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no archive", "image.tar: no image of a container"),
        (tar({"manifest.json": b'[{"Layers": []}]'}), "it has no layers"),
        (layout("arm64", "s390x"), "it has images for arm64, s390x, and none for amd64"),
        (tar({"../x": b""}), r"\.\./x leads out of it"),
        (tar({"a": "/", "a/x": b""}), "a/x leads out of it"),
    ],
)
def test_what_is_no_image_leaves_nothing(unpacked: Callable[[bytes], Path], content: bytes, message: str) -> None:
    """One line says why, and nothing stays in the cache."""
    with pytest.raises(InputError, match=message):
        unpacked(content)
    assert list(images.place("sha256:abc").parent.iterdir()) == []


def with_commands(root: Path, *commands: str) -> Any:
    """Returns as much of a run as says which programs it has, and where."""
    programs = [{"command": [command], "root": "folder:1", "environment": {}} for command in commands]
    return {"programs": programs, "places": {"folder:1": str(root), FOLDER: str(root / "own")}}


def elf(machine: int) -> bytes:
    """Returns the header of a program for a machine (elf(5))."""
    return b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack("<HH", 2, machine).ljust(48, b"\0")


def test_commands_are_looked_up_where_they_will_be(tmp_path: Path) -> None:
    """On the PATH of programs, through links that cannot lead out of the root, in the scenario's folder, and by their headers."""
    files = {"usr/bin/good": elf(62), "usr/bin/arm": elf(183), "own/mine": b"#!/usr/bin/good\n", "own/lost": b"#!/no/such\n"}
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755)
    (tmp_path / "bin").symlink_to("/usr/bin")
    (tmp_path / "usr/bin/plain").write_bytes(elf(62))
    (tmp_path / "usr/bin/plain").chmod(0o644)
    for fine in ("good", "/bin/good", "./mine", "/tmp/made-later", "../scenario/mine"):
        commands.check(with_commands(tmp_path, fine))
    for wrong, why in {
        "none": 'there is no "none" on its root',
        "arm": '"arm" on its root is for AArch64, not x86-64',
        "./lost": 'there is no "/no/such" on its root',
        "plain": '"plain" on its root may not be executed',
    }.items():
        with pytest.raises(InputError) as caught:
            commands.check(with_commands(tmp_path, "good", wrong))
        assert str(caught.value) == f"programs[1].run: {why}"


def test_an_image_is_named_by_its_content(tmp_path: Path) -> None:
    """The specification of a run says nothing of where the archive lies."""
    (tmp_path / "a.tar").write_bytes(saved())
    shutil.copy(tmp_path / "a.tar", tmp_path / "b.tar")
    texts = [
        specify(scenario_of([{"at": "server", "run": "true", "root": str(tmp_path / name)}]), 1)["programs"]
        for name in ("a.tar", "b.tar")
    ]
    assert texts[0] == texts[1]
    assert texts[0][0]["root"].startswith("sha256:")


class TestOnAKernel:
    """Programs whose file system is an image."""

    pytestmark = on_a_kernel

    @pytest.mark.skipif(shutil.which("busybox") is None, reason="busybox-static is not installed")
    def test_a_program_sees_its_image(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """It has the image's files and none of this machine's; those of the image stay as they are."""
        busybox = Path(shutil.which("busybox") or "").read_bytes()
        content = tar({"bin/busybox": busybox, "bin/sh": "busybox", "word": b"of the image\n"})
        (tmp_path / "image.tar").write_bytes(content)
        chosen = kernel()
        kept = tmp_path / "cache" / "sojourn" / "linux"
        kept.mkdir(parents=True)
        (kept / "kernels").symlink_to(cache.kernels_folder())
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        command = "busybox cat /word; echo changed > /word; busybox ls /"
        network = programs.network(rate="1 Mbit/s", delay="1 ms")
        asked = {"run": ["sh", "-c", command], "root": "image.tar"}
        output = network.run(client=asked, duration="1 s", folder=tmp_path, backend=chosen)["client"].output
        made = ["dev", "etc", "proc", "run", "scenario", "sys", "tmp"]
        assert output.split() == ["of", "the", "image", *sorted(["bin", "word", *made])]
        (image,) = (tmp_path / "cache" / "sojourn" / "images").iterdir()
        assert (image / "word").read_text() == "of the image\n"
        assert os.access(image / "bin" / "busybox", os.X_OK)
