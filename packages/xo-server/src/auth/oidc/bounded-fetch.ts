import { XoError } from "@xo-server/model";
import type { CustomFetch } from "openid-client";

/** Maximum size of a response of the provider, in bytes; keys and claims are a few kilobytes. */
const MAX_BYTES = 1024 * 1024;

/** fetch with a limit on the size of the response body. @throws XoError ANSWER_TOO_LARGE */
export const boundedFetch: CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit);
  if (response.body === null) return response;
  let bytes = 0;
  const limiter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES)
        throw new XoError("ANSWER_TOO_LARGE", { bytes, limit: MAX_BYTES });
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limiter), {
    status,
    statusText,
    headers,
  });
};
