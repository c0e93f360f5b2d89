import type { ConfigProblem } from "./config-problem.js";

/** Keys of release 0.1 that were renamed, with their new names in the same section. */
const renamedKeys: readonly {
  readonly section: string;
  readonly key: string;
  readonly replacement: string;
}[] = [
  {
    section: "http",
    key: "maxGuestSockets",
    replacement: "maxAnonymousSockets",
  },
  { section: "inventory", key: "remember", replacement: "persist" },
  { section: "jobs", key: "keptRunsOfJob", replacement: "maxRunsPerJob" },
  { section: "jobs", key: "keptRuns", replacement: "maxRuns" },
  { section: "activity", key: "entries", replacement: "maxEntries" },
  { section: "activity", key: "hours", replacement: "retentionHours" },
];

/** Problems of renamed keys: they name the new key, which may be unlike the old one. */
export function findRenamedKeys(content: unknown): ConfigProblem[] {
  return renamedKeys
    .filter(({ section, key }) => hasKey(content, section, key))
    .map(({ section, key, replacement }) => ({
      path: [section, key],
      reason: `was renamed: use ${section}.${replacement}`,
    }));
}

function hasKey(content: unknown, section: string, key: string): boolean {
  const group = (content as Readonly<Record<string, unknown>>)[section];
  return (
    typeof group === "object" && group !== null && Object.hasOwn(group, key)
  );
}
