"""Images of containers: archives of ``tar`` that are unpacked once into the user's cache, whole or not at all.

An archive holds one file system, as ``docker export`` writes it, or the layers of one: ``docker save`` writes ``manifest.json``,
and an OCI layout has ``index.json`` (https://github.com/opencontainers/image-spec, image-layout.md, manifest.md and layer.md).
Owners and devices are not kept, since only root could make them.
"""

import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sojourn.errors import InputError, RunFailed
from sojourn.linux import cache
from sojourn.scenario.programs import IMAGE

#: What marks a file that a layer removes, and a folder of which it removes all (layer.md, "Whiteouts").
_REMOVED, _EMPTIED = ".wh.", ".wh..wh..opq"

#: What this machine is called in an index of images.
_ARCHITECTURE = "amd64"


def place(image: str) -> Path:
    """The folder of an image by its name, which is its archive's SHA-256."""
    return cache.folder().parent / "images" / image.removeprefix(IMAGE)


def unpack(archive: Path, image: str) -> None:
    """Unpacks an archive into the folder of an image, unless that is there.

    Raises:
        InputError: the archive is no image.
        RunFailed: there is no room for it.
    """
    target = place(image)
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="unfinished-", dir=target.parent))
    try:
        with tarfile.open(archive) as whole:
            names = set(whole.getnames())
            layers = _layers(whole, {name.removeprefix("./"): name for name in names})
            for layer in layers:
                with tarfile.open(fileobj=whole.extractfile(layer)) as content:
                    _add(content, work)
            if layers is _NONE:
                _add(whole, work)
        work.chmod(0o755)
        if not target.exists():
            work.rename(target)
    except (tarfile.TarError, EOFError, KeyError, ValueError, TypeError, IndexError) as problem:
        raise InputError(f"{archive}: no image of a container: {problem}") from None
    except OSError as problem:
        raise RunFailed(f"{archive}: could not be unpacked: {problem.strerror or problem}") from None
    finally:
        shutil.rmtree(work, ignore_errors=True)


#: An archive that is a file system itself.
_NONE: list[str] = []


def _layers(whole: tarfile.TarFile, names: dict[str, str]) -> list[str]:
    """The layers of an archive, the lowest first."""
    if "manifest.json" in names:
        found = [names[layer] for layer in _read(whole, names["manifest.json"])[0]["Layers"]]
    elif "index.json" in names:
        manifest = _read(whole, names["index.json"])
        while "manifests" in manifest:
            manifest = _read(whole, names[_blob(_own(manifest["manifests"]))])
        found = [names[_blob(layer)] for layer in manifest["layers"]]
    else:
        return _NONE
    if not found:
        raise ValueError("it has no layers")
    return found


def _own(manifests: list[Any]) -> Any:
    """The image for this machine of several."""
    platforms = [each.get("platform", {}).get("architecture") for each in manifests]
    if len(manifests) == 1 and platforms[0] in (None, _ARCHITECTURE):
        return manifests[0]
    if _ARCHITECTURE not in platforms:
        raise ValueError(f"it has images for {', '.join(map(str, platforms)) or 'nothing'}, and none for {_ARCHITECTURE}")
    return manifests[platforms.index(_ARCHITECTURE)]


def _blob(described: Any) -> str:
    if str(described.get("mediaType", "")).endswith("zstd"):
        raise ValueError("its layers are compressed by zstd; write it with gzip or none")
    return f"blobs/{described['digest'].replace(':', '/')}"


def _read(whole: tarfile.TarFile, name: str) -> Any:
    file = whole.extractfile(name)
    if file is None:
        raise ValueError(f"{name} is no file")
    return json.load(file)


def _add(layer: tarfile.TarFile, root: Path) -> None:
    """Adds a layer to those below it: first what it removes, then what it has."""
    members = layer.getmembers()
    for path in list(_removed(members, root)):
        if path.is_symlink() or not path.is_dir():
            path.unlink(missing_ok=True)
        else:
            shutil.rmtree(path)
    folders: list[tuple[Path, int]] = []
    for member in members:
        name = Path(member.name).name
        if name.startswith(_REMOVED):
            continue
        target = _inside(root, member.name)
        if target == root:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if member.isdir():
            if target.is_symlink() or not target.is_dir():
                target.unlink(missing_ok=True)
                target.mkdir()
            folders.append((target, member.mode))
            continue
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)
        target.unlink(missing_ok=True)
        if member.issym():
            target.symlink_to(member.linkname)
        elif member.islnk():
            os.link(_inside(root, member.linkname), target, follow_symlinks=False)
        elif (content := layer.extractfile(member)) is not None:
            with target.open("wb") as file:
                shutil.copyfileobj(content, file)
            # What programs may change is a layer in memory; the user must be able to read all.
            target.chmod(member.mode & 0o777 | 0o400)
    for folder, mode in folders:
        if folder.is_dir():
            folder.chmod(mode & 0o777 | 0o700)


def _removed(members: list[tarfile.TarInfo], root: Path) -> Iterator[Path]:
    for member in members:
        path = Path(member.name)
        if path.name == _EMPTIED:
            folder = _inside(root, str(path.parent))
            if folder.is_dir():
                yield from folder.iterdir()
        elif path.name.startswith(_REMOVED):
            yield _inside(root, str(path.with_name(path.name.removeprefix(_REMOVED))))


def _inside(root: Path, name: str) -> Path:
    """The place of a name in a root, whose folders must not lead out of it."""
    path = root / name.lstrip("/")
    parent = path.parent.resolve()
    if ".." in Path(name).parts or not (parent.is_relative_to(root.resolve()) or path == root):
        raise ValueError(f"{name} leads out of it")
    return path
