import {
  Cable,
  HardDrive,
  Link,
  Pencil,
  Plug,
  Trash2,
  Unplug,
} from "@lucide/vue";
import {
  defineAction,
  type Action,
  type ActionName,
  type ActionParts,
} from "../../actions/action.js";
import type { Field } from "../../actions/asking.js";
import type { Messages } from "../../locale/messages.js";
import type { ObjectRow } from "../../objects/object-row.js";

const GIB = 2 ** 30;

/** Offered by the page of what they are about and nowhere else: they have names of their own. */
function deviceAction(
  parts: Omit<ActionParts, "id"> & {
    readonly id: string;
    readonly label: (text: Messages) => string;
  },
): Action {
  const { label, id, ...rest } = parts;
  return { ...defineAction({ ...rest, id: id as ActionName }), label };
}

const halted = (object: ObjectRow, text: Messages) =>
  object["power_state"] === "Halted" ? text.vm.reasons.halted : undefined;

/** Plugging and unplugging is the same for disks and interfaces. */
function plugActions(type: "VBD" | "VIF", noun: "vbd" | "vif"): Action[] {
  return [
    deviceAction({
      ...{ types: [type], id: `${noun}.connect`, group: "work", icon: Plug },
      label: (text) => text.vm.acts.connect,
      cannot: (object, text) =>
        object["attached"] === true
          ? text.vm.reasons.connected
          : halted(object, text),
      order: () => ({ method: `${noun}.connect` }),
      undo: (objects) => [{ order: { method: `${noun}.disconnect` }, objects }],
    }),
    deviceAction({
      ...{ types: [type], id: `${noun}.disconnect`, group: "work" },
      icon: Unplug,
      label: (text) => text.vm.acts.disconnect,
      cannot: (object, text) =>
        object["attached"] === true ? undefined : text.vm.reasons.disconnected,
      order: () => ({ method: `${noun}.disconnect` }),
      undo: (objects) => [{ order: { method: `${noun}.connect` }, objects }],
    }),
  ];
}

/** Of a disk's place in a VM. */
export const vbdActions: readonly Action[] = [
  ...plugActions("VBD", "vbd"),
  deviceAction({
    ...{ types: ["VBD"], id: "vbd.delete", group: "danger", icon: Trash2 },
    label: (text) => text.vm.acts.detach,
    ask: (_, { text }) => ({ lead: text.vm.leads.detach }),
    order: () => ({ method: "vbd.delete" }),
    undo: (objects) =>
      objects.flatMap((vbd) => {
        const { VM, VDI, bootable, position } = vbd;
        if (typeof VM !== "string" || typeof VDI !== "string") return [];
        const params = {
          ...{ vdi: VDI, bootable: bootable === true },
          position: textOf(position),
        };
        const order = { method: "vm.attachDisk", idParameter: "vm", params };
        return [{ order, objects: [{ id: VM, type: "VM" }] }];
      }),
  }),
];

/** Of an interface. */
export const vifActions: readonly Action[] = [
  ...plugActions("VIF", "vif"),
  deviceAction({
    ...{ types: ["VIF"], id: "vif.edit", group: "change", icon: Pencil },
    label: (text) => text.vm.acts.editInterface,
    isForOne: true,
    ask: ([vif], { text }) => ({
      lead: text.vm.leads.editInterface,
      fields: [
        networkField(text, vif?.$pool, vif?.["$network"]),
        {
          ...{ kind: "text", id: "mac", label: text.vm.columns.mac },
          initial: textOf(vif?.["MAC"]),
        },
        {
          ...{ kind: "number", id: "rateLimit", isOptional: true, least: 1 },
          label: text.vm.rateField,
          ...(typeof vif?.["rateLimit"] === "number"
            ? { initial: vif["rateLimit"] }
            : {}),
        },
        {
          ...{ kind: "choice", id: "lockingMode", label: text.vm.lockField },
          initial: textOf(vif?.["lockingMode"]),
          options: (
            ["network_default", "locked", "unlocked", "disabled"] as const
          ).map((id) => ({ id, label: text.vm.locking[id] })),
        },
      ],
      button: text.ui.save,
    }),
    order: (vif, { network, mac, rateLimit, lockingMode }) => ({
      method: "vif.set",
      params: {
        // What was not changed is not said: a network or an address that is said is set anew.
        ...(network === vif["$network"] || !network ? {} : { network }),
        ...(mac === vif["MAC"] || !mac ? {} : { mac }),
        ...{ rateLimit: rateLimit ?? null, lockingMode: lockingMode ?? null },
      },
    }),
  }),
  deviceAction({
    ...{ types: ["VIF"], id: "vif.delete", group: "danger", icon: Trash2 },
    tone: "danger",
    label: (text) => text.vm.acts.deleteInterface,
    ask: (_, { text }) => ({ lead: text.vm.leads.deleteInterface }),
    order: () => ({ method: "vif.delete" }),
    undo: (objects) =>
      objects.flatMap(({ $VM, $network, MAC, device }) => {
        if (typeof $VM !== "string" || typeof $network !== "string") return [];
        const params = {
          ...{ network: $network, mac: textOf(MAC) },
          position: textOf(device),
        };
        const order = {
          method: "vm.createInterface",
          idParameter: "vm",
          params,
        };
        return [{ order, objects: [{ id: $VM, type: "VM" }] }];
      }),
  }),
];

