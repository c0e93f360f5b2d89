import type { DraftObject, FleetBuilder } from "./fleet-builder.js";
import type { FleetHost } from "./fleet-host.js";
import type { Guest } from "./guest.js";
import type { FleetProfile } from "./profiles.js";

/** XAPI stores no more messages than this. */
const MESSAGE_LIMIT = 10_000;

/** Recent messages, and tasks that are not deleted yet. */
export function addMessagesAndTasks(
  builder: FleetBuilder,
  profile: FleetProfile,
  { guests, hosts }: { guests: readonly Guest[]; hosts: readonly FleetHost[] },
): void {
  const { random } = builder;
  const count = Math.min(
    MESSAGE_LIMIT,
    Math.round(guests.length * profile.messagesPerVm),
  );
  for (let i = 0; i < count; i++) {
    const seconds = Math.floor(((i + random.next()) / count) * 14 * 86400);
    if (i % 50 === 49) addHostAlarm(builder, random.pick(hosts).host, seconds);
    else addVmMessage(builder, random.pick(guests).vm, seconds);
  }
  addBlob(builder);
  for (let i = 0; i < 4 + hosts.length / 4; i++)
    addTask(builder, random.pick(hosts).host);
}

const vmMessages: readonly (readonly [string, string])[] = [
  ["VM_STARTED", "started"],
  ["VM_SHUTDOWN", "shutdown"],
  ["VM_REBOOTED", "rebooted"],
  ["VM_SNAPSHOTTED", "snapshotted, snapshot name: backup"],
  ["VM_MIGRATED", "migrated"],
  ["VM_SUSPENDED", "suspended"],
  ["VM_RESUMED", "resumed"],
];

function addBlob(builder: FleetBuilder): void {
  builder.add("blob", {
    name_label: "Notes",
    size: 0,
    last_updated: builder.ago(86400),
    mime_type: "text/plain",
  });
}

function addVmMessage(
  builder: FleetBuilder,
  { record }: DraftObject,
  seconds: number,
): void {
  const [name, verb] = builder.random.pick(vmMessages);
  const uuid = record["uuid"]!;
  builder.add("message", {
    name,
    priority: 5,
    cls: "VM",
    obj_uuid: uuid,
    timestamp: builder.ago(seconds),
    body: `VM '${record["name_label"] as string}' (uuid: ${uuid as string}) ${verb}`,
  });
}

function addHostAlarm(
  builder: FleetBuilder,
  { record }: DraftObject,
  seconds: number,
): void {
  const value = (0.9 + builder.random.next() / 10).toFixed(6);
  builder.add("message", {
    name: "ALARM",
    priority: 3,
    cls: "Host",
    obj_uuid: record["uuid"]!,
    timestamp: builder.ago(seconds),
    body: `value: ${value}\nconfig:\n<variable>\n<name value="cpu_usage"/>\n<alarm_trigger_level value="0.9"/>\n<alarm_trigger_period value="60"/>\n<alarm_auto_inhibit_period value="3600"/>\n</variable>\n`,
  });
}

function addTask(builder: FleetBuilder, host: DraftObject): void {
  const seconds = builder.random.int(10, 3600);
  builder.add("task", {
    name_label: builder.random.pick([
      "Async.VM.start",
      "Async.VM.snapshot",
      "Async.VM.clean_reboot",
      "Async.SR.scan",
    ]),
    created: builder.ago(seconds),
    finished: builder.ago(seconds - builder.random.int(1, 9)),
    status: "success",
    resident_on: host.ref,
    progress: 1,
    type: "<none/>",
    result: "<value></value>",
  });
}
