import type { Inventory, XapiRecord } from "@xo-server/inventory";
import { XoError, type Ref } from "@xo-server/model";

/** Protocols as XAPI names them: RFB for screens, VT100 for terminals. */
export const consoleKinds = ["rfb", "vt100"] as const;
export type ConsoleKind = (typeof consoleKinds)[number];

/** The console of a VM or of a host's control domain, and the hosts at which it can be reached. */
export interface ConsoleTarget {
  readonly ref: Ref;
  readonly kind: ConsoleKind;
  /**
   * Addresses of members of the pool, the most likely one first: after a migration
   * it may still be that of the previous host.
   */
  readonly hosts: readonly string[];
}

/** The object whose console is opened, by XAPI's identifiers. */
export interface ConsoleOwner {
  /** Id that clients use. */
  readonly id: string;
  /** Name of the pool in the inventory. */
  readonly pool: string;
  readonly className: "VM" | "host";
  readonly ref: Ref;
}

type Records = Pick<Inventory, "get" | "list">;

/**
 * @throws XoError VM_BAD_POWER_STATE; NO_SUCH_OBJECT: the object has no such
 * console; BAD_ANSWER: the pool names an address that none of its hosts has
 */
export function findConsole(
  records: Records,
  owner: ConsoleOwner,
  kind: ConsoleKind,
): ConsoleTarget {
  const { pool, id } = owner;
  const vm = runningVm(records, owner);
  for (const ref of refsOf(vm["consoles"])) {
    const console = records.get(pool, "console", ref);
    if (console?.["protocol"] === kind)
      return { ref, kind, hosts: hostsOf(records, pool, { vm, console }) };
  }
  throw new XoError("NO_SUCH_OBJECT", { type: `${kind} console of`, id });
}

/** @returns the protocols that can be used now; none for a VM that does not run */
export function listKinds(
  records: Records,
  owner: ConsoleOwner,
): ConsoleKind[] {
  const { pool } = owner;
  const protocols = refsOf(runningVm(records, owner)["consoles"]).map(
    (ref) => records.get(pool, "console", ref)?.["protocol"],
  );
  return consoleKinds.filter((kind) => protocols.includes(kind));
}

/** @throws XoError VM_BAD_POWER_STATE, NO_SUCH_OBJECT */
function runningVm(records: Records, owner: ConsoleOwner): XapiRecord {
  const { id, pool, className } = owner;
  const ref =
    className === "VM"
      ? owner.ref
      : records.get(pool, "host", owner.ref)?.["control_domain"];
  const vm = records.get(pool, "VM", ref as Ref);
  if (vm === undefined)
    throw new XoError("NO_SUCH_OBJECT", { type: className, id });
  if (vm["power_state"] === "Running") return vm;
  throw new XoError("VM_BAD_POWER_STATE", {
    objectId: id,
    expected: "running",
    actual: String(vm["power_state"]).toLowerCase(),
  });
}

/**
 * The address in the console's location, and that of the host on which the VM runs.
 * Only addresses of the pool's own hosts are accepted: a pool could name any
 * machine that only this server can reach.
 */
function hostsOf(
  records: Records,
  pool: string,
  found: { readonly vm: XapiRecord; readonly console: XapiRecord },
): string[] {
  const { vm, console } = found;
  const host = records.get(pool, "host", vm["resident_on"] as Ref);
  const resident = host?.["address"];
  const located = hostIn(String(console["location"]));
  const members = new Set<unknown>();
  for (const member of records.list("host", { poolId: pool }))
    members.add(member.column("address"));
  if (located !== "" && !members.has(located))
    throw new XoError("BAD_ANSWER", {
      address: pool,
      reason: "the host of a console is not in the pool",
      start: located.slice(0, 64),
    });
  const hosts = [located, typeof resident === "string" ? resident : ""];
  return [...new Set(hosts.filter(Boolean))];
}

/** Returns the host of a location. No URL parser: XAPI omits the host while it has no address. */
function hostIn(location: string): string {
  const [, host = ""] = /^https?:\/\/([^/?#]*)/i.exec(location) ?? [];
  return host.replace(/^\[(.*)\]$/, "$1");
}

function refsOf(value: unknown): readonly Ref[] {
  return Array.isArray(value) ? (value as Ref[]) : [];
}
