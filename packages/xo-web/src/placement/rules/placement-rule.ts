import type { Json } from "@xo-server/kit";
import { toNumber } from "../balance/policy.js";

export const ruleKinds = [
  "anti-affinity",
  "affinity",
  "host-affinity",
] as const;
type RuleKind = (typeof ruleKinds)[number];

/** A rule as `placementRule.getAll` returns it. */
export interface PlacementRule {
  readonly id: string;
  readonly pool: string;
  readonly name: string;
  readonly kind: RuleKind;
  /** Required; otherwise preferred. */
  readonly required: boolean;
  readonly vms?: readonly string[];
  /** Instead of `vms`. */
  readonly tag?: string;
  readonly hosts?: readonly string[];
  /** Of a location; below 0: not on these hosts. */
  readonly score?: number;
  /** Weight of a preferred affinity or anti-affinity. */
  readonly weight?: number;
  /** "xapi": stored in the pool and changed there. */
  readonly source?: string;
}

/** Values of the form fields; numbers as typed. */
export interface PlacementRuleEntries {
  name: string;
  kind: RuleKind;
  required: boolean;
  by: "vms" | "tag";
  vms: readonly string[];
  tag: string;
  hosts: readonly string[];
  /** Not on these hosts. */
  isAvoided: boolean;
  /** Weight of a preferred rule. */
  weight: string;
}

/** Initial values of the form. @param rule undefined: a new one */
export function toEntries(
  rule: PlacementRule | undefined,
): PlacementRuleEntries {
  const score = rule?.score ?? 1;
  return {
    name: rule?.name ?? "",
    kind: rule?.kind ?? "anti-affinity",
    required: rule?.required ?? false,
    by: rule?.tag === undefined ? "vms" : "tag",
    vms: rule?.vms ?? [],
    tag: rule?.tag ?? "",
    hosts: rule?.hosts ?? [],
    isAvoided: score < 0,
    weight: String(
      rule?.kind === "host-affinity" ? Math.abs(score) : (rule?.weight ?? 1),
    ),
  };
}

type PlacementRuleInputError = "required" | "vms" | "two" | "hosts" | "number";
type RuleInputErrors = Partial<
  Record<keyof PlacementRuleEntries, PlacementRuleInputError>
>;

const MAX_WEIGHT = 1_000_000;

/** What is wrong in the form, by field; empty: it can be sent. */
export function inputErrorsOf(entries: PlacementRuleEntries): RuleInputErrors {
  const inputErrors: RuleInputErrors = {};
  const { name, kind, by, vms, tag, hosts, required } = entries;
  if (name.trim() === "") inputErrors.name = "required";
  if (by === "tag") {
    if (tag.trim() === "") inputErrors.tag = "required";
  } else if (vms.length < (kind === "host-affinity" ? 1 : 2))
    inputErrors.vms = kind === "host-affinity" ? "vms" : "two";
  if (kind === "host-affinity" && hosts.length === 0)
    inputErrors.hosts = "hosts";
  const weight = toNumber(entries.weight);
  if (!required && !(weight > 0 && weight <= MAX_WEIGHT))
    inputErrors.weight = "number";
  return inputErrors;
}

/** Parameters of the operations, without id and pool. */
export function toRule(entries: PlacementRuleEntries): Record<string, Json> {
  const { name, kind, required, by, vms, tag, hosts, isAvoided } = entries;
  const weight = required ? 1 : toNumber(entries.weight);
  return {
    name: name.trim(),
    kind,
    required,
    ...(by === "tag" ? { tag: tag.trim() } : { vms: [...vms] }),
    ...(kind === "host-affinity"
      ? { hosts: [...hosts], score: isAvoided ? -weight : weight }
      : required
        ? {}
        : { weight }),
  };
}

/** Stored by the server, not in the pool: it can be changed here. */
export function isOurs({ source }: PlacementRule): boolean {
  return source !== "xapi";
}
