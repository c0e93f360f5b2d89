import {
  Cable,
  Crown,
  Database,
  HeartPulse,
  Heart,
  Network,
  PackageCheck,
  PackagePlus,
  Plus,
  RotateCw,
  Server,
  Siren,
  Import,
  Upload,
} from "@lucide/vue";
import { fill, type Messages } from "../../locale/messages.js";
import type { ObjectRow } from "../../api/object-row.js";
import { defineAction, nameOf, type Action } from "../plan/action.js";
import type { Field } from "../plan/action-form.js";
import { textOf } from "../plan/text-of.js";

const pool = { types: ["pool"], isForOne: true } as const;
const sharedSrs = (id = "") => `$pool:"${id}" shared? content_type:user`;

/** Actions on pools. */
export const poolActions: readonly Action[] = [
  defineAction({
    ...pool,
    group: "work",
    isPrimary: true,
    id: "pool.createVm",
    icon: Plus,
    run({ go }, [object]) {
      go(`/new/vm?pool=${object?.id ?? ""}`);
    },
  }),
  defineAction({
    ...pool,
    group: "work",
    isPrimary: true,
    id: "pool.createNetwork",
    icon: Network,
    formOf: ([object], { text }) => ({ fields: networkFields(object, text) }),
    operation: (_, { pif, vlan = 0, ...input }) =>
      pif === undefined
        ? {
            method: "network.createInternal",
            idParameter: "pool",
            params: input,
          }
        : {
            method: "network.create",
            idParameter: "pool",
            params: { ...input, pif, vlan },
          },
    createdType: "network",
  }),
  defineAction({
    ...pool,
    group: "work",
    id: "pool.createBond",
    icon: Cable,
    formOf: ([object], { text }) => ({ fields: bondFields(object, text) }),
    operation: (_, { pif1, pif2, pif3, pif4, ...input }) => ({
      method: "network.createBonded",
      idParameter: "pool",
      params: {
        ...input,
        pifs: [pif1, pif2, pif3, pif4].filter((pif) => typeof pif === "string"),
      },
    }),
    createdType: "network",
  }),
  defineAction({
    ...pool,
    group: "work",
    isPrimary: true,
    id: "pool.createSr",
    needs: { method: "pool.set" },
    icon: Database,
    dialog: () => import("../dialogs/SrDialog.vue"),
    createdType: "SR",
  }),
  defineAction({
    ...pool,
    group: "work",
    id: "pool.importVm",
    needs: { method: "pool.importVm" },
    icon: Upload,
    dialog: () => import("../dialogs/ImportDialog.vue"),
    createdType: "VM",
  }),
  defineAction({
    ...pool,
    group: "work",
    id: "pool.importFromVmware",
    needs: { method: "vm.importMultipleFromEsxi" },
    icon: Import,
    dialog: () => import("../dialogs/VmwareDialog.vue"),
  }),
  defineAction({
    ...pool,
    group: "work",
    id: "pool.installPack",
    needs: { method: "pool.installSupplementalPack", idParameter: "pool" },
    icon: PackagePlus,
    dialog: () => import("../dialogs/UploadDialog.vue"),
  }),
  defineAction({
    ...pool,
    group: "work",
    id: "pool.setDefaultSr",
    icon: Database,
    formOf: ([object], { text }) => ({
      fields: [
        {
          kind: "object",
          id: "sr",
          type: "SR",
          label: text.actions.fields.sr,
          filter: `$pool:"${object?.id ?? ""}" !SR_type:|(iso udev)`,
          initial: textOf(object?.["default_SR"]),
        },
      ],
    }),
    // The SR determines the pool.
    operation: (_, { sr = null }) => ({
      method: "pool.setDefaultSr",
      idParameter: "",
      params: { sr },
    }),
  }),
  defineAction({
    ...pool,
    group: "change",
    id: "pool.enableHa",
    icon: HeartPulse,
    refusalOf: unlessHa(false),
    formOf: ([object], { text }) => ({
      lead: text.actions.leads.enableHa,
      fields: [
        {
          kind: "object",
          id: "sr",
          type: "SR",
          isOptional: true,
          label: text.actions.fields.heartbeatSr,
          hint: text.actions.fields.heartbeatSrHint,
          filter: sharedSrs(object?.id),
        },
      ],
    }),
    operation: (_, { sr }) => ({
      method: "pool.enableHa",
      idParameter: "pool",
      params: { heartbeatSrs: typeof sr === "string" ? [sr] : [] },
    }),
  }),
  defineAction({
    ...pool,
    group: "change",
    id: "pool.disableHa",
    icon: Heart,
    refusalOf: unlessHa(true),
    formOf: (_, { text }) => ({ lead: text.actions.leads.disableHa }),
    operation: () => ({ method: "pool.disableHa", idParameter: "pool" }),
  }),
  defineAction({
    ...pool,
    group: "change",
    id: "pool.setMaster",
    icon: Crown,
    formOf: ([object], { text }) => ({
      lead: text.actions.leads.coordinator,
      fields: [
        {
          kind: "object",
          id: "host",
          type: "host",
          label: text.actions.fields.host,
          filter: `$pool:"${object?.id ?? ""}" enabled?`,
          initial: textOf(object?.["master"]),
        },
      ],
    }),
    operation: (_, { host = null }) => ({
      method: "pool.setPoolMaster",
      idParameter: "",
      params: { host },
    }),
  }),
  defineAction({
    ...pool,
    group: "change",
    tone: "danger",
    id: "pool.addHost",
    icon: Server,
    formOf: ([object], { text }) => ({
      lead: text.actions.leads.addHost,
      fields: [
        {
          kind: "object",
          id: "host",
          type: "host",
          label: text.actions.fields.host,
          hint: text.actions.fields.joiningHostHint,
          filter: `!$pool:"${object?.id ?? ""}"`,
          fields: ["id", "name_label", "address", "version"],
          more: ({ address, version }) =>
            [textOf(address), textOf(version)].filter(Boolean).join(" · "),
        },
        { kind: "check", id: "force", label: text.actions.fields.forceJoin },
      ],
      ...(object === undefined ? {} : { typed: nameOf(object) }),
    }),
    operation: (_, { host = null, force = false }) => ({
      method: "pool.addHost",
      idParameter: "pool",
      params: { host, force },
    }),
  }),
  defineAction({
    ...pool,
    group: "power",
    tone: "danger",
    id: "pool.rollingReboot",
    icon: RotateCw,
    dialog: () => import("../dialogs/RollingUpdateDialog.vue"),
  }),
  defineAction({
    ...pool,
    group: "power",
    tone: "danger",
    id: "pool.rollingUpdate",
    icon: PackageCheck,
    dialog: () => import("../dialogs/RollingUpdateDialog.vue"),
  }),
  defineAction({
    ...pool,
    group: "danger",
    tone: "danger",
    id: "pool.emergencyShutdown",
    icon: Siren,
    formOf: ([object], { text }) => ({
      lead: text.actions.leads["pool.emergencyShutdown"],
      ...(object === undefined ? {} : { typed: nameOf(object) }),
    }),
    operation: () => ({
      method: "pool.emergencyShutdown",
      idParameter: "pool",
    }),
  }),
];

