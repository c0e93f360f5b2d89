import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import { defineOperation } from "../definition/define-operation.js";

const passphrase = Type.Optional(
  Type.String({
    description: "Passphrase of the encrypted file, at least 8 characters.",
  }),
);
const closed = { additionalProperties: false } as const;
const shared = { permission: "admin", changes: true } as const;

const xoExportConfig = defineOperation({
  ...shared,
  name: "xo.exportConfig",
  summary:
    "Export the configuration as an encrypted file: servers, users, rights, resource sets. Returns {$getFrom: path}.",
  params: Type.Object(
    {
      passphrase,
      compress: Type.Optional(
        Type.Boolean({
          description: "Ignored. Clients of Xen Orchestra send it.",
        }),
      ),
      entries: Type.Optional(
        Type.Array(Type.String(), {
          maxItems: 0,
          description: "Accepted and ignored: the export is always complete.",
        }),
      ),
    },
    closed,
  ),
  result: Type.Object({ $getFrom: Type.String() }),
  handler: (input, context) => {
    const { store, oneTimePaths } = context.services;
    const file = {
      type: "application/octet-stream",
      body: toBuffers(
        store.exportConfiguration(requirePassphrase(input.passphrase)),
      ),
    };
    return oneTimePaths.offer(file, context);
  },
});

const xoImportConfig = defineOperation({
  ...shared,
  name: "xo.importConfig",
  summary:
    "Import a configuration that replaces the current one. Returns {$sendTo: path}.",
  params: Type.Object({ passphrase }, closed),
  result: Type.Object({ $sendTo: Type.String() }),
  handler(input, context) {
    const { services } = context;
    const required = requirePassphrase(input.passphrase);
    return services.oneTimePaths.offerUpload(async ({ body }) => {
      // The iterator must not destroy the request, because the response uses its connection.
      const chunks = body.iterator({ destroyOnReturn: false });
      await services.store.importConfiguration(chunks, required);
      services.backupArchives.refreshAll();
      services.backupMaintenance.inspectAll();
      return true;
    }, context);
  },
});

/**
 * The file contains passwords of pools, so it is always encrypted.
 * @throws XoError INVALID_PARAMETERS
 */
function requirePassphrase(passphrase: string | undefined): string {
  if (passphrase !== undefined && passphrase.length >= 8) return passphrase;
  throw new XoError("INVALID_PARAMETERS", {
    reason: "passphrase: at least 8 characters are required",
  });
}

async function* toBuffers(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks)
    yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

/** Export and import of the configuration as a file. */
export const configurationOperations = [xoExportConfig, xoImportConfig];
