import type { CoreContext, CoreTable } from "../calls/core.js";
import { flag } from "../records/fields.js";
import { removeVdi } from "../operations/storage/vdi.js";
import { destroyVm } from "../operations/vm/vm-destroy.js";
import { durations } from "../operations/effects/durations.js";
import { XapiFailure } from "../xapi-failure.js";
import { dial, PeerRefusal } from "./dial.js";
import { serializeHost } from "./host-payload.js";
import { assertReadyToJoin, describeHost, ownVms } from "./join-checks.js";
import type { LineChannel } from "./line-channel.js";

export const joinMessages: CoreTable = {
  "pool.join": (context, params) =>
    joinPool(context, params as readonly string[], false),
  "pool.join_force": (context, params) =>
    joinPool(context, params as readonly string[], true),
};

/** The response is sent before the host restarts as a member. */
const MIN_FUSE_MS = 100;

/**
 * This pool's only host joins another simulated pool. The address is `host`, with
 * this host's own port, as real hosts have it, or `host:port`.
 */
async function joinPool(
  context: CoreContext,
  [address, user, password]: readonly string[],
  force: boolean,
): Promise<void> {
  const { core, db } = context;
  assertReadyToJoin(db);
  await context.delay(durations.poolChange);
  const [own] = [...db.refs("host")] as [string];
  const mine = new URL(core.pool.urlOf(own));
  const url = `${mine.protocol}//${withPort(address!, mine)}`;
  const channel = await enter(url, user!, password!);
  try {
    await channel.request({
      joiningHost: describeHost(db, force),
      payload: serializeHost(db),
      address: mine.host,
    });
  } catch (error) {
    channel.close();
    throw error instanceof XapiFailure
      ? error
      : new XapiFailure("JOINING_HOST_SERVICE_FAILED");
  }
  core.timers.later(
    Math.max(MIN_FUSE_MS, core.failureProfile.duration(durations.fuse)),
    () => core.pool.follow(new URL(url).host),
  );
  void receiveCommands(context, channel.unref());
}

function withPort(address: string, { port }: URL): string {
  const isBare = /^[^:]*$/.test(address) || /^\[[^\]]*\]$/.test(address);
  return isBare && port !== "" ? `${address}:${port}` : address;
}

async function enter(
  url: string,
  user: string,
  password: string,
): Promise<LineChannel> {
  const pair = Buffer.from(`${user}:${password}`).toString("base64");
  try {
    return await dial(url, "/remote_db_access", {
      authorization: `Basic ${pair}`,
    });
  } catch (error) {
    if (error instanceof PeerRefusal && error.status === 401)
      throw new XapiFailure("SESSION_AUTHENTICATION_FAILED", [
        user,
        "Authentication failure",
      ]);
    throw new XapiFailure("JOINING_HOST_CONNECTION_FAILED");
  }
}

/** Handles the messages that the pool sends to its member. */
async function receiveCommands(
  context: CoreContext,
  channel: LineChannel,
): Promise<void> {
  const { core } = context;
  for (;;) {
    const message = await channel.receive();
    if (message === undefined) return;
    if (typeof message["coordinator"] === "string")
      core.pool.follow(message["coordinator"]);
    if (message["ejected"] !== true) continue;
    restartAsMember(context);
    core.pool.follow(undefined);
    channel.close();
  }
}

/** An ejected host is as after its installation: its VMs and their disks are deleted. */
function restartAsMember(context: CoreContext): void {
  const { db } = context;
  for (const vm of ownVms(db)) destroyVm(context, vm);
  for (const [ref, vdi] of [...db.records("VDI")]) {
    const sr = db.find("SR", vdi["SR"] as string);
    if (sr !== undefined && !flag(sr, "shared"))
      removeVdi(context, ref, { freesSpace: true });
  }
}
