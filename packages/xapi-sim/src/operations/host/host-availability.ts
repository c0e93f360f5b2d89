import { recordAgentStart } from "../../agent-start.js";
import { toDatetime } from "../../clock.js";
import type { CallContext } from "../../operation.js";
import { bootUpdates } from "../vm/boot-updates.js";
import { durations } from "../effects/durations.js";
import { map, refs, text } from "../../records/fields.js";
import { failOver, isHaEnabled, restartGuests } from "../ha/ha-restart.js";
import { guestsOn, isLive } from "../capacity/host-choice.js";
import { bootControlDomain } from "../capacity/host-memory.js";
import { createMessage } from "../effects/messages.js";
import { refreshHost, refreshVm } from "../effects/refresh.js";
import { endDomain } from "../vm/vm-domain.js";

/** How a host goes down. */
export interface Loss {
  /** Its guests stop with it; else they continue to run. */
  readonly crash: boolean;
  /** Milliseconds until it is online again; undefined: it stays offline. */
  readonly backAfter?: number;
}

/**
 * The host does not answer; for the coordinator, the pool does not. With HA, what is
 * protected starts elsewhere after a moment, and another host becomes coordinator.
 */
export function takeHostOffline(
  context: CallContext,
  host: string,
  { crash, backAfter }: Loss,
): void {
  const { db, pool } = context;
  // A host that was shut down is not a failure.
  const isShutDown = !isLive(db, host);
  setLive(context, host, false);
  pool.setReachable(host, false);
  const isCrash = crash && !isShutDown;
  if (isCrash && isHaEnabled(context))
    pool.later(durations.fence, () => void failOver(context, host));
  else if (host !== pool.coordinatorRef()) notifyOffline(context, host);
  if (backAfter === undefined) return;
  pool.later(backAfter, () => {
    if (db.find("host", host) !== undefined)
      bringHostOnline(context, host, crash);
  });
}

/** A lost host answers again; after a crash it has rebooted. */
export function bringHostOnline(
  context: CallContext,
  host: string,
  crash: boolean,
): void {
  const { db, pool } = context;
  const guests = crash ? guestsOn(context, host) : [];
  if (!crash) setLive(context, host, true);
  else if (!bootHost(context, host)) return;
  pool.setReachable(host, true);
  if (guests.length === 0 || !isHaEnabled(context)) return;
  createMessage(
    context,
    { cls: "Host", uuid: text(db.get("host", host), "uuid"), priority: 4 },
    "HA_HOST_WAS_FENCED",
    "",
  );
  void restartGuests(context, guests);
}

function notifyOffline(context: CallContext, host: string): void {
  const record = context.db.get("host", host);
  createMessage(
    context,
    { cls: "Host", uuid: text(record, "uuid"), priority: 3 },
    "HOST_OFFLINE",
    `Server '${text(record, "name_label")}' has gone offline`,
  );
}

/**
 * A rebooted host: no guest runs on it, and it is enabled.
 * @returns false: by a fault, it stays offline
 */
export function bootHost(context: CallContext, host: string): boolean {
  const { db, clock, state } = context;
  for (const vm of guestsOn(context, host)) {
    endDomain(context, vm, "Halted");
    refreshVm(db, vm);
  }
  if (!bootUpdates(context, host)) return false;
  bootControlDomain(db, host);
  for (const key of state.flows.keys())
    if (key.startsWith(`${host}/`)) state.flows.delete(key);
  const boot_time = `${Math.floor(clock.now() / 1000)}.`;
  setLive(context, host, true);
  db.update("host", host, {
    other_config: {
      ...map(db.get("host", host), "other_config"),
      boot_time,
      agent_start_time: boot_time,
    },
  });
  refreshHost(db, host);
  return true;
}

/** The toolstack restarts; guests keep running. On the coordinator all sessions end. */
export function restartAgent(context: CallContext, host: string): void {
  const { db, pool, clock } = context;
  const away = host === pool.coordinatorRef();
  if (away) pool.setReachable(host, false);
  pool.later(away ? durations.hostAgent : 0, () => {
    const record = db.find("host", host);
    if (record === undefined) return;
    if (away) db.forgetDeletions();
    recordAgentStart(db, clock, host);
    db.update("host", host, {
      pending_guidances: refs(record, "pending_guidances").filter(
        (one) => one !== "restart_toolstack",
      ),
    });
    if (away) pool.setReachable(host, true);
  });
}

/** Sets `host_metrics.live`, which clients read as the state of the host. */
export function setLive(
  { db, clock }: CallContext,
  host: string,
  live: boolean,
): void {
  const metrics = text(db.get("host", host), "metrics");
  if (db.find("host_metrics", metrics) === undefined) return;
  db.update("host_metrics", metrics, {
    live,
    last_updated: toDatetime(clock.now()),
  });
}
