import { toDatetime } from "../clock.js";
import type { CallContext } from "../operation.js";
import { durations } from "./durations.js";
import { failoverPlan } from "./failover-plan.js";
import { flag, map, refs, text } from "./fields.js";
import { tell } from "./messages.js";
import { refreshHost, refreshVm } from "./refresh.js";
import { bootGuest, buildDomain, endDomain } from "./vm-domain.js";

/** How a host goes. */
export interface Loss {
  /** Its guests are gone with it; else they go on unseen. */
  readonly crash: boolean;
  /** Milliseconds until it is back; undefined: it stays away. */
  readonly backAfter?: number;
}

/** The host answers nobody; of the coordinator, the pool does not. */
export function loseHost(
  context: CallContext,
  host: string,
  { crash, backAfter }: Loss,
): void {
  const { db, pool } = context;
  const record = db.get("host", host);
  setLive(context, host, false);
  pool.setReachable(host, false);
  if (flag(db.get("pool", pool.poolRef), "ha_enabled") && crash)
    failOver(context, host);
  if (host !== pool.coordinatorRef())
    tell(
      context,
      { cls: "Host", uuid: text(record, "uuid"), priority: 3 },
      "HOST_OFFLINE",
      `Server '${text(record, "name_label")}' has gone offline`,
    );
  if (backAfter === undefined) return;
  pool.later(backAfter, () => {
    if (db.find("host", host) === undefined) return;
    if (crash) bootHost(context, host);
    else setLive(context, host, true);
    pool.setReachable(host, true);
  });
}

/** A host that has started anew: no guest runs on it, and it takes new ones. */
export function bootHost(context: CallContext, host: string): void {
  const { db, clock } = context;
  for (const vm of guestsOn(context, host)) {
    endDomain(context, vm, "Halted");
    refreshVm(db, vm);
  }
  const boot_time = `${Math.floor(clock.now() / 1000)}.`;
  setLive(context, host, true);
  db.update("host", host, {
    enabled: true,
    other_config: {
      ...map(db.get("host", host), "other_config"),
      boot_time,
      agent_start_time: boot_time,
    },
  });
  refreshHost(db, host);
}

/** XAPI of the host starts anew; guests go on. Of the coordinator, nobody is signed in any more. */
export function restartAgent(context: CallContext, host: string): void {
  const { db, pool, clock } = context;
  const away = host === pool.coordinatorRef();
  if (away) pool.setReachable(host, false);
  pool.later(away ? durations.hostAgent : 0, () => {
    const record = db.find("host", host);
    if (record === undefined) return;
    const agent_start_time = `${Math.floor(clock.now() / 1000)}.`;
    db.update("host", host, {
      other_config: { ...map(record, "other_config"), agent_start_time },
    });
    if (away) pool.setReachable(host, true);
  });
}

export function guestsOn(
  { db }: Pick<CallContext, "db">,
  host: string,
): readonly string[] {
  return refs(db.get("host", host), "resident_VMs").filter(
    (vm) => !flag(db.get("VM", vm), "is_control_domain"),
  );
}

/** HA: what is protected starts on other hosts, where there is room. */
function failOver(context: CallContext, host: string): void {
  const { db } = context;
  const plan = failoverPlan(db, [host]) ?? new Map<string, string>();
  for (const vm of guestsOn(context, host)) endDomain(context, vm, "Halted");
  for (const [vm, other] of plan) {
    buildDomain(context, vm, other);
    bootGuest(context, vm);
    refreshVm(db, vm);
  }
}

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
