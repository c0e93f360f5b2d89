import { XapiError, XoError } from "@xo-server/model";
import type { PoolObject } from "../objects/pool-objects.js";
import { priorityOf, type TrafficRule } from "./traffic-rule.js";

/** Plugin of XCP-ng hosts that changes the OpenFlow table of a bridge [xcp-ng-xapi-plugins: README]. */
const PLUGIN = "sdncontroller.py";

/** The traffic on a host that a rule applies to. */
export interface RuleTarget {
  readonly bridge: string;
  /** MAC address of a VIF; undefined: all traffic of the bridge. */
  readonly mac?: string;
}

/**
 * Adds a rule on a host, or replaces an equal one.
 * @throws XoError UNSUPPORTED; XapiError
 */
export function addRule(
  host: PoolObject,
  target: RuleTarget,
  rule: TrafficRule,
): Promise<void> {
  return callPlugin(host, "add-rule", {
    ...argumentsOf(target, rule),
    allow: String(rule.allow),
    priority: String(priorityOf(rule, target.mac !== undefined)),
  });
}

/**
 * Deletes a rule on a host. The plugin also deletes narrower rules of the same
 * target, which have to be added again.
 * @throws XoError UNSUPPORTED; XapiError
 */
export function deleteRule(
  host: PoolObject,
  target: RuleTarget,
  rule: TrafficRule,
): Promise<void> {
  return callPlugin(host, "del-rule", argumentsOf(target, rule));
}

function argumentsOf(
  { bridge, mac }: RuleTarget,
  { protocol, port, ipRange, direction }: TrafficRule,
): Record<string, string> {
  return {
    bridge,
    ...(mac === undefined ? {} : { mac }),
    ipRange,
    direction,
    protocol: protocol.toLowerCase(),
    ...(port === undefined ? {} : { port: String(port) }),
  };
}

/** The plugin's functions are idempotent, so a call may be repeated if its answer is lost. */
async function callPlugin(
  { xapi, ref, object }: PoolObject,
  fn: "add-rule" | "del-rule",
  args: Readonly<Record<string, string>>,
): Promise<void> {
  try {
    const params = [ref, PLUGIN, fn, args];
    await xapi.call("host.call_plugin", params, { idempotent: true });
  } catch (error) {
    throw toReason(error, String(object["name_label"]));
  }
}

function toReason(error: unknown, host: string): unknown {
  if (!(error instanceof XapiError)) return error;
  const what = "a traffic rule";
  if (
    error.code === "XENAPI_MISSING_PLUGIN" ||
    error.code === "UNKNOWN_XENAPI_PLUGIN_FUNCTION"
  )
    return new XoError("UNSUPPORTED", {
      what,
      reason: `host ${host} has no ${PLUGIN} (XCP-ng only)`,
    });
  // The plugin fails with a number and a text.
  if (/^-?\d+$|^XENAPI_PLUGIN_FAILURE$/.test(error.code))
    return new XoError("UNSUPPORTED", {
      what,
      reason: `host ${host}: ${error.params[0] ?? error.code}`,
    });
  return error;
}
