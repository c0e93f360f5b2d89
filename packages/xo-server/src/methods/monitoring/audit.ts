import { XoError } from "@xo-server/model";
import type { AuditRecord } from "@xo-server/store";
import { compileFilter, parseFilter } from "@xo-server/inventory";
import { Type } from "typebox";
import { ForwardStatus } from "../../audit-forwarding/forward-status.js";
import { defineOperation } from "../definition/define-operation.js";

const PublicRecord = Type.Object({
  id: Type.String({ description: "The record's hash." }),
  seq: Type.Number(),
  time: Type.Number({ description: "Time, in ms since the epoch." }),
  event: Type.String(),
  subject: Type.Object({
    userId: Type.Optional(Type.String()),
    userName: Type.Optional(Type.String()),
    userIp: Type.Optional(Type.String()),
  }),
  data: Type.Unknown(),
});

const text = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 1024, description }));

/**
 * Maximum number of records read for one page: a filter without matches must not
 * block the store.
 */
const MAX_READ = 20_000;
const PAGE = 500;

const auditGetRecords = defineOperation({
  name: "audit.getRecords",
  summary: "List entries of the audit log, newest first.",
  params: Type.Object(
    {
      userId: text("Id of a user: only entries of this user."),
      operation: text("Name of an operation: only entries of this operation."),
      objectId: text("Id of an object: only entries about this object."),
      filter: Type.Optional(
        Type.String({
          maxLength: 16_384,
          description:
            "Filter expression, such as `event:vm.start data:outcome:failure`.",
        }),
      ),
      before: Type.Optional(
        Type.Integer({
          minimum: 1,
          description: "Only entries before this sequence number (seq).",
        }),
      ),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1_000,
          description: "Maximum number of entries.",
        }),
      ),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({
    records: Type.Array(PublicRecord),
    before: Type.Optional(
      Type.Number({
        description:
          "Value of `before` for the next page; absent on the last page.",
      }),
    ),
  }),
  permission: "admin",
  async handler({ filter = "", before, limit = 100, ...exact }, { services }) {
    const test = compileFilter(parseFilter(filter));
    const records: ReturnType<typeof toPublic>[] = [];
    let next = before;
    for (let read = 0; read < MAX_READ; read += PAGE) {
      const page = await services.store.audit.list({
        ...exact,
        limit: PAGE,
        ...(next === undefined ? {} : { before: next }),
      });
      for (const record of page) {
        next = record.seq;
        const entry = toPublic(record);
        if (test(entry)) records.push(entry);
        if (records.length === limit) return { records, before: next };
      }
      if (page.length < PAGE) return { records };
    }
    return { records, ...(next === undefined ? {} : { before: next }) };
  },
});

const auditCheckIntegrity = defineOperation({
  name: "audit.checkIntegrity",
  summary:
    "Verify the integrity of the audit log and return the number of verified records.",
  params: Type.Object({}),
  result: Type.Object({
    nValid: Type.Number(),
    pruned: Type.Number({ description: "Number of deleted records." }),
  }),
  permission: "admin",
  async handler(_params, { services }) {
    const verdict = await services.store.audit.verify();
    if (verdict.intact)
      return { nValid: verdict.checked, pruned: verdict.pruned ?? 0 };
    const { seq, reason } = verdict.broken;
    throw new XoError("AUDIT_ALTERED", {
      seq,
      reason,
      nValid: verdict.checked,
    });
  },
});

const auditGetForwarding = defineOperation({
  name: "audit.getForwarding",
  summary:
    "List the targets to which the audit log is forwarded (audit.forward in the configuration), with their state and the number of entries that are not yet sent.",
  params: Type.Object({}),
  result: Type.Array(ForwardStatus),
  permission: "admin",
  handler: (_params, { services }) => services.readForwarding(),
});

function toPublic(record: AuditRecord) {
  const { seq, time, hash, userId, userName, address, operation } = record;
  const { objectId, parameters, outcome, errorCode, taskId } = record;
  const data = { objectId, parameters, outcome, errorCode, taskId };
  return {
    id: hash,
    seq,
    time,
    event: operation,
    subject: {
      ...(userId === undefined ? {} : { userId }),
      ...(userName === undefined ? {} : { userName }),
      ...(address === undefined ? {} : { userIp: address }),
    },
    data,
  };
}

/** The audit log, for admins. */
export const auditOperations = [
  auditGetRecords,
  auditCheckIntegrity,
  auditGetForwarding,
];
