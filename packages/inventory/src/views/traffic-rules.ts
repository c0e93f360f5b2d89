import type { ViewObject } from "./view.js";
import { memberOf } from "./values/plain.js";
import { readJson } from "./values/xo-json.js";

/** Where clients of Xen Orchestra store the traffic rules of a network or VIF: a list of JSON texts. */
const KEY = "xo:sdn-controller:of-rules";
const MAX_RULES = 1_000;

/**
 * The traffic rules of a network or VIF; undefined without any.
 * @returns objects with allow, protocol, ipRange, direction and perhaps port
 */
export function toTrafficRules(
  otherConfig: unknown,
): readonly ViewObject[] | undefined {
  const stored = readJson(otherConfig, KEY);
  if (!Array.isArray(stored)) return undefined;
  const rules = stored.slice(0, MAX_RULES).flatMap(toRule);
  return rules.length === 0 ? undefined : rules;
}

function toRule(text: unknown): ViewObject[] {
  // Each is a text in the list.
  const rule = readJson({ text }, "text");
  const view: ViewObject = {};
  for (const name of ["protocol", "ipRange", "direction"]) {
    const value = memberOf(rule, name);
    if (typeof value !== "string" || value === "") return [];
    view[name] = value;
  }
  const port = memberOf(rule, "port");
  if (typeof port === "number" && Number.isInteger(port)) view.port = port;
  view.allow = memberOf(rule, "allow") === true;
  return [view];
}
