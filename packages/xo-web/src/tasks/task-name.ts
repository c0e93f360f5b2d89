import type { Messages } from "../locale/messages.js";
import { serverTaskName } from "./server-task-name.js";
import { plainName, type TaskItem } from "./task.js";

/** Actions of the page that XAPI's methods implement under another name. */
const aliases: Readonly<Record<string, string>> = {
  "vm.poolMigrate": "vm.migrate",
  "vm.migrateSend": "vm.migrate",
  "vm.cleanShutdown": "vm.cleanShutdown",
  "vm.shutdown": "vm.cleanShutdown",
  "vm.destroy": "vm.delete",
  "vm.revert": "snapshot.revert",
  "host.reboot": "host.restart",
  "host.shutdown": "host.stop",
  "vdi.poolMigrate": "vdi.migrate",
};

/**
 * The name of a task; of a XAPI method such as `Async.VM.clean_reboot` that of
 * the action. XAPI tasks have the host that runs them, not their object: the
 * class is added, so that the reboot of a VM is not taken for that of its host.
 */
export function taskName(
  { name, source, object }: Pick<TaskItem, "name" | "source" | "object">,
  text: Messages,
): string {
  const plain = plainName(name).replace(/^Async\./, "");
  const [, className = "", method = ""] = /^(\w+)\.(\w+)$/.exec(plain) ?? [];
  const camel = method.replace(/_([a-z])/g, (_, letter: string) =>
    letter.toUpperCase(),
  );
  const id = `${className.toLowerCase()}.${camel}`;
  const names: Readonly<Record<string, string>> = text.actions.names;
  const action = aliases[id] ?? id;
  if (!Object.hasOwn(names, action))
    return serverTaskName(plain, text) ?? plain;
  const label = names[action]!.replace("…", "");
  if (source !== "pool" || className === object?.type) return label;
  const { types } = text.objects;
  const noun = Object.hasOwn(types, className)
    ? types[className as keyof typeof types].one
    : className;
  return `${label} (${noun})`;
}
