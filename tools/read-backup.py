#!/usr/bin/env python3
"""Restores disks from a backup repository to raw files, without the server.

Written from docs/backup-format.md alone. Needs Python 3.8 or later and the
package "cryptography" (AES-256-GCM is not in the standard library). zstd comes
from Python 3.14, the package "zstandard", or the system's libzstd, whichever
is there.

    read-backup.py REPOSITORY list
    read-backup.py REPOSITORY show BACKUP
    read-backup.py REPOSITORY restore BACKUP DISK FILE
    read-backup.py REPOSITORY check

"list" prints the id of each backup with the name of the VM, and of its disks;
"show" prints all that is known of the VM (memory, CPUs, interfaces) as JSON.
The passphrase is asked for, or read from the environment variable
XO_BACKUP_PASSPHRASE. With --recovery-key KEY no passphrase is needed: KEY is
both lines of the recovery key, joined by "-".
"""

import argparse
import base64
import ctypes
import ctypes.util
import datetime
import getpass
import hashlib
import hmac
import json
import os
import struct
import sys
import unicodedata
import zlib

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
except ImportError:
    sys.exit('the Python package "cryptography" is needed for AES-256-GCM')

BLOCK = 64 * 1024
REGION = 256 * 1024 * 1024
MAX_PLAIN = 2 * 1024 * 1024


class Damaged(Exception):
    """A file is missing or is not what was written."""


# --- zstd -------------------------------------------------------------------


def zstd_of_library():
    path = ctypes.util.find_library("zstd") or "libzstd.so.1"
    library = ctypes.CDLL(path)
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_char_p,
        ctypes.c_size_t,
    ]
    library.ZSTD_isError.argtypes = [ctypes.c_size_t]

    def decompress(stored, size):
        plain = ctypes.create_string_buffer(max(size, 1))
        length = library.ZSTD_decompress(plain, size, stored, len(stored))
        if library.ZSTD_isError(length):
            raise Damaged("no zstd frame")
        return plain.raw[:length]

    return decompress


def find_zstd():
    try:
        from compression import zstd  # Python 3.14

        return lambda stored, size: zstd.decompress(stored)
    except ImportError:
        pass
    try:
        import zstandard

        decompressor = zstandard.ZstdDecompressor()
        return lambda stored, size: decompressor.decompress(
            stored, max_output_size=size
        )
    except ImportError:
        pass
    try:
        return zstd_of_library()
    except OSError:
        sys.exit(
            "zstd is needed: Python 3.14, the package zstandard, or libzstd.so.1"
        )


zstd_decompress = find_zstd()


# --- keys -------------------------------------------------------------------


def hkdf(key, salt, info):
    pseudorandom = hmac.new(salt or bytes(32), key, hashlib.sha256).digest()
    return hmac.new(pseudorandom, info + b"\x01", hashlib.sha256).digest()


class Keys:
    def __init__(self, key):
        self.key = key
        self.id_key = hkdf(key, b"", b"xo-backup chunk id")
        self.mac_key = hkdf(key, b"", b"xo-backup mac")

    def of_file(self, salt, purpose):
        return AESGCM(hkdf(self.key, salt, b"xo-backup " + purpose))

    def chunk_id(self, plain):
        return hmac.new(self.id_key, plain, hashlib.sha256).digest()[:16]

    def confirms(self, config):
        fields = [
            config["format"],
            str(config["version"]),
            config["id"],
            config["created"],
            "true" if config["parity"] else "false",
        ]
        text = "\n".join(fields).encode()
        mac = hmac.new(self.mac_key, text, hashlib.sha256).hexdigest()
        return hmac.compare_digest(mac, config["mac"])


def key_of_slot(slot, passphrase):
    """The repository key, or None if the passphrase does not open the slot."""
    kdf = slot["kdf"]
    if slot["version"] != 1 or kdf["name"] != "scrypt" or kdf["n"] > 2**20:
        return None
    key = hashlib.scrypt(
        unicodedata.normalize("NFC", passphrase).encode(),
        salt=base64.b64decode(kdf["salt"]),
        n=kdf["n"],
        r=kdf["r"],
        p=kdf["p"],
        maxmem=256 * kdf["n"] * kdf["r"],
        dklen=32,
    )
    data = "xo-backup key slot\n%s\n%s" % (slot["repository"], slot["name"])
    try:
        return AESGCM(key).decrypt(
            base64.b64decode(slot["nonce"]),
            base64.b64decode(slot["wrapped"]),
            data.encode(),
        )
    except InvalidTag:
        return None


