import type { Json } from "@xo-server/kit";

/** Chat services. */
const chatKinds = ["slack", "teams", "mattermost", "ntfy"] as const;
type ChatKind = (typeof chatKinds)[number];
export const targetKinds = ["e-mail", ...chatKinds, "web-hook"] as const;
export type TargetKind = (typeof targetKinds)[number];

/** A notification target as `alarmRule.getAll` returns it. */
export type AlarmTarget =
  | {
      readonly kind: "e-mail";
      readonly id?: string;
      readonly addresses: readonly string[];
    }
  | {
      readonly kind: "web-hook";
      readonly id?: string;
      readonly url: string;
      readonly headerNames?: readonly string[];
      readonly isSigned?: boolean;
    }
  | {
      readonly kind: ChatKind;
      readonly id?: string;
      readonly label?: string;
      /** Of the stored address, which is not returned. */
      readonly host: string;
      readonly hasToken: boolean;
    };

/** Values of the form fields of a target. */
export interface TargetEntries {
  kind: TargetKind;
  id: string | undefined;
  /** Separated by commas. */
  addresses: string;
  /** Of webhooks. */
  url: string;
  /** Key that signs messages of webhooks; empty: the stored secret stays. */
  secret: string;
  isSigned: boolean;
  label: string;
  /** Of chat services; empty: the stored address stays. */
  secretUrl: string;
  /** Host of the stored address; empty: none is stored. */
  host: string;
  /** Access token of ntfy; empty: the stored token stays. */
  secretToken: string;
  hasToken: boolean;
}

/** A new target of this kind, without any input. */
export function newTarget(kind: TargetKind): TargetEntries {
  return {
    kind,
    id: undefined,
    addresses: "",
    url: "",
    secret: "",
    isSigned: false,
    label: "",
    secretUrl: "",
    host: "",
    secretToken: "",
    hasToken: false,
  };
}

/** Initial values of the form. The server does not return secrets, so their fields are empty. */
export function toTargetEntries(target: AlarmTarget): TargetEntries {
  const empty = { ...newTarget(target.kind), id: target.id };
  switch (target.kind) {
    case "e-mail":
      return { ...empty, addresses: target.addresses.join(", ") };
    case "web-hook":
      return {
        ...empty,
        url: target.url,
        isSigned: target.isSigned ?? false,
      };
    case "slack":
    case "teams":
    case "mattermost":
    case "ntfy": {
      const { label = "", host, hasToken } = target;
      return { ...empty, label, host, hasToken };
    }
  }
}

export type TargetInputError = "address" | "url" | "topic";

const MAIL = /^[^\s@<>,;"]+@[^\s@<>,;"]+$/;
const URL_PATTERN = /^https?:\/\/[^\s@]+$/;

/**
 * What is wrong in the form; undefined: it can be sent. An empty secret URL keeps
 * that of an existing target.
 */
export function targetInputError(
  target: TargetEntries,
): TargetInputError | undefined {
  switch (target.kind) {
    case "web-hook":
      return URL_PATTERN.test(target.url.trim()) ? undefined : "url";
    case "e-mail": {
      const addresses = split(target.addresses);
      return addresses.length > 0 && addresses.every((one) => MAIL.test(one))
        ? undefined
        : "address";
    }
    case "slack":
    case "teams":
    case "mattermost":
    case "ntfy": {
      const url = target.secretUrl.trim();
      if (url === "") return target.host === "" ? "url" : undefined;
      if (!URL_PATTERN.test(url)) return "url";
      const hasTopic = /^https?:\/\/[^/]+\/(.*\/)?[-\w]+$/.test(url);
      return target.kind === "ntfy" && !hasTopic ? "topic" : undefined;
    }
  }
}

/** A target as the parameters of operations have it. */
export function toTarget(
  target: TargetEntries,
): Readonly<Record<string, Json>> {
  const { kind } = target;
  const id = target.id === undefined ? {} : { id: target.id };
  if (kind === "e-mail")
    return { ...id, kind, addresses: split(target.addresses) };
  if (kind === "web-hook")
    return {
      ...id,
      kind,
      url: target.url.trim(),
      ...filled("secret", target.secret),
    };
  return {
    ...id,
    kind,
    ...filled("label", target.label.trim()),
    ...filled("secretUrl", target.secretUrl.trim()),
    ...(kind === "ntfy"
      ? filled("secretToken", target.secretToken.trim())
      : {}),
  };
}

/** Name of a target in a list. */
export function targetName(target: AlarmTarget): string {
  switch (target.kind) {
    case "e-mail":
      return target.addresses[0] ?? "";
    case "web-hook":
      return target.url.replace(/^https?:\/\//, "").split("/")[0] ?? "";
    case "slack":
    case "teams":
    case "mattermost":
    case "ntfy":
      return target.label === undefined || target.label === ""
        ? target.host
        : target.label;
  }
}

function filled(key: string, value: string): Readonly<Record<string, string>> {
  return value === "" ? {} : { [key]: value };
}

function split(addresses: string): string[] {
  return addresses
    .split(/[,;\s]+/)
    .map((one) => one.trim())
    .filter((one) => one !== "");
}
