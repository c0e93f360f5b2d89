import type {
  Conflict,
  ConflictRule,
  Purpose,
  Refusal,
  RefusalName,
  Score,
} from "@xo-server/placement";
import type { Formats } from "../locale/formats.js";
import type { Messages } from "../locale/messages.js";

/** An object or a placement rule (`type: "rule"`) that a sentence mentions. */
export interface Mention {
  readonly type: string;
  readonly id: string;
}

/** Text with mentions; `SentenceText.vue` renders them as links. */
export type Sentence = readonly (string | Mention)[];

export interface RuleLocalization {
  readonly text: Messages;
  readonly formats: Formats;
}

/** Hosts that are named; further ones are counted. */
const NAMED = 4;

type Filling = string | Mention | readonly Mention[];

/** Replaces `{name}` by values; unknown names stay. */
export function sentenceOf(
  template: string,
  values: Readonly<Record<string, Filling>>,
): Sentence {
  return template.split(/(\{\w+\})/).flatMap((piece): Sentence => {
    const name = piece.slice(1, -1);
    if (!piece.startsWith("{") || !Object.hasOwn(values, name))
      return piece === "" ? [] : [piece];
    const value = values[name]!;
    return Array.isArray(value) ? listed(value) : [value as string | Mention];
  });
}

function listed(mentions: readonly Mention[]): Sentence {
  return mentions.flatMap((one, i) => (i === 0 ? [one] : [", ", one]));
}

/** Why a host refuses a VM; the host is the subject. */
export function ruleSentence(
  rule: Refusal,
  { text, formats }: RuleLocalization,
): Sentence {
  const { refusals } = text.placementFailures;
  switch (rule.rule) {
    case "state":
      return [refusals[rule.state]];
    case "memory":
      return sentenceOf(refusals.memory, { size: formats.size(rule.missing) });
    case "vcpus":
      return [formats.plural(refusals.vcpus, rule.missing)];
    case "cpu":
      return sentenceOf(refusals.cpu, { cpu: rule.needs });
    case "device":
      return sentenceOf(refusals.device, {
        n: formats.count(rule.missing),
        device: deviceOf(rule.kind),
      });
    case "pinned":
      return sentenceOf(refusals.pinned, {
        reason: pinnedText(rule.reason, text),
      });
    case "group":
      return sentenceOf(refusals.group, {
        rule: { type: "rule", id: rule.group },
        vm: { type: "VM", id: rule.vm },
      });
    case "network":
    case "sr":
    case "host-affinity":
      return sentenceOf(refusals[rule.rule], mentionOf(rule));
  }
}

/** One of the conflicting rules. */
export function conflictSentence(
  rule: ConflictRule,
  { text, formats }: RuleLocalization,
): Sentence {
  const { conflicts } = text.placementFailures;
  switch (rule.rule) {
    case "state":
      return rule.hosts.length > NAMED
        ? [formats.plural(conflicts.manyStates, rule.hosts.length)]
        : sentenceOf(conflicts.state, {
            hosts: rule.hosts.map((id) => ({ type: "host", id })),
          });
    case "memory":
      return sentenceOf(conflicts.memory, {
        needed: formats.size(rule.needed),
        free: formats.size(rule.free),
      });
    case "vcpus":
      return sentenceOf(conflicts.vcpus, { n: formats.number(rule.perCore) });
    case "device":
      return sentenceOf(conflicts.device, { device: deviceOf(rule.kind) });
    case "cpu":
      return sentenceOf(conflicts.cpu, { cpu: rule.needs });
    case "group":
      return sentenceOf(conflicts.group, {
        rule: { type: "rule", id: rule.group },
      });
    case "pinned":
      return sentenceOf(conflicts.pinned, { vm: { type: "VM", id: rule.vm } });
    case "network":
    case "sr":
    case "host-affinity":
      return sentenceOf(conflicts[rule.rule], mentionOf(rule));
  }
}

/** Introduction of a conflict. */
export function conflictLead(
  { rules, size }: Conflict,
  { text }: RuleLocalization,
): string {
  const { conflicts } = text.placementFailures;
  if (rules.length === 1) return conflicts.leadOne;
  return size === "smallest" ? conflicts.lead : conflicts.leadIrreducible;
}

/** Short name of a rule that refuses hosts. */
export function ruleName(rule: string, text: Messages): string {
  const { ruleNames } = text.placementFailures;
  return Object.hasOwn(ruleNames, rule) ? ruleNames[rule as RefusalName] : rule;
}

/** The purpose of an action. */
export function purposeText(purpose: Purpose, text: Messages): string {
  return text.placementFailures.purposes[purpose];
}

/** The score of a host by weight; zero parts are left out, except free capacity. */
export function scoreText(
  score: Score,
  { text, formats }: RuleLocalization,
): string[] {
  const { scores } = text.placementFailures;
  const signed = (value: number) =>
    `${value > 0 ? "+" : ""}${formats.number(value)}`;
  const { hostAffinity: locations, groups, headroom: room } = score;
  return [
    ...(locations === 0 ? [] : [fillIn(scores.locations, signed(locations))]),
    ...(groups === 0 ? [] : [fillIn(scores.groups, signed(groups))]),
    room < 0
      ? fillIn(scores.overloaded, formats.share(-room))
      : fillIn(scores.room, formats.share(room)),
  ];
}

/** Why a VM cannot be migrated live: text of XAPI's code, else the code. */
export function pinnedText(code: string, text: Messages): string {
  const { pinned } = text.placementFailures;
  return Object.hasOwn(pinned, code)
    ? pinned[code as keyof typeof pinned]
    : code;
}

function mentionOf(
  rule: Readonly<
    | { rule: "network"; network: string }
    | { rule: "sr"; sr: string }
    | { rule: "host-affinity"; hostAffinity: string }
  >,
): Readonly<Record<string, Mention>> {
  switch (rule.rule) {
    case "network":
      return { network: { type: "network", id: rule.network } };
    case "sr":
      return { sr: { type: "SR", id: rule.sr } };
    case "host-affinity":
      return { rule: { type: "rule", id: rule.hostAffinity } };
  }
}

/** GPUs: `GROUP/TYPE`; SR-IOV: the id of the network. */
function deviceOf(kind: string): Mention {
  const [group = kind, type] = kind.split("/");
  return { type: type === undefined ? "network" : "gpuGroup", id: group };
}

function fillIn(template: string, n: string): string {
  return template.replace("{n}", n);
}
