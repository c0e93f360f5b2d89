import { callXapi } from "../harness/call-xapi.js";
import { median, type Figures } from "../harness/figures.js";
import { timeUntil } from "./lease-watch.js";
import type { LiveClient } from "./live-client.js";
import type { BenchGroup } from "./server-group.js";

/** Changes names at a pool itself, and measures the time to the live queries of clients of two servers. */
export async function measurePoolChanges(
  { pools }: BenchGroup,
  [one, other]: readonly [LiveClient, LiveClient],
  count: number,
): Promise<Figures> {
  const { setName, id } = await namedVm(pools, one.ids);
  const atOne: number[] = [];
  const atOther: number[] = [];
  for (let i = 0; i < count; i++) {
    const name = `renamed at the pool ${i}`;
    const called = setName(name);
    const untilAt = (client: LiveClient) =>
      timeUntil("the new name", () => client.nameOf(id) === name);
    const times = await Promise.all([untilAt(one), untilAt(other)]);
    atOne.push(times[0]);
    atOther.push(times[1]);
    await called;
  }
  return { poolChangeMs: median(atOne), otherPoolChangeMs: median(atOther) };
}

/** A VM, and how to name it without a server. @throws Error where no pool has one of these */
async function namedVm(pools: BenchGroup["pools"], ids: readonly string[]) {
  const { url, user, password } = pools[0]!;
  const session = await callXapi(url, "session.login_with_password", [
    user,
    password,
    "1.0",
    "bench",
  ]);
  for (const id of ids) {
    // VMs of other pools are unknown there.
    const ref = await callXapi(url, "VM.get_by_uuid", [session, id]).catch(
      () => undefined,
    );
    if (ref === undefined) continue;
    const setName = (name: string) =>
      callXapi(url, "VM.set_name_label", [session, ref, name]);
    return { id, setName };
  }
  throw new Error("no VM of the first pool");
}

/** Measures the time from a call on one server to the change in a live query of the same server, and of another one. */
export async function measureChanges(
  watching: LiveClient,
  calling: LiveClient,
  count: number,
): Promise<Figures> {
  const [id] = watching.ids;
  const own: number[] = [];
  const elsewhere: number[] = [];
  for (let i = 0; i < count; i++) {
    const name = `renamed ${i}`;
    const called = calling.call("vm.set", { id: id!, name_label: name });
    const untilAt = (client: LiveClient) =>
      timeUntil("the new name", () => client.nameOf(id!) === name);
    const times = await Promise.all([untilAt(calling), untilAt(watching)]);
    own.push(times[0]);
    elsewhere.push(times[1]);
    await called;
  }
  return { ownChangeMs: median(own), changeMs: median(elsewhere) };
}