function unlessHa(isOn: boolean) {
  return (object: ObjectRow, text: Messages) => {
    if ((object["HA_enabled"] === true) === isOn) return undefined;
    return isOn ? text.actions.reasons.haOff : text.actions.reasons.haOn;
  };
}

/** Interfaces that can have VLANs. */
const WITH_VLANS = "|(physical? isBondMaster?)";

/**
 * The PIF of any one host: the server adds those of the other hosts of the same
 * network. A PIF of a bond cannot be bonded again or have VLANs (XAPI
 * PIF_ALREADY_BONDED); the bond itself can.
 * @param which filter that selects the PIFs
 */
function pifField(pool: ObjectRow | undefined, which = "physical?") {
  return {
    kind: "object",
    type: "PIF",
    filter: `$pool:"${pool?.id ?? ""}" $host:"${textOf(pool?.["master"])}" ${which} !isBondSlave?`,
    fields: ["id", "device", "deviceName"],
    more: ({ device, deviceName }: ObjectRow) =>
      [textOf(device), textOf(deviceName)].filter(Boolean).join(" · "),
  } as const;
}

/** Maximum number of PIFs of a bond that the form offers; the API accepts more. */
const BOND_PLACES = [1, 2, 3, 4] as const;

function bondFields(
  pool: ObjectRow | undefined,
  { actions: { fields: names } }: Messages,
): readonly Field[] {
  return [
    { kind: "text", id: "name", label: names.name },
    {
      kind: "text",
      id: "description",
      isOptional: true,
      label: names.description,
    },
    ...BOND_PLACES.map((n): Field => ({
      ...pifField(pool),
      id: `pif${n}`,
      isOptional: n > 2,
      label: fill(names.bondPif, { n }),
    })),
    {
      kind: "choice",
      id: "bondMode",
      label: names.bondMode,
      hint: names.bondModeHint,
      initial: "active-backup",
      options: (["active-backup", "balance-slb", "lacp"] as const).map(
        (id) => ({ id, label: names.bondModes[id] }),
      ),
    },
    {
      kind: "number",
      id: "mtu",
      isOptional: true,
      least: 68,
      most: 65_535,
      label: names.mtu,
    },
  ];
}

function networkFields(
  pool: ObjectRow | undefined,
  { actions: { fields: names } }: Messages,
): readonly Field[] {
  return [
    { kind: "text", id: "name", label: names.name },
    {
      kind: "text",
      id: "description",
      isOptional: true,
      label: names.description,
    },
    {
      ...pifField(pool, WITH_VLANS),
      id: "pif",
      isOptional: true,
      isRequiredWith: "vlan",
      label: names.pif,
      hint: names.pifHint,
    },
    {
      kind: "number",
      id: "vlan",
      isOptional: true,
      isRequiredWith: "pif",
      least: 0,
      most: 4094,
      label: names.vlan,
    },
    {
      kind: "number",
      id: "mtu",
      isOptional: true,
      least: 68,
      most: 65_535,
      label: names.mtu,
    },
  ];
}
