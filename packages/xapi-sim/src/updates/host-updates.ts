import { createHash } from "node:crypto";
import { catalogue } from "./catalogue.js";
import type { UpdatePackage } from "./update-package.js";

/**
 * Faults of the next boot of a host: it stays offline; it is disabled; its
 * PBDs are not plugged; it runs the version of before.
 */
export const bootFaults = [
  "never",
  "disabled",
  "unplugged",
  "old-version",
] as const;
export type BootFault = (typeof bootFaults)[number];

/** Which updates there are, and which hosts have installed them. */
export class HostUpdates {
  #packages: readonly UpdatePackage[] = catalogue;
  /** By host: names of installed packages. */
  readonly #installed = new Map<string, Set<string>>();
  /** By host: the function of the updater plugin that is running. */
  readonly plugins = new Map<string, string>();
  readonly bootFaults = new Map<string, BootFault>();
  /** Error codes with parameters for which the pool is not ready to be updated. */
  refusals: readonly (readonly string[])[] = [];
  /** Hash of the updates of the last `pool.sync_updates`. */
  syncedHash = "";
  isSyncing = false;

  get packages(): readonly UpdatePackage[] {
    return this.#packages;
  }

  /**
   * Sets the updates in the repositories; hosts have installed those with the same name,
   * version and release.
   */
  publish(packages: readonly UpdatePackage[]): void {
    this.#packages = packages;
  }

  missing(host: string): readonly UpdatePackage[] {
    const installed = this.#installed.get(host);
    return this.#packages.filter((one) => installed?.has(keyOf(one)) !== true);
  }

  installed(host: string): readonly UpdatePackage[] {
    const installed = this.#installed.get(host);
    return this.#packages.filter((one) => installed?.has(keyOf(one)));
  }

  install(host: string, packages: readonly UpdatePackage[]): void {
    const installed = this.#installed.get(host) ?? new Set();
    for (const one of packages) installed.add(keyOf(one));
    this.#installed.set(host, installed);
  }

  /** Of all packages, as `pool.sync_updates` answers it. */
  get hash(): string {
    const text = this.#packages.map(keyOf).join("\n");
    return createHash("sha256").update(text).digest("hex");
  }
}

function keyOf({ name, version, release }: UpdatePackage): string {
  return `${name}-${version}-${release}`;
}
