// Types of the parts of the xmlrpc package (1.3.2) that are used here; the package has none.

declare module "xmlrpc/lib/customtype.js" {
  interface XmlNode {
    ele(name: string): XmlNode;
    txt(text: string): XmlNode;
  }
  export default class CustomType {
    constructor(raw: unknown);
    raw: unknown;
    serialize(node: XmlNode): void;
  }
}

declare module "xmlrpc/lib/serializer.js" {
  export function serializeMethodCall(
    method: string,
    params: readonly unknown[],
  ): string;
}

declare module "xmlrpc/lib/deserializer.js" {
  import type { EventEmitter } from "node:events";
  import type { Readable } from "node:stream";

  /** Builds the value on `stack`; `marks` are the stack positions at which arrays and structs started. */
  export default class Deserializer {
    constructor(encoding?: string);
    stack: unknown[];
    marks: number[];
    value: boolean;
    parser: EventEmitter;
    push(value: unknown): void;
    onError(error: Error | string): void;
    onOpentag(node: { name: string }): void;
    endStruct(text: string): void;
    endDouble(text: string): void;
    endDateTime(text: string): void;
    endBase64(text: string): void;
    endInt(text: string): void;
    endI8(text: string): void;
    deserializeMethodResponse(
      stream: Readable,
      callback: (error: Error | null | undefined, value?: unknown) => void,
    ): void;
  }
}
