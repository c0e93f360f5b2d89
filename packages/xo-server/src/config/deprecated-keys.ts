import type { ConfigProblem } from "./config-problem.js";

/** Keys that were renamed, with their new names in the same section. The old names are accepted until the next release. */
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

export interface DeprecatedKeys {
  /** Warnings for the log. */
  readonly warnings: readonly string[];
  /** Sections that have a key under both names. */
  readonly problems: readonly ConfigProblem[];
}

/** Renames deprecated keys of a config in place. */
export function renameDeprecatedKeys(content: unknown): DeprecatedKeys {
  const warnings: string[] = [];
  const problems: ConfigProblem[] = [];
  for (const { section, key, replacement } of renamedKeys) {
    const group = sectionOf(content, section);
    if (group === undefined || !Object.hasOwn(group, key)) continue;
    if (Object.hasOwn(group, replacement)) {
      const reason = `is the deprecated name of ${section}.${replacement}, which is set too`;
      problems.push({ path: [section, key], reason });
      continue;
    }
    group[replacement] = group[key];
    delete group[key];
    warnings.push(
      `config key ${section}.${key} is deprecated, use ${section}.${replacement}`,
    );
  }
  return { warnings, problems };
}

function sectionOf(
  content: unknown,
  name: string,
): Record<string, unknown> | undefined {
  const section = (content as Readonly<Record<string, unknown>>)[name];
  return typeof section === "object" && section !== null
    ? (section as Record<string, unknown>)
    : undefined;
}
