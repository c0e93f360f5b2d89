/*
 * Names of a repository's files. Other files in its folders were left by other programs, or by hand: they are
 * reported and never deleted, moved or read as one of these.
 */
const PACK = /^packs\/([0-9a-f]{2})\/\1[0-9a-f]{62}$/;
const MANIFEST =
  /^backups\/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const PARITY = /^parity\/[0-9a-f]{64}$/;
const SEQUENCE = /^(?:log|checkpoints)\/\d{10,15}$/;

/** Whether a pack may have this name. */
export function isPackFile(name: string): boolean {
  return PACK.test(name);
}

/** Whether a manifest may have this name; not that of the copy. */
export function isManifestFile(name: string): boolean {
  return MANIFEST.test(name);
}

/** Whether a parity file may have this name. */
export function isParityFile(name: string): boolean {
  return PARITY.test(name);
}

/** Whether an entry of the log or a checkpoint may have this name; not that of the copy. */
export function isSequenceFile(name: string): boolean {
  return SEQUENCE.test(name);
}
