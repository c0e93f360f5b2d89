import { createHash } from "node:crypto";
import { RepositoryError } from "../errors.js";
import { isParityFile } from "../format/file-names.js";
import { packFile } from "../format/pack-layout.js";
import { readAgain } from "../storage/read-again.js";
import { listAll, type Storage } from "../storage/storage.js";
import {
  MAX_HEADER_SIZE,
  ParityBuilder,
  parityFile,
  parseParityHeader,
  type FinishedParity,
  type ParityMember,
} from "./parity-file.js";

/** A parity file and the packs that it protects. */
interface ParityGroup {
  /** Name of the parity file in the storage. */
  readonly file: string;
  readonly members: readonly ParityMember[];
}

/** The groups whose header can be read. */
export async function listParityGroups(
  storage: Storage,
): Promise<ParityGroup[]> {
  const groups: ParityGroup[] = [];
  for (const { name } of await listAll(storage, "parity")) {
    if (!isParityFile(name)) continue;
    const range = { offset: 0, length: MAX_HEADER_SIZE };
    try {
      const { members } = parseParityHeader(await storage.read(name, range));
      groups.push({ file: name, members });
    } catch {
      // Verify reads the whole file and reports it.
    }
  }
  return groups;
}

/** A parity file whose bytes are those that were written. @throws RepositoryError `missing` or `damaged` */
export async function readParity(
  storage: Storage,
  file: string,
): Promise<{ members: readonly ParityMember[]; parity: Buffer }> {
  const bytes = await storage.read(file);
  if (file !== parityFile(sha256(bytes)))
    throw new RepositoryError("damaged", `${file} is damaged`);
  const { members, offset } = parseParityHeader(bytes);
  return { members, parity: bytes.subarray(offset) };
}

/** The bytes of a missing or damaged pack, computed from its group; undefined if that is not possible. */
export async function recoverPack(
  storage: Storage,
  name: string,
  groups: readonly ParityGroup[],
): Promise<Buffer | undefined> {
  for (const group of groups) {
    const member = group.members.find((one) => one.name === name);
    if (member === undefined) continue;
    try {
      const { members, parity } = await readAgain(() =>
        readParity(storage, group.file),
      );
      const builder = new ParityBuilder();
      builder.add(members, parity);
      for (const other of members)
        if (other.name !== name) await addPacks(storage, builder, [other]);
      const bytes = Buffer.from(builder.remainder(member.size));
      if (sha256(bytes) === name) return bytes;
    } catch (error) {
      // Another part of the group is missing too: another group may have the pack.
      if (!(error instanceof RepositoryError)) throw error;
    }
  }
  return undefined;
}

/** Stores a finished parity file; one that exists has the same bytes. @returns its path */
export async function putParity(
  storage: Storage,
  { name, parts }: FinishedParity,
): Promise<string> {
  const file = parityFile(name);
  await storage.putIfAbsent(file, parts);
  return file;
}

/**
 * Takes packs out of their groups, so that the others stay protected when
 * these are deleted. To be called before the packs are deleted; repeating it
 * after an interruption gives the same files.
 */
export async function removeFromGroups(
  storage: Storage,
  removed: ReadonlySet<string>,
): Promise<void> {
  for (const group of await listParityGroups(storage)) {
    const leaving = group.members.filter(({ name }) => removed.has(name));
    if (leaving.length === 0) continue;
    if (leaving.length < group.members.length)
      await withoutMembers(storage, group, removed);
    await storage.remove([group.file]);
  }
}

async function withoutMembers(
  storage: Storage,
  group: ParityGroup,
  removed: ReadonlySet<string>,
): Promise<void> {
  const leaving = group.members.filter(({ name }) => removed.has(name));
  const staying = group.members.filter(({ name }) => !removed.has(name));
  try {
    const { members, parity } = await readParity(storage, group.file);
    const builder = new ParityBuilder();
    builder.add(members, parity);
    await addPacks(storage, builder, leaving);
    await putParity(storage, builder.finish());
  } catch (error) {
    if (!(error instanceof RepositoryError)) throw error;
    // The parity or a leaving pack cannot be read: begin again from those that stay.
    await protectGroup(storage, staying);
  }
}

/** Writes parity for packs that have none; packs that cannot be read stay without. */
export async function protectPacks(
  storage: Storage,
  packs: readonly ParityMember[],
  groupSize: number,
): Promise<void> {
  for (let i = 0; i < packs.length; i += groupSize)
    await protectGroup(storage, packs.slice(i, i + groupSize));
}

/** Joins groups of few packs: the parity of the union is the exclusive or of both. */
export async function mergeSmallGroups(
  storage: Storage,
  groupSize: number,
): Promise<void> {
  const seen = new Set<string>();
  const small = (await listParityGroups(storage)).filter(({ members }) => {
    const isNew = members.every(({ name }) => !seen.has(name));
    for (const { name } of members) seen.add(name);
    return isNew && members.length <= groupSize / 2;
  });
  let joined: ParityGroup[] = [];
  let count = 0;
  for (const group of small) {
    joined.push(group);
    count += group.members.length;
    if (count <= groupSize / 2) continue;
    await mergeGroups(storage, joined);
    joined = [];
    count = 0;
  }
}

async function mergeGroups(
  storage: Storage,
  groups: readonly ParityGroup[],
): Promise<void> {
  if (groups.length < 2) return;
  const builder = new ParityBuilder();
  try {
    for (const { file } of groups) {
      const { members, parity } = await readParity(storage, file);
      builder.add(members, parity);
    }
  } catch (error) {
    if (error instanceof RepositoryError) return; // verify repairs the damaged one first
    throw error;
  }
  const file = await putParity(storage, builder.finish());
  await storage.remove(
    groups.map((group) => group.file).filter((one) => one !== file),
  );
}

async function protectGroup(
  storage: Storage,
  packs: readonly ParityMember[],
): Promise<void> {
  const builder = new ParityBuilder();
  for (const pack of packs) {
    try {
      await addPacks(storage, builder, [pack]);
    } catch (error) {
      if (!(error instanceof RepositoryError)) throw error;
      // A damaged pack cannot be protected; the others can.
    }
  }
  if (builder.count > 0) await putParity(storage, builder.finish());
}

/** @throws RepositoryError `missing` or `damaged` */
async function addPacks(
  storage: Storage,
  builder: ParityBuilder,
  packs: readonly ParityMember[],
): Promise<void> {
  for (const pack of packs) {
    const bytes = await readAgain(async () => {
      const read = await storage.read(packFile(pack.name));
      if (sha256(read) === pack.name) return read;
      throw new RepositoryError("damaged", `pack ${pack.name} is damaged`);
    });
    builder.add([pack], bytes);
  }
}

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
