import {
  isManifestFile,
  isPackFile,
  isParityFile,
  isSequenceFile,
} from "../format/file-names.js";
import { copyOf } from "../storage/copied-file.js";
import { listAll, type Storage } from "../storage/storage.js";
import type { Finding } from "./finding.js";

/** The folders whose names follow from the format, and what their names are. */
const FOLDERS: readonly (readonly [string, (name: string) => boolean])[] = [
  ["log", isSequenceFile],
  ["checkpoints", isSequenceFile],
  ["backups", isManifestFile],
  ["packs", isPackFile],
  ["parity", isParityFile],
];
const COPIED = ["log", "backups"];

/** Files in the folders of a repository that are none of its files. */
export async function findUnknownNames(storage: Storage): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [folder, isKnown] of FOLDERS)
    for (const location of COPIED.includes(folder)
      ? [folder, copyOf(folder)]
      : [folder])
      for (const { name: file } of await listAll(storage, location))
        if (!isKnown(folder + file.slice(location.length)))
          findings.push({
            file,
            problem: "unknown-name",
            isRepaired: false,
            backups: [],
          });
  return findings;
}
