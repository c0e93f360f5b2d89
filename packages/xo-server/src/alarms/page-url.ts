import { hostname } from "node:os";
import type { Config } from "../config/config.js";

/**
 * The URL of the web page, with a slash at its end: `http.publicUrl`, the origin of
 * the callback of OpenID Connect, or the name of this machine.
 * @returns undefined: only local connections are accepted
 */
export function toPageUrl({
  http,
  oidc,
}: Pick<Config, "http" | "oidc">): string | undefined {
  if (http.publicUrl !== "") return http.publicUrl.replace(/\/?$/, "/");
  if (oidc.redirectUrl !== "") return new URL("/", oidc.redirectUrl).toString();
  if (/^(127\.|localhost$|::1$)/.test(http.host) || http.port === 0)
    return undefined;
  const hasTls = http.tls.selfSigned || http.tls.certificate !== "";
  const isAny = http.host === "0.0.0.0" || http.host === "::";
  const name = isAny ? hostname() : http.host;
  const host = name.includes(":") ? `[${name}]` : name;
  return `${hasTls ? "https" : "http"}://${host}:${http.port}/`;
}
