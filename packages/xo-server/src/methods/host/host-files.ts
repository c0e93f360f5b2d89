import { Type } from "typebox";
import { defineOperation } from "../definition/define-operation.js";
import { about, getFrom, nameOf } from "../storage/disk-transfer.js";
import { idOf, onId } from "../definition/on-object.js";

interface File {
  readonly operation: string;
  readonly summary: string;
  readonly path: string;
  readonly operationId: string;
  /** Path of XAPI's handler on the host. */
  readonly handler: string;
  readonly type: string;
}

const files: readonly File[] = [
  {
    operation: "host.getAuditLog",
    summary:
      "Download the audit log of a host, as text. Returns the path of the download.",
    path: "/hosts/{id}/audit.txt",
    operationId: "GetAuditLog",
    handler: "/audit_log",
    type: "text/plain; charset=utf-8",
  },
  {
    operation: "host.getLogs",
    summary:
      "Download the logs of a host, as a tar.gz archive. Returns the path of the download.",
    path: "/hosts/{id}/logs.tgz",
    operationId: "GetHostLogs",
    handler: "/host_logs_download",
    type: "application/gzip",
  },
];

/** Downloads of files of hosts. They are passed on as they are read, and not stored. */
export const hostFilesOperations = files.map(
  ({ operation, summary, type, handler, ...route }) =>
    defineOperation({
      name: operation,
      summary,
      params: Type.Object({ id: idOf("a host") }),
      result: getFrom,
      // Logs contain the actions of other users.
      permission: onId("administrate:logs", "host"),
      rest: { ...route, method: "get", exposure: "deny", isTransfer: true },
      handler: ({ id }, context) => {
        const host = context.objects.get(id, "host");
        const file = route.path.split("/").at(-1)!;
        const fileName = `${nameOf(host)} ${file}`;
        const subject = {
          ...about(operation, `Download of ${fileName}`, host),
          params: { id },
          context,
          fileName,
        };
        return context.services.transfers.offerDownload(
          subject,
          async ({ signal }) => {
            const { body } = await host.xapi.getStream({
              path: handler,
              signal,
              host: String(host.object["address"]),
            });
            return { type, body };
          },
        );
      },
    }),
);
