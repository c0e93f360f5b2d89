import {
  Ban,
  CircleCheck,
  Construction,
  Crown,
  LogOut,
  MoveRight,
  Power,
  RefreshCw,
  RotateCw,
  Siren,
  Sparkles,
  Trash2,
} from "@lucide/vue";
import type { Messages } from "../../locale/messages.js";
import type { ObjectRow } from "../../api/object-row.js";
import { defineAction, nameOf, type Action } from "../plan/action.js";

const host = { types: ["host"] } as const;
const power = { ...host, group: "power" } as const;
const work = { ...host, group: "work" } as const;

const unlessUp = (object: ObjectRow, text: Messages) =>
  (object["power_state"] ?? "Running") === "Running"
    ? undefined
    : text.actions.reasons.hostDown;
const unlessEnabled = (object: ObjectRow, text: Messages) =>
  unlessUp(object, text) ??
  (object["enabled"] === false ? text.actions.reasons.hostDisabled : undefined);

/** Hosts: enabled or disabled, power, and pool membership. */
export const hostActions: readonly Action[] = [
  defineAction({
    ...work,
    id: "host.maintenance",
    needs: { method: "host.setMaintenanceMode" },
    isDisruptive: true,
    icon: Construction,
    isPrimary: true,
    slot: "service",
    refusalOf: unlessEnabled,
    dialog: () => import("../dialogs/MaintenanceDialog.vue"),
    undo: (objects) => [
      {
        operation: {
          method: "host.setMaintenanceMode",
          params: { maintenance: false, migrateBack: true },
        },
        objects,
      },
    ],
  }),
  defineAction({
    ...work,
    id: "host.enable",
    icon: CircleCheck,
    isPrimary: true,
    slot: "service",
    refusalOf: (object, text) =>
      unlessUp(object, text) ??
      (object["enabled"] === true
        ? text.actions.reasons.hostEnabled
        : undefined),
    formOf: (_, { text }) => ({
      lead: text.actions.leads.hostEnable,
      fields: [
        {
          kind: "check",
          id: "migrateBack",
          initial: true,
          label: text.actions.fields.migrateBack,
        },
      ],
    }),
    operation: (_, { migrateBack = false }) => ({
      method: "host.enable",
      params: { migrateBack },
    }),
  }),
  defineAction({
    ...work,
    id: "host.disable",
    icon: Ban,
    refusalOf: unlessEnabled,
    operation: () => ({ method: "host.disable" }),
    undo: (objects) => [{ operation: { method: "host.enable" }, objects }],
  }),
  defineAction({
    ...work,
    id: "host.evacuate",
    isDisruptive: true,
    icon: MoveRight,
    refusalOf: unlessUp,
    formOf: (_, { text }) => ({ lead: text.actions.leads.evacuate }),
    operation: () => ({ method: "host.evacuate" }),
  }),
  defineAction({
    ...power,
    id: "host.restart",
    isDisruptive: true,
    icon: RotateCw,
    isPrimary: true,
    refusalOf: unlessUp,
    formOf: (_, { text }) => ({
      lead: text.actions.leads.hostRestart,
      fields: [
        {
          kind: "check",
          id: "force",
          label: text.actions.fields.forceRestart,
        },
      ],
    }),
    operation: (_, { force = false }) => ({
      method: "host.restart",
      params: { force },
    }),
  }),
  defineAction({
    ...power,
    id: "host.smartRestart",
    isDisruptive: true,
    icon: Sparkles,
    refusalOf: unlessUp,
    formOf: (_, { text }) => ({ lead: text.actions.leads.smartRestart }),
    operation: () => ({
      method: "host.restart",
      params: { suspendResidentVms: true },
    }),
  }),
  defineAction({
    ...power,
    id: "host.stop",
    icon: Power,
    tone: "danger",
    refusalOf: unlessUp,
    formOf: ([object], { text }) => ({
      lead: text.actions.leads.hostStop,
      ...(object === undefined ? {} : { typed: nameOf(object) }),
    }),
    operation: () => ({ method: "host.stop" }),
  }),
  defineAction({
    ...power,
    id: "host.start",
    icon: Power,
    refusalOf: (object, text) => {
      if (object["power_state"] === "Running")
        return text.actions.reasons.hostUp;
      return object["powerOnMode"] === ""
        ? text.actions.reasons.noPowerOn
        : undefined;
    },
    operation: () => ({ method: "host.start" }),
  }),
  defineAction({
    ...power,
    id: "host.restartToolstack",
    isDisruptive: true,
    icon: RefreshCw,
    refusalOf: unlessUp,
    formOf: (_, { text }) => ({ lead: text.actions.leads.toolstack }),
    operation: () => ({ method: "host.restartAgent" }),
  }),
  defineAction({
    ...work,
    id: "host.makeCoordinator",
    icon: Crown,
    isForOne: true,
    refusalOf: unlessEnabled,
    formOf: (_, { text }) => ({ lead: text.actions.leads.coordinator }),
    operation: () => ({ method: "pool.setPoolMaster", idParameter: "host" }),
  }),
  ...(
    [
      ["host.emergencyShutdown", "host.emergencyShutdownHost", Siren],
      ["host.detach", "host.detach", LogOut],
      ["host.forget", "host.forget", Trash2],
    ] as const
  ).map(([id, method, icon]) =>
    defineAction({
      ...host,
      id,
      icon,
      group: "danger",
      tone: "danger",
      isForOne: true,
      refusalOf: id === "host.forget" ? unlessDown : unlessUp,
      formOf: ([object], { text }) => ({
        lead: text.actions.leads[id],
        ...(object === undefined ? {} : { typed: nameOf(object) }),
      }),
      operation: () => ({
        method,
        ...(method === "host.emergencyShutdownHost"
          ? { idParameter: "host" }
          : {}),
      }),
    }),
  ),
];

function unlessDown(object: ObjectRow, text: Messages): string | undefined {
  return object["power_state"] === "Running"
    ? text.actions.reasons.hostUp
    : undefined;
}