def key_of_recovery_key(text):
    letters = "".join(c for c in text.upper() if c not in "- \t\n")
    try:
        raw = base64.b32decode(letters)
    except ValueError:
        raw = b""
    key, check = raw[:32], raw[32:]
    digest = hashlib.sha256(b"xo-backup recovery key" + key).digest()
    if len(raw) != 35 or digest[:3] != check:
        sys.exit("the recovery key is mistyped: its check sum does not match")
    return key


# --- files ------------------------------------------------------------------


class Repository:
    def __init__(self, path, passphrase=None, recovery_key=None):
        self.path = path
        self.packs = {}
        self.by_id = None
        self.moved = None
        # Names of missing or damaged packs that parity files have replaced.
        self.recovered = set()
        if recovery_key is not None:
            key = key_of_recovery_key(recovery_key)
        else:
            key = self.find_key(passphrase)
        self.keys = Keys(key)
        self.config = self.read_config()

    def read(self, name):
        try:
            with open(os.path.join(self.path, name), "rb") as file:
                return file.read()
        except OSError as error:
            raise Damaged("%s: %s" % (name, error.strerror))

    def names(self, folder):
        """Names in a folder or in its copy."""
        found = set()
        for place in (folder, os.path.join("copies", folder)):
            try:
                found.update(os.listdir(os.path.join(self.path, place)))
            except OSError:
                pass
        return sorted(found)

    def read_copied(self, name, parse):
        """What parse makes of a file, or of its copy if the file is bad."""
        errors = []
        for place in (name, "copies/" + name):
            try:
                return parse(self.read(place))
            except (Damaged, InvalidTag, ValueError, KeyError, zlib.error) as error:
                reason = str(error) or "damaged"
                named = reason.startswith(place)
                errors.append(reason if named else "%s: %s" % (place, reason))
        raise Damaged("; ".join(errors))

    def find_key(self, passphrase):
        for name in self.names("keys"):
            for place in ("keys/" + name, "copies/keys/" + name):
                try:
                    slot = json.loads(self.read(place))
                    key = key_of_slot(slot, passphrase)
                except (Damaged, ValueError, KeyError, TypeError):
                    continue
                if key is not None:
                    return key
        if not self.names("keys"):
            if not self.names("log"):
                sys.exit("%s holds no repository: it has no folder log" % self.path)
            sys.exit("keys/ has no files: use the recovery key (--recovery-key)")
        sys.exit("the passphrase opens no key slot of this repository")

    def read_config(self):
        def parse(raw):
            config = json.loads(raw)
            if config["format"] != "xo-backup-repository" or config["version"] != 1:
                raise ValueError("not a repository of version 1")
            if not self.keys.confirms(config):
                raise ValueError("changed, or the key is of another repository")
            return config

        return self.read_copied("repository.json", parse)

    def read_sealed(self, name):
        def parse(raw):
            if raw[:8] != b"XOBKSEA1":
                raise ValueError("no sealed file")
            cipher = self.keys.of_file(raw[8:40], b"sealed")
            data = raw[:40] + name.encode()
            return json.loads(zlib.decompress(cipher.decrypt(bytes(12), raw[40:], data)))

        return self.read_copied(name, parse)

    def manifests(self):
        """All manifests that can be read, oldest first, and the errors."""
        found, errors = [], []
        for name in self.names("backups"):
            try:
                found.append(self.read_sealed("backups/" + name))
            except Damaged as error:
                errors.append(str(error))
        lost = set(self.logged_backups(errors)) - set(self.names("backups"))
        errors += ["backups/%s and its copy are missing" % name for name in sorted(lost)]
        return sorted(found, key=lambda one: one["created"]), errors

    def logged_backups(self, errors):
        """Ids of the backups that the log names, as far as it can be read."""
        names, found = self.names("log"), set()
        last = max((int(name) for name in names if name.isdigit()), default=0)
        if last == 0:
            errors.append("log/ has no entries: backups may be missing unnoticed")
        for number in range(1, last + 1):
            try:
                change = self.read_sealed("log/%010d" % number)["change"]
            except Damaged as error:
                errors.append("%s; backups may be missing unnoticed" % error)
                continue
            if change["type"] == "add-backup":
                found.add(change["id"])
            elif change["type"] == "remove-backups":
                found.difference_update(change["ids"])
        return found

    # --- packs --------------------------------------------------------------

    def pack(self, name):
        """An open pack; a pack that is missing or damaged is recovered from parity."""
        if name not in self.packs:
            if len(self.packs) > 64:
                self.packs.clear()
            try:
                self.packs[name] = Pack(self, name)
            except Damaged as error:
                raw = self.recover(name)
                if raw is None:
                    raise error
                self.packs[name] = Pack(self, name, raw)
        return self.packs[name]

    def chunk(self, name, number, chunk_id):
        try:
            return self.pack(name).chunk(number, chunk_id)
        except Damaged as error:
            raw = self.recover(name)
            if raw is not None:
                self.packs[name] = Pack(self, name, raw)
                return self.packs[name].chunk(number, chunk_id)
            return self.chunk_elsewhere(name, chunk_id, error)

    def pack_names(self):
        folder = os.path.join(self.path, "packs")
        for prefix in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if os.path.isdir(os.path.join(folder, prefix)):
                yield from sorted(os.listdir(os.path.join(folder, prefix)))

    def chunk_elsewhere(self, pack, chunk_id, error):
        """The same content may be in another pack."""
        if self.by_id is None:
            self.by_id = {}
            for name in self.pack_names():
                try:
                    for number, entry in enumerate(Pack(self, name).entries):
                        self.by_id.setdefault(entry[:16], []).append((name, number))
                except Damaged:
                    pass
        for name, number in self.by_id.get(chunk_id, []):
            if name != pack:
                try:
                    return self.pack(name).chunk(number, chunk_id)
                except Damaged:
                    pass
        return self.quarantined_chunk(pack, chunk_id, error)

    def quarantined_chunk(self, pack, chunk_id, error):
        """A damaged pack that verification has moved: most of its chunks may be right."""
        folder = os.path.join(self.path, "quarantine")
        for file in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if file.endswith("-packs-%s-%s" % (pack[:2], pack)):
                try:
                    if self.moved is None or self.moved.name != pack:
                        self.moved = Pack(self, pack, self.read("quarantine/" + file))
                    ids = [entry[:16] for entry in self.moved.entries]
                    if chunk_id in ids:
                        return self.moved.chunk(ids.index(chunk_id), chunk_id)
                except Damaged:
                    pass
        raise error

    def recover(self, name):
        """The bytes of a pack from its parity file, or None."""
        folder = os.path.join(self.path, "parity")
        for file in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            try:
                raw = self.read("parity/" + file)
                members, parity = parse_parity(file, raw)
                if name not in members:
                    continue
                value = int.from_bytes(parity, "little")
                for other in members:
                    if other != name:
                        pack = self.read("packs/%s/%s" % (other[:2], other))
                        value ^= int.from_bytes(pack, "little")
                raw = value.to_bytes(len(parity), "little")[: members[name]]
                if hashlib.sha256(raw).hexdigest() == name:
                    self.recovered.add(name)
                    return raw
            except (Damaged, OverflowError):
                pass
        return None


