import { XoError } from "@xo-server/model";
import { Type, type Static } from "typebox";
import type { TransferSubject } from "../../transfers/transfer.js";
import type { Transfers } from "../../transfers/transfers.js";
import type { OperationContext } from "../definition/define-operation.js";

/** Path to which the client uploads the contents. */
export const sendTo = Type.Object({ $sendTo: Type.String() });

/** The file is fetched from there instead of uploaded. */
export const sourceUrl = Type.Optional(
  Type.String({
    minLength: 8,
    maxLength: 2_048,
    description:
      "Imports the file at this address (http or https) now, and returns the id of the new object. Administrators only; private addresses must be in a network of `imports.networks` (config.yaml). Default: returns the path of an upload.",
  }),
);
/** The result of an import: the path of the upload, or the id of the object. */
export const sendToOrId = Type.Union([sendTo, Type.String()]);

/**
 * Offers a path for an upload, or fetches the file from a URL.
 * @throws XoError FORBIDDEN: only administrators may let the server fetch files
 */
export async function receiveFile(
  {
    url,
    ...subject
  }: TransferSubject & {
    readonly context: OperationContext;
    readonly url: string | undefined;
  },
  receive: Parameters<Transfers["offerUpload"]>[1],
): Promise<Static<typeof sendToOrId>> {
  const { user, services } = subject.context;
  const { transfers, remoteFiles } = services;
  if (url === undefined) return transfers.offerUpload(subject, receive);
  if (user?.isAdmin !== true)
    throw new XoError("FORBIDDEN", { permission: "admin" });
  const open = (signal: AbortSignal) => remoteFiles.open(url, signal);
  return (await transfers.receive(subject, open, receive)) as string;
}
