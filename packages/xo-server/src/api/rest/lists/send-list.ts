import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import { Fragments } from "../../../objects/fragment.js";
import type { ListQuery } from "./list-query.js";
import { encodeList, listTypes } from "./list-writer.js";
import type { ObjectPages } from "./object-pages.js";

/** Who takes nothing of a list for this long, in ms, is cut off. */
const IDLE_TIMEOUT_MS = 120_000;

/** Lists take turns in them: as many bytes as lists have, made anew, are a full collection of the heap every few of them. */
const fragments = new Fragments();

/**
 * Answers with a list, as fast as the reader takes it. What fails before its
 * first bytes is an error of the request; what fails later cuts the answer off.
 */
export async function sendList(
  reply: FastifyReply,
  pages: ObjectPages,
  query: ListQuery,
): Promise<FastifyReply> {
  const parts = encodeList(pages, query, fragments);
  reply.type(listTypes[query.format]);
  const first = await parts.next();
  if (first.done === true) return reply.send("");
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

/** Each part is made when there is room for it; when it has left, its room is used again. */
async function sendParts(
  raw: ServerResponse,
  parts: AsyncGenerator<Buffer, void, void>,
): Promise<void> {
  try {
    for await (const part of parts) {
      if (raw.destroyed) return;
      const hasRoom = raw.write(part, () => {
        fragments.giveBack(part);
      });
      if (!hasRoom) await waitForDrain(raw);
    }
    raw.end();
  } catch {
    // Half a list shall not look like a whole one.
    raw.destroy();
  }
}

/** Resolves also when the reader has gone. */
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
