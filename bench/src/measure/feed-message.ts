import type { Frame } from "@xo-server/inventory";

/** A frame as a reader of the feed gets it: whole objects of what is new, patches of the rest. */
export function toFeedMessage(frame: Frame): Buffer {
  const parts: Buffer[] = [
    Buffer.from(`{"from":${frame.first},"to":${frame.last},"changes":[`),
  ];
  for (const [i, { kind, id, json, patch }] of frame.changes.entries()) {
    const body = patch ?? json;
    const head = `${i === 0 ? "" : ","}{"kind":"${kind}","id":"${id}"`;
    if (body === undefined) parts.push(Buffer.from(`${head}}`));
    else parts.push(Buffer.from(`${head},"value":`), body, Buffer.from("}"));
  }
  return Buffer.concat([...parts, Buffer.from("]}")]);
}