def parse_parity(name, raw):
    if hashlib.sha256(raw).hexdigest() != name or raw[:8] != b"XOBKPAR1":
        raise Damaged("parity/%s is damaged" % name)
    (count,) = struct.unpack(">I", raw[8:12])
    members = {}
    for i in range(count):
        at = 12 + 36 * i
        (size,) = struct.unpack(">I", raw[at + 32 : at + 36])
        members[raw[at : at + 32].hex()] = size
    return members, raw[12 + 36 * count :]


class Pack:
    """The index of a pack; chunks are read from the file or from recovered bytes."""

    def __init__(self, repository, name, raw=None):
        self.keys = repository.keys
        self.name = name
        self.raw = raw
        self.path = os.path.join(repository.path, "packs", name[:2], name)
        try:
            size = len(raw) if raw is not None else os.path.getsize(self.path)
            self.parse(size)
        except (OSError, InvalidTag, ValueError, struct.error) as error:
            raise Damaged("pack %s: %s" % (name, str(error) or "damaged"))

    def bytes_at(self, offset, length):
        if offset < 0:
            raise ValueError("too short")
        if self.raw is not None:
            return self.raw[offset : offset + length]
        with open(self.path, "rb") as file:
            file.seek(offset)
            return file.read(length)

    def parse(self, size):
        header = self.bytes_at(0, 40)
        footer = self.bytes_at(size - 16, 16)
        if header[:8] != b"XOBKPCK1" or footer[8:] != b"XOBKEND1":
            raise ValueError("no header or no footer")
        length, count = struct.unpack(">II", footer[:8])
        if length != 28 * count + 16:
            raise ValueError("wrong number of entries")
        index_at = size - 16 - length
        self.cipher = self.keys.of_file(header[8:], b"pack")
        index = self.cipher.decrypt(
            b"\xff" * 12, self.bytes_at(index_at, length), header + footer
        )
        self.entries = [index[28 * i : 28 * i + 28] for i in range(count)]
        self.offsets = [40]
        for entry in self.entries:
            (stored,) = struct.unpack(">I", entry[16:20])
            self.offsets.append(self.offsets[-1] + stored)
        if self.offsets[-1] != index_at:
            raise ValueError("wrong size")

    def chunk(self, number, chunk_id):
        try:
            entry = self.entries[number]
            if entry[:16] != chunk_id:
                raise ValueError("another chunk")
            start, end = self.offsets[number], self.offsets[number + 1]
            plain = self.cipher.decrypt(
                struct.pack(">QI", 0, number),
                self.bytes_at(start, end - start),
                entry[:16] + entry[20:],
            )
            size, method = struct.unpack(">IB", entry[20:25])
            if method == 1 and size <= MAX_PLAIN:
                plain = zstd_decompress(plain, size)
            elif method != 0:
                raise ValueError("unknown compression")
            if len(plain) != size or self.keys.chunk_id(plain) != chunk_id:
                raise ValueError("content does not match the id")
            return plain
        except Damaged:
            raise
        except Exception as error:  # whatever a decoder says of damaged bytes
            wrong = "other bytes than were written"
            reason = wrong if isinstance(error, InvalidTag) else str(error)
            raise Damaged("pack %s, chunk %d: %s" % (self.name, number, reason))


