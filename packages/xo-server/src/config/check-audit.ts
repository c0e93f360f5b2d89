import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "./config.js";
import type { ConfigProblem } from "./config-problem.js";

type Target = Config["audit"]["forward"][number];

const PROTOCOLS = ["udp:", "tcp:", "tls:", "http:", "https:", "file:"];

/** Checks of `audit` that a schema cannot express. */
export function checkAudit({ forward }: Config["audit"]): ConfigProblem[] {
  return forward.flatMap((target, index) => {
    const isTaken = forward.findIndex(({ name }) => name === target.name);
    const checks: readonly Check[] = [
      [isTaken < index, "name", `${target.name} is used twice`],
      ...checkTarget(target),
    ];
    return checks
      .filter(([isWrong]) => isWrong)
      .map(([, key, reason]) => ({
        path: ["audit", "forward", index, key],
        reason,
      }));
  });
}

/** Whether the configuration file contains a token, so that others must not read it. */
export function holdsAuditSecret({ forward }: Config["audit"]): boolean {
  return forward.some(({ token }) => token !== "");
}

type Check = readonly [isWrong: boolean, key: string, reason: string];

function checkTarget(target: Target): readonly Check[] {
  if (!URL.canParse(target.url)) return [[true, "url", "must be a URL"]];
  const url = new URL(target.url);
  if (!PROTOCOLS.includes(url.protocol))
    return [
      [
        true,
        "url",
        `must start with udp, tcp, tls, https, http or file, not ${url.protocol.slice(0, -1)}`,
      ],
    ];
  return [...checkUrl(url), ...checkTrust(url, target)];
}

function checkUrl(url: URL): readonly Check[] {
  const isSyslog = /^(udp|tcp|tls):$/.test(url.protocol);
  const hasPath = !["", "/"].includes(url.pathname) || url.search !== "";
  return [
    [url.username + url.password !== "", "url", "must not contain a password"],
    [isSyslog && url.hostname === "", "url", "has no host"],
    [isSyslog && hasPath, "url", "must not have a path"],
    [
      url.protocol === "file:" && !isAbsoluteFile(url),
      "url",
      "must be file:///path of a file",
    ],
  ];
}

function isAbsoluteFile(url: URL): boolean {
  if (url.host !== "" || url.pathname.endsWith("/")) return false;
  return isAbsolute(fileURLToPath(url));
}

function checkTrust({ protocol }: URL, target: Target): readonly Check[] {
  const { caFile, certificateFile, keyFile } = target;
  const { token, tokenFile, tokenEnv } = target;
  const isTls = protocol === "tls:" || protocol === "https:";
  const tokens = [token, tokenFile, tokenEnv].filter((way) => way !== "");
  return [
    [caFile !== "" && !isTls, "caFile", "requires tls or https"],
    [
      certificateFile !== "" && !isTls,
      "certificateFile",
      "requires tls or https",
    ],
    [
      (certificateFile === "") !== (keyFile === ""),
      keyFile === "" ? "keyFile" : "certificateFile",
      "is missing: a client certificate needs its private key",
    ],
    [tokens.length > 1, "token", "is configured in more than one way"],
    [tokens.length > 0 && protocol !== "https:", "token", "requires https"],
  ];
}
