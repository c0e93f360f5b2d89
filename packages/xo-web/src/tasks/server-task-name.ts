import { fill, type Messages } from "../locale/messages.js";

/** Names that the server gives to its tasks, in English; of two that fit, the first one counts. */
const names: Readonly<Record<keyof Messages["tasks"]["serverNames"], RegExp>> =
  {
    restoreTest: /^Restore test of (?<name>.*)$/s,
    restoreDisk: /^Restore of disk (?<name>.*)$/s,
    restoreDatabase: /^Restore of the database of (?<name>.*)$/s,
    checkDatabase: /^Check of the database of (?<name>.*)$/s,
    restoreConfiguration: /^Restore of the configuration of the server$/s,
    restoreOver: /^Restore over (?<name>.*)$/s,
    restore: /^Restore of (?<name>.*)$/s,
    download: /^Download of (?<name>.*)$/s,
    exporting: /^Export of (?<name>.*)$/s,
    importTo: /^Import of a VM to (?<name>.*)$/s,
    importFrom: /^Import of a VM of (?<name>.*)$/s,
    importSeveral: /^Import of (?<n>\d+) VMs of (?<name>.*)$/s,
    importing: /^Import of (?<name>.*)$/s,
    creation: /^Creation of (?<n>\d+) VMs$/s,
    verification: /^Verification of (?<name>.*)$/s,
    garbageCollection: /^Garbage collection of (?<name>.*)$/s,
    rollingUpdate: /^Rolling update of (?<name>.*)$/s,
    rollingReboot: /^Rolling reboot of (?<name>.*)$/s,
    balancer: /^load balancer: (?<name>.*)$/s,
    job: /^job: (?<name>.*)$/s,
  };
const kinds = Object.keys(names) as (keyof typeof names)[];

/** The name of a task of the server in the language of the page; undefined: a name of another kind. */
export function serverTaskName(
  name: string,
  { tasks }: Pick<Messages, "tasks">,
): string | undefined {
  for (const kind of kinds) {
    const found = names[kind].exec(name);
    if (found !== null)
      return fill(tasks.serverNames[kind], { ...found.groups });
  }
  return undefined;
}
