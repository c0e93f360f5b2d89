import { usageError } from "../cli-error.js";

/** @returns the URL with a trailing slash; default scheme: https. @throws CliError */
export function toServerUrl(text: string): string {
  const withScheme = /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
  let url: URL;
  try {
    url = new URL(withScheme.replace(/^ws/i, "http"));
  } catch {
    throw usageError(`${JSON.stringify(text)} is not a URL`);
  }
  if (!/^https?:$/.test(url.protocol))
    throw usageError(
      `${text}: the URL of a server must begin with https:// or http://`,
    );
  if (url.username !== "" || url.password !== "")
    throw usageError("the URL must not contain user and password");
  const path = url.pathname.replace(/\/*$/, "/").replace(/\/api\/$/, "/");
  return url.origin + path;
}

/** Host and port, for messages. */
export function addressOf(url: string): string {
  return new URL(url).host;
}
