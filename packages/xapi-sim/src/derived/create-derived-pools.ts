import { fleetMember } from "../fleet/profiles.js";
import { DerivedPool } from "./derived-pool.js";
import { TemplatePool } from "./template-pool.js";

export interface DerivedPoolsOptions {
  readonly pools: number;
  /** VMs of each pool. Default 1,000. */
  readonly vms?: number;
  /** Hosts of each pool. Default: one for 100 VMs, at least two. */
  readonly hosts?: number;
  readonly seed?: number;
}

/** Many pools of one size in the memory of one: objects only, without listeners. */
export function createDerivedPools({
  pools,
  vms = fleetMember.vms,
  hosts = Math.max(2, Math.round(vms / 100)),
  seed = 1,
}: DerivedPoolsOptions): readonly DerivedPool[] {
  const profile = fleetMember;
  const options = { vms, hosts, seed, profile, name: "pool" };
  const template = new TemplatePool(options);
  return Array.from(
    { length: pools },
    (_, number) => new DerivedPool(template, number),
  );
}
