import { randomUUID } from "node:crypto";
import { XoError } from "@xo-server/model";
import type {
  ChatTargetInput,
  Target,
  TargetInput,
  TargetSecret,
  WebHookInput,
} from "./target.js";

/** Maximum number of targets of a rule. */
export const MAX_TARGETS = 20;

/** Targets without their secrets, and the secrets. */
interface SplitTargets {
  readonly targets: readonly Target[];
  /** Secrets by the id of their target. */
  readonly secrets: Readonly<Record<string, TargetSecret>>;
}

interface SplitTarget {
  readonly target: Target;
  readonly secret?: TargetSecret;
}

/** A stored target with its secret. */
interface StoredTarget {
  readonly target: Target;
  readonly secret: TargetSecret;
}

const NOTHING: SplitTargets = { targets: [], secrets: {} };

/**
 * Separates the secrets of targets. A target with the id of a stored one keeps
 * its secrets unless its address changes or new ones are sent.
 * @param before the stored targets
 * @throws XoError INVALID_PARAMETERS
 */
export function splitTargets(
  input: readonly TargetInput[],
  before: SplitTargets = NOTHING,
): SplitTargets {
  const known = new Map(before.targets.map((target) => [target.id, target]));
  const secrets: Record<string, TargetSecret> = {};
  const targets = input.map((one): Target => {
    const old = known.get(one.id ?? "");
    // If the id occurs twice, the second target counts as new.
    known.delete(one.id ?? "");
    const stored = old && {
      target: old,
      secret: before.secrets[old.id] ?? {},
    };
    const { target, secret } = splitTarget(one, stored);
    if (secret !== undefined) secrets[target.id] = secret;
    return target;
  });
  return { targets, secrets };
}

function splitTarget(
  input: TargetInput,
  stored: StoredTarget | undefined,
): SplitTarget {
  const id = stored?.target.id ?? randomUUID();
  switch (input.kind) {
    case "e-mail":
      return { target: { ...input, id } };
    case "web-hook":
      return splitWebHook(input, id, stored);
    case "slack":
    case "teams":
    case "mattermost":
    case "ntfy":
      return splitChat(input, id, stored);
  }
}

function splitWebHook(
  input: WebHookInput,
  id: string,
  stored: StoredTarget | undefined,
): SplitTarget {
  const { kind, url, secretHeaders, secret: newKey } = input;
  if (!URL.canParse(url)) throw invalid("url is not a valid URL");
  const isSame = stored?.target.kind === kind && stored.target.url === url;
  const before = isSame ? stored.secret : {};
  const headers =
    secretHeaders === undefined ? before.headers : toHeaders(secretHeaders);
  const key = newKey ?? before.secret;
  return {
    target: {
      id,
      kind,
      url,
      headerNames: Object.keys(headers ?? {}).sort(),
      isSigned: key !== undefined,
    },
    secret: {
      ...(headers === undefined ? {} : { headers }),
      ...(key === undefined ? {} : { secret: key }),
    },
  };
}

function splitChat(
  input: ChatTargetInput,
  id: string,
  stored: StoredTarget | undefined,
): SplitTarget {
  const { kind, label, secretUrl, secretToken } = input;
  const before = stored?.target.kind === kind ? stored.secret : {};
  const url = secretUrl ?? before.url;
  if (url === undefined)
    throw invalid(`secretUrl is required for a new target of kind ${kind}`);
  const host = hostOf(url);
  if (kind === "ntfy" && !TOPIC.test(topicOf(url)))
    throw invalid(
      "secretUrl must end with a topic of ntfy: https://ntfy.example/topic",
    );
  const isSameHost = before.url !== undefined && hostOf(before.url) === host;
  const token = secretToken ?? (isSameHost ? before.token : undefined) ?? "";
  return {
    target: {
      id,
      kind,
      ...(label === undefined ? {} : { label }),
      host,
      hasToken: token !== "",
    },
    secret: { url, ...(token === "" ? {} : { token }) },
  };
}

/** Characters that ntfy accepts in a topic. */
const TOPIC = /^[-_A-Za-z0-9]{1,64}$/;

/** The last part of the path of an address of ntfy. */
export function topicOf(url: string): string {
  return new URL(url).pathname.split("/").at(-1) ?? "";
}

/** @throws XoError INVALID_PARAMETERS, without the address, which is secret */
function hostOf(url: string): string {
  if (!URL.canParse(url)) throw invalid("secretUrl is not a valid URL");
  return new URL(url).host;
}

/** Headers that the HTTP client or this server sets. */
const RESERVED =
  /^(host|connection|upgrade|transfer-encoding|expect|te|trailer|user-agent|content-.*|x-xo-.*)$/;

function toHeaders(
  input: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const headers = Object.entries(input).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  const reserved = headers.find(([name]) => RESERVED.test(name));
  if (reserved !== undefined)
    throw invalid(`the header ${reserved[0]} is set by the server`);
  return Object.fromEntries(headers);
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", { reason });
}
