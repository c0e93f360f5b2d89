import { XoError } from "@xo-server/model";
import type { CustomFetch } from "openid-client";

/** Of an answer of the provider; keys and claims are some kilobytes. */
const MAX_BYTES = 1024 * 1024;

/** fetch, for answers of a size that is reasonable. @throws XoError ANSWER_TOO_LARGE */
export const boundedFetch: CustomFetch = async (url, options) => {
  const answer = await fetch(url, options as RequestInit);
  if (answer.body === null) return answer;
  let bytes = 0;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES)
        throw new XoError("ANSWER_TOO_LARGE", { bytes, limit: MAX_BYTES });
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = answer;
  return new Response(answer.body.pipeThrough(bound), {
    status,
    statusText,
    headers,
  });
};
