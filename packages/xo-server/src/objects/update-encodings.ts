import type { LiveUpdate } from "@xo-server/inventory";
import { joinObject } from "../encoding/raw-json.js";

/** Encoded notifications of updates: clients with the same window, name and state get the same bytes. */
export class UpdateEncodings {
  readonly #byUpdate = new WeakMap<LiveUpdate, Map<string, Buffer>>();

  /** @param head members of the parameters that are not part of the update */
  encode(update: LiveUpdate, head: object): Buffer {
    const byHead = this.#byUpdate.get(update) ?? new Map<string, Buffer>();
    this.#byUpdate.set(update, byHead);
    const key = JSON.stringify(head);
    let message = byHead.get(key);
    if (message === undefined) {
      message = joinObject({ jsonrpc: "2.0", method: "query" }, [
        ["params", encodeUpdate(update, head)],
      ]);
      byHead.set(key, message);
    }
    return message;
  }
}

/** @param head further members of the result */
export function encodeUpdate(update: LiveUpdate, head: object = {}): Buffer {
  const { revision, total, offset, splice, digest } = update;
  const rest = { revision, total, offset, splice, digest };
  return joinObject({ ...head, ...rest }, [
    ["objects", joinObject({}, [...update.objects])],
    ["patches", joinObject({}, [...update.patches])],
  ]);
}
