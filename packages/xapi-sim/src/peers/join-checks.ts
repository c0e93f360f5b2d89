import type { Database } from "../database.js";
import { flag, map, refs, text, textIn } from "../records/fields.js";
import { XapiFailure } from "../xapi-failure.js";
import type { XapiRecord } from "../xapi-value.js";

/** What a pool must know of a host to decide whether it may join. */
export interface JoiningHost {
  readonly hostUuid: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly cpuVendor: string;
  readonly tlsVerification: boolean;
  readonly force: boolean;
}

/**
 * What the joining host checks of itself, in XAPI's order [xapi_pool.ml pre_join_checks, from
 * memory].
 */
export function assertReadyToJoin(db: Database): void {
  const [, pool] = [...db.records("pool")][0]!;
  if (flag(pool, "ha_enabled")) throw new XapiFailure("HA_IS_ENABLED");
  if (db.count("host") > 1)
    throw new XapiFailure("JOINING_HOST_CANNOT_BE_MASTER_OF_OTHER_HOSTS");
  assertNoActiveVms(db);
  for (const [, sr] of db.records("SR"))
    if (flag(sr, "shared") && !flag(sr, "is_tools_sr"))
      throw new XapiFailure("JOINING_HOST_CANNOT_CONTAIN_SHARED_SRS");
  if (db.count("Bond") > 0)
    throw new XapiFailure("POOL_JOINING_HOST_HAS_BONDS");
  if (db.count("tunnel") > 0)
    throw new XapiFailure("POOL_JOINING_HOST_HAS_TUNNELS");
  for (const [, vlan] of db.records("VLAN"))
    if (!flag(db.get("PIF", text(vlan, "untagged_PIF")), "management"))
      throw new XapiFailure("POOL_JOINING_HOST_HAS_NON_MANAGEMENT_VLANS");
}

function assertNoActiveVms(db: Database): void {
  for (const [, vm] of db.records("VM")) {
    if (flag(vm, "is_control_domain")) continue;
    if (["Running", "Paused"].includes(text(vm, "power_state")))
      throw new XapiFailure("JOINING_HOST_CANNOT_HAVE_RUNNING_VMS");
    if (Object.keys(map(vm, "current_operations")).length > 0)
      throw new XapiFailure(
        "JOINING_HOST_CANNOT_HAVE_VMS_WITH_CURRENT_OPERATIONS",
      );
  }
}

/** The properties of a joining host that `pool.join` checks. @param force as of `pool.join_force` */
export function describeHost(db: Database, force: boolean): JoiningHost {
  const [, host] = [...db.records("host")][0]!;
  const [, pool] = [...db.records("pool")][0]!;
  return {
    hostUuid: text(host, "uuid"),
    version: textIn(map(host, "software_version"), "product_version"),
    apiVersion: apiVersion(host),
    cpuVendor: vendorOf(host),
    tlsVerification: flag(pool, "tls_verification_enabled"),
    force,
  };
}

/** The pool's requirements for a joining host. @throws XapiFailure */
export function assertCanJoin(db: Database, joiningHost: JoiningHost): void {
  const [, pool] = [...db.records("pool")][0]!;
  const host = db.get("host", text(pool, "master"));
  if (flag(pool, "ha_enabled")) throw new XapiFailure("HA_IS_ENABLED");
  if (db.byUuid("host", joiningHost.hostUuid) !== undefined)
    throw new XapiFailure("OPERATION_NOT_ALLOWED", [
      "Host cannot become slave of itself",
    ]);
  if (
    joiningHost.version !==
    textIn(map(host, "software_version"), "product_version")
  )
    throw new XapiFailure("POOL_JOINING_HOST_MUST_HAVE_SAME_PRODUCT_VERSION");
  if (joiningHost.apiVersion !== apiVersion(host))
    throw new XapiFailure("POOL_JOINING_HOST_MUST_HAVE_SAME_API_VERSION", [
      joiningHost.apiVersion,
      apiVersion(host),
    ]);
  if (joiningHost.tlsVerification !== flag(pool, "tls_verification_enabled"))
    throw new XapiFailure("POOL_JOINING_HOST_TLS_VERIFICATION_MISMATCH");
  // The one check that join_force leaves out.
  if (!joiningHost.force && joiningHost.cpuVendor !== vendorOf(host))
    throw new XapiFailure("POOL_HOSTS_NOT_HOMOGENEOUS", ["CPUs differ"]);
}

function apiVersion(host: XapiRecord): string {
  return `${text(host, "API_version_major")}.${text(host, "API_version_minor")}`;
}

function vendorOf(host: XapiRecord): string {
  return textIn(map(host, "cpu_info"), "vendor");
}

/** Guests that come along: not the templates that every pool has. */
export function ownVms(db: Database): readonly string[] {
  return [...db.records("VM")]
    .filter(
      ([, vm]) =>
        !flag(vm, "is_default_template") &&
        !flag(vm, "is_control_domain") &&
        (!flag(vm, "is_a_template") || refs(vm, "VBDs").length > 0),
    )
    .map(([ref]) => ref);
}
