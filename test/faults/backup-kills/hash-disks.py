"""Prints the SHA-256 of each disk of each backup, as tools/read-backup.py reads it.

    hash-disks.py READER REPOSITORY RECOVERY_KEY

In one process for all of them: each line is a JSON object with backup, label and
hash, or error.
"""

import hashlib
import importlib.util
import json
import sys

reader_path, folder, recovery_key = sys.argv[1:]
spec = importlib.util.spec_from_file_location("read_backup", reader_path)
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)


def tell(**line):
    print(json.dumps(line))


repository = reader.Repository(folder, None, recovery_key)
manifests, errors = repository.manifests()
for error in errors:
    tell(error=str(error))
for manifest in manifests:
    for disk in manifest["disks"]:
        label = (disk.get("properties") or {}).get("name_label", "")
        content = bytearray(disk["size"])
        try:
            for offset, part in reader.parts_of(repository, manifest, disk):
                content[offset : offset + len(part)] = part
            digest = hashlib.sha256(content).hexdigest()
            tell(backup=manifest["id"], label=label, hash=digest)
        except reader.Damaged as error:
            tell(error="%s %s: %s" % (manifest["id"], label, error))
