import { randomUUID } from "node:crypto";
import { parseFilter, type Catalog } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import { nowMetricIndex } from "./condition-filter.js";
import type {
  Condition,
  GivenTarget,
  RuleBody,
  Target,
  TargetSecret,
} from "./rule.js";

/** Those that one rule tells, at most. */
export const MOST_TARGETS = 20;

/** What a rule says, and what of it nobody is shown. */
export interface SplitTargets {
  readonly sendTo: readonly Target[];
  /** By the target's id. */
  readonly secrets: Readonly<Record<string, TargetSecret>>;
}

const NOTHING: SplitTargets = { sendTo: [], secrets: {} };

/**
 * A web hook that is given again, under its id and with the same address,
 * keeps what it has of what nobody is shown, unless that is given anew.
 * @param before as it is kept
 */
export function splitTargets(
  given: readonly GivenTarget[],
  before: SplitTargets = NOTHING,
): SplitTargets {
  const known = new Map(before.sendTo.map((target) => [target.id, target]));
  const secrets: Record<string, TargetSecret> = {};
  const sendTo = given.map((target): Target => {
    const old = known.get(target.id ?? "");
    // Of two with one id the second is another one.
    known.delete(target.id ?? "");
    const id = old?.id ?? randomUUID();
    if (target.kind === "e-mail") return { ...target, id };
    const isSame = old?.kind === "web-hook" && old.url === target.url;
    const secret = toSecret(target, isSame ? before.secrets[id] : undefined);
    secrets[id] = secret;
    return {
      id,
      kind: target.kind,
      url: target.url,
      headerNames: Object.keys(secret.headers ?? {}).sort(),
      isSigned: secret.secret !== undefined,
    };
  });
  return { sendTo, secrets };
}

/** @throws XoError INVALID_PARAMETERS, FILTER_INVALID for a condition that nothing can be found by */
export function checkCondition(
  on: Condition,
  catalog: Pick<Catalog, "classOf">,
): void {
  if (on.kind === "pool") return;
  parseFilter(on.filter ?? "");
  if (on.kind === "message" || on.kind === "task") return;
  if (catalog.classOf(on.type) === undefined)
    throw invalid(`no such type: ${on.type}`);
  if (on.kind === "object") return;
  for (const path of [on.metric, on.of ?? on.metric])
    if (/^now(\.|$)/.test(path) && nowMetricIndex(path) < 0)
      throw invalid(`nothing measures ${path}`);
  const { comparison, threshold, clearsAt = threshold } = on;
  if (comparison === ">" ? clearsAt > threshold : clearsAt < threshold)
    throw invalid("clearsAt is beyond the threshold");
}

/** Everything that is not given is as it is as a rule. */
export function toRuleBody(
  given: Partial<RuleBody> & Pick<RuleBody, "on">,
): RuleBody {
  return {
    enabled: given.enabled ?? true,
    severity: given.severity ?? "warning",
    on: given.on,
    forSeconds: given.forSeconds ?? 0,
    remindEverySeconds: given.remindEverySeconds ?? 0,
    tellsEnd: given.tellsEnd ?? true,
    sendTo: given.sendTo ?? [],
  };
}

function toSecret(
  {
    secretHeaders,
    secret,
  }: Extract<GivenTarget, { readonly kind: "web-hook" }>,
  before: TargetSecret | undefined,
): TargetSecret {
  const headers =
    secretHeaders === undefined ? before?.headers : toHeaders(secretHeaders);
  const key = secret ?? before?.secret;
  return {
    ...(headers === undefined ? {} : { headers }),
    ...(key === undefined ? {} : { secret: key }),
  };
}

/** Of the connection, and of what is sent: not of who sends. */
const RESERVED =
  /^(host|connection|upgrade|transfer-encoding|expect|te|trailer|user-agent|content-.*|x-xo-.*)$/;

function toHeaders(
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const headers = Object.entries(given).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  const reserved = headers.find(([name]) => RESERVED.test(name));
  if (reserved !== undefined) throw invalid(`${reserved[0]} is set by itself`);
  return Object.fromEntries(headers);
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", { reason });
}
