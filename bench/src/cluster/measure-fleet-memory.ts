import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Figures } from "../harness/figures.js";
import type { ServerProcess } from "../harness/server-process.js";
import type { BenchGroup } from "./server-group.js";

/** Resident memory of one server alone, and of each of several, after they have settled. */
export async function measureFleetMemory(
  group: BenchGroup,
  servers: number,
  settleMs: number,
): Promise<Figures> {
  await pause(settleMs);
  const oneBytes = residentBytes(group.servers[0]!);
  while (group.servers.length < servers) await group.addServer();
  await pause(settleMs);
  const each = group.servers.map(residentBytes);
  return { oneBytes, mostBytes: Math.max(...each) };
}

function residentBytes({ pid }: ServerProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
