import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import { Type } from "typebox";
import type { OneTimePaths } from "../transfers/one-time-paths.js";
import { defineOperation, type Operation } from "../operations/operation.js";

const passphrase = Type.Optional(
  Type.String({
    description: "Of 8 characters or more; the file is encrypted with it.",
  }),
);
const closed = { additionalProperties: false } as const;
const shared = { permission: "admin", changes: true } as const;

/** The whole configuration as a file. */
export function configurationMethods(
  store: Pick<Store, "exportConfiguration" | "importConfiguration">,
  paths: Pick<OneTimePaths, "offer" | "offerUpload">,
): Operation[] {
  return [
    defineOperation({
      ...shared,
      name: "xo.exportConfig",
      summary:
        "The configuration as an encrypted file: servers, users, rights, sets. Answers {$getFrom: path}.",
      params: Type.Object(
        {
          passphrase,
          compress: Type.Optional(
            Type.Boolean({ description: "Taken, and not needed here." }),
          ),
          entries: Type.Optional(
            Type.Array(Type.String(), {
              maxItems: 0,
              description: "All of them, always.",
            }),
          ),
        },
        closed,
      ),
      result: Type.Object({ $getFrom: Type.String() }),
      handler: (given) =>
        paths.offer({
          type: "application/octet-stream",
          body: toBuffers(
            store.exportConfiguration(needPassphrase(given.passphrase)),
          ),
        }),
    }),
    defineOperation({
      ...shared,
      name: "xo.importConfig",
      summary:
        "Puts an exported configuration in the place of the one that is there. Answers {$sendTo: path}.",
      params: Type.Object({ passphrase }, closed),
      result: Type.Object({ $sendTo: Type.String() }),
      handler(given) {
        const words = needPassphrase(given.passphrase);
        return paths.offerUpload(async ({ body }) => {
          await store.importConfiguration(body, words);
          return true;
        });
      },
    }),
  ];
}

/** It has passwords of pools: it never leaves unencrypted. */
function needPassphrase(passphrase: string | undefined): string {
  if (passphrase !== undefined && passphrase.length >= 8) return passphrase;
  throw new XoError("INVALID_PARAMETERS", {
    reason: "a passphrase of 8 characters or more is needed",
  });
}

async function* toBuffers(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks)
    yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}
