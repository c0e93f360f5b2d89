import { toDatetime } from "../../clock.js";
import type { CallContext } from "../../operation.js";
import { text } from "../../records/fields.js";

/** What a message is about, as message.cls has it. */
type MessageClass = "VM" | "Host" | "SR" | "Pool" | "VMSS" | "VDI";

/** Creates a XAPI message about an object; name and body in XAPI's words. @returns the reference of the message */
export function createMessage(
  { db, clock }: Pick<CallContext, "db" | "clock">,
  about: {
    readonly cls: MessageClass;
    readonly uuid: string;
    readonly priority?: number;
  },
  name: string,
  body: string,
): string {
  return db.create("message", {
    name,
    priority: about.priority ?? 5,
    cls: about.cls,
    obj_uuid: about.uuid,
    timestamp: toDatetime(clock.now()),
    body,
  });
}

/** A message of a VM: `VM 'web-1' (uuid: ...) rebooted forcibly`. */
export function createVmMessage(
  context: Pick<CallContext, "db" | "clock">,
  vm: string,
  name: string,
  what: string,
): void {
  const record = context.db.get("VM", vm);
  const uuid = text(record, "uuid");
  createMessage(
    context,
    { cls: "VM", uuid },
    name,
    `VM '${text(record, "name_label")}' (uuid: ${uuid}) ${what}`,
  );
}
