import { usageError } from "../cli-error.js";

/** With the slash at the end; `https` where nothing is said. @throws CliError */
export function toServerUrl(text: string): string {
  const withScheme = /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
  let url: URL;
  try {
    url = new URL(withScheme.replace(/^ws/i, "http"));
  } catch {
    throw usageError(`${JSON.stringify(text)} is not a URL`);
  }
  if (!/^https?:$/.test(url.protocol))
    throw usageError(`${text}: a URL of a server begins with https://`);
  if (url.username !== "" || url.password !== "")
    throw usageError("user and password do not belong into the URL");
  const path = url.pathname.replace(/\/*$/, "/").replace(/\/api\/$/, "/");
  return url.origin + path;
}

/** Host and port, for messages. */
export function addressOf(url: string): string {
  return new URL(url).host;
}