# --- disks ------------------------------------------------------------------


def extents_of(repository, manifest, reference):
    """(block in the region, blocks, skipped blocks, pack, number, id) of a region."""
    raw = repository.chunk(
        manifest["packs"][reference["pack"]],
        reference["entry"],
        bytes.fromhex(reference["id"]),
    )
    packs, count = struct.unpack(">HH", raw[4:8])
    start = 8 + 32 * packs
    if raw[:4] != b"XRG1" or len(raw) != start + 24 * count:
        raise Damaged("region %d is malformed" % reference["region"])
    for i in range(count):
        at = start + 24 * i
        block, blocks, skip, pack, number = struct.unpack(">HBBHH", raw[at : at + 8])
        name = raw[8 + 32 * pack : 40 + 32 * pack].hex()
        yield block, blocks, skip, name, number, raw[at + 8 : at + 24]


def parts_of(repository, manifest, disk):
    """(offset, bytes) of everything that is not zero."""
    for reference in disk["regions"]:
        base = reference["region"] * REGION
        for extent in extents_of(repository, manifest, reference):
            block, blocks, skip, pack, number, chunk_id = extent
            plain = repository.chunk(pack, number, chunk_id)
            offset = base + block * BLOCK
            length = min(blocks * BLOCK, disk["size"] - offset)
            part = plain[skip * BLOCK : skip * BLOCK + length]
            if len(part) != length:
                raise Damaged("an extent is longer than its chunk")
            yield offset, part


