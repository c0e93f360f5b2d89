import type { Inventory, XapiRecord } from "@xo-server/inventory";
import { XoError, type Ref } from "@xo-server/model";

/** Protocols as XAPI names them: RFB for screens, VT100 for terminals. */
export const consoleKinds = ["rfb", "vt100"] as const;
export type ConsoleKind = (typeof consoleKinds)[number];

/** Where the console of a VM, or of a host's control domain, is reached. */
export interface ConsoleTarget {
  readonly ref: Ref;
  readonly kind: ConsoleKind;
  /** Addresses of members of the pool, the likeliest first: after a move one may be that of the host before. */
  readonly hosts: readonly string[];
}

/** The object whose console it is, in XAPI's terms. */
export interface ConsoleOwner {
  /** As clients know it. */
  readonly id: string;
  /** The inventory's name. */
  readonly pool: string;
  readonly className: "VM" | "host";
  readonly ref: Ref;
}

type Records = Pick<Inventory, "get" | "list">;

/**
 * @throws XoError VM_BAD_POWER_STATE, NO_SUCH_OBJECT: there is no such console;
 *   BAD_ANSWER: the pool names an address that none of its hosts has
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

/** @returns those that there are now; none of what does not run */
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
 * The address in the console's location, and that of the host that the VM is
 * on. A pool could name any address there, of machines that only this server
 * reaches: none is taken but those of its hosts.
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
      reason: "a console lies on no host of the pool",
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
