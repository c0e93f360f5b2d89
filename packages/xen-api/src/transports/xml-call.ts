import { XoError } from "@xo-server/model";
import CustomType from "xmlrpc/lib/customtype.js";
import { serializeMethodCall } from "xmlrpc/lib/serializer.js";
import { toWireValue, type WireValue } from "./wire-value.js";

/** The serializer of xmlrpc writes text with markup as CDATA, which breaks for text that contains `]]>`. This escapes the text instead. */
class EscapedText extends CustomType {
  override serialize(node: Parameters<CustomType["serialize"]>[0]): void {
    node.ele("string").txt(this.raw as string);
  }
}

/**
 * Encodes a call as XML-RPC with the xmlrpc package.
 * @throws XoError INVALID_PARAMETERS for text that XML cannot represent
 */
export function encodeXmlCall(
  method: string,
  params: readonly unknown[],
): Uint8Array {
  const values = params.map((param) => toSerializable(toWireValue(param)));
  try {
    return Buffer.from(serializeMethodCall(method, values));
  } catch (error) {
    // The message of the serializer may contain the text, which may be a password.
    const reason = "text that XML cannot represent";
    throw new XoError("INVALID_PARAMETERS", { reason }, withoutText(error));
  }
}

function toSerializable(value: WireValue): unknown {
  if (typeof value === "string")
    return /[<&\r]/.test(value) ? new EscapedText(value) : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(toSerializable);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      toSerializable(member),
    ]),
  );
}

function withoutText(error: unknown): string {
  return error instanceof Error ? error.name : "unknown";
}
