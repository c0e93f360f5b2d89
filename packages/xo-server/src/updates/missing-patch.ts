/** What has to be restarted after the installation of an update, from the least to the most. */
export const afterInstallation = [
  "nothing",
  "restart-toolstack",
  "restart-device-model",
  "reboot-vm",
  "reboot-host",
] as const;
export type AfterInstallation = (typeof afterInstallation)[number];

export interface PatchChange {
  readonly author: string;
  readonly description: string;
  /** Unix seconds. */
  readonly date: number;
}

/** An update that a host has not installed: a package of XCP-ng, an update of XenServer. */
export interface MissingPatch {
  /** Unique among the updates of a host. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly release?: string;
  /** Bytes. */
  readonly size?: number;
  readonly url?: string;
  readonly license?: string;
  readonly changelog?: PatchChange | null;
  readonly after: AfterInstallation;
  /** XCP-ng does not report `after`: it is derived from the name of the package. */
  readonly isAfterEstimated?: true;
  readonly isSecurity: boolean;
  /** Such as CVE-2026-27466 and XSA-476. */
  readonly advisories: readonly string[];
}

/** The most extensive restart that any of these updates needs. */
export function mostExtensiveRestart(
  patches: readonly Pick<MissingPatch, "after">[],
): AfterInstallation {
  const ranks = patches.map(({ after }) => afterInstallation.indexOf(after));
  return afterInstallation[Math.max(0, ...ranks)]!;
}

const ADVISORY = /\b(?:CVE-\d{4}-\d{4,7}|XSA-\d{1,4}|CTX\d{5,7})\b/g;

/** Advisories that a text mentions, each once. */
export function advisoriesIn(...texts: readonly string[]): string[] {
  return [...new Set(texts.flatMap((text) => text.match(ADVISORY) ?? []))];
}

/** For `sort`. Code units, as package managers order names. */
export function byName(a: MissingPatch, b: MissingPatch): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