def find_backup(repository, backup):
    manifests, _ = repository.manifests()
    manifest = next((one for one in manifests if one["id"] == backup), None)
    if manifest is None:
        sys.exit("there is no backup %s that can be read" % backup)
    return manifest


def show(repository, backup):
    manifest = find_backup(repository, backup)
    keys = ("name", "size", "properties")
    disks = [{key: disk.get(key) for key in keys} for disk in manifest["disks"]]
    json.dump({**manifest["properties"], "disks": disks}, sys.stdout, indent=2)
    print()
    return 0


def restore(repository, backup, disk_name, path):
    manifest = find_backup(repository, backup)
    disk = next((one for one in manifest["disks"] if one["name"] == disk_name), None)
    if disk is None:
        names = ", ".join(one["name"] for one in manifest["disks"])
        sys.exit("the backup has no disk %s, it has: %s" % (disk_name, names))
    with open(path, "xb") as file:
        try:
            file.truncate(disk["size"])
            for offset, part in parts_of(repository, manifest, disk):
                file.seek(offset)
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            os.unlink(path)  # a part of a disk must not be taken for a disk
            raise
    print("%s: %d bytes" % (path, disk["size"]))


def name_in(properties):
    """The name of a VM, pool or disk, where the program that made the backup stored one.

    Whoever names a VM must not control the terminal, or begin lines of their own.
    """
    name = properties.get("name_label") if isinstance(properties, dict) else None
    if not isinstance(name, str) or not name:
        return ""
    return "  %s" % "".join(c if c.isprintable() else "?" for c in name)


def taken(manifest):
    """When the state existed; a copy in another repository was created later."""
    time = manifest["properties"].get("time")
    if not isinstance(time, (int, float)) or not 0 <= time < 1e14:
        return manifest["created"]
    seconds = datetime.datetime.fromtimestamp(time / 1000, datetime.timezone.utc)
    return seconds.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def list_backups(repository):
    manifests, errors = repository.manifests()
    for manifest in sorted(manifests, key=taken):
        properties = manifest["properties"]
        name = name_in(properties.get("vm") or properties.get("pool"))
        print("%s  %s%s" % (manifest["id"], taken(manifest), name))
        for disk in manifest["disks"]:
            name = name_in(disk.get("properties"))
            print("    %s  %d bytes%s" % (disk["name"], disk["size"], name))
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


def check(repository):
    """Reads every byte of every backup.

    Packs that only parity files make readable are reported: the next damage may lose them.
    """
    manifests, errors = repository.manifests()
    for manifest in manifests:
        for disk in manifest["disks"]:
            try:
                for _ in parts_of(repository, manifest, disk):
                    pass
            except Damaged as error:
                errors.append("%s %s: %s" % (manifest["id"], disk["name"], error))
    for error in errors:
        print(error, file=sys.stderr)
    for name in sorted(repository.recovered):
        text = "packs/%s/%s is missing or damaged, and was read from parity"
        print(text % (name[:2], name), file=sys.stderr)
    print("%d backups, %d errors" % (len(manifests), len(errors)))
    return 1 if errors or repository.recovered else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repository")
    parser.add_argument("--recovery-key", metavar="KEY")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list")
    commands.add_parser("check")
    commands.add_parser("show").add_argument("backup")
    to_file = commands.add_parser("restore")
    to_file.add_argument("backup")
    to_file.add_argument("disk")
    to_file.add_argument("file")
    arguments = parser.parse_args()
    # Of a terminal that cannot show every name.
    sys.stdout.reconfigure(errors="backslashreplace")
    passphrase = None
    if arguments.recovery_key is None:
        passphrase = os.environ.get("XO_BACKUP_PASSPHRASE") or getpass.getpass(
            "Passphrase: "
        )
    try:
        repository = Repository(
            arguments.repository, passphrase, arguments.recovery_key
        )
        if arguments.command == "list":
            return list_backups(repository)
        if arguments.command == "show":
            return show(repository, arguments.backup)
        if arguments.command == "check":
            return check(repository)
        restore(repository, arguments.backup, arguments.disk, arguments.file)
        return 0
    except BrokenPipeError:
        # What read the output has ended, such as head.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Damaged as error:
        print("damaged: %s" % error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
