import type { Duplex } from "node:stream";
import {
  headEnd,
  MAX_HEAD_BYTES,
  parseHead,
  type ResponseHead,
} from "./response-head.js";

/**
 * Reads the head of a response from a stream; the following bytes stay in the
 * stream. For streams and proxies; RPC connections use Connection.
 */
export function readHead(stream: Duplex): Promise<ResponseHead> {
  return new Promise((resolve, reject) => {
    let pending = Buffer.alloc(0);
    const settle = (act: () => void) => {
      stream.off("readable", onReadable).off("error", onError);
      stream.off("end", onEnd).off("close", onEnd);
      act();
    };
    const fail = (reason: string) => {
      settle(() => {
        reject(new Error(reason));
      });
    };
    const onReadable = () => {
      for (;;) {
        const chunk = stream.read() as Buffer | null;
        if (chunk === null) return;
        pending = Buffer.concat([pending, chunk]);
        const end = headEnd(pending);
        if (end === -1) {
          if (pending.length > MAX_HEAD_BYTES) {
            fail("the head is too long");
            return;
          }
          continue;
        }
        const head = parseHead(pending.subarray(0, end));
        const rest = pending.subarray(end);
        if (head === undefined) {
          fail("not an HTTP response");
          return;
        }
        settle(() => {
          if (rest.length > 0) stream.unshift(rest);
          resolve(head);
        });
        return;
      }
    };
    const onError = (error: Error) => {
      settle(() => {
        reject(error);
      });
    };
    const onEnd = () => {
      fail("connection closed");
    };
    stream.on("readable", onReadable).on("error", onError);
    stream.on("end", onEnd).on("close", onEnd);
  });
}
