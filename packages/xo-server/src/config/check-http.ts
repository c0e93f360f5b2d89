import type { Config } from "./config.js";
import type { ConfigProblem } from "./config-problem.js";
import { toNetwork } from "./network.js";

/** Checks of `http` that a schema cannot express. */
export function checkHttp({
  tls,
  trustedProxies,
}: Config["http"]): ConfigProblem[] {
  return [
    ...checkTls(tls),
    ...checkNetworks(trustedProxies, ["http", "trustedProxies"]),
  ];
}

function checkTls(tls: Config["http"]["tls"]): ConfigProblem[] {
  const path = ["http", "tls"];
  const hasOwn = tls.certificate !== "" || tls.key !== "";
  const problems: ConfigProblem[] = [];
  const wrong = (key: string, reason: string) =>
    problems.push({ path: [...path, key], reason });
  if (hasOwn && tls.key === "")
    wrong("key", "is missing: http.tls.certificate needs a private key");
  if (hasOwn && tls.certificate === "")
    wrong("certificate", "is missing: http.tls.key needs a certificate");
  if (hasOwn && tls.selfSigned)
    wrong("selfSigned", "cannot be used together with certificate");
  if (!hasOwn && !tls.selfSigned && tls.redirectPort !== 0)
    wrong("redirectPort", "requires certificate or selfSigned");
  if (!hasOwn && tls.hstsSeconds !== 0)
    wrong("hstsSeconds", "requires certificate and key");
  return problems;
}

/** Checks that each item is an address or a network. @param path of the list */
export function checkNetworks(
  list: readonly string[],
  path: readonly string[],
): ConfigProblem[] {
  return list.flatMap((text, index) =>
    toNetwork(text) === undefined
      ? [
          {
            path: [...path, index],
            reason: `must be an IP address or a network such as 10.0.0.0/8, not ${text}`,
          },
        ]
      : [],
  );
}
