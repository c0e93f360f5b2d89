import {
  CirclePlay,
  Disc3,
  Moon,
  Pause,
  Play,
  Power,
  PowerOff,
  RotateCcw,
  RotateCw,
  Server,
} from "@lucide/vue";
import type { ObjectRow } from "../../api/object-row.js";
import {
  defineAction,
  type Action,
  type OperationCall,
} from "../plan/action.js";
import { blocked, unlessState, withoutTools } from "./reasons.js";

const vm = { types: ["VM"], group: "power" } as const;
/** The button that shuts a VM down, or resumes it. */
const go = { ...vm, isPrimary: true, slot: "go" } as const;
const to =
  (method: string, params: OperationCall["params"] = {}) =>
  () => ({
    method,
    params,
  });
const back =
  (method: string, params: OperationCall["params"] = {}) =>
  (objects: readonly ObjectRow[]) => [
    { operation: { method, params }, objects },
  ];

/** Power operations of VMs. */
export const vmPowerActions: readonly Action[] = [
  defineAction({
    ...go,
    id: "vm.start",
    icon: Play,
    refusalOf: (object, text) =>
      unlessState(object, text, "Halted") ?? blocked(object, text, "start"),
    operation: to("vm.start"),
  }),
  defineAction({
    ...go,
    id: "vm.resume",
    icon: Play,
    refusalOf: (object, text) =>
      unlessState(object, text, "Suspended") ?? blocked(object, text, "resume"),
    operation: to("vm.resume"),
  }),
  defineAction({
    ...go,
    id: "vm.unpause",
    icon: Play,
    refusalOf: (object, text) =>
      unlessState(object, text, "Paused") ?? blocked(object, text, "unpause"),
    operation: to("vm.start"),
  }),
  defineAction({
    ...vm,
    id: "vm.cleanShutdown",
    isDisruptive: true,
    icon: Power,
    isPrimary: true,
    refusalOf: (object, text) =>
      unlessState(object, text, "Running") ??
      blocked(object, text, "clean_shutdown") ??
      withoutTools(object, text),
    formOf: (_, { text }) => ({ lead: text.actions.leads.cleanShutdown }),
    operation: to("vm.stop"),
  }),
  defineAction({
    ...vm,
    id: "vm.cleanReboot",
    isDisruptive: true,
    icon: RotateCw,
    isPrimary: true,
    refusalOf: (object, text) =>
      unlessState(object, text, "Running") ??
      blocked(object, text, "clean_reboot") ??
      withoutTools(object, text),
    formOf: (_, { text }) => ({ lead: text.actions.leads.cleanReboot }),
    operation: to("vm.restart"),
  }),
  defineAction({
    ...vm,
    id: "vm.startOn",
    icon: Server,
    isForOne: true,
    refusalOf: (object, text) =>
      unlessState(object, text, "Halted", "Suspended") ??
      blocked(object, text, "start_on"),
    formOf: ([object], { text, formats }) => ({
      fields: [
        {
          kind: "object",
          id: "host",
          type: "host",
          label: text.actions.fields.host,
          filter: `$pool:"${object?.$pool ?? ""}" enabled? power_state:Running`,
          fields: ["id", "name_label", "memory"],
          more: (host) =>
            freeMemory(host, text.actions.free, (n) => formats.size(n)),
        },
      ],
    }),
    operation: (_, { host }) => ({
      method: "vm.start",
      params: host === undefined ? {} : { host },
    }),
  }),
  defineAction({
    ...vm,
    id: "vm.startPaused",
    icon: CirclePlay,
    refusalOf: (object, text) =>
      unlessState(object, text, "Halted") ?? blocked(object, text, "start"),
    operation: to("vm.start", { paused: true }),
  }),
  defineAction({
    ...vm,
    id: "vm.recoveryStart",
    icon: Disc3,
    refusalOf: (object, text) =>
      unlessState(object, text, "Halted") ?? blocked(object, text, "start"),
    operation: to("vm.recoveryStart"),
  }),
  defineAction({
    ...vm,
    id: "vm.suspend",
    isDisruptive: true,
    icon: Moon,
    refusalOf: (object, text) =>
      unlessState(object, text, "Running") ??
      blocked(object, text, "suspend") ??
      withoutTools(object, text),
    formOf: (objects, { text }) =>
      objects.length > 1 ? { lead: text.actions.leads.suspend } : undefined,
    operation: to("vm.suspend"),
    undo: back("vm.resume"),
  }),
  defineAction({
    ...vm,
    id: "vm.pause",
    isDisruptive: true,
    icon: Pause,
    refusalOf: (object, text) =>
      unlessState(object, text, "Running") ?? blocked(object, text, "pause"),
    formOf: (objects, { text }) =>
      objects.length > 1 ? { lead: text.actions.leads.pause } : undefined,
    operation: to("vm.pause"),
    undo: back("vm.start"),
  }),
  defineAction({
    ...vm,
    id: "vm.hardShutdown",
    icon: PowerOff,
    tone: "danger",
    refusalOf: (object, text) =>
      unlessState(object, text, "Running", "Paused", "Suspended") ??
      blocked(object, text, "hard_shutdown"),
    formOf: (_, { text }) => ({ lead: text.actions.leads.hardShutdown }),
    operation: to("vm.stop", { force: true }),
  }),
  defineAction({
    ...vm,
    id: "vm.hardReboot",
    icon: RotateCcw,
    tone: "danger",
    refusalOf: (object, text) =>
      unlessState(object, text, "Running", "Paused") ??
      blocked(object, text, "hard_reboot"),
    formOf: (_, { text }) => ({ lead: text.actions.leads.hardReboot }),
    operation: to("vm.restart", { force: true }),
  }),
];

function freeMemory(
  { memory }: ObjectRow,
  template: string,
  bytes: (n: number) => string,
): string {
  const { size = 0, usage = 0 } = (memory ?? {}) as Record<string, number>;
  return template.replace("{size}", bytes(Math.max(0, size - usage)));
}
