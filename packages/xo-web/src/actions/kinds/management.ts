import { FileKey, FileX, Network, RefreshCcw, ShieldCheck } from "@lucide/vue";
import type { ObjectRow } from "../../api/object-row.js";
import { defineAction, nameOf, type Action } from "../plan/action.js";
import { textOf } from "../plan/text-of.js";

const change = { group: "change", tone: "danger", isForOne: true } as const;

/** Management interfaces and certificates of the hosts of a pool. */
export const managementActions: readonly Action[] = [
  defineAction({
    ...change,
    types: ["pool"],
    id: "pool.management",
    icon: Network,
    // XAPI refuses it with HA_IS_ENABLED.
    refusalOf: (object, text) =>
      object["HA_enabled"] === true ? text.actions.reasons.haOn : undefined,
    formOf: ([object], { text }) => ({
      lead: text.actions.leads.poolManagement,
      fields: [
        {
          kind: "object",
          id: "network",
          type: "network",
          label: text.actions.fields.network,
          hint: text.actions.fields.managementNetworkHint,
          // Networks without interfaces are internal ones of each host.
          filter: `$pool:"${object?.id ?? ""}" PIFs:/./`,
        },
      ],
      ...typedName(object),
    }),
    operation: (_, { network = null }) => ({
      method: "pool.managementReconfigure",
      params: { network },
    }),
  }),
  defineAction({
    ...change,
    types: ["host"],
    id: "host.management",
    icon: ShieldCheck,
    refusalOf: unlessUp,
    formOf: ([object], { text }) => ({
      lead: text.actions.leads.hostManagement,
      fields: [
        {
          kind: "object",
          id: "pif",
          type: "PIF",
          label: text.actions.fields.pif,
          hint: text.actions.fields.managementPifHint,
          filter: `$host:"${object?.id ?? ""}" !management? !mode:/^None$/ !isBondSlave?`,
          fields: ["id", "device", "vlan", "ip", "mode"],
          more: pifText,
        },
      ],
      ...typedName(object),
    }),
    operation: (_, { pif = null }) => ({
      method: "host.managementReconfigure",
      params: { pif },
    }),
  }),
  defineAction({
    ...change,
    types: ["host"],
    id: "host.certificate",
    icon: FileKey,
    refusalOf: unlessUp,
    formOf: (_, { text: { actions } }) => ({
      lead: actions.leads.certificate,
      fields: [
        {
          kind: "lines",
          id: "certificate",
          label: actions.fields.certificate,
          hint: actions.fields.certificateHint,
        },
        {
          kind: "lines",
          id: "privateKey",
          label: actions.fields.privateKey,
          hint: actions.fields.privateKeyHint,
        },
        {
          kind: "lines",
          id: "chain",
          isOptional: true,
          label: actions.fields.chain,
          hint: actions.fields.chainHint,
        },
      ],
    }),
    operation: (_, input) => ({
      method: "host.installCertificate",
      params: input,
    }),
  }),
  defineAction({
    ...change,
    types: ["host"],
    id: "host.resetCertificate",
    icon: FileX,
    refusalOf: unlessUp,
    formOf: ([object], { text }) => ({
      lead: text.actions.leads.resetCertificate,
      ...typedName(object),
    }),
    operation: () => ({ method: "host.resetCertificate" }),
  }),
  defineAction({
    ...change,
    types: ["host"],
    id: "host.refreshCertificate",
    icon: RefreshCcw,
    refusalOf: unlessUp,
    formOf: (_, { text }) => ({
      lead: text.actions.leads.refreshCertificate,
    }),
    operation: () => ({ method: "host.refreshCertificate" }),
  }),
];

function unlessUp(
  { power_state: state = "Running" }: ObjectRow,
  text: Parameters<NonNullable<Action["refusalOf"]>>[1],
): string | undefined {
  return state === "Running" ? undefined : text.actions.reasons.hostDown;
}

function typedName(object: ObjectRow | undefined) {
  return object === undefined ? {} : { typed: nameOf(object) };
}

/** `eth1.104 · 10.0.0.7 · Static` */
function pifText({ device, vlan, ip, mode }: ObjectRow): string {
  const tag = typeof vlan === "number" && vlan >= 0 ? `.${vlan}` : "";
  return [`${textOf(device)}${tag}`, textOf(ip), textOf(mode)]
    .filter(Boolean)
    .join(" · ");
}
