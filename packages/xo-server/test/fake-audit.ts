import type { Audit } from "../src/operations/audit.js";

/** An audit log that writes the entry of a change at its end. */
export function createFakeAudit({
  check = () => undefined,
  write,
}: Pick<Audit, "write"> & Partial<Pick<Audit, "check">>): Audit {
  return {
    check,
    write,
    untilWritable: async () => undefined,
    refuse: () => undefined,
    stop: async () => undefined,
    begin: async (call) => ({
      noteTask: async () => undefined,
      end: (outcome) => write({ ...call, outcome }),
    }),
  };
}
