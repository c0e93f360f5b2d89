import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import { Fragments } from "../../../objects/fragment.js";
import type { ListQuery } from "./list-query.js";
import { encodeList, listTypes } from "./list-writer.js";
import type { ObjectPages } from "./object-pages.js";

/** The connection is closed if the client reads nothing for this long, in ms. */
const IDLE_TIMEOUT_MS = 120_000;

/** Shared buffers of all lists: allocating new ones causes a full garbage collection every few lists. */
const fragments = new Fragments();

/**
 * Sends a list as fast as the client reads. An error before the first bytes is the
 * response of the request; a later error closes the connection.
 */
export async function sendList(
  reply: FastifyReply,
  pages: ObjectPages,
  query: ListQuery,
): Promise<FastifyReply> {
  const parts = encodeList(pages, query, fragments);
  reply.type(listTypes[query.format]);
  const first = await parts.next();
  if (first.done === true) return reply.send(Buffer.alloc(0));
  const second = await parts.next();
  if (second.done === true) return reply.send(first.value);
  reply.hijack();
  const { raw } = reply;
  raw.setTimeout(IDLE_TIMEOUT_MS, () => {
    raw.destroy();
  });
  raw.writeHead(200, reply.getHeaders() as Record<string, string>);
  void sendParts(raw, from([first.value, second.value], parts));
  return reply;
}

/** Each part is encoded when the client has read enough; its buffer is reused when it has been sent. */
async function sendParts(
  raw: ServerResponse,
  parts: AsyncGenerator<Buffer, void, void>,
): Promise<void> {
  try {
    for await (const part of parts) {
      if (raw.destroyed) return;
      const hasRoom = raw.write(part, () => {
        fragments.recycle(part);
      });
      if (!hasRoom) await waitForDrain(raw);
    }
    raw.end();
  } catch {
    // An incomplete list must not look complete.
    raw.destroy();
  }
}

/** Resolves when the response can be written again, or its connection closes. */
async function waitForDrain(raw: ServerResponse): Promise<void> {
  if (raw.destroyed) return;
  const settled = new AbortController();
  const { signal } = settled;
  await Promise.race([
    once(raw, "drain", { signal }),
    once(raw, "close", { signal }),
  ]);
  settled.abort();
}

async function* from(
  first: readonly Buffer[],
  rest: AsyncGenerator<Buffer, void, void>,
) {
  yield* first;
  yield* rest;
}
