import type { WallClock } from "@xo-server/kit";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import type { MissingPatch } from "./missing-patch.js";

export interface InstallParts {
  /** Objects of the task that the installation is part of. */
  readonly objects: PoolObjects;
  readonly clock: WallClock;
  readonly signal: AbortSignal;
}

export interface InstallRequest {
  /** Ids or names of updates; absent: all. */
  readonly patches?: readonly string[] | undefined;
}

/** How the hosts of one brand and version are updated. */
export interface UpdateSystem {
  readonly name: "xcp-ng" | "xenserver" | "uploaded";
  /** @throws XoError, XapiError */
  list(host: PoolObject, clock: WallClock): Promise<readonly MissingPatch[]>;
  /**
   * Why the pool of a host refuses updates: XAPI's error codes with parameters.
   * Absent: such pools do not report it.
   * @throws XoError, XapiError
   */
  refusals?(host: PoolObject): Promise<readonly (readonly string[])[]>;
  /**
   * Installs updates on one host, without the restart that they need.
   * @throws XoError, XapiError
   */
  install(
    host: PoolObject,
    request: InstallRequest,
    parts: InstallParts,
  ): Promise<void>;
}
