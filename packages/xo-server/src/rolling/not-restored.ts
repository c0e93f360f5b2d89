import { XapiError, type Ref } from "@xo-server/model";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { RollingRecord } from "./rolling-record.js";

/**
 * One sentence for administrators: which settings remain disabled after a run that
 * stopped, why, and what to do.
 */
export function notRestored(
  error: Error,
  record: RollingRecord,
  objects: Pick<PoolObjects, "find" | "idOf">,
): string {
  const { suspended } = record;
  const which = [
    ...(suspended.ha === undefined ? [] : ["HA"]),
    ...(suspended.autoPoweron === true ? ["automatic power-on"] : []),
  ].join(" and ");
  const down = hostsDown(record, error, objects);
  const first =
    down.length > 0
      ? `start ${down.join(", ")}, or remove it from the pool`
      : "repair the cause";
  return `still disabled: ${which} (${error.message}). To do: ${first}, then resume the run, or end it with pool.abandonRolling; both restore it`;
}

/** Names of the hosts because of which XAPI does not enable HA. */
function hostsDown(
  { turns }: RollingRecord,
  error: Error,
  objects: Pick<PoolObjects, "find" | "idOf">,
): readonly string[] {
  const named =
    error instanceof XapiError && error.code === "HOST_OFFLINE"
      ? objects.idOf(error.params[0] as Ref)
      : undefined;
  const down = turns
    .map(({ host }) => host)
    .filter((id) => objects.find(id)?.object["power_state"] !== "Running");
  const ids = new Set([...(named === undefined ? [] : [named]), ...down]);
  return [...ids].flatMap((id) => {
    const name = objects.find(id)?.object["name_label"];
    return typeof name === "string" ? [`host ${name}`] : [];
  });
}
