import { MapPin, Plug, ShieldCheck, Tag, Trash2, Unplug } from "@lucide/vue";
import type { Action } from "../../actions/plan/action.js";
import type { Field } from "../../actions/plan/action-form.js";
import type { Messages } from "../../locale/messages.js";
import type { ObjectRow } from "../../api/object-row.js";
import { ownAction } from "../own-action.js";

const pif = { types: ["PIF"], isForOne: true } as const;
const modes = ["None", "DHCP", "Static"];
const textOf = (value: unknown) => (typeof value === "string" ? value : "");

/** Actions on a PIF. */
export const pifActions: readonly Action[] = [
  ownAction({
    ...pif,
    id: "pif.connect",
    group: "work",
    icon: Plug,
    label: (text) => text.actions.names["pif.connect"],
    refusalOf: ({ attached }, text) =>
      attached === true ? text.actions.reasons.attached : undefined,
    operation: () => ({ method: "pif.connect" }),
    undo: (objects) => [{ operation: { method: "pif.disconnect" }, objects }],
  }),
  ownAction({
    ...pif,
    id: "pif.disconnect",
    group: "work",
    icon: Unplug,
    label: (text) => text.actions.names["pif.disconnect"],
    refusalOf: ({ attached, management }, text) => {
      if (management === true) return text.actions.reasons.management;
      return attached === false ? text.actions.reasons.detached : undefined;
    },
    formOf: (_, { text }) => ({ lead: text.actions.leads.pifDisconnect }),
    operation: () => ({ method: "pif.disconnect" }),
    undo: (objects) => [{ operation: { method: "pif.connect" }, objects }],
  }),
  ownAction({
    ...pif,
    id: "pif.address",
    group: "change",
    icon: MapPin,
    label: (text) => text.host.actions.address,
    formOf: ([one], { text }) => ({
      lead:
        one?.["management"] === true
          ? text.host.leads.managementAddress
          : text.host.leads.address,
      fields: addressFields(one, text),
      button: text.ui.save,
    }),
    operation: (_, { mode, ip, netmask, gateway, dns }) => ({
      method: "pif.reconfigureIp",
      params: {
        mode: mode ?? "None",
        // Fields of a static address only.
        ...(mode === "Static"
          ? {
              ip: ip ?? "",
              netmask: netmask ?? "",
              gateway: gateway ?? "",
              dns: dns ?? "",
            }
          : {}),
      },
    }),
  }),
  ownAction({
    ...pif,
    id: "pif.management",
    group: "change",
    icon: ShieldCheck,
    label: (text) => text.host.actions.management,
    refusalOf: ({ management, ip }, text) => {
      if (management === true) return text.host.reasons.isManagement;
      return ip === "" ? text.host.reasons.noAddress : undefined;
    },
    formOf: (_, { text }) => ({ lead: text.host.leads.management }),
    operation: ({ $host }) => ({
      method: "host.managementReconfigure",
      idParameter: "pif",
      params: { id: textOf($host) },
    }),
  }),
  ownAction({
    ...pif,
    id: "pif.vlan",
    group: "change",
    icon: Tag,
    label: (text) => text.host.actions.vlan,
    refusalOf: ({ vlan }, text) =>
      vlan === -1 ? text.host.reasons.noVlan : undefined,
    formOf: ([one], { text }) => ({
      lead: text.host.leads.vlan,
      fields: [
        {
          kind: "number",
          id: "vlan",
          label: text.host.columns.vlan,
          least: 0,
          most: 4094,
          initial: Number(one?.["vlan"] ?? 0),
        },
      ],
    }),
    operation: (_, { vlan }) => ({
      method: "pif.editPif",
      params: { vlan: vlan ?? 0 },
    }),
  }),
  ownAction({
    ...pif,
    id: "pif.delete",
    group: "danger",
    icon: Trash2,
    tone: "danger",
    label: (text) => text.host.actions.deletePif,
    refusalOf: ({ physical }, text) =>
      physical === true ? text.host.reasons.physical : undefined,
    formOf: ([one], { text }) => ({
      lead: text.host.leads.deletePif,
      typed: one === undefined ? "" : pifName(one),
    }),
    operation: () => ({ method: "pif.delete" }),
  }),
];

/** `bond0`, `eth1.104` */
export function pifName(pif: ObjectRow): string {
  const { device, vlan } = pif;
  const tag = typeof vlan === "number" && vlan >= 0 ? `.${vlan}` : "";
  return `${textOf(device)}${tag}`;
}

function addressFields(
  one: ObjectRow | undefined,
  text: Messages,
): readonly Field[] {
  const texts = text.host.fields;
  return [
    {
      kind: "choice",
      id: "mode",
      label: texts.mode,
      initial: textOf(one?.["mode"]),
      options: modes.map((id) => ({ id, label: id })),
    },
    ...(["ip", "netmask", "gateway", "dns"] as const).map((id): Field => ({
      kind: "text",
      id,
      label: texts[id],
      isOptional: true,
      initial: textOf(one?.[id]),
    })),
  ];
}