const machine = { types: ["VM", "VM-template"], group: "work" } as const;

export const newDisk = deviceAction({
  ...{ ...machine, id: "vm.newDisk", icon: HardDrive, isForOne: true },
  label: (text) => text.vm.acts.newDisk,
  ask: ([vm], { text, formats }) => ({
    fields: [
      { kind: "text", id: "name", label: text.actions.fields.name },
      {
        ...{ kind: "size", id: "size", initial: 10 * GIB, least: 2 ** 20 },
        label: text.actions.fields.size,
      },
      {
        ...{ kind: "object", id: "sr", type: "SR" },
        label: text.actions.fields.sr,
        filter: `$pool:${vm?.$pool ?? ""} content_type:!iso`,
        fields: ["id", "name_label", "size", "physical_usage"],
        more: ({ size, physical_usage }) =>
          text.actions.free.replace(
            "{size}",
            formats.bytes(Number(size ?? 0) - Number(physical_usage ?? 0)),
          ),
      },
      { kind: "check", id: "bootable", label: text.vm.columns.bootable },
    ],
    button: text.vm.create,
  }),
  order: (_, { name, size, sr, bootable }) => ({
    method: "disk.create",
    idParameter: "vm",
    params: {
      ...{ name: name ?? "", size: size ?? 0, sr: sr ?? "" },
      bootable: bootable === true,
    },
  }),
});

export const attachDisk = deviceAction({
  ...{ ...machine, id: "vm.attachDisk", icon: Link, isForOne: true },
  label: (text) => text.vm.acts.attachDisk,
  ask: ([vm], { text, formats }) => ({
    fields: [
      {
        ...{ kind: "object", id: "vdi", type: "VDI", label: text.vm.disk },
        hint: text.vm.freeDisks,
        filter: `$pool:${vm?.$pool ?? ""} VDI_type:user !$VBDs:*`,
        fields: ["id", "name_label", "size"],
        more: ({ size }) => formats.bytes(Number(size ?? 0)),
      },
      { kind: "check", id: "bootable", label: text.vm.columns.bootable },
      { kind: "check", id: "isReadOnly", label: text.vm.readOnly },
    ],
    button: text.vm.attach,
  }),
  order: (_, { vdi, bootable, isReadOnly }) => ({
    method: "vm.attachDisk",
    idParameter: "vm",
    params: {
      ...{ vdi: vdi ?? "", bootable: bootable === true },
      mode: isReadOnly === true ? "RO" : "RW",
    },
  }),
});

export const newInterface = deviceAction({
  ...{ ...machine, id: "vm.newInterface", icon: Cable, isForOne: true },
  label: (text) => text.vm.acts.newInterface,
  ask: ([vm], { text }) => ({
    fields: [
      networkField(text, vm?.$pool, undefined),
      {
        ...{ kind: "text", id: "mac", label: text.vm.columns.mac },
        ...{ hint: text.vm.macHint, isOptional: true },
      },
    ],
    button: text.vm.create,
  }),
  order: (_, { network, mac }) => ({
    method: "vm.createInterface",
    idParameter: "vm",
    params: { network: network ?? "", ...(mac ? { mac } : {}) },
  }),
});

function networkField(
  text: Messages,
  pool: string | undefined,
  initial: unknown,
): Field {
  return {
    ...{ kind: "object", id: "network", type: "network" },
    label: text.vm.columns.network,
    filter: `$pool:${pool ?? ""}`,
    ...(typeof initial === "string" ? { initial } : {}),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
