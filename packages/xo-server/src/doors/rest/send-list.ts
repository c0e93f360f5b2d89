import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import type { CollectionQuery } from "./collection-query.js";
import { encodeList, listTypes } from "./list-writer.js";
import type { ObjectPages } from "./object-pages.js";

/** Who takes nothing of a list for this long, in ms, is cut off. */
const IDLE_TIMEOUT_MS = 120_000;

/**
 * Answers with a list, as fast as the reader takes it. What fails before its
 * first bytes is an error of the request; what fails later cuts the answer off.
 */
export async function sendList(
  reply: FastifyReply,
  pages: ObjectPages,
  query: CollectionQuery,
): Promise<FastifyReply> {
  const parts = encodeList(pages, query);
  const first = await parts.next();
  reply.raw.setTimeout(IDLE_TIMEOUT_MS, () => {
    reply.raw.destroy();
  });
  return reply
    .type(listTypes[query.format])
    .send(Readable.from(from(first, parts), { objectMode: false }));
}

async function* from(
  first: IteratorResult<Buffer, void>,
  rest: AsyncGenerator<Buffer, void, void>,
) {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}
