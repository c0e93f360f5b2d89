import { Repository, type Storage } from "../src/index.js";
import { MemoryDisk, writeRandomly } from "./memory-disk.js";
import { MemoryStorage } from "./memory-storage.js";
import { seededRandom } from "./random.js";

export const MIB = 1024 * 1024;

export async function newRepository(storage: Storage = new MemoryStorage()) {
  return Repository.create(storage, { passphrase: "p", scryptN: 16 });
}

export function randomDisk(seed: number, size: number): MemoryDisk {
  const disk = new MemoryDisk(size);
  writeRandomly(disk, seededRandom(seed), size / MIB);
  disk.takeChanged();
  return disk;
}
