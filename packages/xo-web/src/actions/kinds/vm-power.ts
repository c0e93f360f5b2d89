import {
  CirclePlay,
  Moon,
  Pause,
  Play,
  Power,
  PowerOff,
  RotateCcw,
  RotateCw,
  Server,
} from "@lucide/vue";
import type { ObjectRow } from "../../objects/object-row.js";
import { defineAction, type Action, type Order } from "../action.js";
import { blocked, unlessState, withoutTools } from "./reasons.js";

const vm = { types: ["VM"], group: "power" } as const;
/** The one button that lets a VM go, or go on. */
const go = { ...vm, isPrimary: true, place: "go" } as const;
const to =
  (method: string, params: Order["params"] = {}) =>
  () => ({
    method,
    params,
  });
const back =
  (method: string, params: Order["params"] = {}) =>
  (objects: readonly ObjectRow[]) => [{ order: { method, params }, objects }];

/** Power of VMs. */
export const vmPowerActions: readonly Action[] = [
  defineAction({
    ...go,
    id: "vm.start",
    icon: Play,
    cannot: (object, text) =>
      unlessState(object, text, "Halted") ?? blocked(object, text, "start"),
    order: to("vm.start"),
  }),
  defineAction({
    ...go,
    id: "vm.resume",
    icon: Play,
    cannot: (object, text) =>
      unlessState(object, text, "Suspended") ?? blocked(object, text, "resume"),
    order: to("vm.resume"),
  }),
  defineAction({
    ...go,
    id: "vm.unpause",
    icon: Play,
    cannot: (object, text) =>
      unlessState(object, text, "Paused") ?? blocked(object, text, "unpause"),
    order: to("vm.start"),
  }),
  defineAction({
    ...vm,
    id: "vm.cleanShutdown",
    icon: Power,
    isPrimary: true,
    cannot: (object, text) =>
      unlessState(object, text, "Running") ??
      blocked(object, text, "clean_shutdown") ??
      withoutTools(object, text),
    order: to("vm.stop"),
  }),
  defineAction({
    ...vm,
    id: "vm.cleanReboot",
    icon: RotateCw,
    isPrimary: true,
    cannot: (object, text) =>
      unlessState(object, text, "Running") ??
      blocked(object, text, "clean_reboot") ??
      withoutTools(object, text),
    order: to("vm.restart"),
  }),
  defineAction({
    ...vm,
    id: "vm.startOn",
    icon: Server,
    isForOne: true,
    cannot: (object, text) =>
      unlessState(object, text, "Halted", "Suspended") ??
      blocked(object, text, "start_on"),
    ask: ([object], { text, formats }) => ({
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
    order: (_, { host }) => ({
      method: "vm.start",
      params: host === undefined ? {} : { host },
    }),
  }),
  defineAction({
    ...vm,
    id: "vm.startPaused",
    icon: CirclePlay,
    cannot: (object, text) =>
      unlessState(object, text, "Halted") ?? blocked(object, text, "start"),
    order: to("vm.start", { paused: true }),
  }),
  defineAction({
    ...vm,
    id: "vm.suspend",
    icon: Moon,
    cannot: (object, text) =>
      unlessState(object, text, "Running") ??
      blocked(object, text, "suspend") ??
      withoutTools(object, text),
    order: to("vm.suspend"),
    undo: back("vm.resume"),
  }),
  defineAction({
    ...vm,
    id: "vm.pause",
    icon: Pause,
    cannot: (object, text) =>
      unlessState(object, text, "Running") ?? blocked(object, text, "pause"),
    order: to("vm.pause"),
    undo: back("vm.start"),
  }),
  defineAction({
    ...vm,
    id: "vm.hardShutdown",
    icon: PowerOff,
    tone: "danger",
    cannot: (object, text) =>
      unlessState(object, text, "Running", "Paused", "Suspended") ??
      blocked(object, text, "hard_shutdown"),
    ask: (_, { text }) => ({ lead: text.actions.leads.hardShutdown }),
    order: to("vm.stop", { force: true }),
  }),
  defineAction({
    ...vm,
    id: "vm.hardReboot",
    icon: RotateCcw,
    tone: "danger",
    cannot: (object, text) =>
      unlessState(object, text, "Running", "Paused") ??
      blocked(object, text, "hard_reboot"),
    ask: (_, { text }) => ({ lead: text.actions.leads.hardReboot }),
    order: to("vm.restart", { force: true }),
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
