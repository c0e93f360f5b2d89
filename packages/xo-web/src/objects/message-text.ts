import type { InitialMessages } from "../locale/messages.js";

/** What a XAPI message says; the name itself where no text is known. */
export function messageText(
  name: string,
  { xapiMessages }: Pick<InitialMessages, "xapiMessages">,
): string {
  const texts: Readonly<Record<string, string>> = xapiMessages;
  // HOST_SERVER_CERTIFICATE_EXPIRING_30: the days that are left.
  const kind = name.replace(/_\d+$/, "");
  return Object.hasOwn(texts, kind) ? texts[kind]! : name;
}
