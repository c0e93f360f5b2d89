import { randomBytes, randomUUID } from "node:crypto";
import type { Storage } from "../storage/storage.js";
import type { BenchmarkResult } from "./order-results.js";

/** Writes a file as packs are written, synced, reads and removes it. @param size in bytes */
export async function runBenchmark(
  storage: Storage,
  size: number,
): Promise<Omit<BenchmarkResult, "anchor">> {
  const step = Math.min(size, 2 ** 20);
  // Random, so that no storage compresses it.
  const parts = Array.from({ length: Math.ceil(size / step) }, () =>
    randomBytes(step),
  );
  const bytes = parts.length * step;
  const name = `tmp/benchmark-${randomUUID()}`;
  try {
    const started = performance.now();
    await storage.putIfAbsent(name, parts);
    const written = performance.now();
    for (let offset = 0; offset < bytes; offset += step)
      await storage.read(name, { offset, length: step });
    const read = performance.now();
    const rate = (ms: number) => Math.round((bytes * 1000) / Math.max(ms, 1));
    return {
      writeRate: rate(written - started),
      readRate: rate(read - written),
    };
  } finally {
    await storage.remove([name]);
  }
}
