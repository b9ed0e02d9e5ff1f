# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel modules that go into the guest image, with all that they need."""

import gzip
import lzma
import re
import subprocess
import tempfile
from pathlib import Path

from ..errors import UserError

WANTED = (
    # the stock drivers of what irqbed emulates and compares with
    "ufshcd-core", "ufshcd-pci", "ahci", "nvme", "null_blk", "scsi_debug",
    # disks and the generic SCSI device
    "sd_mod", "sg", "scsi_mod",
    # on top of disks
    "md-mod", "raid0", "ext4", "loop",
    # the host's files and the state of the machine
    "qemu_fw_cfg",
)
LISTS = ("modules.order", "modules.builtin", "modules.builtin.modinfo")
NOT_IN_GUEST = ("modules.order", "modules.builtin.modinfo")


def module_name(path):
    """"kernel/drivers/ata/libahci.ko.xz" -> "libahci" (the kernel takes - and _ as one)."""
    return re.sub(r"\.ko(\.\w+)?$", "", path.rsplit("/", 1)[-1]).replace("-", "_")


def read_lines(path):
    """The lines of a file, none if it is not there."""
    return path.read_text().splitlines() if path.exists() else []


def read_dependencies(folder):
    """{name: (path, [paths it needs])} from modules.dep."""
    found = {}
    for line in (folder / "modules.dep").read_text().splitlines():
        path, needs = line.split(":", 1)
        found[module_name(path)] = (path, needs.split())
    return found


def soft_dependencies(folder):
    """{name: [names]} from modules.softdep: what modprobe loads before and after."""
    found = {}
    for line in read_lines(folder / "modules.softdep"):
        words = line.split()
        if words[:1] == ["softdep"]:
            found.setdefault(words[1].replace("-", "_"), []).extend(
                word.replace("-", "_") for word in words[2:] if not word.endswith(":"))
    return found


def aliases(folder):
    """{alias without wildcards: [names]}: softdeps name things such as crypto-crc32c."""
    found = {}
    for line in read_lines(folder / "modules.alias"):
        words = line.split()
        if words[:1] == ["alias"] and "*" not in words[1] and ":" not in words[1]:
            found.setdefault(words[1].replace("-", "_"), []).append(words[2])
    return found


def closure(folder, wanted, log):
    """Paths of the wanted modules and of all they need, sorted."""
    dependencies, soft, known_as = read_dependencies(folder), soft_dependencies(folder), aliases(folder)
    builtin = {module_name(line) for line in read_lines(folder / "modules.builtin")}
    chosen, todo = set(), [(name.replace("-", "_"), True) for name in wanted]
    while todo:
        name, is_needed = todo.pop()
        if name not in dependencies:
            # An alias offers several implementations: all of them are small.
            todo += [(module_name(other), False) for other in known_as.get(name, [])]
            if is_needed and name not in builtin and name not in known_as:
                log.write(f"this kernel has no module {name}")
            continue
        path, needs = dependencies[name]
        if path in chosen:
            continue
        chosen.add(path)
        todo += [(module_name(need), True) for need in needs]
        todo += [(need, False) for need in soft.get(name, [])]
    return sorted(chosen)


def read_module(path):
    """A module's bytes, uncompressed: the guest then need not spend time on it."""
    data = path.read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(data)
    if path.suffix == ".gz":
        return gzip.decompress(data)
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout
    return data


def add_modules(archive, folder, release, log):
    """Put the modules and what modprobe reads into the archive under lib/modules/RELEASE."""
    folder = Path(folder)
    if not (folder / "modules.dep").exists():
        raise UserError(f"{folder}: no modules.dep; needed: lib/modules/RELEASE after depmod")
    top = f"lib/modules/{release}"
    with tempfile.TemporaryDirectory() as temporary:
        stage = Path(temporary) / top
        stage.mkdir(parents=True)
        for name in LISTS:
            if (folder / name).exists():
                (stage / name).write_bytes((folder / name).read_bytes())
        for path in closure(folder, WANTED, log):
            target = stage / re.sub(r"\.(xz|gz|zst)$", "", path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(read_module(folder / path))
        log.run(["depmod", "-b", temporary, release])
        for path in sorted(stage.rglob("*")):
            # busybox modprobe reads the text forms only
            if path.is_file() and path.suffix != ".bin" and path.name not in NOT_IN_GUEST:
                archive.file(f"{top}/{path.relative_to(stage)}", path.read_bytes())
