import type { Messages } from "../locale/messages.js";
import { plainName } from "./task.js";

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

/** The name of a task; of a XAPI method such as `Async.VM.clean_reboot` that of the action. */
export function taskName(name: string, text: Messages): string {
  const plain = plainName(name).replace(/^Async\./, "");
  const [, className = "", method = ""] = /^(\w+)\.(\w+)$/.exec(plain) ?? [];
  const camel = method.replace(/_([a-z])/g, (_, letter: string) =>
    letter.toUpperCase(),
  );
  const id = `${className.toLowerCase()}.${camel}`;
  const names: Readonly<Record<string, string>> = text.actions.names;
  const action = aliases[id] ?? id;
  return Object.hasOwn(names, action) ? names[action]!.replace("…", "") : plain;
}
